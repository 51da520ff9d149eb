# SPDX-License-Identifier: Apache-2.0
"""Locks between processes of this machine. The system gives them up when their holder dies."""

from __future__ import annotations

import fcntl
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def try_lock(folder: Path) -> int | None:
    """Takes the lock of a folder: an open file to be closed, or None if somebody else has it."""
    lock = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        return None
    return lock


@contextmanager
def exclusive(file: Path) -> Iterator[None]:
    """Waits for its turn. For the few steps that must not meet those of another process."""
    lock = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)
