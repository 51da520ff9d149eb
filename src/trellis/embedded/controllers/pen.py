# SPDX-License-Identifier: Apache-2.0
"""How these controllers write: children with made-up names, patches, whole statuses.

Everything is noted in the barrier, so that the next run of the same owner sees what was written.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec

from trellis.api.meta import Key, Metadata, Object
from trellis.kube.codec import decode
from trellis.kube.errors import AlreadyExists, Conflict, KubeError, NotFound
from trellis.kube.resource import path
from trellis.kube.verbs import PatchType, strategic_patch
from trellis.runtime.barrier import CacheBehind
from trellis.runtime.difference import difference
from trellis.runtime.parallel import in_parallel
from trellis.runtime.writes import Stored

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from trellis.embedded.controllers.kinds import Json
    from trellis.kube.client import Client
    from trellis.runtime.cache import Cache
    from trellis.runtime.writes import Writes

# The server's own: without vowels, so that no words come out.
_LETTERS = "bcdfghjklmnpqrstvwxz2456789"
_SUFFIX = 5
_LONGEST_BASE = 58
_MOST_NAMES = 8
_AT_ONCE = 32
_NONE: Mapping[str, str] = {}


def _nobody(_: str) -> None:
    """Listens to none of it."""


class Pen:
    def __init__(self, client: Client, writes: Writes) -> None:
        self._client = client
        self._writes = writes

    @property
    def client(self) -> Client:
        return self._client

    async def make(
        self,
        owner: Metadata,
        cache: Cache[Any],
        bodies: Sequence[Json],
        hear: Callable[[str], None] = _nobody,
    ) -> list[Exception]:
        """Makes children; the names are made up from their `generateName`, and `hear` is told them.

        Returns what failed."""
        acts = [partial(self._make, owner, cache, body) for body in bodies]
        # The first alone: what is in its way is in the way of all.
        results = await in_parallel(acts[:1], 1, lambda _: False)
        if any(isinstance(one, Exception) for one in results):
            results += [None] * len(acts[1:])
        else:
            results += await in_parallel(acts[1:], _AT_ONCE, lambda _: False)
        for name in results:
            if isinstance(name, str):
                hear(name)
        failed = [one for one in results if isinstance(one, Exception)]
        missing = sum(one is None for one in results)
        return failed + failed[:1] * missing

    async def create(self, owner: Metadata, cache: Cache[Any], key: Key, body: bytes) -> None:
        """Makes a child that has its name already."""
        await self._writes.create(owner.uid, cache, key, body)

    async def delete(
        self,
        owner: Metadata,
        cache: Cache[Any],
        children: Iterable[Object],
        hear: Callable[[str], None] = _nobody,
    ) -> None:
        """Deletes children; `hear` is told the names of those that go."""
        going = [one.metadata for one in children]
        acts = [partial(self._writes.delete, owner.uid, cache, one) for one in going]
        results = await in_parallel(acts, _AT_ONCE, lambda _: True)
        for one, result in zip(going, results, strict=True):
            if not isinstance(result, Exception):
                hear(one.name)
        for result in results:
            if isinstance(result, Exception):
                raise result

    async def patch(
        self, owner: Metadata, cache: Cache[Any], have: Metadata, patch: Json, part: str = ""
    ) -> None:
        """A strategic patch of that object and no later one of its name; gone is as good."""
        guarded = {**patch, "metadata": {**patch.get("metadata", {}), "uid": have.uid}}
        found = self._client.of(cache.resource, Stored, have.namespace)
        try:
            stored = await found.patch(have.name, strategic_patch(guarded), subresource=part)
        except (NotFound, Conflict):
            self._writes.barrier.deleted(owner.uid, cache, have.key, have.uid)
        except KubeError as error:
            if error.may_have_happened:
                self._writes.barrier.doubt(owner.uid, cache, have.key)
            raise
        else:
            self._writes.barrier.wrote(owner.uid, cache, stored.metadata.resource_version)

    async def status(
        self,
        cache: Cache[Any],
        have: Metadata,
        old: Json,
        new: Json,
        annotations: Mapping[str, str] = _NONE,
    ) -> Metadata:
        """Writes a status that differs. Returns the metadata to write it with the next time."""
        gap = difference({"status": old}, {"status": new}, (("status",),))
        missing = {name: value for name, value in new.items() if name not in old}
        marks = {k: v for k, v in annotations.items() if have.annotations.get(k) != v}
        if not gap and not missing and not marks:
            return have
        patch: Json = {"status": {**missing, **gap.get("status", {})}}
        if marks:
            patch["metadata"] = {"annotations": marks}
        return await self._writes.change(cache, have, patch, part="status")

    async def change_status(self, cache: Cache[Any], have: Metadata, changes: Json) -> Metadata:
        """Writes these fields of a status, and no others."""
        return await self._writes.change(cache, have, {"status": changes}, part="status")

    async def apply(
        self, have: Metadata, cache: Cache[Any], fields: Json, manager: str, part: str = ""
    ) -> None:
        """Applies fields under a name of their own; that the object is gone is as good."""
        resource = cache.resource
        namespace = {"namespace": have.namespace} if have.namespace else {}
        body = {
            "apiVersion": resource.api_version,
            "kind": resource.kind,
            "metadata": {"name": have.name, "uid": have.uid, **namespace},
            **fields,
        }
        found = self._client.of(resource, Stored, have.namespace)
        request = found.request(
            "PATCH",
            path(resource, have.namespace, have.name, part),
            (("fieldManager", manager), ("force", "true")),
            (PatchType.APPLY.value, msgspec.json.encode(body)),
        )
        try:
            answer = (await self._client.send(request)).body
        except (NotFound, Conflict):
            self._writes.barrier.deleted(have.uid, cache, have.key, have.uid)
            return
        stored = decode(answer, Stored, str(request))
        self._writes.barrier.wrote(have.uid, cache, stored.metadata.resource_version)

    async def change(self, cache: Cache[Any], have: Metadata, patch: Json) -> Metadata:
        """A merge patch of an object that stands for itself, just as it was read."""
        return await self._writes.change(cache, have, patch)

    async def _make(self, owner: Metadata, cache: Cache[Any], body: Json) -> str:
        base: str = body["metadata"]["generateName"][:_LONGEST_BASE]
        for _ in range(_MOST_NAMES):
            name = base + "".join(self._client.rng.choices(_LETTERS, k=_SUFFIX))
            key = Key(owner.namespace, name)
            named = {**body, "metadata": {**body["metadata"], "name": name}}
            try:
                await self._writes.create(owner.uid, cache, key, msgspec.json.encode(named))
            except AlreadyExists:
                continue
            return name
        raise CacheBehind(f"every name that was tried for {base} is taken")
