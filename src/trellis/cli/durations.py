# SPDX-License-Identifier: Apache-2.0
"""Durations as options of a command."""

from __future__ import annotations

from trellis.api import durations
from trellis.cli.failure import BAD_INPUT, fail


def seconds(option: str, text: str) -> float:
    """Ends the command if that is no duration, or one below zero."""
    try:
        found = durations.to_seconds(text)
    except durations.InvalidDuration as error:
        fail(f"{option}: {error}", BAD_INPUT)
    if found < 0:
        fail(f"{option}: {text} is below zero; write it like 30s", BAD_INPUT)
    return found
