# SPDX-License-Identifier: Apache-2.0
"""A cluster in memory with or without KAI, and operators that run on it in virtual time."""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec

from tests.support.memory_api import MemoryApi
from tests.support.virtual import VirtualClock, dice
from trellis.api.conditions import READY, find
from trellis.api.grove.clustertopology import ClusterTopologyStatus
from trellis.kube.client import Client
from trellis.kube.errors import Ambiguous, Failure, Forbidden, NotFound
from trellis.runtime.env import Env
from trellis.runtime.process import Group, Process, Settings
from trellis.topology.reconciler import clustertopology

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from trellis.api.config.types import Topology
    from trellis.kube.errors import KubeError
    from trellis.kube.transport import Request

    Body = dict[str, Any]

TOPOLOGIES = "/apis/grove.io/v1alpha1/clustertopologies"
KAI = "/apis/kai.scheduler/v1alpha1/topologies"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
MANAGED = "grove-topology"
LONG_ENOUGH = 120.0


@dataclass
class World:
    """`refusals` answer writes to the paths that begin so; `lost` is the write that times out.

    While it is `blind`, KAI's Topologies cannot be read.
    """

    api: MemoryApi = field(default_factory=MemoryApi)
    blind: bool = False
    refusals: dict[str, KubeError] = field(default_factory=dict)
    lost: int | None = None
    lost_after: bool = False

    def __post_init__(self) -> None:
        self.api.before = self._before
        self.api.after = self._after

    async def define(self, plural: str, group: str) -> None:
        name = f"{plural}.{group}"
        body = {
            "metadata": {"name": name},
            "spec": {"versions": [{"name": "v1alpha1", "served": True}]},
            "status": {"conditions": [{"type": "Established", "status": "True"}]},
        }
        await self.api.do("POST", DEFINITIONS, body)

    async def install_kai(self) -> None:
        await self.define("topologies", "kai.scheduler")

    def managed(self) -> Body | None:
        found = [each for each in self.api.all("clustertopologies") if _name(each) == MANAGED]
        return found[0] if found else None

    def domains(self) -> list[str]:
        found = self.managed()
        return [level["domain"] for level in found["spec"]["levels"]] if found else []

    def kai_labels(self) -> list[str]:
        """The node labels that KAI knows, by its Topology of our name."""
        found = [each for each in self.api.all("topologies") if _name(each) == MANAGED]
        return [level["nodeLabel"] for level in found[0]["spec"]["levels"]] if found else []

    def status(self) -> ClusterTopologyStatus:
        content = json.dumps((self.managed() or {}).get("status", {})).encode()
        return msgspec.json.decode(content, type=ClusterTopologyStatus)

    def conditions(self) -> dict[str, tuple[str, str]]:
        return {each.type: (each.status, each.reason) for each in self.status().conditions}

    def message(self) -> str:
        ready = find(self.status().conditions, READY)
        return ready.message if ready else ""

    def events(self) -> list[str]:
        return [event["reason"] for event in self.api.all("events")]

    def writes(self) -> list[str]:
        """Writes to topologies, since events change nothing."""
        own = [each for each in self.api.requests if "/events" not in each.path]
        return MemoryApi(requests=own).writes

    def _before(self, request: Request) -> None:
        if request.path.startswith(KAI) and not self._has_kai():
            raise NotFound(str(request), Failure(code=404))
        if request.path.startswith(KAI) and self.blind:
            raise Forbidden(str(request), Failure(code=403))
        for path, error in self.refusals.items():
            if request.method != "GET" and request.path.startswith(path):
                raise error
        if not self.lost_after:
            self._lose(request)

    def _after(self, request: Request) -> None:
        if self.lost_after:
            self._lose(request)

    def _lose(self, request: Request) -> None:
        if self.lost is None or request.method == "GET" or "/events" in request.path:
            return
        if self.lost == 0:
            self.lost = None
            raise Ambiguous(f"{request}: timed out")
        self.lost -= 1

    def _has_kai(self) -> bool:
        return "topologies.kai.scheduler" in self.api.names("customresourcedefinitions")


async def a_world(*, kai: bool = True) -> World:
    """With our own definitions in it."""
    world = World()
    await world.define("clustertopologies", "grove.io")
    if kai:
        await world.install_kai()
    return world


@asynccontextmanager
async def operator(world: World, configured: Topology, seed: int = 1) -> AsyncIterator[None]:
    """A process with the controller, for the length of a block; it has settled when that begins."""
    env = Env(clock=VirtualClock(), rng=dice(seed))
    client = Client(world.api, env.clock, env.rng)
    controller = clustertopology(configured, env.clock)
    settings = Settings(reporter="trellis.dev/operator", instance="one", whole_process=False)
    process = Process(client, [Group(controllers=(controller,))], env, settings)
    stop = asyncio.Event()
    running = asyncio.create_task(process.run(stop))
    try:
        await settled()
        yield
    finally:
        stop.set()
        await running


async def settled() -> None:
    await asyncio.sleep(LONG_ENOUGH)


def _name(body: Body) -> str:
    return str(body["metadata"]["name"])
