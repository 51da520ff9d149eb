# SPDX-License-Identifier: Apache-2.0
"""The objects of one resource: read, written on condition, listed as of a version, watched."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trellis.embedded.store.cabinet import Cabinet
from trellis.embedded.store.changes import Change, Event, Resource, Telling
from trellis.embedded.store.entries import restored
from trellis.embedded.store.hub import Hub
from trellis.embedded.store.interest import EVERYTHING, Interest
from trellis.embedded.store.problems import AlreadyThere, Stale, TooLarge
from trellis.embedded.store.records import Object, Record, key_of, record_of, shared
from trellis.embedded.store.subscription import Beginning, Ending, Room, Subscription

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from trellis.embedded.store.entries import Entry
    from trellis.embedded.store.history import Trail
    from trellis.embedded.store.store import Store

# What etcd takes at most.
LARGEST: Final = 1_572_864
ABSENT: Final = 0
"""The version to expect of an object that is to be created."""


class Shelf:
    def __init__(self, store: Store, resource: Resource, trail: Trail, room: Room) -> None:
        self.resource = resource
        self._store = store
        self._trail = trail
        self._room = room
        self._cabinet = Cabinet()
        self._hub = Hub()

    def __len__(self) -> int:
        return len(self._cabinet)

    def __iter__(self) -> Iterator[Record]:
        """Every record, in no order that means anything. Nothing may be written meanwhile."""
        return iter(self._cabinet)

    @property
    def watchers(self) -> int:
        return len(self._hub)

    def get(self, namespace: str, name: str) -> Record | None:
        return self._cabinet.get(namespace, name)

    def put(self, obj: Object, fields: Mapping[str, str], expected: int) -> Record:
        """Creates where `expected` is ABSENT, else replaces the object at that very version.

        The new version is written into the object.
        """
        metadata = obj["metadata"]
        old = self.get(metadata.get("namespace") or "", metadata["name"])
        if expected == ABSENT:
            if old is not None:
                raise AlreadyThere(old)
        elif old is None or old.version != expected:
            raise Stale(key_of(metadata.get("namespace") or "", metadata["name"]), expected, old)
        version = self._store.version + 1
        record = record_of(obj, version, fields, old.created_version if old else version)
        if len(record.data) > LARGEST:
            raise TooLarge(record.key, len(record.data), LARGEST)
        self._commit(Change(self.resource, old, record))
        return record

    def remove(
        self, namespace: str, name: str, expected: int, final: Object | None = None
    ) -> Record:
        """The last state under the deletion's version: `final`, or what was stored."""
        old = self.get(namespace, name)
        if old is None or old.version != expected:
            raise Stale(key_of(namespace, name), expected, old)
        version = self._store.version + 1
        last = old.decoded() if final is None else final
        record = record_of(last, version, old.fields, old.created_version)
        self._commit(Change(self.resource, old, record, deleted=True))
        return record

    def list(
        self, namespace: str | None = None, *, at: int | None = None, after: str = ""
    ) -> list[Record]:
        """Sorted by key, from the first key after `after` on.

        `at` asks for what there was at that version; one of the future is the present.
        """
        present = self._cabinet.walk(namespace, after)
        if at is None or at >= self._store.version:
            return present
        undone = self._trail.undone(at)
        if not undone:
            return present
        then = [record for record in present if record.version <= at]
        then += [
            record
            for key, record in undone.items()
            if record and key > after and namespace in {None, record.namespace}
        ]
        then.sort(key=_key)
        return then

    def watch(self, since: int | None = None, interest: Interest = EVERYTHING) -> Subscription:
        """What happens after a version; without one what there is comes first, as ADDED."""
        newest = self._store.version
        if since is None:
            there = self._cabinet.walk(interest.namespace)
            state = [record for record in there if interest.admits(record)]
            beginning = Beginning(version=newest, state=state)
        else:
            missed = _missed(self._trail.since(since), interest)
            beginning = Beginning(version=since, missed=missed)
        subscription = Subscription(
            interest, beginning, self._room, lambda: self._store.version, self._hub.discard
        )
        self._hub.add(subscription)
        return subscription

    def forget(self) -> None:
        """Ends every watch and begins the history anew: the resource is defined, or gone.

        The objects stay; a definition that goes takes them away first, one by one.
        """
        self._trail.floor = self._store.version
        self._hub.end(Ending.FORGOTTEN)

    def reindex(self, fields_of: Callable[[Record], Mapping[str, str]]) -> None:
        """Computes the selectable fields anew, where they are defined anew. It is no change."""
        for old in list(self._cabinet):
            values = (old.namespace, old.name, old.uid, old.version, old.created_version)
            self._cabinet.place(Record(*values, old.data, old.labels, shared(fields_of(old))))

    def restore(self, entry: Entry) -> None:
        """For the store alone: what the journal says, before anybody looks."""
        if entry.record is not None:
            self._cabinet.place(restored(entry.record))
        elif self._cabinet.get(entry.namespace, entry.name) is not None:
            self._cabinet.take(entry.namespace, entry.name)

    def apply(self, change: Change) -> None:
        """For the store alone: makes a change that has been written down visible."""
        record = change.record
        if change.deleted:
            self._cabinet.take(record.namespace, record.name)
        else:
            self._cabinet.place(record)

    def _commit(self, change: Change) -> None:
        self._store.commit(self, self._trail, change)
        self._hub.deliver(change)
        self._store.tell(change)


def _key(record: Record) -> str:
    return record.key


def _missed(changes: Sequence[Change], interest: Interest) -> Sequence[Event]:
    events = (Telling(change).to(interest) for change in changes)
    return [event for event in events if event is not None]
