# SPDX-License-Identifier: Apache-2.0
"""An event loop whose time jumps to the next timer: hours pass in milliseconds, each time alike.

Nothing outside can wake it, so a program in which everybody waits for somebody is found at once.
"""

from __future__ import annotations

import asyncio
import functools
from datetime import UTC, datetime, timedelta
from random import Random
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

P = ParamSpec("P")
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
    def __init__(self) -> None:
        super().__init__()
        self._selector = _NoFiles()
        # A timer that is reached is due, and no other: sums of floats are off by less than this.
        self._clock_resolution = 1e-9

    def time(self) -> float:
        return self._selector.now

    def pass_time(self, seconds: float) -> None:
        self._selector.now += seconds

    def _process_events(self, event_list: list[Any]) -> None:
        assert not event_list

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


def dice(seed: int) -> Random:
    """Randomness that is the same in every run."""
    return Random(seed)  # noqa: S311


def run(main: Coroutine[Any, Any, T]) -> T:
    """Runs it to its end on a loop of its own; whatever it left running is cancelled."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(main)


def virtual(test: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, T]:
    """A test that runs in virtual time."""

    @functools.wraps(test)
    def in_virtual_time(*args: P.args, **kwargs: P.kwargs) -> T:
        return run(test(*args, **kwargs))

    return in_virtual_time


def stall(seconds: float) -> None:
    """As a call that blocks the loop: time passes, and nobody moves."""
    loop = asyncio.get_running_loop()
    assert isinstance(loop, VirtualLoop)
    loop.pass_time(seconds)


async def settle() -> None:
    """Lets everybody go on until all wait for time to pass or for something from outside."""
    # Each turn of the loop lets every task that is able to, take one step; a chain of tasks that
    # wake each other is far shorter than this.
    for _ in range(100):
        await asyncio.sleep(0)
