# SPDX-License-Identifier: Apache-2.0
"""All objects of a cluster, under one version that only grows.

A commit is one synchronous step: check, journal, objects, history, watchers, observers. Nobody can
see a part of it, and no watcher can hear of a version before the events up to it are queued.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from trellis.embedded.store.changes import Resource
from trellis.embedded.store.entries import entry_of
from trellis.embedded.store.history import History
from trellis.embedded.store.shelf import Shelf
from trellis.embedded.store.subscription import Room

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from trellis.embedded.store.changes import Change
    from trellis.embedded.store.history import Trail
    from trellis.embedded.store.journal import Journal
    from trellis.embedded.store.records import Record

    Observer = Callable[[Change], None]

# Names, labels and fields beside the object's bytes, as a rough mean.
_BESIDE_DATA = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The history holds at most so many events and bytes of all resources together."""

    events: int = 200_000
    size: int = 128 * 1024 * 1024
    room: Room = field(default_factory=Room)


class Store:
    """In memory; with a journal also in a file, from which it begins."""

    def __init__(self, journal: Journal | None = None, limits: Limits | None = None) -> None:
        self._limits = limits or Limits()
        self._journal = journal
        self._history = History(self._limits.events, self._limits.size)
        self._shelves: dict[Resource, Shelf] = {}
        self._observers: list[Observer] = []
        self._untold: deque[Change] = deque()
        self._telling = False
        self._live = 0
        self.version = 0
        if journal is not None:
            try:
                self._load(journal)
            except BaseException:
                journal.close()
                raise

    def shelf(self, group: str, plural: str) -> Shelf:
        resource = Resource(group, plural)
        found = self._shelves.get(resource)
        if found is None:
            trail = self._history.trail()
            found = Shelf(self, resource, trail, self._limits.room)
            self._shelves[resource] = found
        return found

    def shelves(self) -> list[Shelf]:
        return list(self._shelves.values())

    def subscribe(self, observer: Observer) -> Callable[[], None]:
        """Has every commit told, in order, before the write returns; returns what ends that.

        An observer may write; that change is told when everybody knows the one before. What it
        raises comes out of the write, which stands, once all have been told.
        """
        self._observers.append(observer)
        return lambda: self._observers.remove(observer)

    def compact(self, version: int) -> None:
        """Forgets the history up to a version: older watches and lists are refused."""
        self._history.compact(min(version, self.version))

    def close(self) -> None:
        """Lets go of the journal. What was written is safe without it."""
        if self._journal is not None:
            self._journal.close()

    def commit(self, shelf: Shelf, trail: Trail, change: Change) -> None:
        """For shelves alone. If it raises, nothing has happened."""
        if self._journal is not None:
            self._journal.append(entry_of(change))
        self.version = change.version
        shelf.apply(change)
        self._history.add(trail, change)
        self._live += _weight(change.new) - _weight(change.old)
        if self._journal is not None and self._journal.bloated(self._live):
            self._journal.rewrite(self._alive())

    def tell(self, change: Change) -> None:
        """For shelves alone: the observers' turn."""
        if not self._observers:
            return
        self._untold.append(change)
        if self._telling:
            return
        problems: list[Exception] = []
        self._telling = True
        try:
            while self._untold:
                problems += self._told(self._untold.popleft())
        finally:
            self._telling = False
        if problems:
            raise problems[0]

    def _told(self, change: Change) -> Iterator[Exception]:
        for observer in tuple(self._observers):
            try:
                observer(change)
            except Exception as problem:
                yield problem

    def _load(self, journal: Journal) -> None:
        for entry in journal.entries():
            self.version = max(self.version, entry.version)
            self.shelf(entry.group, entry.plural).restore(entry)
        self._live = sum(_weight(record) for _, record in self._alive())
        # What happened before is not in the journal in a form that watches could be told.
        self._history.compact(self.version)

    def _alive(self) -> list[tuple[Resource, Record]]:
        return [(shelf.resource, record) for shelf in self._shelves.values() for record in shelf]


def _weight(record: Record | None) -> int:
    """About what a record takes in the journal."""
    return len(record.data) + _BESIDE_DATA if record else 0
