# SPDX-License-Identifier: Apache-2.0
"""A cluster of this process in virtual time, with simulated nodes; every write is kept."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec

from tests.support.virtual import VirtualClock, dice, settle
from trellis.api.meta import Resource
from trellis.embedded.core.cluster import ADMIN, Cluster, Settings
from trellis.embedded.nodes import simulator
from trellis.embedded.nodes.expanding import expand
from trellis.embedded.nodes.loading import ready_made
from trellis.embedded.nodes.pods import PODS, KubeletNode
from trellis.kube.client import Client
from trellis.kube.errors import NotFound
from trellis.kube.verbs import merge_patch
from trellis.runtime.env import Env

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from contextlib import AbstractAsyncContextManager

    from trellis.embedded.nodes.expanding import NodePlan
    from trellis.kube.transport import Request, Response, Stream, Transport

NODES = KubeletNode.resource
ACCOUNTS = Resource("", "v1", "ServiceAccount", "serviceaccounts")
SLICES = Resource("resource.k8s.io", "v1", "ResourceSlice", "resourceslices", namespaced=False)
CLAIMS = Resource("resource.k8s.io", "v1", "ResourceClaim", "resourceclaims")
LEASES = Resource("coordination.k8s.io", "v1", "Lease", "leases")
NAMESPACE = "default"
# The first of the tiny fleet.
NODE = "tiny-r001-n01"


@dataclass
class Recorded:
    """A transport that keeps what was written through it."""

    inner: Transport
    writes: list[str] = field(default_factory=list)

    async def request(self, request: Request) -> Response:
        if request.method != "GET":
            self.writes.append(str(request))
        return await self.inner.request(request)

    def stream(self, request: Request) -> AbstractAsyncContextManager[Stream]:
        return self.inner.stream(request)

    async def close(self) -> None:
        await self.inner.close()


@dataclass
class World:
    """`client` is somebody else's; what the simulator writes is in `writes`."""

    client: Client
    transport: Recorded
    plans: tuple[NodePlan, ...]

    @property
    def writes(self) -> list[str]:
        return self.transport.writes

    def writes_to(self, what: str) -> list[str]:
        return [write for write in self.writes if what in write]

    @asynccontextmanager
    async def simulated(self, **settings: Any) -> AsyncIterator[simulator.Simulator]:
        """Nodes that are ready, until the end of the block."""
        clock = VirtualClock()
        client = Client(self.transport, clock, dice(2))
        chosen = simulator.Settings(**settings)
        found = simulator.Simulator(client, self.plans, Env(clock=clock, rng=dice(3)), chosen)
        stop = asyncio.Event()
        running = asyncio.create_task(found.run(stop))
        ready = asyncio.create_task(found.ready())
        try:
            await asyncio.wait({running, ready}, return_when=asyncio.FIRST_COMPLETED)
            if running.done():
                await running
            yield found
        finally:
            ready.cancel()
            stop.set()
            await running

    async def get(self, resource: Resource, name: str) -> Any:
        """The object as it is, None if it is not there."""
        namespace = NAMESPACE if resource.namespaced else ""
        try:
            return msgspec.json.decode(await self.client.of(resource, bytes, namespace).get(name))
        except NotFound:
            return None

    async def pod(self, name: str = "pod") -> Any:
        await settle()
        return await self.get(PODS, name)

    async def status(self, name: str = "pod") -> Any:
        return (await self.pod(name))["status"]

    async def node(self, name: str) -> Any:
        await settle()
        return await self.get(NODES, name)

    async def add_pod(self, name: str = "pod", **given: Any) -> None:
        """A pod that is bound already, to the first node."""
        metadata = {
            "name": name,
            "annotations": {
                f"sim.trellis.dev/{key}": text for key, text in given.pop("asked", {}).items()
            },
            "finalizers": given.pop("finalizers", []),
        }
        spec = {
            "nodeName": self.plans[0].name,
            "containers": [{"name": "main", "image": "image"}],
            **given,
        }
        body = {"metadata": metadata, "spec": spec}
        await self.client.of(PODS, bytes, NAMESPACE).create(body)

    async def annotate(self, resource: Resource, name: str, **annotations: str | None) -> None:
        named = {f"sim.trellis.dev/{key}": text for key, text in annotations.items()}
        patch = merge_patch({"metadata": {"annotations": named}})
        namespace = NAMESPACE if resource.namespaced else ""
        await self.client.of(resource, bytes, namespace).patch(name, patch)


async def a_world(plans: Sequence[NodePlan]) -> World:
    clock = VirtualClock()
    cluster = Cluster(Settings(clock=clock, rng=dice(1), tokens={"admin": ADMIN}))
    await cluster.start()
    client = Client(cluster.transport("admin"), clock, dice(4))
    await client.of(ACCOUNTS, bytes, NAMESPACE).create({"metadata": {"name": "default"}})
    return World(client, Recorded(cluster.transport("admin")), tuple(plans))


async def tiny(count: int = 2) -> World:
    return await a_world(expand(ready_made("tiny"), count))


def condition(found: Any, type_: str) -> Any:
    """Of a pod or a node."""
    return next(one for one in found["status"]["conditions"] if one["type"] == type_)


async def pass_seconds(seconds: float) -> None:
    await asyncio.sleep(seconds)
    await settle()
