# SPDX-License-Identifier: Apache-2.0
"""A set that runs, with all controllers and with nodes: what users do to it, and what shows."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from tests.unit.workloads.rolling.nodes import Nodes
from tests.unit.workloads.sets import a_clique, a_group, a_set_body
from tests.unit.workloads.stage import Stage, a_stage
from trellis.api.core.pod import Pod
from trellis.api.grove.podclique import PodClique
from trellis.api.grove.podcliqueset import PodCliqueSet
from trellis.api.grove.scalinggroup import PodCliqueScalingGroup
from trellis.workloads.podclique.reconciler import controller as podcliques
from trellis.workloads.podcliqueset.reconciler import controllers as podcliquesets
from trellis.workloads.podgang.reconciler import controller as podgangs
from trellis.workloads.scalinggroup.reconciler import controller as scalinggroups

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.unit.workloads.stage import Body

ALL = (podcliquesets, scalinggroups, podgangs, podcliques)
HASH = "grove.io/pod-template-hash"
ROLLING, ON_DELETE = {"type": "RollingRecreate"}, {"type": "OnDelete"}


def wl(replicas: int = 1, strategy: Body | None = None, **more: Any) -> Body:
    """`a`: 2, at least 1. `x`: 2 replicas, at least 1, each of `b` (1) and `c` (2, at least 1)."""
    body = a_set_body(
        "llm",
        a_clique("a", 2, 1),
        a_clique("b", 1, 1),
        a_clique("c", 2, 1),
        groups=(a_group("x", "b", "c", replicas=2, least=1),),
        replicas=replicas,
        **more,
    )
    if strategy is not None:
        body["spec"]["updateStrategy"] = strategy
    return body


def alone(count: int = 3, least: int | None = None, strategy: Body | None = None) -> Body:
    """One clique `a` in no group."""
    body = a_set_body("llm", a_clique("a", count, least))
    if strategy is not None:
        body["spec"]["updateStrategy"] = strategy
    return body


class Show:
    def __init__(self, stage: Stage, nodes: Nodes) -> None:
        self.stage = stage
        self.nodes = nodes

    async def set(self) -> Body:
        return await self.stage.get(PodCliqueSet, "llm")

    async def edit(self, *cliques: str, **spec: Any) -> None:
        """Changes the templates of these cliques, and fields of the spec beside them."""
        body = await self.set()
        for clique in body["spec"]["template"]["cliques"]:
            if clique["name"] in cliques:
                container = clique["spec"]["podSpec"]["containers"][0]
                container["image"] = _next(container["image"])
        template = body["spec"]["template"] if cliques else {}
        await self.stage.patch(
            PodCliqueSet, "llm", {"spec": {**({"template": template} if cliques else {}), **spec}}
        )

    async def switch(self, strategy: Body) -> None:
        await self.edit(updateStrategy=strategy)

    async def progress(self) -> Body:
        found = (await self.set())["status"].get("updateProgress", {})
        assert isinstance(found, dict)
        return found

    async def clique(self, name: str) -> Body:
        return await self.stage.get(PodClique, name)

    async def group(self, name: str = "llm-0-x") -> Body:
        return await self.stage.get(PodCliqueScalingGroup, name)

    async def pods(self, clique: str = "") -> list[Body]:
        """Those that are not on their way out."""
        found = [one for one in await self.stage.all(Pod) if _is_there(one, clique)]
        return sorted(found, key=lambda one: str(one["metadata"]["name"]))

    async def hashes(self, clique: str) -> list[str]:
        return [str(one["metadata"]["labels"][HASH]) for one in await self.pods(clique)]

    async def wanted(self, clique: str) -> str:
        """The hash that a PodClique bears."""
        return str((await self.clique(clique))["metadata"]["labels"][HASH])

    async def outdated(self) -> list[str]:
        """Pods that are not of the template of their PodClique."""
        bears = {
            one["metadata"]["name"]: one["metadata"]["labels"][HASH]
            for one in await self.stage.all(PodClique)
        }
        return [
            one["metadata"]["name"]
            for one in await self.pods()
            if one["metadata"]["labels"][HASH]
            != bears[one["metadata"]["labels"]["grove.io/podclique"]]
        ]

    async def until_ended(self, seconds: float = 300.0) -> Body:
        """Waits until the set says that its update has ended, and returns its progress."""
        for _ in range(int(seconds)):
            await asyncio.sleep(1)
            found = await self.set()
            progress = found["status"].get("updateProgress", {})
            if progress.get("updateEndedAt") and await self._is_told(found):
                return dict(progress)
        raise AssertionError((await self.set())["status"])

    async def _is_told(self, found: Body) -> bool:
        return bool(found["status"].get("observedGeneration") == found["metadata"]["generation"])


@asynccontextmanager
async def a_show(body: Body) -> AsyncIterator[Show]:
    """It runs, all of it is Ready, and all is told."""
    stage = await a_stage()
    await stage.make(PodCliqueSet, body)
    async with a_cast(stage) as show:
        yield show


@asynccontextmanager
async def a_cast(stage: Stage) -> AsyncIterator[Show]:
    nodes = Nodes(stage)
    running = asyncio.create_task(nodes.run())
    try:
        async with stage.operator(*ALL):
            await stage.settle(15)
            nodes.begin()
            stage.forget()
            yield Show(stage, nodes)
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


def _next(image: str) -> str:
    name, _, version = image.rpartition(":")
    return f"{name}:{int(version) + 1}"


def _is_there(pod: Body, clique: str) -> bool:
    metadata = pod["metadata"]
    named = not clique or metadata["labels"]["grove.io/podclique"] == clique
    return named and "deletionTimestamp" not in metadata
