# SPDX-License-Identifier: Apache-2.0
"""Waiting for conditions that another process brings about."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

T = TypeVar("T")
PATIENCE_SECONDS = 30.0
POLL_SECONDS = 0.05


async def eventually(
    look: Callable[[], Awaitable[T]], what: str, patience: float = PATIENCE_SECONDS
) -> T:
    """Looks until what is seen is truthy, and returns it. `what` is named when it never was."""
    deadline = time.monotonic() + patience
    while not (seen := await look()):
        assert time.monotonic() < deadline, f"waited {patience:.0f} s for {what}; last: {seen!r}"
        await asyncio.sleep(POLL_SECONDS)
    return seen
