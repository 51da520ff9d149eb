# SPDX-License-Identifier: Apache-2.0
"""Every write that a controller makes: guarded, counted, and noted in the barrier.

What is written is decided elsewhere. A write whose fate is unknown is never repeated here: its
object is in doubt until it has been read again.
"""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import msgspec

from trellis.api.meta import Metadata, Object
from trellis.kube.errors import Conflict, Invalid, KubeError, NotFound, Outdated
from trellis.kube.verbs import Deletion, Selection, merge_patch
from trellis.runtime.barrier import CacheBehind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from prometheus_client import Counter

    from trellis.api.meta import Key, Resource
    from trellis.instruments.metrics import Meter
    from trellis.kube.client import Client
    from trellis.kube.collection import Collection
    from trellis.runtime.barrier import Barrier
    from trellis.runtime.cache import Cache
    from trellis.runtime.difference import Json

    Propagation = Literal["Background", "Foreground", "Orphan"]

T = TypeVar("T", bound=Object)

# What was decided on longer ago than that, while the server turned us away, is decided on anew.
DECIDED_SECONDS = 0.5
# For so long after the last write that was no status more may follow it.
CALM_SECONDS = 0.1
VERBS = ("create", "patch", "delete", "status")


class LeadershipLost(Exception):
    """We may not write any more: somebody else may have begun to."""


class Replaced(Exception):
    """Another object has taken the name of the one that was meant."""


class Stored(msgspec.Struct, frozen=True):
    """What is read of an answer: whatever else is in it cannot make it unreadable."""

    metadata: Metadata


class Writes:
    def __init__(
        self, client: Client, barrier: Barrier, meter: Meter, may_write: Callable[[], bool]
    ) -> None:
        self._client = client
        self._may_write = may_write
        self._urgent = 0
        self._urgent_at = -CALM_SECONDS
        self._counter = count_writes(meter)
        self.barrier = barrier

    @property
    def is_busy(self) -> bool:
        """Whether so much is on its way to the API that a status had better wait. Where all else is
        done, statuses do not wait for each other: each would be told after all others."""
        of_late = self._client.clock.monotonic() - self._urgent_at < CALM_SECONDS
        return (self._urgent > 0 or of_late) and self._client.gate.is_crowded

    @property
    def answer_seconds(self) -> float:
        """After how long the API has answered of late."""
        return self._client.gate.answer_seconds

    async def create(self, owner: str, cache: Cache[Any], key: Key, body: bytes) -> Metadata:
        """Makes an object for the owner with that uid."""
        with self._noted(owner, cache, key, "create"):
            made = await self._of(cache, key).create(body)
        self.barrier.wrote(owner, cache, made.metadata.resource_version)
        return made.metadata

    async def patch(
        self, owner: str, cache: Cache[Any], have: Metadata, patch: Json, *, part: str = ""
    ) -> Metadata:
        """Changes an object, or a part of it such as `status`, if it still is the one we read."""
        key = have.key
        guarded = {**patch, "metadata": {**patch.get("metadata", {}), "uid": have.uid}}
        verb = "status" if part == "status" else "patch"
        try:
            with self._noted(owner, cache, key, verb):
                change = merge_patch(guarded)
                stored = await self._of(cache, key).patch(key.name, change, subresource=part)
        except Invalid as error:
            # So the server says that an object has another uid than the patch.
            if any(cause.field == "metadata.uid" for cause in error.causes):
                raise Replaced(f"{cache.resource.plural} {key} is another object now") from None
            raise
        self.barrier.wrote(owner, cache, stored.metadata.resource_version)
        return stored.metadata

    async def change(
        self, cache: Cache[Any], have: Metadata, patch: Json, *, part: str = ""
    ) -> Metadata:
        """Changes an object that stands for itself, just as it was read.

        When it has moved on, nothing is forced: the run is over, and the next one begins when the
        cache has what moved.
        """
        guard = {"resourceVersion": have.resource_version}
        guarded = {**patch, "metadata": {**patch.get("metadata", {}), **guard}}
        try:
            return await self.patch(have.uid, cache, have, guarded, part=part)
        except (Conflict, NotFound, Replaced):
            now = await self.read(cache, have.key)
        if now is not None and now.uid == have.uid:
            self.barrier.wrote(have.uid, cache, now.resource_version)
        else:
            self.barrier.deleted(have.uid, cache, have.key, have.uid)
        raise CacheBehind(f"{cache.resource.plural} {have.key} has moved on")

    async def delete(
        self,
        owner: str,
        cache: Cache[Any],
        have: Metadata,
        propagation: Propagation = "Background",
    ) -> None:
        """Deletes that object and no later one of its name. That it is gone already is as good."""
        key, uid = have.key, have.uid
        try:
            with self._noted(owner, cache, key, "delete"):
                deletion = Deletion(uid=uid, propagation=propagation)
                await self._of(cache, key).delete(key.name, deletion)
        except NotFound:
            pass
        except Conflict:
            found = await self.read(cache, key)
            if found is not None and found.uid == uid:
                raise
        # However it went, the cache will show it: until then it must not be counted as there.
        self.barrier.deleted(owner, cache, key, uid)

    async def read(self, cache: Cache[Any], key: Key) -> Metadata | None:
        """The object's metadata as the server has it now."""
        try:
            return (await self._of(cache, key).get(key.name)).metadata
        except NotFound:
            return None

    async def read_whole(self, cache: Cache[T], key: Key) -> T | None:
        """The object as the server has it now, whether or not the cache keeps it."""
        try:
            return await self._client.of(cache.resource, cache.kind, key.namespace).get(key.name)
        except NotFound:
            return None

    async def read_all(self, cache: Cache[Any], namespace: str, labels: str) -> list[Metadata]:
        """The metadata of what that selector finds, whether or not the cache keeps it."""
        of = self._client.of(cache.resource, Stored, namespace, patience=DECIDED_SECONDS)
        listed = await of.list(Selection(labels=labels))
        return [found.metadata for found in listed.objects]

    async def settle(self, owner: str) -> None:
        """Reads again whatever is in doubt for the owner."""
        for cache, key in self.barrier.doubts(owner):
            found = await self.read(cache, key)
            self.barrier.cleared(owner, cache, key)
            if found is not None and _concerns(found, owner):
                self.barrier.wrote(owner, cache, found.resource_version)

    def _of(self, cache: Cache[Any], key: Key) -> Collection[Stored]:
        return self._client.of(cache.resource, Stored, key.namespace, patience=DECIDED_SECONDS)

    @contextmanager
    def _noted(self, owner: str, cache: Cache[Any], key: Key, verb: str) -> Iterator[None]:
        if not self._may_write():
            raise LeadershipLost(f"not allowed to {verb} {cache.resource.plural} {key} any more")
        self._counter.labels(cache.resource.full_name, verb).inc()
        urgent = verb != "status"
        self._urgent += urgent
        try:
            yield
        except Outdated as error:
            raise CacheBehind(str(error)) from error
        except KubeError as error:
            if error.may_have_happened:
                self.barrier.doubt(owner, cache, key)
            raise
        except asyncio.CancelledError:
            self.barrier.doubt(owner, cache, key)
            raise
        finally:
            if urgent:
                self._urgent -= 1
                self._urgent_at = self._client.clock.monotonic()


def count_writes(meter: Meter, resources: Iterable[Resource] = ()) -> Counter:
    """Where writes are counted; for these kinds from zero on, so that the first is a rise too."""
    labels = {"resource": [each.full_name for each in resources], "verb": VERBS}
    return meter.counter("trellis_writes_total", "Writes to the API.", labels)


def part_of(uid: str, part: str) -> str:
    """In whose name a part of an object is written: parts do not wait for each other's writes."""
    return f"{uid}/{part}"


def _concerns(found: Metadata, writer: str) -> bool:
    uid = writer.partition("/")[0]
    return uid in (found.uid, *(reference.uid for reference in found.owner_references))
