# SPDX-License-Identifier: Apache-2.0
"""The work queue of one controller: an agenda that workers can wait on.

It holds keys, never objects: whoever takes a key reads what is there then.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING, Generic, TypeVar

from trellis.runtime.agenda import Agenda, Priority, Span
from trellis.runtime.backoff import Backoff
from trellis.runtime.pace import STEADY, Pace, Paced

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable
    from random import Random

    from trellis.instruments.clock import Clock

K = TypeVar("K")


class WorkQueue(Generic[K]):
    def __init__(
        self,
        clock: Clock,
        rng: Random,
        backoff: Backoff | None = None,
        pace: Pace = STEADY,
        crowd: Callable[[K], Hashable] | None = None,
    ) -> None:
        self._clock = clock
        self._rng = rng
        self._backoff = backoff or Backoff()
        self._agenda: Agenda[K] = Agenda(crowd)
        self._paced: Paced[K] = Paced(pace)
        self._takers: deque[asyncio.Future[None]] = deque()
        self._idle: deque[asyncio.Future[None]] = deque()
        self._alarm: asyncio.Task[None] | None = None
        self._alarm_due = float("inf")
        self._closed = False

    @property
    def agenda(self) -> Agenda[K]:
        """To be looked at, not to be changed."""
        return self._agenda

    def oldest(self) -> float:
        """Seconds that the key which has waited longest has waited."""
        return self._agenda.waited(self._clock.monotonic())

    def add(self, key: K, priority: Priority = Priority.NORMAL) -> None:
        if not self._closed:
            now = self._clock.monotonic()
            when = Span(self._paced.lull(key, now), self._paced.due(key, now))
            self._agenda.add(key, now, priority, when)
            self._changed()

    def add_after(self, key: K, seconds: float, priority: Priority = Priority.NORMAL) -> None:
        if not self._closed:
            now = self._clock.monotonic()
            self._agenda.add_at(key, now + seconds, now, priority)
            self._changed()

    async def take(self) -> K | None:
        """The next key, to be given back with `succeed` or `fail`. None: the queue is closed."""
        while not self._closed:
            now = self._clock.monotonic()
            key = self._agenda.pop(now)
            if key is not None:
                self._paced.took(key, now)
                return key
            await self._turn()
        return None

    def succeed(self, key: K, after: float | None = None) -> None:
        """Given back: past failures are forgotten. `after`: seconds until it is looked at anew."""
        now = self._clock.monotonic()
        self._agenda.succeed(key, now, None if after is None else now + after)
        self._changed()

    def fail(self, key: K) -> float:
        """Given back to be tried again; returns after how many seconds."""
        delay = self._backoff.delay(self._agenda.failures(key) + 1, self._rng)
        self._agenda.fail(key, self._clock.monotonic(), delay)
        self._changed()
        return delay

    def put_back(self, key: K, after: float) -> None:
        """Given back as if it had not been taken, to be looked at after so many seconds."""
        now = self._clock.monotonic()
        self._agenda.put_back(key, now, now + after)
        self._changed()

    def close(self) -> None:
        """No key is handed out or taken in from here on."""
        self._closed = True
        if self._alarm:
            self._alarm.cancel()
        while self._takers:
            _wake(self._takers)

    async def drained(self) -> None:
        """Waits until every key that was handed out has been given back."""
        while self._agenda.active:
            await _wait_in(self._idle)

    def _changed(self) -> None:
        for _ in range(min(self._agenda.waiting, len(self._takers))):
            _wake(self._takers)
        if not self._agenda.active:
            while self._idle:
                _wake(self._idle)
        due = self._agenda.next_due()
        if due is not None and due < self._alarm_due and not self._closed:
            self._set_alarm(due)

    async def _turn(self) -> None:
        try:
            await _wait_in(self._takers)
        except asyncio.CancelledError:
            # The key that it was woken for is somebody else's now.
            self._changed()
            raise

    def _set_alarm(self, due: float) -> None:
        if self._alarm:
            self._alarm.cancel()
        self._alarm_due = due
        self._alarm = asyncio.get_running_loop().create_task(self._ring())

    async def _ring(self) -> None:
        due = self._alarm_due
        await self._clock.sleep(due - self._clock.monotonic())
        self._alarm = None
        self._alarm_due = float("inf")
        # Timers may ring a hair early: an alarm for the rest would ring at once, over and over.
        self._agenda.ripen(max(due, self._clock.monotonic()))
        self._changed()


async def _wait_in(line: deque[asyncio.Future[None]]) -> None:
    turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    line.append(turn)
    try:
        await turn
    finally:
        if turn in line:
            line.remove(turn)


def _wake(line: deque[asyncio.Future[None]]) -> None:
    turn = line.popleft()
    if not turn.done():
        turn.set_result(None)
