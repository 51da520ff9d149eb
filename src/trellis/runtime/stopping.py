# SPDX-License-Identifier: Apache-2.0
"""Work that is given up when the process is told to stop."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Coroutine


async def unless(stop: asyncio.Event, work: Coroutine[Any, Any, None]) -> bool:
    """Does the work and returns True; gives it up and returns False when told to stop before."""
    working, stopping = asyncio.create_task(work), asyncio.create_task(stop.wait())
    try:
        await asyncio.wait({working, stopping}, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            return False
        working.result()
        return True
    finally:
        working.cancel()
        stopping.cancel()
        await asyncio.gather(working, stopping, return_exceptions=True)
