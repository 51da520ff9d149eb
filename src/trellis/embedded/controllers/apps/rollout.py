# SPDX-License-Identifier: Apache-2.0
"""How a Deployment goes from its old ReplicaSets to the new one. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from trellis.embedded.controllers.apps.amounts import share, template_hash

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from trellis.embedded.controllers.kinds import Deployment, Json, Pod, ReplicaSet

REVISION = "deployment.kubernetes.io/revision"
HISTORY = "deployment.kubernetes.io/revision-history"
DESIRED = "deployment.kubernetes.io/desired-replicas"
MOST = "deployment.kubernetes.io/max-replicas"
HASH = "pod-template-hash"
_NOT_COPIED = frozenset(
    {"kubectl.kubernetes.io/last-applied-configuration", REVISION, HISTORY, DESIRED, MOST}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sets:
    """The ReplicaSets of a Deployment: that of its template, if there is one, and the others."""

    new: ReplicaSet | None
    old: tuple[ReplicaSet, ...]

    @property
    def all(self) -> tuple[ReplicaSet, ...]:
        return self.old if self.new is None else (*self.old, self.new)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """`scale` says for ReplicaSets by uid how many pods they are to have."""

    scale: dict[str, int] = field(default_factory=dict)
    create: int | None = None
    """A new ReplicaSet with so many pods."""
    delete: tuple[ReplicaSet, ...] = ()


def sets_of(found: Deployment, owned: Iterable[ReplicaSet]) -> Sets:
    ordered = sorted(
        owned, key=lambda one: (str(one.metadata.creation_timestamp), one.metadata.name)
    )
    new = next((one for one in ordered if _same(one, found)), None)
    return Sets(new=new, old=tuple(one for one in ordered if one is not new))


def fence(found: Deployment) -> tuple[int, int]:
    """How many pods more than wanted there may be, and how many fewer available ones."""
    spec = found.spec
    if spec.strategy.type == "Recreate":
        return 0, 0
    rolling = spec.strategy.rolling_update
    surge = share(rolling.max_surge, spec.replicas, up=True)
    missing = share(rolling.max_unavailable, spec.replicas, up=False)
    return surge, missing if surge or missing else 1


def plan(found: Deployment, sets: Sets, pods: Sequence[Pod]) -> Plan:
    """`pods` are those of all its ReplicaSets."""
    if found.metadata.deleting:
        return Plan()
    if found.spec.paused:
        return _scaled(found, sets)
    if found.spec.strategy.type == "Recreate":
        step = _recreated(found, sets, pods)
    else:
        step = _rolled(found, sets)
    return step if step.scale or step.create is not None else Plan(delete=_history(found, sets))


def _scaled(found: Deployment, sets: Sets) -> Plan:
    """Only the number changes: that of the one that runs."""
    running = [one for one in sets.all if one.spec.replicas]
    last = sets.new or (sets.old[-1] if sets.old else None)
    chosen = running[0] if len(running) == 1 else last if not running else None
    if chosen is None or chosen.spec.replicas == found.spec.replicas:
        return Plan()
    return Plan(scale={chosen.metadata.uid: found.spec.replicas})


def _recreated(found: Deployment, sets: Sets, pods: Sequence[Pod]) -> Plan:
    alive = {one.metadata.uid: 0 for one in sets.old if one.spec.replicas}
    if alive:
        return Plan(scale=alive)
    new = sets.new.metadata.uid if sets.new else ""
    old = [pod for pod in pods if not pod.finished and _owner(pod) != new]
    return Plan() if old else _grown(found, sets, found.spec.replicas)


def _rolled(found: Deployment, sets: Sets) -> Plan:
    surge, _ = fence(found)
    wanted = found.spec.replicas
    have = sets.new.spec.replicas if sets.new else 0
    room = wanted + surge - sum(one.spec.replicas for one in sets.all)
    if have > wanted:
        return _grown(found, sets, wanted)
    if sets.new is None or (have < wanted and room > 0):
        return _grown(found, sets, have + max(0, min(room, wanted - have)))
    return _shrunk(found, sets)


def _grown(found: Deployment, sets: Sets, count: int) -> Plan:
    if sets.new is None:
        return Plan(create=count)
    if sets.new.spec.replicas == count:
        return _shrunk(found, sets)
    return Plan(scale={sets.new.metadata.uid: count})


def _shrunk(found: Deployment, sets: Sets) -> Plan:
    """Old ones lose their unhealthy pods first, then as many as may be missing."""
    if sets.new is None or not any(one.spec.replicas for one in sets.old):
        return Plan()
    _, missing = fence(found)
    floor = found.spec.replicas - missing
    unavailable = sets.new.spec.replicas - sets.new.status.get("availableReplicas", 0)
    budget = sum(one.spec.replicas for one in sets.all) - floor - unavailable
    scale: dict[str, int] = {}
    for one in sets.old:
        sick = max(0, one.spec.replicas - one.status.get("availableReplicas", 0))
        cut = min(sick, budget)
        if cut > 0:
            scale[one.metadata.uid] = one.spec.replicas - cut
            budget -= cut
    spare = sum(one.status.get("availableReplicas", 0) for one in sets.all) - floor
    for one in sets.old:
        left = scale.get(one.metadata.uid, one.spec.replicas)
        cut = min(left, spare)
        if cut > 0:
            scale[one.metadata.uid] = left - cut
            spare -= cut
    return Plan(scale=scale)


def _history(found: Deployment, sets: Sets) -> tuple[ReplicaSet, ...]:
    """Old ones that nobody will go back to."""
    idle = [
        one
        for one in sets.old
        if not one.spec.replicas
        and not one.status.get("replicas")
        and one.status.get("observedGeneration", 0) >= one.metadata.generation
        and not one.metadata.deleting
    ]
    surplus = len(idle) - found.spec.revision_history_limit
    return tuple(sorted(idle, key=revision)[: max(0, surplus)])


def revision(found: ReplicaSet | Deployment) -> int:
    text = found.metadata.annotations.get(REVISION, "")
    return int(text) if text.isascii() and text.isdecimal() else 0


def body(found: Deployment, sets: Sets, count: int, owner: Json) -> Json:
    """The ReplicaSet of the Deployment's template."""
    word = template_hash(found.spec.template, found.status.get("collisionCount", 0))
    template = found.spec.template
    metadata = template.get("metadata") or {}
    labels = {**(metadata.get("labels") or {}), HASH: word}
    selector = _selector(found)
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {
            "name": f"{found.metadata.name}-{word}",
            "namespace": found.metadata.namespace,
            "labels": labels,
            "annotations": marks(found, sets),
            "ownerReferences": [owner],
        },
        "spec": {
            "replicas": count,
            "selector": {
                **selector,
                "matchLabels": {**selector.get("matchLabels", {}), HASH: word},
            },
            "template": {**template, "metadata": {**metadata, "labels": labels}},
            **(
                {"minReadySeconds": found.spec.min_ready_seconds}
                if found.spec.min_ready_seconds
                else {}
            ),
        },
    }


def marks(found: Deployment, sets: Sets) -> dict[str, str]:
    """Of the new ReplicaSet: the Deployment's own, its number, and how large it may get."""
    own = {k: v for k, v in found.metadata.annotations.items() if k not in _NOT_COPIED}
    return {**own, REVISION: str(current_revision(sets)), **size(found)}


def size(found: Deployment) -> dict[str, str]:
    surge, _ = fence(found)
    return {DESIRED: str(found.spec.replicas), MOST: str(found.spec.replicas + surge)}


def current_revision(sets: Sets) -> int:
    """That of the new one: larger than all others."""
    others = max((revision(one) for one in sets.old), default=0)
    return max(others + 1, revision(sets.new) if sets.new else 0)


def _selector(found: Deployment) -> Json:
    selector = found.spec.selector
    built: Json = {}
    if selector.match_labels:
        built["matchLabels"] = dict(selector.match_labels)
    if selector.match_expressions:
        built["matchExpressions"] = [
            {"key": one.key, "operator": one.operator, "values": list(one.values)}
            for one in selector.match_expressions
        ]
    return built


def _same(one: ReplicaSet, found: Deployment) -> bool:
    """Whether it has the Deployment's template, its hash aside."""
    return _plain(one.spec.template) == _plain(found.spec.template)


def _plain(template: Json) -> Json:
    metadata = dict(template.get("metadata") or {})
    labels = {k: v for k, v in (metadata.pop("labels", None) or {}).items() if k != HASH}
    metadata.pop("creationTimestamp", None)
    return {**template, "metadata": {**metadata, "labels": labels}}


def _owner(pod: Pod) -> str:
    owner = pod.metadata.controller
    return owner.uid if owner else ""
