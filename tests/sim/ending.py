# SPDX-License-Identifier: Apache-2.0
"""The end of a task that was told to end: one that does not is a finding, not a hang."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

_SECONDS = 60.0
_TIMES = 5


async def ended(task: asyncio.Future[Any], complain: Callable[[str, str], None], who: str) -> None:
    """Cancels it, and waits until it has ended; asks again if it does not hear."""
    for _ in range(_TIMES):
        if task.done():
            return
        task.cancel()
        await asyncio.wait([task], timeout=_SECONDS)
    if not task.done():
        complain("broke", f"{who} does not end, however often it is told to")
