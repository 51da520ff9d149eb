# SPDX-License-Identifier: Apache-2.0
"""Deployments: a ReplicaSet for every template, and a rollout from one to the next."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from trellis.api.meta import Key
from trellis.api.selectors import matcher
from trellis.embedded.controllers.apps.rollout import (
    REVISION,
    body,
    current_revision,
    marks,
    plan,
    sets_of,
    size,
)
from trellis.embedded.controllers.apps.standing import seconds_until_late, status
from trellis.embedded.controllers.children import reference
from trellis.embedded.controllers.kinds import Deployment, Pod, ReplicaSet
from trellis.embedded.controllers.telling import Voice
from trellis.kube.errors import AlreadyExists, KubeError
from trellis.runtime.controller import Controller, Wakes, controller_of
from trellis.runtime.notes import Note
from trellis.runtime.outcome import DONE, Again

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trellis.api.meta import Metadata
    from trellis.embedded.controllers.apps.rollout import Plan, Sets
    from trellis.embedded.controllers.means import Means
    from trellis.runtime.io import IO
    from trellis.runtime.outcome import Outcome


def deployment_controller(means: Means) -> Controller[Deployment]:
    of_set = controller_of(ReplicaSet.resource)
    of_deployment = controller_of(Deployment.resource)

    def by_pod(pod: Pod) -> Iterable[Key]:
        """Only where it waits for old pods to be gone."""
        for key in of_set(pod):
            owner = means.replica_sets.get(key)
            for found in of_deployment(owner) if owner else ():
                deployment = means.deployments.get(found)
                if deployment is not None and deployment.spec.strategy.type == "Recreate":
                    yield found

    return Controller(
        name="deployment",
        cache=means.deployments,
        reconcile=_Reconciler(means).reconcile,
        woken_by=(Wakes(means.replica_sets, of_deployment), Wakes(means.pods, by_pod)),
    )


class _Reconciler:
    def __init__(self, means: Means) -> None:
        self._means = means
        self._pen = means.pen
        self._voice = Voice(means, Deployment.resource)

    async def reconcile(self, key: Key, _: IO) -> Outcome:
        found = self._means.deployments.get(key)
        if found is None:
            return DONE
        sets = sets_of(found, self._sets(found))
        if sets.new is None and await self._adopt(found):
            # Told of again as soon as they are ours.
            return DONE
        todo = plan(found, sets, self._pods(sets))
        await self._do(found, sets, todo)
        now = self._means.now()
        new = status(found, sets, now)
        number = {} if sets.new is None else {REVISION: str(current_revision(sets))}
        await self._pen.status(self._means.deployments, found.metadata, found.status, new, number)
        wait = seconds_until_late(found, new, now)
        return DONE if wait is None else Again(wait)

    def _sets(self, found: Deployment) -> list[ReplicaSet]:
        return [
            one
            for one in self._means.replica_sets.owned(found.metadata.uid)
            if (owner := one.metadata.controller) and owner.uid == found.metadata.uid
        ]

    async def _adopt(self, found: Deployment) -> bool:
        """ReplicaSets that nobody owns and the selector picks: an earlier deployment left them."""
        matches = matcher(found.spec.selector)
        orphans = [
            one
            for one in self._means.replica_sets
            if one.metadata.namespace == found.metadata.namespace
            and one.metadata.controller is None
            and not one.metadata.deleting
            and matches(one.metadata.labels)
        ]
        if found.metadata.deleting:
            return False
        for one in orphans:
            patch = {"metadata": {"uid": one.metadata.uid, "ownerReferences": [reference(found)]}}
            await self._pen.patch(found.metadata, self._means.replica_sets, one.metadata, patch)
        return bool(orphans)

    def _pods(self, sets: Sets) -> list[Pod]:
        return [pod for one in sets.all for pod in self._means.pods.owned(one.metadata.uid)]

    async def _do(self, found: Deployment, sets: Sets, todo: Plan) -> None:
        have, cache = found.metadata, self._means.replica_sets
        if todo.create is not None:
            await self._create(found, sets, todo.create)
        elif sets.new is not None and not found.spec.paused:
            await self._annotate(found, sets, sets.new)
        for one in sets.all:
            wanted = todo.scale.get(one.metadata.uid)
            if wanted is not None:
                patch = {"metadata": {"annotations": size(found)}, "spec": {"replicas": wanted}}
                await self._pen.patch(have, cache, one.metadata, patch)
                self._tell_of_scale(have, one.metadata.name, one.spec.replicas, wanted)
        await self._pen.delete(have, cache, todo.delete)

    async def _create(self, found: Deployment, sets: Sets, count: int) -> None:
        made = body(found, sets, count, reference(found))
        key = Key(found.metadata.namespace, made["metadata"]["name"])
        try:
            await self._pen.create(
                found.metadata, self._means.replica_sets, key, msgspec.json.encode(made)
            )
        except AlreadyExists:
            # Another template has that name: the next hash is another one.
            collisions = found.status.get("collisionCount", 0) + 1
            new = {**found.status, "collisionCount": collisions}
            await self._pen.status(self._means.deployments, found.metadata, found.status, new)
        except KubeError as error:
            text = f'Failed to create new replica set "{key.name}": {error}'
            note = Note("ReplicaSetCreateError", text, type="Warning")
            self._voice.say(found.metadata, note)
            raise
        else:
            self._tell_of_scale(found.metadata, key.name, 0, count)

    def _tell_of_scale(self, about: Metadata, name: str, old: int, new: int) -> None:
        if old != new:
            way = "up" if new > old else "down"
            text = f"Scaled {way} replica set {name} from {old} to {new}"
            self._voice.say(about, Note("ScalingReplicaSet", text))

    async def _annotate(self, found: Deployment, sets: Sets, new: ReplicaSet) -> None:
        """The new one has the highest number, also when it was an old one before."""
        wanted = marks(found, sets)
        if not wanted.items() <= new.metadata.annotations.items():
            await self._pen.patch(
                found.metadata,
                self._means.replica_sets,
                new.metadata,
                {"metadata": {"annotations": wanted}},
            )
