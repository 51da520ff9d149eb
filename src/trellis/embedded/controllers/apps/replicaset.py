# SPDX-License-Identifier: Apache-2.0
"""ReplicaSets: as many pods as they say, and how many of those are well."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trellis.api.selectors import matches
from trellis.embedded.controllers import conditions
from trellis.embedded.controllers.children import child, reference
from trellis.embedded.controllers.kinds import Pod, ReplicaSet
from trellis.embedded.controllers.means import BY_NAMESPACE
from trellis.embedded.controllers.ranking import by_worth
from trellis.embedded.controllers.telling import PodHands
from trellis.runtime.controller import Controller, Wakes, controller_of
from trellis.runtime.outcome import DONE, Again

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from trellis.api.meta import Key
    from trellis.embedded.controllers.kinds import Json
    from trellis.embedded.controllers.means import Means
    from trellis.runtime.io import IO
    from trellis.runtime.outcome import Outcome

MOST_AT_ONCE = 500
FAILURE = "ReplicaFailure"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    create: int = 0
    delete: tuple[Pod, ...] = ()


def plan(found: ReplicaSet, pods: Iterable[Pod]) -> Plan:
    if found.metadata.deleting:
        return Plan()
    active = [pod for pod in pods if pod.active]
    missing = found.spec.replicas - len(active)
    if missing >= 0:
        return Plan(create=min(missing, MOST_AT_ONCE))
    return Plan(delete=tuple(by_worth(active)[: min(-missing, MOST_AT_ONCE)]))


def status(found: ReplicaSet, pods: Sequence[Pod], now: datetime) -> Json:
    active = [pod for pod in pods if pod.active]
    labels = (found.spec.template.get("metadata") or {}).get("labels") or {}
    counts = {
        "fullyLabeledReplicas": sum(
            labels.items() <= pod.metadata.labels.items() for pod in active
        ),
        "readyReplicas": sum(pod.ready for pod in active),
        "availableReplicas": sum(
            pod.available(now, found.spec.min_ready_seconds) for pod in active
        ),
    }
    rest = {"conditions": found.status["conditions"]} if "conditions" in found.status else {}
    return {
        **rest,
        "replicas": len(active),
        "terminatingReplicas": sum(pod.terminating for pod in pods),
        "observedGeneration": found.metadata.generation,
        **{name: count for name, count in counts.items() if count},
    }


def with_failure(new: Json, error: Exception | None, now: datetime) -> Json:
    """The status with what keeps pods from being made."""
    known = new.get("conditions") or []
    if error is None:
        kept = conditions.without(known, FAILURE)
        rest = {name: value for name, value in new.items() if name != "conditions"}
        return {**rest, "conditions": kept} if kept else rest
    failure = {
        "type": FAILURE,
        "status": "True",
        "reason": "FailedCreate",
        "message": str(error),
    }
    return {**new, "conditions": conditions.put(known, failure, now)}


def next_available(found: ReplicaSet, pods: Iterable[Pod], now: datetime) -> float | None:
    """Seconds until the next pod has been ready for long enough."""
    ages = [
        (now - pod.ready_since).total_seconds()
        for pod in pods
        if pod.active and pod.ready_since is not None
    ]
    waits = [found.spec.min_ready_seconds - age for age in ages]
    return min((wait for wait in waits if wait > 0), default=None)


def replica_set_controller(means: Means) -> Controller[ReplicaSet]:
    owner = controller_of(ReplicaSet.resource)

    def keys(pod: Pod) -> Iterable[Key]:
        """Its owner; or all that might adopt it."""
        if pod.metadata.controller is not None:
            return owner(pod)
        sets = means.replica_sets.find(BY_NAMESPACE, pod.metadata.namespace)
        return [one.metadata.key for one in sets if _selects(one, pod)]

    return Controller(
        name="replicaset",
        cache=means.replica_sets,
        reconcile=_Reconciler(means).reconcile,
        woken_by=(Wakes(means.pods, keys),),
    )


class _Reconciler:
    def __init__(self, means: Means) -> None:
        self._means = means
        self._pen = means.pen
        self._hands = PodHands(means, ReplicaSet.resource)

    async def reconcile(self, key: Key, _: IO) -> Outcome:
        found = self._means.replica_sets.get(key)
        if found is None:
            return DONE
        if await self._adopt(found):
            # They count once they are seen to be ours.
            return DONE
        pods = [
            pod
            for pod in self._means.pods.owned(found.metadata.uid)
            if (owner := pod.metadata.controller) and owner.uid == found.metadata.uid
        ]
        todo = plan(found, pods)
        have, now = found.metadata, self._means.now()
        await self._hands.delete(have, todo.delete)
        failed = await self._hands.make(have, [child(found, found.spec.template)] * todo.create)
        new = with_failure(status(found, pods, now), failed[0] if failed else None, now)
        await self._pen.status(self._means.replica_sets, have, found.status, new)
        if failed:
            raise failed[0]
        wait = next_available(found, pods, now)
        return DONE if wait is None else Again(wait)

    async def _adopt(self, found: ReplicaSet) -> bool:
        """Pods that the selector finds and nobody controls become ours."""
        orphans = [
            pod
            for pod in self._means.pods.find(BY_NAMESPACE, found.metadata.namespace)
            if pod.metadata.controller is None and pod.active and _selects(found, pod)
        ]
        if found.metadata.deleting:
            return False
        patch = {"metadata": {"ownerReferences": [reference(found)]}}
        for pod in orphans:
            await self._pen.patch(found.metadata, self._means.pods, pod.metadata, patch)
        return bool(orphans)


def _selects(found: ReplicaSet, pod: Pod) -> bool:
    return matches(found.spec.selector, pod.metadata.labels)
