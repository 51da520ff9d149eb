# SPDX-License-Identifier: Apache-2.0
"""Tests in virtual time, on the loop that the simulation runs on."""

from __future__ import annotations

import asyncio
import functools
from random import Random
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from trellis.embedded.simulation.loop import START, Stuck, VirtualClock, VirtualLoop, run

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

P = ParamSpec("P")
T = TypeVar("T")

__all__ = [
    "START",
    "Stuck",
    "VirtualClock",
    "VirtualLoop",
    "dice",
    "run",
    "settle",
    "stall",
    "virtual",
]


def dice(seed: int) -> Random:
    """Randomness that is the same in every run."""
    return Random(seed)  # noqa: S311


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
