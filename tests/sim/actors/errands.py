# SPDX-License-Identifier: Apache-2.0
"""What somebody has to do later, once each: many changes of one object are one errand."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Hashable

T = TypeVar("T", bound="Hashable")


class Errands(Generic[T]):
    """`run` is called for each key when its time has come, in a task of its own."""

    def __init__(self, run: Callable[[T], Awaitable[None]]) -> None:
        self._run = run
        self._timers: dict[T, asyncio.TimerHandle] = {}
        self._tasks: dict[asyncio.Task[None], None] = {}

    def later(self, key: T, seconds: float) -> None:
        """Unless it is to be done anyway."""
        if key not in self._timers:
            loop = asyncio.get_running_loop()
            self._timers[key] = loop.call_later(seconds, self._begin, key)

    def stop(self) -> None:
        for timer in self._timers.values():
            timer.cancel()
        for task in self._tasks:
            task.cancel()

    def _begin(self, key: T) -> None:
        del self._timers[key]
        task = asyncio.ensure_future(self._run(key))
        self._tasks[task] = None
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.pop(task, None)
        if not task.cancelled():
            # Nobody waits for it, so what is wrong with the simulation would never be seen.
            task.result()
