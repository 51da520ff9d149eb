# SPDX-License-Identifier: Apache-2.0
"""Empties a namespace that is to go, says what is in the way, and lets it go when it is empty."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from trellis.embedded.controllers import conditions
from trellis.embedded.controllers.collecting.graph import Thing
from trellis.embedded.controllers.kinds import Namespace
from trellis.kube.errors import Conflict, NotFound, Unsupported
from trellis.kube.verbs import EVERYTHING, Deletion
from trellis.runtime.barrier import CacheBehind
from trellis.runtime.controller import Controller
from trellis.runtime.outcome import DONE

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from trellis.api.meta import Key
    from trellis.embedded.controllers.collecting.directory import Kind
    from trellis.embedded.controllers.kinds import Json
    from trellis.embedded.controllers.means import Means
    from trellis.runtime.io import IO
    from trellis.runtime.outcome import Outcome

FINALIZER = "kubernetes"
_BACKGROUND = Deletion(propagation="Background")


@dataclass(slots=True)
class Left:
    """What is left: how many of each resource, and how many that a finalizer holds."""

    resources: Counter[str] = field(default_factory=Counter)
    finalizers: Counter[str] = field(default_factory=Counter)

    def __bool__(self) -> bool:
        return bool(self.resources)


def namespace_controller(means: Means) -> Controller[Namespace]:
    return Controller(name="namespace", cache=means.namespaces, reconcile=Sweeper(means).reconcile)


class Sweeper:
    def __init__(self, means: Means) -> None:
        self._cache = means.namespaces
        self._census = means.census
        self._pen = means.pen
        self._client = means.client

    async def reconcile(self, key: Key, _: IO) -> Outcome:
        found = self._cache.get(key)
        if found is None or not found.metadata.deleting or FINALIZER not in found.spec.finalizers:
            return DONE
        await self._census.until_read()
        left = await self._sweep(key.name)
        status = told(found.status, left, self._client.clock.now())
        try:
            await self._pen.status(self._cache, found.metadata, found.status, status)
            if not left:
                await self._finalize(key.name, found.metadata.uid)
        except NotFound:
            # Somebody has finalized it by hand.
            return DONE
        return DONE

    async def _sweep(self, namespace: str) -> Left:
        """Pods first: what they use must not go before them."""
        kinds = [kind for kind in self._census.directory if kind.resource.namespaced]
        pods = [kind for kind in kinds if kind.resource.full_name == "pods"]
        left = Left()
        for kind in pods:
            await self._empty(kind, namespace, left)
        if left:
            return left
        for kind in kinds:
            if kind not in pods:
                await self._empty(kind, namespace, left)
        return left

    async def _empty(self, kind: Kind, namespace: str, left: Left) -> None:
        found = await self._list(kind, namespace)
        if any(not thing.metadata.deleting for thing in found):
            await self._delete(kind, namespace, found)
            found = await self._list(kind, namespace)
        if not found:
            return
        resource = kind.resource
        left.resources[f"{resource.plural}.{resource.group}"] += len(found)
        for thing in found:
            left.finalizers.update(thing.metadata.finalizers)

    async def _list(self, kind: Kind, namespace: str) -> list[Thing]:
        try:
            return (await self._client.of(kind.resource, Thing, namespace).list()).objects
        except (NotFound, Unsupported):
            # The kind is gone, and all its objects with it.
            return []

    async def _delete(self, kind: Kind, namespace: str, found: Iterable[Thing]) -> None:
        of = self._client.of(kind.resource, Thing, namespace)
        if kind.swept:
            await of.delete_all(EVERYTHING, _BACKGROUND)
            return
        for thing in found:
            try:
                await of.delete(thing.metadata.name, _BACKGROUND)
            except NotFound:
                continue

    async def _finalize(self, name: str, uid: str) -> None:
        of = self._client.of(Namespace.resource, dict[str, Any])
        found = await of.get(name)
        if found["metadata"]["uid"] != uid:
            return
        rest = [one for one in found["spec"].get("finalizers", ()) if one != FINALIZER]
        try:
            await of.replace(name, {**found, "spec": {"finalizers": rest}}, subresource="finalize")
        except Conflict:
            raise CacheBehind(f"the namespace {name} has moved on") from None


def told(status: Json, left: Left, now: datetime) -> Json:
    """The status with the five conditions that say how the sweeping goes."""
    found = list(status.get("conditions") or ())
    for condition in _conditions(left):
        found = conditions.put(found, condition, now)
    return {**status, "conditions": found}


def _conditions(left: Left) -> Iterable[Json]:
    yield _condition(
        "NamespaceDeletionDiscoveryFailure",
        "ResourcesDiscovered",
        "All resources successfully discovered",
    )
    yield _condition(
        "NamespaceDeletionGroupVersionParsingFailure",
        "ParsedGroupVersions",
        "All legacy kube types successfully parsed",
    )
    yield _condition(
        "NamespaceDeletionContentFailure",
        "ContentDeleted",
        "All content successfully deleted, may be waiting on finalization",
    )
    if left.resources:
        held = ", ".join(
            f"{name} has {left.resources[name]} resource instances"
            for name in sorted(left.resources)
        )
        yield _condition(
            "NamespaceContentRemaining",
            "SomeResourcesRemain",
            f"Some resources are remaining: {held}",
            status="True",
        )
    else:
        yield _condition(
            "NamespaceContentRemaining", "ContentRemoved", "All content successfully removed"
        )
    if left.finalizers:
        held = ", ".join(
            f"{name} in {left.finalizers[name]} resource instances"
            for name in sorted(left.finalizers)
        )
        yield _condition(
            "NamespaceFinalizersRemaining",
            "SomeFinalizersRemain",
            f"Some content in the namespace has finalizers remaining: {held}",
            status="True",
        )
    else:
        yield _condition(
            "NamespaceFinalizersRemaining",
            "ContentHasNoFinalizers",
            "All content-preserving finalizers finished",
        )


def _condition(kind: str, reason: str, message: str, *, status: str = "False") -> Json:
    return {"type": kind, "status": status, "reason": reason, "message": message}
