# SPDX-License-Identifier: Apache-2.0
"""What is to be worked on, and in which order: the queue as a value, without waiting. Pure.

A key waits once however often it is added, and is never handed out while somebody works on it; what
is added meanwhile counts as one more turn afterwards.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from enum import IntEnum
from itertools import count
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

K = TypeVar("K")

# However busy its surroundings are, an object that just failed is tried no more often than this.
SECONDS_AFTER_FAILURE = 1.0


class Priority(IntEnum):
    BACKGROUND = -100
    """What a list brought: start-up, or everything read anew."""
    NORMAL = 0
    """What somebody has just changed."""
    URGENT = 50
    """What others wait for: a deletion, a device that failed."""


# Seconds that a key is treated as having waited already. Since waiting counts the same for all, a
# background key is overtaken by keys that come up to half a minute after it, and by none later.
_HEAD_START = {Priority.BACKGROUND: -30.0, Priority.NORMAL: 0.0, Priority.URGENT: 5.0}


# Seconds that a key is treated as having come later, for each one of its crowd that waits already,
# and at most. So the thousand keys of one owner do not keep those of others waiting for all of
# them, and nobody waits for ever.
SECONDS_BEHIND_EACH = 10.0
MOST_SECONDS_BEHIND = 60.0

# Entries that nobody waits for any more, before they are swept out.
_SLACK = 64


class _Waiting(NamedTuple):
    rank: float
    since: float
    crowd: Hashable
    behind: float
    """How much later it is treated as having come, for those of its crowd."""


class Span(NamedTuple):
    """When a key may be looked at: as soon as nothing new has come for it until `due`, and `latest`
    then however much comes."""

    due: float
    latest: float


class _Later(NamedTuple):
    due: float
    latest: float
    priority: Priority


@dataclass(slots=True)
class _Failures:
    count: int
    last: float


class Agenda(Generic[K]):
    """`crowd`: to whom a key belongs. What belongs to one waits for its own, not before others."""

    def __init__(self, crowd: Callable[[K], Hashable] | None = None) -> None:
        self._crowd = crowd
        self._crowds: dict[Hashable, int] = {}
        """How many of each wait."""
        self._waiting: dict[K, _Waiting] = {}
        self._active: set[K] = set()
        self._added_meanwhile: dict[K, Priority] = {}
        self._later: dict[K, _Later] = {}
        self._failures: dict[K, _Failures] = {}
        # Entries that a better one has replaced stay in these until they come up.
        self._by_rank: list[tuple[float, int, K]] = []
        self._by_due: list[tuple[float, int, K]] = []
        self._order = count()

    @property
    def waiting(self) -> int:
        return len(self._waiting)

    @property
    def active(self) -> int:
        return len(self._active)

    @property
    def later(self) -> int:
        return len(self._later)

    def waited(self, now: float) -> float:
        """Seconds that the key which has waited longest has waited."""
        return now - min((entry.since for entry in self._waiting.values()), default=now)

    def failures(self, key: K) -> int:
        return self._failures[key].count if key in self._failures else 0

    def next_due(self) -> float | None:
        """When the first of those that wait for their time is to be looked at."""
        while self._by_due:
            due, _, key = self._by_due[0]
            if self._is_due_then(key, due):
                return due
            heapq.heappop(self._by_due)
        return None

    def add(
        self, key: K, now: float, priority: Priority = Priority.NORMAL, when: Span | None = None
    ) -> None:
        """It is to be looked at: now, `when` it may be, or soon if it has just failed."""
        failed = self._failures.get(key)
        active = key in self._active
        due = failed.last + SECONDS_AFTER_FAILURE if failed and not active else now
        span = when or Span(due, due)
        self._add_in(key, Span(max(due, span.due), max(due, span.latest)), now, priority)

    def add_at(self, key: K, due: float, now: float, priority: Priority = Priority.NORMAL) -> None:
        """It is to be looked at then, or sooner if it is to be anyway."""
        known = self._later.get(key)
        self._add_in(key, Span(min(due, known.due) if known else due, due), now, priority)

    def _add_in(self, key: K, span: Span, now: float, priority: Priority) -> None:
        if span.due <= now:
            self._make_wait(key, now, priority)
        elif key not in self._waiting:
            known = self._later.get(key, _Later(*span, priority))
            latest = min(span.latest, known.latest)
            later = _Later(min(span.due, latest), latest, max(priority, known.priority))
            if later != self._later.get(key):
                self._later[key] = later
                self._note_due(key, later.due)

    def ripen(self, now: float) -> None:
        """Those whose time has come wait from here on."""
        while (due := self.next_due()) is not None and due <= now:
            _, _, key = heapq.heappop(self._by_due)
            self._make_wait(key, due, self._later[key].priority)

    def pop(self, now: float) -> K | None:
        """The key whose turn it is, now active, or None when none waits."""
        self.ripen(now)
        while self._by_rank:
            rank, _, key = heapq.heappop(self._by_rank)
            waiting = self._waiting.get(key)
            if waiting is not None and waiting.rank == rank:
                del self._waiting[key]
                self._has_left(waiting.crowd)
                self._active.add(key)
                return key
        return None

    def succeed(self, key: K, now: float, due: float | None = None) -> None:
        """Its turn is over, past failures are forgotten. `due`: when it wants the next one."""
        self._failures.pop(key, None)
        self._leave(key, now, due)

    def fail(self, key: K, now: float, delay: float) -> None:
        """Its turn is over and it is to have another one after the delay."""
        self._failures[key] = _Failures(self.failures(key) + 1, now)
        self._leave(key, now, now + delay)

    def put_back(self, key: K, now: float, due: float) -> None:
        """Its turn is over and counts as neither success nor failure."""
        self._leave(key, now, due)

    def _leave(self, key: K, now: float, due: float | None) -> None:
        # What came due during the turn is for the turn after it, however this one ended.
        self.ripen(now)
        self._active.remove(key)
        if due is not None:
            self.add_at(key, due, now)
        if key in self._added_meanwhile:
            self.add(key, now, self._added_meanwhile.pop(key))

    def _make_wait(self, key: K, since: float, priority: Priority) -> None:
        later = self._later.pop(key, None)
        if key in self._active:
            self._added_meanwhile[key] = max(priority, self._added_meanwhile.get(key, priority))
            return
        if later is not None:
            since, priority = min(since, later.due), max(priority, later.priority)
        known = self._waiting.get(key)
        crowd, behind = (known.crowd, known.behind) if known else self._joined(key)
        if priority is Priority.URGENT:
            behind = 0.0
        rank = since + behind - _HEAD_START[priority]
        if known is None or rank < known.rank:
            self._waiting[key] = _Waiting(rank, known.since if known else since, crowd, behind)
            heapq.heappush(self._by_rank, (rank, next(self._order), key))

    def _joined(self, key: K) -> tuple[Hashable, float]:
        """Its crowd, of which it is one more, and how far behind the first of them it is."""
        crowd = self._crowd(key) if self._crowd else key
        before = self._crowds.get(crowd, 0)
        self._crowds[crowd] = before + 1
        return crowd, min(before * SECONDS_BEHIND_EACH, MOST_SECONDS_BEHIND)

    def _has_left(self, crowd: Hashable) -> None:
        left = self._crowds[crowd] - 1
        if left:
            self._crowds[crowd] = left
        else:
            del self._crowds[crowd]

    def _note_due(self, key: K, due: float) -> None:
        heapq.heappush(self._by_due, (due, next(self._order), key))
        # A key that asks for tomorrow and runs every second would pile up entries until tomorrow.
        if len(self._by_due) > _SLACK + 2 * len(self._later):
            self._by_due = [
                entry for entry in self._by_due if self._is_due_then(entry[2], entry[0])
            ]
            heapq.heapify(self._by_due)

    def _is_due_then(self, key: K, due: float) -> bool:
        later = self._later.get(key)
        return later is not None and later.due == due
