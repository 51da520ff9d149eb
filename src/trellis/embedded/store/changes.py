# SPDX-License-Identifier: Apache-2.0
"""What one commit did, and what it means to those who watch."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Literal, NamedTuple

import msgspec

from trellis.embedded.store.records import Record

if TYPE_CHECKING:
    from trellis.embedded.store.interest import Interest

EventType = Literal["ADDED", "MODIFIED", "DELETED"]
Shape = Callable[[Record], bytes]


class Resource(NamedTuple):
    group: str
    plural: str


class Change(msgspec.Struct, frozen=True, gc=False):
    """`record` is the new state or, of a deletion, the last one under the deletion's version."""

    resource: Resource
    old: Record | None
    record: Record
    deleted: bool = False

    @property
    def version(self) -> int:
        return self.record.version

    @property
    def new(self) -> Record | None:
        return None if self.deleted else self.record

    @property
    def type(self) -> EventType:
        if self.deleted:
            return "DELETED"
        return "MODIFIED" if self.old else "ADDED"


class Event:
    """What a watcher is told. One event serves many watchers, so each of its lines is made once."""

    __slots__ = ("_line", "_shaped", "record", "type")

    def __init__(self, type_: EventType, record: Record) -> None:
        self.type = type_
        self.record = record
        self._line: bytes | None = None
        self._shaped: dict[Hashable, bytes] | None = None

    @property
    def version(self) -> int:
        return self.record.version

    @property
    def line(self) -> bytes:
        """The event with the whole object, as a line of a watch."""
        if self._line is None:
            self._line = line(self.type, self.record.data)
        return self._line

    def shaped(self, form: Hashable, shape: Shape) -> bytes:
        """The line with the object in another form; `form` tells `shape` from all others."""
        if self._shaped is None:
            self._shaped = {}
        found = self._shaped.get(form)
        if found is None:
            found = self._shaped[form] = line(self.type, shape(self.record))
        return found

    def __repr__(self) -> str:
        return f"<{self.type} {self.record.key} at {self.version}>"


def line(type_: str, body: bytes) -> bytes:
    """One line of a watch; `body` is the object's JSON."""
    return b'{"type":"%b","object":%b}\n' % (type_.encode(), body)


class Telling:
    """The events that one change is to different watchers, each made when first wanted."""

    __slots__ = ("_change", "_events", "plain")

    def __init__(self, change: Change) -> None:
        self._change = change
        self.plain = Event(change.type, change.record)
        """To those who see the object before and after."""
        self._events: dict[EventType, Event] = {self.plain.type: self.plain}

    def to(self, interest: Interest) -> Event | None:
        """None: it is no concern of theirs. To leave what they see is to be deleted, for them."""
        change = self._change
        was = change.old is not None and interest.admits(change.old)
        if not change.deleted and interest.admits(change.record):
            return self._event("MODIFIED" if was else "ADDED")
        return self._event("DELETED") if was else None

    def _event(self, type_: EventType) -> Event:
        found = self._events.get(type_)
        if found is None:
            found = self._events[type_] = Event(type_, self._record(type_))
        return found

    def _record(self, type_: EventType) -> Record:
        """A departure shows what the watcher knew, under the version at which it left."""
        change = self._change
        if type_ == "DELETED" and change.old is not None:
            return change.old.reissued(change.version)
        return change.record
