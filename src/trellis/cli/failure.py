# SPDX-License-Identifier: Apache-2.0
"""How a command ends when it cannot do what it was asked."""

from __future__ import annotations

import sys
from typing import NoReturn

import typer

BAD_INPUT = 2
"""The exit code for what the user must write differently."""


def fail(message: str, code: int = 1) -> NoReturn:
    print(f"trellis: {message}", file=sys.stderr)
    raise typer.Exit(code)
