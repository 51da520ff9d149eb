# SPDX-License-Identifier: Apache-2.0
"""The event loop of a story: time jumps, and who goes first is drawn.

By shuffling, or by priorities: then a task goes on only while nobody above it can, and at a few
moments the one on top falls to the bottom. That finds what shuffling hardly ever does, a race that
needs one task to be held back for long.
"""

from __future__ import annotations

from asyncio import Task
from typing import TYPE_CHECKING, Any

from tests.sim.story import Order
from trellis.embedded.simulation.loop import VirtualLoop

if TYPE_CHECKING:
    from asyncio import Handle
    from collections.abc import Callable
    from random import Random

# Nobody is held back for longer: some wait for others by asking again and again.
_MOST_HELD_BACK = 400
_FALLS = 3
_FALL_WITHIN = 4000
# So many turns in one moment are of somebody who comes back for ever, and time never goes on.
MOST_TURNS_AT_ONCE = 20_000
_MOMENT_SECONDS = 1e-6


class TimeStandsStill(Exception):
    """There is always something left to do now."""


class SimLoop(VirtualLoop):
    """`at_turn` holds what is to happen when the loop has turned so many times."""

    def __init__(self, order: Order, rng: Random) -> None:
        super().__init__(rng if order is Order.DRAWN else None)
        self.turns = 0
        self.at_turn: dict[int, Callable[[], None]] = {}
        self._ranks = _Ranks(rng) if order is Order.PRIORITY else None
        self._tasks_made = 0
        self._moment, self._moment_began = 0.0, 0
        self.set_task_factory(self._task)

    def _task(self, _: Any, coroutine: Any, **more: Any) -> _NumberedTask:
        self._tasks_made += 1
        task = _NumberedTask(coroutine, loop=self, **more)
        task.number = self._tasks_made
        return task

    def _run_once(self) -> None:
        self.turns += 1
        self._look_at_the_clock()
        due = self.at_turn.pop(self.turns, None)
        if due is not None:
            due()
        if len(self._ready) > 1:
            self._put_in_order()
        if self._ranks is None or len(self._ready) < 2:
            super()._run_once()
            return
        first = self._ranks.first(self._ready)
        held_back = [handle for handle in self._ready if handle is not first]
        self._ready.clear()
        self._ready.append(first)
        super()._run_once()
        # What became able to go on meanwhile has its chance with the others, next time.
        self._ready.extendleft(reversed(held_back))

    def _look_at_the_clock(self) -> None:
        if self.time() > self._moment + _MOMENT_SECONDS:
            self._moment, self._moment_began = self.time(), self.turns
        elif self.turns - self._moment_began > MOST_TURNS_AT_ONCE:
            # What is then cancelled has turns to end in.
            self._moment_began = self.turns
            raise TimeStandsStill(f"{MOST_TURNS_AT_ONCE} turns at {self._moment:.3f} s")

    def _put_in_order(self) -> None:
        """As tasks were made. asyncio keeps some in sets, which have the order of addresses."""
        order = sorted(self._ready, key=_number)
        self._ready.clear()
        self._ready.extend(order)


class _NumberedTask(Task[Any]):
    """A task that knows when it was made, and who is above it."""

    number = 0
    rank: float | None = None


class _Ranks:
    """Who is above whom. A task has a rank from when it is first seen."""

    def __init__(self, rng: Random) -> None:
        self._rng = rng
        self._falls = {rng.randrange(_FALL_WITHIN) for _ in range(_FALLS)}
        self._choices = 0
        self._oldest: Handle | None = None
        self._held_back = 0

    def first(self, ready: Any) -> Handle:
        self._choices += 1
        best = max(ready, key=self._rank)
        if self._choices in self._falls:
            task = _task_of(best)
            if task is not None:
                task.rank = -self._rng.random()
                best = max(ready, key=self._rank)
        return self._unless_starving(best, ready[0])

    def _unless_starving(self, best: Handle, oldest: Handle) -> Handle:
        if oldest is not self._oldest:
            self._oldest, self._held_back = oldest, 0
        self._held_back += 1
        return oldest if self._held_back > _MOST_HELD_BACK else best

    def _rank(self, handle: Handle) -> float:
        task = _task_of(handle)
        if task is None:
            # A timer or the end of something: it only makes somebody able to go on.
            return 2.0
        if task.rank is None:
            task.rank = self._rng.random()
        return task.rank


def _number(handle: Handle) -> int:
    """Of the task that goes on, or whose end is told."""
    task = _task_of(handle)
    if task is None:
        given: Any = getattr(handle, "_args", None)
        task = given[0] if given and isinstance(given[0], _NumberedTask) else None
    return task.number if task is not None else 0


def _task_of(handle: Handle) -> _NumberedTask | None:
    owner = getattr(getattr(handle, "_callback", None), "__self__", None)
    return owner if isinstance(owner, _NumberedTask) else None
