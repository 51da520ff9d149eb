# SPDX-License-Identifier: Apache-2.0
"""How many requests may be under way at once: found out by trying, as TCP does.

`Window` decides: it opens by one a round trip while it is full and answers come quickly, and halves
when the server pushes back. `Gate` makes callers wait their turn, in the order in which the batches
that they belong to are due.
"""

from __future__ import annotations

import asyncio
from enum import Enum, auto
from heapq import heapify, heappop, heappush

from trellis.kube.batch import current

START = 32
CAP = 256
FLOOR = 1
# More in flight than the server works on only makes every answer later (measured: 32 in flight are
# answered in 30 ms, 256 in 250 ms at the same rate). So the window opens only below this.
QUICK_SECONDS = 0.05

# So many at once are a crowd where answers are slow; how fast it is learnt how slow they are.
CROWD = 4
LEARNING = 0.1


class Verdict(Enum):
    """What one exchange says about the server."""

    QUICK = auto()
    SLOW = auto()
    PUSHED_BACK = auto()


class Window:
    """The limit itself, additive in growing and multiplicative in shrinking. Pure."""

    def __init__(self, start: int = START, cap: int = CAP) -> None:
        self._limit = float(start)
        self._cap = float(cap)
        self._shrunk_at = 0

    @property
    def limit(self) -> int:
        return int(self._limit)

    def learn(self, verdict: Verdict, *, ticket: int, newest: int, full: bool) -> None:
        """Tickets count admissions. One push-back speaks for all that was under way with it."""
        if verdict is Verdict.PUSHED_BACK:
            if ticket > self._shrunk_at:
                self._limit = max(float(FLOOR), self._limit / 2)
                self._shrunk_at = newest
        elif verdict is Verdict.QUICK and full:
            self._limit = min(self._cap, self._limit + 1 / self._limit)


class Gate:
    """Lets as many through as the window allows."""

    def __init__(self, window: Window | None = None) -> None:
        self.window = window or Window()
        self._under_way = 0
        self._tickets = 0
        self._slow_share = 0.0
        self.answer_seconds = 0.0
        """After how long the server has answered of late."""
        self._came = 0
        self._waiting: list[tuple[int, int, asyncio.Future[None]]] = []
        """By when it is due, and who came first."""

    @property
    def under_way(self) -> int:
        return self._under_way

    @property
    def is_crowded(self) -> bool:
        """Whether whatever can wait had better: others do, or answers come late as it is."""
        crowd = self._under_way >= CROWD and self._slow_share > 0.5
        return bool(self._waiting) or crowd or 2 * self._under_way >= self.window.limit

    async def enter(self) -> int:
        """Waits for a place, and returns the ticket to leave with."""
        if self._waiting or self._under_way >= self.window.limit:
            await self._turn()
        else:
            self._under_way += 1
        self._tickets += 1
        return self._tickets

    def leave(self, ticket: int, verdict: Verdict | None) -> None:
        """Gives the place up. No verdict: the exchange says nothing about the server's load."""
        if verdict is not None:
            slow = verdict is not Verdict.QUICK
            self._slow_share += (slow - self._slow_share) * LEARNING
            full = self._under_way >= self.window.limit
            self.window.learn(verdict, ticket=ticket, newest=self._tickets, full=full)
        self._free()

    def heard(self, seconds: float) -> None:
        """The server took that long to answer a request."""
        self.answer_seconds += (seconds - self.answer_seconds) * LEARNING

    async def _turn(self) -> None:
        turn = asyncio.get_running_loop().create_future()
        self._came += 1
        place = (current().due(self._tickets), self._came, turn)
        heappush(self._waiting, place)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._free()
            elif place in self._waiting:
                # Else whoever freed a place has passed it over already.
                self._waiting.remove(place)
                heapify(self._waiting)
            raise

    def _free(self) -> None:
        self._under_way -= 1
        while self._waiting and self._under_way < self.window.limit:
            _, _, turn = heappop(self._waiting)
            if not turn.done():
                self._under_way += 1
                turn.set_result(None)
