# SPDX-License-Identifier: Apache-2.0
"""Disruption budgets: how many of the selected pods are well, and how many may be lost."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from trellis.api.meta import Key, OwnerReference
from trellis.api.selectors import matches
from trellis.embedded.controllers import conditions
from trellis.embedded.controllers.apps.amounts import share
from trellis.embedded.controllers.kinds import Budget, Deployment, Pod, ReplicaSet
from trellis.embedded.controllers.means import BY_NAMESPACE
from trellis.kube.errors import NotFound
from trellis.runtime.cache import Cache
from trellis.runtime.controller import Controller, Wakes
from trellis.runtime.outcome import DONE, Again

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from trellis.embedded.controllers.kinds import Json
    from trellis.embedded.controllers.means import Means
    from trellis.runtime.io import IO
    from trellis.runtime.outcome import Outcome

ALLOWED = "DisruptionAllowed"
# An evicted pod that is still there after so long was not evicted after all.
DELETION = timedelta(minutes=2)


class NoScale(Exception):
    """A pod's controller does not say how many pods it wants."""


@dataclass(frozen=True, slots=True)
class Expected:
    pods: int
    healthy: int


def needs_scale(budget: Budget) -> bool:
    """Whether it can only be reckoned from what the pods' controllers want."""
    spec = budget.spec
    return spec.max_unavailable is not None or isinstance(spec.min_available, str)


def expected(budget: Budget, pods: Sequence[Pod], scale: int) -> Expected:
    spec = budget.spec
    if spec.max_unavailable is not None:
        lost = share(spec.max_unavailable, scale, up=True)
        return Expected(scale, max(0, scale - lost))
    if isinstance(spec.min_available, str):
        return Expected(scale, share(spec.min_available, scale, up=True))
    return Expected(len(pods), spec.min_available or 0)


def status(budget: Budget, pods: Iterable[Pod], want: Expected, now: datetime) -> Json:
    kept = disrupted(budget, pods, now)
    healthy = sum(
        pod.ready and not pod.metadata.deleting and pod.metadata.name not in kept for pod in pods
    )
    allowed = max(0, healthy - want.healthy) if want.pods > 0 else 0
    generation = budget.metadata.generation
    condition = {
        "type": ALLOWED,
        "status": "True" if allowed else "False",
        "reason": "SufficientPods" if allowed else "InsufficientPods",
        "message": "",
        "observedGeneration": generation,
    }
    known = budget.status.get("conditions") or []
    return {
        "conditions": conditions.put(known, condition, now),
        "currentHealthy": healthy,
        "desiredHealthy": want.healthy,
        "disruptionsAllowed": allowed,
        "expectedPods": want.pods,
        "observedGeneration": generation,
        **({"disruptedPods": kept} if kept else {}),
    }


def disrupted(budget: Budget, pods: Iterable[Pod], now: datetime) -> dict[str, str]:
    """Pods that were promised to go and have not begun to."""
    promised: dict[str, str] = budget.status.get("disruptedPods") or {}
    there = {pod.metadata.name for pod in pods if not pod.metadata.deleting}
    return {
        name: since
        for name, since in promised.items()
        if name in there and conditions.read(since) + DELETION >= now
    }


def unknown(budget: Budget, error: Exception, now: datetime) -> Json:
    """The status when it cannot be reckoned: nothing may be lost."""
    condition = {
        "type": ALLOWED,
        "status": "False",
        "reason": "SyncFailed",
        "message": str(error),
        "observedGeneration": budget.status.get("observedGeneration", 0),
    }
    known = budget.status.get("conditions") or []
    counters = ("currentHealthy", "desiredHealthy", "expectedPods")
    zeros = {name: budget.status.get(name, 0) for name in counters}
    put = conditions.put(known, condition, now)
    return {**budget.status, **zeros, "disruptionsAllowed": 0, "conditions": put}


def budget_controller(means: Means) -> Controller[Budget]:
    budgets = Cache(Budget.resource, Budget, (BY_NAMESPACE,))

    def by_pod(pod: Pod) -> Iterable[Key]:
        found = budgets.find(BY_NAMESPACE, pod.metadata.namespace)
        return [one.metadata.key for one in found if _selects(one, pod)]

    def by_controller(found: ReplicaSet | Deployment) -> Iterable[Key]:
        within = budgets.find(BY_NAMESPACE, found.metadata.namespace)
        return [one.metadata.key for one in within if needs_scale(one)]

    return Controller(
        name="disruption",
        cache=budgets,
        reconcile=_Reconciler(means, budgets).reconcile,
        woken_by=(
            Wakes(means.pods, by_pod),
            Wakes(means.replica_sets, by_controller),
            Wakes(means.deployments, by_controller),
        ),
    )


class _Reconciler:
    def __init__(self, means: Means, budgets: Cache[Budget]) -> None:
        self._means = means
        self._budgets = budgets

    async def reconcile(self, key: Key, _: IO) -> Outcome:
        budget = self._budgets.get(key)
        if budget is None or budget.metadata.deleting:
            return DONE
        now = self._means.now()
        found = self._means.pods.find(BY_NAMESPACE, key.namespace)
        pods = [pod for pod in found if _selects(budget, pod)]
        try:
            scale = await self._scale(pods) if needs_scale(budget) else 0
            new = status(budget, pods, expected(budget, pods, scale), now)
        except NoScale as error:
            new = unknown(budget, error, now)
        pen = self._means.pen
        await pen.status(self._budgets, budget.metadata, budget.status, new)
        promised = new.get("disruptedPods") or {}
        return Again(DELETION.total_seconds()) if promised else DONE

    async def _scale(self, pods: Iterable[Pod]) -> int:
        """How many pods all the controllers of these want."""
        wanted: dict[str, int] = {}
        for pod in pods:
            owner = pod.metadata.controller
            if owner is not None and owner.uid not in wanted:
                uid, count = await self._wanted(pod, owner)
                wanted[owner.uid] = 0
                wanted[uid] = count
        return sum(wanted.values())

    async def _wanted(self, pod: Pod, owner: OwnerReference) -> tuple[str, int]:
        key = Key(pod.metadata.namespace, owner.name)
        if owner.kind == ReplicaSet.resource.kind:
            found = self._means.replica_sets.get(key)
            if found is not None and found.metadata.uid == owner.uid:
                return self._deployed(found) or (owner.uid, found.spec.replicas)
        resource = self._means.census.directory.find(owner.api_version, owner.kind)
        if resource is not None:
            of = self._means.client.of(resource, dict[str, Any], key.namespace)
            with suppress(NotFound):
                scale = await of.get(owner.name, subresource="scale")
                return owner.uid, int(scale.get("spec", {}).get("replicas", 0))
        raise NoScale(f'found no controllers for pod "{pod.metadata.name}"')

    def _deployed(self, found: ReplicaSet) -> tuple[str, int] | None:
        owner = found.metadata.controller
        if owner is None or owner.kind != Deployment.resource.kind:
            return None
        deployment = self._means.deployments.get(Key(found.metadata.namespace, owner.name))
        if deployment is None or deployment.metadata.uid != owner.uid:
            return None
        return owner.uid, deployment.spec.replicas


def _selects(budget: Budget, pod: Pod) -> bool:
    selector = budget.spec.selector
    return selector is not None and matches(selector, pod.metadata.labels)
