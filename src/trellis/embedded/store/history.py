# SPDX-License-Identifier: Apache-2.0
"""What happened of late: for watches that resume, and for lists as of an earlier version.

One bound holds for all resources together and the oldest goes first, so a quiet resource keeps what
it has for as long as a busy one does not need the room.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from trellis.embedded.store.problems import TooOld

if TYPE_CHECKING:
    from trellis.embedded.store.changes import Change
    from trellis.embedded.store.records import Record

# What a change costs beside the object's bytes.
_OVERHEAD = 512


class Trail:
    """The changes of one resource, oldest first. Those up to `floor` are no longer told."""

    __slots__ = ("changes", "floor")

    def __init__(self, floor: int) -> None:
        self.changes: deque[Change] = deque()
        self.floor = floor

    def since(self, version: int) -> list[Change]:
        """The changes after a version, in order."""
        if version < self.floor:
            raise TooOld(version, self.floor)
        found: list[Change] = []
        for change in reversed(self.changes):
            if change.version <= version:
                break
            found.append(change)
        found.reverse()
        return found

    def undone(self, version: int) -> dict[str, Record | None]:
        """By key, what was there at a version, of all that has changed since."""
        return {change.record.key: change.old for change in reversed(self.since(version))}


class History:
    def __init__(self, events: int, size: int) -> None:
        self._events = events
        self._size = size
        self._held = 0
        self._order: deque[Trail] = deque()
        self._trails: list[Trail] = []
        self._floor = 0

    def trail(self) -> Trail:
        """The trail of one more resource, of which nothing was forgotten but what all forgot."""
        trail = Trail(self._floor)
        self._trails.append(trail)
        return trail

    def add(self, trail: Trail, change: Change) -> None:
        trail.changes.append(change)
        self._order.append(trail)
        self._held += _cost(change)
        while len(self._order) > self._events or self._held > self._size:
            self._drop()

    def compact(self, version: int) -> None:
        """Forgets everything up to a version."""
        while self._order and self._order[0].changes[0].version <= version:
            self._drop()
        self._floor = max(self._floor, version)
        for trail in self._trails:
            trail.floor = max(trail.floor, version)

    def _drop(self) -> None:
        trail = self._order.popleft()
        change = trail.changes.popleft()
        self._held -= _cost(change)
        trail.floor = max(trail.floor, change.version)


def _cost(change: Change) -> int:
    return len(change.record.data) + _OVERHEAD
