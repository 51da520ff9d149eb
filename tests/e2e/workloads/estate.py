# SPDX-License-Identifier: Apache-2.0
"""Trees that Grove made in one cluster before our operator came, and all that was seen of them
since."""

from __future__ import annotations

from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from tests.e2e.embedded.nodes.simulation import a_client
from tests.e2e.workloads.grounds import operated
from tests.e2e.workloads.grove import MAPS, WAITER_IMAGE, Grove, maps_path
from tests.e2e.workloads.grove_tree import Release, Unfinished
from tests.e2e.workloads.witness import Witness, watching
from tests.e2e.workloads.world import CHILDREN, CLIQUES, GROUPS, PODS, World, name_of
from tests.support.namespaces import fresh_namespace
from tests.support.virtual import dice
from tests.support.waiting import eventually
from trellis.api.schema.crd import definition
from trellis.api.schema.kinds import KINDS
from trellis.app.local.installing import install
from trellis.embedded.nodes.waiters import START_ORDER, shipped
from trellis.instruments.clock import SystemClock
from trellis.kube.access import Surroundings
from trellis.kube.connect import find_access

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping
    from pathlib import Path

    from tests.e2e.workloads.grove_tree import Live
    from tests.support.cluster import Cluster
    from trellis.embedded.nodes.waiters import Start

Json = dict[str, Any]

_OPAQUE = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
# A kind that newer releases of Grove have beside those that we know.
_MAPS_DEFINITION = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": f"{MAPS}.grove.io"},
    "spec": {
        "group": "grove.io",
        "scope": "Namespaced",
        "names": {
            "kind": "PodGangMap",
            "listKind": "PodGangMapList",
            "plural": MAPS,
            "singular": "podgangmap",
        },
        "versions": [
            {
                "name": "v1alpha1",
                "served": True,
                "storage": True,
                "schema": {"openAPIV3Schema": _OPAQUE},
            }
        ],
    },
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A set called `wl`, by which release it was made, and how far."""

    release: Release
    body: Json
    unfinished: Unfinished = field(default_factory=Unfinished)
    live: Live = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """A tree as Grove left it. `pods` and `maps` are by name, other children by kind and name."""

    case: Case
    world: World
    pods: Mapping[str, Json]
    children: Mapping[tuple[str, str], Json]
    maps: Mapping[str, Json]
    pods_seen: Witness
    cliques_seen: Witness
    groups_seen: Witness


class Estate:
    """`trees` by the names of their cases. The operator is there once it is started."""

    def __init__(self, ground: Cluster, folder: Path, trees: Mapping[str, Taken]) -> None:
        self.trees = trees
        self._ground = ground
        self._folder = folder
        self._operator = AsyncExitStack()

    async def start(self) -> None:
        await self._operator.enter_async_context(operated(self._ground, self._folder))

    async def stop(self) -> None:
        await self._operator.aclose()


class Waiters:
    """Grove's waiter has long seen all it waited for; ours is run."""

    def __init__(self, cluster: Cluster) -> None:
        surroundings = Surroundings(clock=SystemClock(), environ={})
        access = find_access(surroundings, file=cluster.kubeconfig)
        self._ours = shipped(access.server, access.trust, dice(2))[START_ORDER]

    async def __call__(self, start: Start) -> int:
        if start.spec["image"].startswith(WAITER_IMAGE):
            return 0
        return await self._ours(start)


async def define(ground: Cluster) -> None:
    """The kinds that we ship, and Grove's."""
    definitions = [*(definition(served) for served in KINDS), _MAPS_DEFINITION]
    async with a_client(ground) as client:
        await install(client, definitions)
    for each in definitions:
        spec = each["spec"]
        (version,) = spec["versions"]
        path = f"/apis/{spec['group']}/{version['name']}/{spec['names']['plural']}"
        await eventually(partial(ground.api.exists, path), f"{path} to be served")


@asynccontextmanager
async def made_by_grove(ground: Cluster, case: Case) -> AsyncIterator[Taken]:
    async with fresh_namespace(ground.api) as namespace:
        world = World(cluster=ground, namespace=namespace)
        await Grove(world, case.release, case.unfinished, case.live).run(case.body)
        async with (
            watching(world, PODS) as pods_seen,
            watching(world, CLIQUES) as cliques_seen,
            watching(world, GROUPS) as groups_seen,
        ):
            yield Taken(
                case=case,
                world=world,
                pods={name_of(pod): pod for pod in await world.all(PODS)},
                children={
                    (kind, name_of(one)): one
                    for kind in CHILDREN
                    if kind != PODS
                    for one in await world.ours(kind)
                },
                maps=await maps(world),
                pods_seen=pods_seen,
                cliques_seen=cliques_seen,
                groups_seen=groups_seen,
            )


async def maps(world: World) -> dict[str, Json]:
    found = (await world.api.do("GET", maps_path(world)))["items"]
    return {name_of(one): one for one in found}
