# SPDX-License-Identifier: Apache-2.0
"""Puts the nodes of a fleet into a cluster, in parallel, and takes them out again.

What is there already from an earlier run is adopted. A node that is not simulated is never touched,
and a cluster that has one is refused unless it is asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from trellis.api.core.resourceclaim import GROUP, VERSIONS
from trellis.api.meta import Metadata, Resource, Value
from trellis.embedded.nodes import bodies, slices
from trellis.embedded.nodes.bodies import CONTENT, LEASE_NAMESPACE, LEASES, SIMULATED
from trellis.embedded.nodes.pods import PODS, KubeletNode, KubeletPod
from trellis.kube.discovery import discover
from trellis.kube.errors import AlreadyExists, Conflict, NotFound
from trellis.kube.verbs import Deletion, Selection, merge_patch, strategic_patch
from trellis.runtime.parallel import in_parallel

if TYPE_CHECKING:
    from collections.abc import Awaitable, Sequence

    from trellis.embedded.nodes.expanding import NodePlan
    from trellis.embedded.nodes.faults import NodeState
    from trellis.embedded.nodes.times import Times
    from trellis.kube.client import Client

IN_FLIGHT = 32
NODES = KubeletNode.resource
MADE = Selection(labels=f"{SIMULATED}=true")
# KWOK plays nodes as we do, and marks them so.
KWOK = "kwok.x-k8s.io/node"
_SHOWN = 5
_AT_ONCE = 0

Progress = Callable[[str, int, int], None]
"""What is being made, how many of them there are by now, and how many there will be."""


class RealNodes(Exception):
    """The cluster has nodes on which somebody's work may run."""


class Served(Value, frozen=True, kw_only=True):
    """An object by its metadata alone."""

    metadata: Metadata


class _Pool(Value, frozen=True, kw_only=True):
    generation: int = 0


class _SliceSpec(Value, frozen=True, kw_only=True):
    pool: _Pool = _Pool()


class _Slice(Value, frozen=True, kw_only=True):
    metadata: Metadata
    spec: _SliceSpec = _SliceSpec()


@dataclass(frozen=True, slots=True)
class _Published:
    """A slice of ours as the API has it."""

    generation: int
    content: str


@dataclass(slots=True, kw_only=True)
class Announcer:
    client: Client
    times: Times
    plans: Sequence[NodePlan]
    tainted: bool = False
    progress: Progress = lambda _what, _done, _all: None
    uids: dict[str, str] = field(default_factory=dict)
    resource: Resource | None = None
    """ResourceSlice in the version that is served; None: it is not."""
    claims: Resource | None = None
    _contents: dict[str, str] = field(default_factory=dict)
    """Of the nodes that were there before, what they hold."""
    _slices: dict[str, _Published] = field(default_factory=dict)

    async def look(self, *, beside_real_nodes: bool) -> None:
        """Whether this cluster may be used, and what it serves."""
        nodes = await self.client.of(NODES, Served).list()
        real = [one.metadata.name for one in nodes.objects if not _is_simulated(one.metadata)]
        if real and not beside_real_nodes:
            shown = ", ".join(real[:_SHOWN]) + (" …" if len(real) > _SHOWN else "")
            raise RealNodes(
                f"this cluster has {len(real)} real nodes ({shown}); simulated ones beside them"
                " need --beside-real-nodes"
            )
        wanted = {plan.name for plan in self.plans}
        found = [one.metadata for one in nodes.objects if one.metadata.name in wanted]
        for one in found:
            _refuse_others(one)
        self.uids = {one.name: one.uid for one in found}
        self._contents = {one.name: one.annotations.get(CONTENT, "") for one in found}
        served = await discover(self.client)
        self.resource = served.choose(GROUP, "resourceslices", VERSIONS)
        self.claims = served.choose(GROUP, "resourceclaims", VERSIONS)

    async def put(self) -> None:
        """Makes every node, then every slice; raises the first thing that could not be made."""
        await self._all("nodes", [partial(self._node, plan) for plan in self.plans])
        if self.resource is None:
            return
        known = await self.client.of(self.resource, _Slice).list(MADE)
        self._slices = {
            one.metadata.name: _Published(
                one.spec.pool.generation, one.metadata.annotations.get(CONTENT, "")
            )
            for one in known.objects
        }
        wanted = [(plan, driver) for plan in self.plans for driver in slices.drivers(plan)]
        make = partial(self._new_slice, self.resource)
        await self._all("slices", [partial(make, *each) for each in wanted])

    async def publish(self, plan: NodePlan, state: NodeState) -> None:
        """Brings the slices of a node in line with how its cards are."""
        if self.resource is None:
            return
        for driver in slices.drivers(plan):
            await self._slice(self.resource, plan, driver, slices.devices(plan, driver, state))

    async def remove(self) -> None:
        """Takes everything out again: the pods on the nodes too, as when a node is taken away."""
        # Asked for, because of what was being made when we were stopped nobody knows the fate.
        there = await self.client.of(NODES, Served).list(MADE)
        uids = {one.metadata.name: one.metadata.uid for one in there.objects}
        plans = [plan for plan in self.plans if plan.name in uids]
        pods = await self.client.of(PODS, KubeletPod).list()
        ours = {plan.name for plan in plans}
        left = [pod.metadata for pod in pods.objects if pod.spec.node_name in ours]
        drop = self._drop
        await self._all("pods removed", [partial(drop, PODS, one, _AT_ONCE) for one in left])
        if self.resource is not None:
            known = await self.client.of(self.resource, Served).list(MADE)
            names = {slices.slice_name(plan, one) for plan in plans for one in slices.drivers(plan)}
            found = [one.metadata for one in known.objects if one.metadata.name in names]
            acts = [partial(drop, self.resource, one) for one in found]
            await self._all("slices removed", acts)
        leases = [Metadata(name=plan.name, namespace=LEASE_NAMESPACE) for plan in plans]
        await self._all("leases removed", [partial(drop, LEASES, one) for one in leases])
        nodes = [Metadata(name=plan.name, uid=uids[plan.name]) for plan in plans]
        await self._all("nodes removed", [partial(drop, NODES, one) for one in nodes])

    async def _node(self, plan: NodePlan) -> None:
        nodes = self.client.of(NODES, Served)
        body = bodies.node(plan, self.times.date(), tainted=self.tainted)
        if plan.name not in self.uids:
            try:
                self.uids[plan.name] = (await nodes.create(body)).metadata.uid
                return
            except AlreadyExists:
                found = (await nodes.get(plan.name)).metadata
            _refuse_others(found)
            self.uids[plan.name] = found.uid
        metadata = {key: body["metadata"][key] for key in ("labels", "annotations")}
        if self._contents.get(plan.name) != metadata["annotations"][CONTENT]:
            await nodes.patch(plan.name, merge_patch({"metadata": metadata}))
            status = strategic_patch({"status": body["status"]})
            await nodes.patch(plan.name, status, subresource="status")

    async def _new_slice(self, resource: Resource, plan: NodePlan, driver: str) -> None:
        await self._slice(resource, plan, driver, slices.devices(plan, driver))

    async def _slice(
        self, resource: Resource, plan: NodePlan, driver: str, devices: list[dict[str, Any]]
    ) -> None:
        name = slices.slice_name(plan, driver)
        known = self._slices.get(name)
        generation = known.generation + 1 if known else 1
        spec = slices.in_version(slices.spec(plan, driver, devices, generation), resource.version)
        body = bodies.resource_slice(plan, driver, self.uids[plan.name], spec, resource)
        content = body["metadata"]["annotations"][CONTENT]
        if known is not None and known.content == content:
            return
        if known is None or not await self._change(resource, name, body):
            await self.client.of(resource, Served).create(body)
        self._slices[name] = _Published(generation, content)

    async def _change(self, resource: Resource, name: str, body: dict[str, Any]) -> bool:
        """Brings a slice in line with the body; returns whether it is there."""
        # The owner too: a node that was made anew has another uid.
        metadata = {key: body["metadata"][key] for key in ("annotations", "ownerReferences")}
        patch = merge_patch({"metadata": metadata, "spec": body["spec"]})
        try:
            await self.client.of(resource, Served).patch(name, patch)
        except NotFound:
            return False
        return True

    async def _drop(
        self, resource: Resource, found: Metadata, grace_seconds: int | None = None
    ) -> None:
        deletion = Deletion(uid=found.uid, grace_seconds=grace_seconds)
        try:
            await self.client.of(resource, bytes, found.namespace).delete(found.name, deletion)
        except (NotFound, Conflict):
            # It is gone, whoever has its name now.
            return

    async def _all(self, what: str, acts: Sequence[Callable[[], Awaitable[None]]]) -> None:
        done = 0

        async def counted(act: Callable[[], Awaitable[None]]) -> None:
            nonlocal done
            await act()
            done += 1
            self.progress(what, done, len(acts))

        await in_batches([partial(counted, act) for act in acts])


async def in_batches(acts: Sequence[Callable[[], Awaitable[None]]]) -> None:
    """All of them, a bounded number at a time. After an error none is begun, and it is raised."""
    results = await in_parallel(acts, IN_FLIGHT, goes_on=lambda _: False)
    for result in results:
        if isinstance(result, Exception):
            raise result


def _is_simulated(metadata: Metadata) -> bool:
    return SIMULATED in metadata.labels or KWOK in metadata.annotations


def _refuse_others(node: Metadata) -> None:
    """A node of that name is there: it must be one that we made in an earlier run."""
    if SIMULATED not in node.labels:
        raise RealNodes(
            f"{node.name} is a node of this cluster already, and not ours;"
            " call the simulated one differently"
        )
