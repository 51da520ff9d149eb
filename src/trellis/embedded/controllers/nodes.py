# SPDX-License-Identifier: Apache-2.0
"""Nodes: taints that follow from their conditions, and pods of nodes that are gone.

No pod is evicted from a node that is there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trellis.api.meta import Key
from trellis.embedded.controllers import conditions
from trellis.embedded.controllers.kinds import Node, Pod
from trellis.embedded.controllers.means import BY_NODE
from trellis.kube.errors import NotFound
from trellis.kube.verbs import Deletion
from trellis.runtime.controller import Controller, Wakes
from trellis.runtime.outcome import DONE, Again
from trellis.runtime.writes import Stored

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from trellis.embedded.controllers.kinds import Json
    from trellis.embedded.controllers.means import Means
    from trellis.runtime.io import IO
    from trellis.runtime.outcome import Outcome

_NOT_READY = "node.kubernetes.io/not-ready"
_UNREACHABLE = "node.kubernetes.io/unreachable"
_CORDONED = "node.kubernetes.io/unschedulable"
_BY_CONDITION = {
    ("Ready", "False"): _NOT_READY,
    ("Ready", "Unknown"): _UNREACHABLE,
    ("MemoryPressure", "True"): "node.kubernetes.io/memory-pressure",
    ("DiskPressure", "True"): "node.kubernetes.io/disk-pressure",
    ("PIDPressure", "True"): "node.kubernetes.io/pid-pressure",
    ("NetworkUnavailable", "True"): "node.kubernetes.io/network-unavailable",
}
_OURS = frozenset({*_BY_CONDITION.values(), _CORDONED})
# A node that is deleted may be made again: its pods are given so long.
QUARANTINE_SECONDS = 40.0


def tainted(node: Node, now: datetime) -> list[Json] | None:
    """The taints that a node is to have; None: those that it has."""
    seen = [(one.type, one.status) for one in node.status.conditions]
    if not any(kind == "Ready" for kind, _ in seen):
        # It has not said anything yet: what it was born with stands.
        return None
    keys = [_BY_CONDITION[one] for one in seen if one in _BY_CONDITION]
    wanted = [(key, "NoSchedule") for key in keys]
    wanted += [(key, "NoExecute") for key in keys if key in {_NOT_READY, _UNREACHABLE}]
    if node.spec.unschedulable:
        wanted.append((_CORDONED, "NoSchedule"))
    have = {(one["key"], one["effect"]): one for one in node.spec.taints}
    ours = [one for one in have if one[0] in _OURS]
    if set(ours) == set(wanted):
        return None
    time = conditions.written(now)
    kept = [one for name, one in have.items() if name[0] not in _OURS or name in wanted]
    added = [name for name in wanted if name not in have]
    return [*kept, *({"key": key, "effect": effect, "timeAdded": time} for key, effect in added)]


def node_controller(means: Means) -> Controller[Node]:
    async def reconcile(key: Key, _: IO) -> Outcome:
        node = means.nodes.get(key)
        taints = tainted(node, means.now()) if node is not None else None
        if node is not None and taints is not None:
            await means.pen.change(means.nodes, node.metadata, {"spec": {"taints": taints or None}})
        return DONE

    return Controller(name="node-lifecycle", cache=means.nodes, reconcile=reconcile)


def pod_collector(means: Means) -> Controller[Node]:
    """Its keys are those of nodes that pods name and that are not there."""

    def missing(pod: Pod) -> Iterable[Key]:
        name = pod.spec.node_name
        if name and means.nodes.get(Key("", name)) is None:
            yield Key("", name)

    return Controller(
        name="podgc",
        cache=means.nodes,
        reconcile=_PodCollector(means).reconcile,
        woken_by=(Wakes(means.pods, missing),),
        workers=1,
    )


class _PodCollector:
    def __init__(self, means: Means) -> None:
        self._means = means
        self._missed: dict[Key, float] = {}
        """Since when a node is missed."""

    async def reconcile(self, key: Key, _: IO) -> Outcome:
        pods = self._means.pods.find(BY_NODE, key.name)
        if self._means.nodes.get(key) is not None or not pods:
            self._missed.pop(key, None)
            return DONE
        now = self._means.env.clock.monotonic()
        left = self._missed.setdefault(key, now) + QUARANTINE_SECONDS - now
        if left > 0:
            return Again(left)
        if not await self._is_there(key):
            for pod in pods:
                await self._collect(pod)
        return DONE

    async def _is_there(self, key: Key) -> bool:
        try:
            await self._means.client.of(Node.resource, Stored).get(key.name)
        except NotFound:
            return False
        return True

    async def _collect(self, pod: Pod) -> None:
        have = pod.metadata
        if not pod.finished:
            await self._means.pen.patch(
                have, self._means.pods, have, _lost(self._means.now()), part="status"
            )
        of = self._means.client.of(Pod.resource, Stored, have.namespace)
        try:
            await of.delete(have.name, Deletion(uid=have.uid, grace_seconds=0))
        except NotFound:
            return


def _lost(now: datetime) -> Json:
    condition = {
        "type": "DisruptionTarget",
        "status": "True",
        "reason": "DeletionByPodGC",
        "message": "PodGC: node no longer exists",
        "lastTransitionTime": conditions.written(now),
    }
    return {"status": {"phase": "Failed", "conditions": [condition]}}
