# SPDX-License-Identifier: Apache-2.0
"""Which pods a DaemonSet is to have, on which nodes, and how it stands. Pure."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from trellis.embedded.controllers.apps.amounts import share, template_hash
from trellis.embedded.controllers.apps.fitting import chooses, tolerates
from trellis.embedded.controllers.children import child

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from trellis.embedded.controllers.kinds import DaemonSet, Json, Node, Pod

HASH = "controller-revision-hash"
GENERATION = "pod-template-generation"
_TEMPLATE_GENERATION = "deprecated.daemonset.template.generation"
_EXECUTE, _SCHEDULE = "NoExecute", "NoSchedule"
# A daemon stays on its node whatever is wrong with that.
_TOLERATED = (
    ("node.kubernetes.io/not-ready", _EXECUTE),
    ("node.kubernetes.io/unreachable", _EXECUTE),
    ("node.kubernetes.io/disk-pressure", _SCHEDULE),
    ("node.kubernetes.io/memory-pressure", _SCHEDULE),
    ("node.kubernetes.io/pid-pressure", _SCHEDULE),
    ("node.kubernetes.io/unschedulable", _SCHEDULE),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A DaemonSet with its pods by node, and the nodes that it wants."""

    found: DaemonSet
    wanted: tuple[str, ...]
    """Where a pod is to be."""
    endured: frozenset[str]
    """Where a pod may stay that is there already."""
    pods: dict[str, list[Pod]]

    @property
    def word(self) -> str:
        return template_hash(self.found.spec.template)

    def is_current(self, pod: Pod) -> bool:
        return pod.metadata.labels.get(HASH) == self.word


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    create: tuple[str, ...] = ()
    delete: tuple[Pod, ...] = ()


def picture(found: DaemonSet, nodes: Iterable[Node], pods: Iterable[Pod]) -> Picture:
    spec = found.spec.template.get("spec") or {}
    tolerations = _tolerations(spec)
    chosen = [node for node in nodes if chooses(spec, node) and not node.metadata.deleting]
    by_node: dict[str, list[Pod]] = defaultdict(list)
    for pod in pods:
        by_node[pod.target].append(pod)
    return Picture(
        found=found,
        wanted=tuple(
            node.metadata.name
            for node in chosen
            if tolerates(tolerations, node, (_EXECUTE, _SCHEDULE))
        ),
        endured=frozenset(
            node.metadata.name for node in chosen if tolerates(tolerations, node, (_EXECUTE,))
        ),
        pods=dict(by_node),
    )


def plan(seen: Picture, now: datetime) -> Plan:
    if seen.found.metadata.deleting:
        return Plan()
    delete: list[Pod] = []
    for node, pods in seen.pods.items():
        alive = [pod for pod in pods if not pod.metadata.deleting]
        # One that ended is replaced; of several the oldest stays.
        failed = [pod for pod in alive if pod.finished]
        running = sorted(
            (pod for pod in alive if not pod.finished),
            key=lambda pod: (not pod.spec.node_name, str(pod.metadata.creation_timestamp)),
        )
        keep = 1 if node in seen.endured else 0
        delete += [*failed, *running[keep:]]
    create = tuple(node for node in seen.wanted if not seen.pods.get(node))
    if not delete and seen.found.spec.update_strategy.type == "RollingUpdate":
        delete = _outdated(seen, now)
    return Plan(create=create, delete=tuple(delete))


def _outdated(seen: Picture, now: datetime) -> list[Pod]:
    """As many as may be missing at a time; those that are of no use anyway do not count."""
    spec = seen.found.spec
    rolling = spec.update_strategy.rolling_update
    total = len(seen.wanted)
    budget = max(
        share(rolling.max_unavailable, total, up=True), share(rolling.max_surge, total, up=True)
    )
    useless: list[Pod] = []
    useful: list[Pod] = []
    for node in seen.wanted:
        pods = [pod for pod in seen.pods.get(node, ()) if pod.active]
        well = [pod for pod in pods if pod.available(now, spec.min_ready_seconds)]
        budget -= not well
        for pod in pods:
            if not seen.is_current(pod):
                (useful if pod in well else useless).append(pod)
    return [*useless, *useful[: max(0, budget)]]


def body(found: DaemonSet, word: str, node: str) -> Json:
    """The pod for one node, bound to it by an affinity to its name, for the scheduler to see."""
    made = child(found, found.spec.template)
    metadata, spec = made["metadata"], made["spec"]
    marks = {HASH: word}
    if generation := found.metadata.annotations.get(_TEMPLATE_GENERATION):
        marks[GENERATION] = generation
    metadata["labels"] = {**metadata.get("labels", {}), **marks}
    by_name = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}
    affinity = spec.get("affinity") or {}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [by_name]}}
    node_affinity = {**(affinity.get("nodeAffinity") or {}), **required}
    spec["affinity"] = {**affinity, "nodeAffinity": node_affinity}
    spec["tolerations"] = _tolerations(spec)
    return made


def status(seen: Picture, now: datetime) -> Json:
    spec, wanted = seen.found.spec, set(seen.wanted)
    first = [_best(seen.pods[node]) for node in seen.wanted if seen.pods.get(node)]
    available = sum(pod.available(now, spec.min_ready_seconds) for pod in first)
    updated = sum(seen.is_current(pod) for pod in first)
    misplaced = sum(
        any(pod.active for pod in pods) for node, pods in seen.pods.items() if node not in wanted
    )
    optional = {
        "numberAvailable": available,
        "numberUnavailable": len(wanted) - available,
        "updatedNumberScheduled": updated,
    }
    return {
        "currentNumberScheduled": len(first),
        "desiredNumberScheduled": len(wanted),
        "numberMisscheduled": misplaced,
        "numberReady": sum(pod.ready for pod in first),
        "observedGeneration": seen.found.metadata.generation,
        **{name: count for name, count in optional.items() if count},
    }


def _best(pods: list[Pod]) -> Pod:
    return max(pods, key=lambda pod: (pod.active, pod.ready))


def _tolerations(spec: Json) -> list[Json]:
    added = [*_TOLERATED]
    if spec.get("hostNetwork"):
        added.append(("node.kubernetes.io/network-unavailable", _SCHEDULE))
    more = [{"key": key, "operator": "Exists", "effect": effect} for key, effect in added]
    return [*(spec.get("tolerations") or ()), *more]
