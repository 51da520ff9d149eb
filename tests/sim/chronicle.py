# SPDX-License-Identifier: Apache-2.0
"""Everything that was ever stored, in order, and who did it: what invariants are held against.

It hears of each commit before anybody else can act on it.
"""

from __future__ import annotations

import asyncio
from bisect import bisect_right
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.sim.hand import CALLER, Caller

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from trellis.embedded.store.changes import Change
    from trellis.embedded.store.store import Store

Body = dict[str, Any]

HOLDING = "example.com/holding"
"""A finalizer that nobody ever takes off."""


class Place(NamedTuple):
    """Where an object is: plurals are unique among the kinds that are looked at here."""

    plural: str
    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.plural} {self.namespace}/{self.name}"


@dataclass(frozen=True, slots=True)
class Commit:
    """One change of the store. `new` None: the object is gone."""

    number: int
    at: float
    caller: Caller
    place: Place
    old: Body | None
    new: Body | None
    data: bytes
    """What is stored now, or was stored last, to the byte."""

    @property
    def body(self) -> Body:
        found = self.new if self.new is not None else self.old
        assert found is not None
        return found

    @property
    def uid(self) -> str:
        return str(self.body["metadata"]["uid"])


@dataclass(slots=True)
class Chronicle:
    """`objects` is what there is now; `uids` all that ever was, with its place."""

    objects: dict[str, dict[Place, Body]] = field(default_factory=lambda: defaultdict(dict))
    uids: dict[str, Place] = field(default_factory=dict)
    dependents: dict[str, dict[Place, None]] = field(default_factory=lambda: defaultdict(dict))
    """By the uid of an owner, what names it now."""
    hearers: list[Callable[[Commit], None]] = field(default_factory=list)
    commits: int = 0
    _times: list[float] = field(default_factory=list)
    _versions: list[int] = field(default_factory=list)

    def follow(self, store: Store) -> None:
        """From now on. Nothing that was there before is anybody's child."""
        self._times.append(0.0)
        self._versions.append(store.version)
        store.subscribe(self._changed)

    def of(self, plural: str, namespace: str | None = None) -> Iterator[Body]:
        """Objects of a kind, sorted by name."""
        for place, body in sorted(self.objects[plural].items()):
            if namespace in {None, place.namespace}:
                yield body

    def get(self, plural: str, namespace: str, name: str) -> Body | None:
        return self.objects[plural].get(Place(plural, namespace, name))

    def by_uid(self, uid: str) -> Body | None:
        """The object with that uid, if it is there now."""
        place = self.uids.get(uid)
        found = self.objects[place.plural].get(place) if place else None
        return found if found is not None and found["metadata"]["uid"] == uid else None

    def version_ago(self, seconds: float) -> int:
        """Which version the store had then."""
        then = asyncio.get_running_loop().time() - seconds
        return self._versions[max(bisect_right(self._times, then) - 1, 0)]

    def _changed(self, change: Change) -> None:
        record = change.record
        place = Place(change.resource.plural, record.namespace, record.name)
        old = self.objects[place.plural].get(place)
        new: Body | None = None
        if change.deleted:
            self._drop(place)
        else:
            new = self._keep(place, record)
        now = asyncio.get_running_loop().time()
        self._times.append(now)
        self._versions.append(change.version)
        self.commits += 1
        commit = Commit(change.version, now, CALLER.get(), place, old, new, record.data)
        for hearer in tuple(self.hearers):
            hearer(commit)

    def _keep(self, place: Place, record: Any) -> Body:
        body: Body = record.decoded()
        self._drop(place)
        self.objects[place.plural][place] = body
        self.uids[record.uid] = place
        for owner in body["metadata"].get("ownerReferences", ()):
            self.dependents[owner["uid"]][place] = None
        return body

    def _drop(self, place: Place) -> None:
        gone = self.objects[place.plural].pop(place, None)
        if gone is not None:
            for owner in gone["metadata"].get("ownerReferences", ()):
                self.dependents[owner["uid"]].pop(place, None)


def is_leaving(body: Body) -> bool:
    return "deletionTimestamp" in body["metadata"]


def is_held(body: Body) -> bool:
    """Whether it can never be gone."""
    return HOLDING in body["metadata"].get("finalizers", ())


def controller_uid(body: Body) -> str:
    """The uid of what controls an object, or nothing."""
    owners = body["metadata"].get("ownerReferences", ())
    return next((str(one["uid"]) for one in owners if one.get("controller")), "")


def label(body: Body, key: str) -> str:
    return str(body["metadata"].get("labels", {}).get(key, ""))


def is_ready(pod: Body) -> bool:
    found = pod["status"].get("conditions", ())
    return any(one["type"] == "Ready" and one["status"] == "True" for one in found)


def needed(clique: Body) -> int:
    """How many pods a PodClique must have to be up."""
    spec = clique["spec"]
    return min(int(spec.get("minAvailable", spec["replicas"])), int(spec["replicas"]))


def image(spec: Body) -> str:
    """Of a pod, or of what makes pods: that by which stories tell one template from another."""
    return str(spec["containers"][0]["image"])
