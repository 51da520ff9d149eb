# SPDX-License-Identifier: Apache-2.0
"""Work of which only the first to end counts."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

if TYPE_CHECKING:
    from collections.abc import Awaitable, Coroutine

T = TypeVar("T")


async def first(*works: Coroutine[Any, Any, T]) -> T:
    """What the first to end returns or raises, the earlier in the list if several end at once.

    The others are given up, and have ended when this returns.
    """
    tasks = [asyncio.ensure_future(work) for work in works]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        return next(task for task in tasks if task in done).result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def raised(failure: Awaitable[Exception]) -> NoReturn:
    """Raises the failure once it is there: to race against it."""
    raise await failure
