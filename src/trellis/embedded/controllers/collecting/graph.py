# SPDX-License-Identifier: Apache-2.0
"""Every object there is, by its uid, with who owns whom. It says what to look at again. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trellis.api.meta import Resource

ORPHAN = "orphan"
FOREGROUND = "foregroundDeletion"
# Of so many that are gone it is remembered that they are.
MOST_GONE = 10_000


class Reference(Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True, rename="camel"):
    """An owner as a dependent names it, just as it was written."""

    api_version: str
    kind: str
    name: str
    uid: str
    controller: bool | None = None
    block_owner_deletion: bool | None = None


class Head(Struct, frozen=True, kw_only=True, gc=False, rename="camel"):
    """What the collector reads of an object's metadata."""

    name: str
    namespace: str = ""
    uid: str
    resource_version: str
    deletion_timestamp: str | None = None
    owner_references: tuple[Reference, ...] = ()
    finalizers: tuple[str, ...] = ()

    @property
    def deleting(self) -> bool:
        return self.deletion_timestamp is not None

    @property
    def waits_for_dependents(self) -> bool:
        return self.deleting and FOREGROUND in self.finalizers


class Thing(Struct, frozen=True, gc=False):
    """Any object."""

    metadata: Head


@dataclass(frozen=True, slots=True)
class Node:
    resource: Resource
    head: Head


class Place(NamedTuple):
    resource: str
    namespace: str
    name: str


@dataclass(slots=True)
class Graph:
    """Each change returns the uids of the objects whose fate it may have changed."""

    _nodes: dict[str, Node] = field(default_factory=dict)
    _places: dict[str, dict[Place, str]] = field(default_factory=dict)
    """The uids of each kind, by where the objects are."""
    _dependents: dict[str, dict[str, None]] = field(default_factory=dict)
    _gone: dict[str, None] = field(default_factory=dict)

    def get(self, uid: str) -> Node | None:
        return self._nodes.get(uid)

    def saw_go(self, uid: str) -> bool:
        """Whether an object of that uid is known to be gone, and not just unknown."""
        return uid in self._gone

    def dependents(self, uid: str) -> list[Node]:
        return [self._nodes[each] for each in self._dependents.get(uid, {})]

    def put(self, resource: Resource, head: Head) -> list[str]:
        place = Place(resource.full_name, head.namespace, head.name)
        looked: list[str] = []
        places = self._places.setdefault(place.resource, {})
        known = places.get(place)
        if known is not None and known != head.uid:
            # The name has passed to another object, and the end of the first went unseen.
            looked += self.remove(place)
        old = self._nodes.get(head.uid)
        self._nodes[head.uid] = Node(resource, head)
        places[place] = head.uid
        looked += self._owned(old.head if old else None, head)
        if _fate(old.head if old else None) != _fate(head):
            looked.append(head.uid)
        return looked

    def remove(self, place: Place) -> list[str]:
        """It is gone for good."""
        uid = self._places.get(place.resource, {}).get(place)
        if uid is None:
            return self._never_seen(place)
        self._gone[uid] = None
        if len(self._gone) > MOST_GONE:
            del self._gone[next(iter(self._gone))]
        return self.forget(place)

    def forget(self, place: Place) -> list[str]:
        """Nothing is known of it any more."""
        uid = self._places[place.resource].pop(place)
        node = self._nodes.pop(uid)
        looked = [*self._dependents.get(uid, ())]
        return looked + self._owned(node.head, None, uid)

    def of(self, resource: Resource) -> list[Place]:
        """Where the objects of that kind are."""
        return [*self._places.get(resource.full_name, ())]

    def _owned(self, old: Head | None, new: Head | None, uid: str = "") -> list[str]:
        """Files an object under its owners. Those that wait for their dependents look again."""
        before = {one.uid: one for one in old.owner_references} if old else {}
        after = {one.uid: one for one in new.owner_references} if new else {}
        own = new.uid if new else uid
        for owner in before:
            if owner not in after:
                self._unfile(owner, own)
        for owner in after:
            self._dependents.setdefault(owner, {})[own] = None
        return [
            owner for owner, was in before.items() if after.get(owner) != was and self._waits(owner)
        ]

    def _unfile(self, owner: str, own: str) -> None:
        bucket = self._dependents.get(owner, {})
        bucket.pop(own, None)
        if not bucket:
            self._dependents.pop(owner, None)

    def _waits(self, uid: str) -> bool:
        node = self._nodes.get(uid)
        return node is not None and node.head.waits_for_dependents

    def _never_seen(self, place: Place) -> list[str]:
        """Gone before it was heard of: those that name an owner of that name look again."""
        unknown = (uid for uid in self._dependents if uid not in self._nodes)
        return [
            own
            for uid in unknown
            for own in self._dependents[uid]
            if _names(self._nodes[own].head.owner_references, uid, place.name)
        ]


def _names(references: Iterable[Reference], uid: str, name: str) -> bool:
    return any(one.uid == uid and one.name == name for one in references)


def _fate(head: Head | None) -> object:
    """What an object's own fate hangs on."""
    if head is None:
        return None
    held = tuple(one for one in head.finalizers if one in {ORPHAN, FOREGROUND})
    return head.owner_references, head.deleting, held if head.deleting else ()
