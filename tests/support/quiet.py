# SPDX-License-Identifier: Apache-2.0
"""Logging is one for the whole process: what a test sets up, it must put back."""

from __future__ import annotations

import logging
from contextlib import contextmanager
from typing import TYPE_CHECKING

import structlog

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def restored_logs() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level, configured = root.handlers[:], root.level, structlog.get_config()
    root.handlers.clear()
    try:
        yield
    finally:
        root.handlers[:], root.level = handlers, level
        structlog.configure(**configured)
