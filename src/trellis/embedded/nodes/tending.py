# SPDX-License-Identifier: Apache-2.0
"""Keeps the Node objects as the nodes are: what ails them, what is left of their cards.

Where no node controller does its part within a grace, it does that too: a node that is heard of
loses the taints of one that is not, and the other way round.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from trellis.api.conditions import Status, find
from trellis.api.meta import Key
from trellis.embedded.nodes import bodies
from trellis.embedded.nodes.faults import (
    FOREVER,
    ON_NODE,
    NodeState,
    Span,
    UnreadableFault,
    next_change,
    read_node,
    span_of,
    state_at,
)
from trellis.embedded.nodes.pods import KubeletNode
from trellis.instruments.logs import logger
from trellis.kube.errors import KubeError, NotFound
from trellis.kube.verbs import Selection, json_patch, strategic_patch
from trellis.runtime.cache import Cache, Scope
from trellis.runtime.queue import WorkQueue

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from trellis.embedded.nodes.announcing import Announcer
    from trellis.embedded.nodes.expanding import NodePlan
    from trellis.embedded.nodes.fleet import Fault
    from trellis.embedded.nodes.kubelets import Kubelets
    from trellis.runtime.env import Env

WORKERS = 16
NOT_READY = "node.kubernetes.io/not-ready"
UNREACHABLE = "node.kubernetes.io/unreachable"
LIFECYCLE = (NOT_READY, UNREACHABLE)
_WELL = NodeState()
_GONE = NodeState(vanished=True)

_log = logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Graces:
    """How long the cluster's own node controller is given to act before we do."""

    unheard: float = 50.0
    """Until a node that is not heard of is Unknown: as long as a kubelet is given."""
    untaint: float = 2.0


@dataclass(slots=True)
class _Tended:
    """What is remembered of a node."""

    state: NodeState = _WELL
    amounts: dict[str, dict[str, str]] | None = None
    """What it has, as long as its state stays the same."""
    vanished_at: float | None = None
    tainted_since: float | None = None
    seen: bool = False
    text: str = ""
    faults: tuple[Span, ...] = ()


class Tending:
    def __init__(
        self, announcer: Announcer, env: Env, graces: Graces, timeline: Iterable[Fault] = ()
    ) -> None:
        self._announcer = announcer
        self._client = announcer.client
        self._times = announcer.times
        self._graces = graces
        self.plans: Mapping[str, NodePlan] = {plan.name: plan for plan in announcer.plans}
        self._tended = {name: _Tended() for name in self.plans}
        self._timeline: dict[str, list[Span]] = {}
        for fault in timeline:
            if fault.node:
                span = span_of(fault, self._times.start)
                self._timeline.setdefault(fault.node, []).append(span)
        selection = Selection(labels=f"{bodies.SIMULATED}=true")
        self.nodes: Cache[KubeletNode] = Cache(
            KubeletNode.resource, KubeletNode, scope=Scope(selection=selection)
        )
        self.queue: WorkQueue[str] = WorkQueue(env.clock, env.rng)
        self._settled = asyncio.Event()
        self._unsettled = set(self.plans)

    def state(self, name: str) -> NodeState:
        """How a node is now."""
        return self._tended[name].state

    async def settled(self) -> None:
        """Waits until every node has been ready once, and free for pods."""
        await self._settled.wait()

    async def run(self, kubelets: Kubelets) -> None:
        """Until it is cancelled. The nodes have been made."""
        self.nodes.subscribe(self._changed)
        for name in self.plans:
            self.queue.add(name)
        try:
            async with asyncio.TaskGroup() as group:
                for number in range(WORKERS):
                    group.create_task(self._work(kubelets), name=f"nodes {number}")
        finally:
            self.queue.close()

    def look(self) -> None:
        """What ails the nodes that are there: to be known before any pod is looked at."""
        now = self._times.now()
        for node in self.nodes:
            name = node.metadata.name
            if name in self.plans:
                self._tended[name].state = state_at(self._spans(node, now), now)

    def _changed(
        self,
        old: KubeletNode | None,
        new: KubeletNode | None,
        *,
        fresh: bool,  # noqa: ARG002
    ) -> None:
        found = new or old
        if found is not None and found.metadata.name in self.plans:
            self.queue.add(found.metadata.name)

    async def _work(self, kubelets: Kubelets) -> None:
        while (name := await self.queue.take()) is not None:
            try:
                self.queue.succeed(name, await self._turn(name, kubelets))
            except KubeError as error:
                delay = self.queue.fail(name)
                _log.warning("node not written", node=name, error=str(error), again_in=delay)
            except Exception:
                self.queue.fail(name)
                _log.exception("node not simulated", node=name)

    async def _turn(self, name: str, kubelets: Kubelets) -> float | None:
        """Looks at one node; returns after how many seconds to look again."""
        node, tended, now = self.nodes.get(Key("", name)), self._tended[name], self._times.now()
        if node is None:
            if tended.seen:
                # Somebody has taken it out. A kubelet does not put its node back, and nor do we.
                tended.state = _GONE
                self._settle(name)
            return None
        tended.seen = True
        spans = self._spans(node, now)
        before, tended.state = tended.state, state_at(spans, now)
        if before != tended.state:
            tended.amounts = None
        due = [next_change(spans, now)]
        if tended.state.vanished:
            # Nobody need wait for it.
            self._settle(name)
            due.append(await self._unheard(node, tended, kubelets, now))
        else:
            tended.vanished_at = None
            await self._report(node, tended)
            due.append(await self._untaint(node, tended, now))
        if before.vanished and not tended.state.vanished:
            kubelets.wake(name)
        return min((at - now for at in due if at is not None), default=None)

    def _spans(self, node: KubeletNode, now: float) -> tuple[Span, ...]:
        """Everything that is to go wrong with a node, by the timeline and by its annotation."""
        name = node.metadata.name
        return (*self._timeline.get(name, ()), *self._asked(node, self._tended[name], now))

    def _asked(self, node: KubeletNode, tended: _Tended, now: float) -> tuple[Span, ...]:
        """The faults in the node's annotation, from when they were first seen there."""
        text = node.metadata.annotations.get(ON_NODE, "")
        if text == tended.text:
            return tended.faults
        tended.text = text
        try:
            asked = read_node(text) if text else ()
        except UnreadableFault as error:
            _log.warning("faults not followed", node=node.metadata.name, error=str(error))
            asked = ()
        tended.faults = tuple(
            Span(one, now, one.until.timestamp() if one.until else FOREVER) for one in asked
        )
        return tended.faults

    async def _report(self, node: KubeletNode, tended: _Tended) -> None:
        """What a kubelet that is heard says about itself, where the API has it otherwise."""
        name = node.metadata.name
        plan = self.plans[name]
        if tended.amounts is None:
            await self._announcer.publish(plan, tended.state)
            tended.amounts = bodies.amounts(plan, tended.state)
        ready = find(node.status.conditions, "Ready")
        well = ready is not None and ready.status == Status.TRUE.value
        if not well or not _agrees(node, tended.amounts):
            status: dict[str, Any] = dict(tended.amounts)
            if not well:
                status["conditions"] = bodies.conditions(self._times.date())
            await self._patch_status(name, status)

    async def _untaint(self, node: KubeletNode, tended: _Tended, now: float) -> float | None:
        """Frees a node for pods, if the node controller has not by the end of its grace."""
        taints = node.spec.taints
        found = [index for index, taint in enumerate(taints) if taint.key in LIFECYCLE]
        if not found:
            tended.tainted_since = None
            if node.is_ready:
                self._settle(node.metadata.name)
            return None
        if tended.tainted_since is None:
            tended.tainted_since = now
        due = tended.tainted_since + self._graces.untaint
        if now < due:
            return due
        operations: list[dict[str, Any]] = []
        for index in reversed(found):
            path = f"/spec/taints/{index}"
            operations += (
                {"op": "test", "path": f"{path}/key", "value": taints[index].key},
                {"op": "test", "path": f"{path}/effect", "value": taints[index].effect},
                {"op": "remove", "path": path},
            )
        await self._patch(node.metadata.name, operations)
        return None

    async def _unheard(
        self, node: KubeletNode, tended: _Tended, kubelets: Kubelets, now: float
    ) -> float | None:
        """What the node controller writes about a node that is silent, if it has not."""
        if tended.vanished_at is None:
            tended.vanished_at = now
        due = tended.vanished_at + self._graces.unheard
        if now < due:
            return due
        ready = find(node.status.conditions, "Ready")
        name = node.metadata.name
        if ready is None or ready.status != Status.UNKNOWN.value:
            # The pods first: that the node is Unknown says that all this is done.
            await kubelets.mark_unready(name)
            await self._patch_status(name, {"conditions": _unknown(self._times.date())})
            # The taint follows when the cache has this.
        elif not any(taint.key == UNREACHABLE for taint in node.spec.taints):
            await self._patch(name, _unreachable(node))
        return None

    async def _patch_status(self, name: str, status: Mapping[str, Any]) -> None:
        nodes = self._client.of(KubeletNode.resource, bytes)
        try:
            await nodes.patch(name, strategic_patch({"status": status}), subresource="status")
        except NotFound:
            return

    async def _patch(self, name: str, operations: list[dict[str, Any]]) -> None:
        try:
            nodes = self._client.of(KubeletNode.resource, bytes)
            await nodes.patch(name, json_patch(operations))
        except NotFound:
            return

    def _settle(self, name: str) -> None:
        self._unsettled.discard(name)
        if not self._unsettled:
            self._settled.set()


def _agrees(node: KubeletNode, amounts: Mapping[str, Mapping[str, str]]) -> bool:
    """Whether the API counts the cards as we do."""
    has = {"capacity": node.status.capacity, "allocatable": node.status.allocatable}
    return all(
        str(has[part].get(name)) == number
        for part, wanted in amounts.items()
        for name, number in wanted.items()
        if name.startswith("nvidia.com/")
    )


def _unknown(now: Any) -> list[dict[str, Any]]:
    said = {"reason": "NodeStatusUnknown", "message": "Kubelet stopped posting node status."}
    return [
        {
            "type": one["type"],
            "status": Status.UNKNOWN.value,
            "lastTransitionTime": one["lastTransitionTime"],
            **said,
        }
        for one in bodies.conditions(now)
    ]


def _unreachable(node: KubeletNode) -> list[dict[str, Any]]:
    added = [{"key": UNREACHABLE, "effect": effect} for effect in ("NoSchedule", "NoExecute")]
    version = node.metadata.resource_version
    guard = {"op": "test", "path": "/metadata/resourceVersion", "value": version}
    if not node.spec.taints:
        return [guard, {"op": "add", "path": "/spec/taints", "value": added}]
    return [guard, *({"op": "add", "path": "/spec/taints/-", "value": one} for one in added)]
