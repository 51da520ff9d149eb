# SPDX-License-Identifier: Apache-2.0
"""What runs beside the API server: started by name, watched, and stopped together."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, TypeVar

from trellis.runtime.racing import first, raised

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

T = TypeVar("T")
# How long a part may take to end by itself before it is cut off.
GRACE_SECONDS = 2.0


class PartEnded(Exception):
    """A part that must not end has ended."""


class Parts:
    """Each is a coroutine that is given an event, to end soon after it is set."""

    def __init__(self) -> None:
        self._stop = asyncio.Event()
        self._tasks: dict[asyncio.Task[None], str] = {}

    def start(self, name: str, run: Callable[[asyncio.Event], Coroutine[Any, Any, None]]) -> None:
        self._tasks[asyncio.create_task(run(self._stop), name=name)] = name

    async def failure(self) -> Exception:
        """Waits until one ends that was not told to, and returns why. For ever if none does."""
        if not self._tasks:
            await asyncio.Future()
        done, _ = await asyncio.wait(self._tasks, return_when=asyncio.FIRST_COMPLETED)
        # When several ended at once, the one started first took the others down.
        first = next(task for task in self._tasks if task in done)
        cause = None if first.cancelled() else first.exception()
        why = f"{type(cause).__name__}: {cause}" if cause else "without saying why"
        ended = PartEnded(f"{self._tasks[first]} ended: {why}")
        ended.__cause__ = cause
        return ended

    async def unless_broken(self, work: Coroutine[Any, Any, T]) -> T:
        """The work, unless a part ends meanwhile: then why it did is raised."""
        return await first(work, raised(self.failure()))

    async def stop(self) -> None:
        """Tells all of them, waits a while, and ends those that go on."""
        self._stop.set()
        if self._tasks:
            _, late = await asyncio.wait(self._tasks, timeout=GRACE_SECONDS)
            for task in late:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)
