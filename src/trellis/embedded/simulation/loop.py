# SPDX-License-Identifier: Apache-2.0
"""An event loop whose time jumps to the next timer: hours pass in milliseconds, each time alike.

Nothing outside can wake it, so a program in which everybody waits for somebody is found at once.
"""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Coroutine
    from random import Random

T = TypeVar("T")

START = datetime(2026, 1, 1, tzinfo=UTC)


class Stuck(AssertionError):
    """Every task waits, and no timer is set."""


class _NoFiles:
    """The selector of a loop without files: to wait for them is to let the time pass."""

    def __init__(self) -> None:
        self.now = 0.0

    def select(self, timeout: float | None) -> list[Any]:
        if timeout is None:
            raise Stuck("every task waits for something that nobody will do")
        self.now += max(0.0, timeout)
        return []

    def close(self) -> None:
        pass


class VirtualLoop(asyncio.BaseEventLoop):
    """With dice, tasks that could go on in the same moment do so in an order that is drawn."""

    _ready: Any

    def __init__(self, rng: Random | None = None) -> None:
        super().__init__()
        self._rng = rng
        self._selector = _NoFiles()
        # A timer that is reached is due, and no other: sums of floats are off by less than this.
        self._clock_resolution = 1e-9

    def time(self) -> float:
        return self._selector.now

    def pass_time(self, seconds: float) -> None:
        self._selector.now += seconds

    def _run_once(self) -> None:
        if self._rng is not None and len(self._ready) > 1:
            order = list(self._ready)
            self._rng.shuffle(order)
            self._ready.clear()
            self._ready.extend(order)
        # Private to asyncio, and the one place where an order can be drawn.
        super()._run_once()  # type: ignore[misc]

    def _process_events(self, event_list: list[Any]) -> None:
        """There are no files, so there are none."""

    def _write_to_self(self) -> None:
        """Called after a call from another thread, to end a wait: here none is ever waited in."""


class VirtualClock:
    """The clock of whatever runs on a `VirtualLoop`."""

    def now(self) -> datetime:
        return START + timedelta(seconds=self.monotonic())

    def monotonic(self) -> float:
        return asyncio.get_running_loop().time()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(max(0.0, seconds))


def run(main: Coroutine[Any, Any, T], rng: Random | None = None) -> T:
    """Runs it to its end on a loop of its own; whatever it left running is cancelled."""
    with asyncio.Runner(loop_factory=lambda: VirtualLoop(rng)) as runner:
        return runner.run(main)
