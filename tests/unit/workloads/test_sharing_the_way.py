# SPDX-License-Identifier: Apache-2.0
"""One set is large and the API is slow: what happens to others meanwhile."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.support.virtual import VirtualClock, virtual
from tests.unit.workloads.kubelets import kubelets
from tests.unit.workloads.rolling.show import ALL
from tests.unit.workloads.sets import a_clique, a_set_body
from tests.unit.workloads.stage import Stage, Watched, a_stage
from trellis.api.core.pod import Pod
from trellis.api.grove.podclique import PodClique
from trellis.api.grove.podcliqueset import PodCliqueSet

if TYPE_CHECKING:
    from tests.unit.workloads.stage import Body
    from trellis.kube.transport import Request, Response

REPLICAS, SIZE = 30, 40
CLOCK = VirtualClock()


@dataclass
class Slow(Watched):
    """Each write takes its time."""

    async def request(self, request: Request) -> Response:
        if request.method != "GET":
            await asyncio.sleep(1.0)
        return await super().request(request)


async def a_slow_stage() -> Stage:
    stage = await a_stage()
    stage.watched = Slow(stage.watched.inner)
    return stage


async def pods_of(stage: Stage, name: str) -> list[Body]:
    found = await stage.all(Pod)
    return [one for one in found if one["metadata"]["name"].startswith(f"{name}-")]


async def are_started(stage: Stage, name: str, count: int) -> bool:
    found = await pods_of(stage, name)
    return len(found) == count and not any(one["spec"].get("schedulingGates") for one in found)


@virtual
async def test_a_small_set_starts_while_a_large_one_is_still_being_made() -> None:
    stage = await a_slow_stage()
    async with stage.operator(*ALL):
        await stage.make(PodCliqueSet, a_set_body("large", a_clique("w", SIZE), replicas=REPLICAS))
        await asyncio.sleep(5)
        await stage.make(PodCliqueSet, a_set_body("small", a_clique("w", 4)))
        while not await are_started(stage, "small", 4):
            await asyncio.sleep(0.5)
        assert len(await pods_of(stage, "large")) < 0.5 * REPLICAS * SIZE


@virtual
async def test_a_pod_is_replaced_while_a_large_set_is_still_being_made() -> None:
    stage = await a_slow_stage()
    async with stage.operator(*ALL), kubelets(stage):
        await stage.make(PodCliqueSet, a_set_body("small", a_clique("w", 2)))
        await stage.settle(20)
        await stage.make(PodCliqueSet, a_set_body("large", a_clique("w", SIZE), replicas=REPLICAS))
        await asyncio.sleep(5)
        lost = (await pods_of(stage, "small"))[0]["metadata"]["name"]
        await stage.delete(Pod, lost, grace=0)
        while not await are_started(stage, "small", 2):
            await asyncio.sleep(0.5)
        assert len(await pods_of(stage, "large")) < 0.5 * REPLICAS * SIZE


@virtual
async def test_what_is_up_is_told_of_while_the_rest_of_a_large_set_is_still_being_made() -> None:
    stage = await a_slow_stage()
    async with stage.operator(*ALL), kubelets(stage):
        await stage.make(PodCliqueSet, a_set_body("large", a_clique("w", SIZE), replicas=REPLICAS))
        while not await _some_are_told(stage):
            await asyncio.sleep(0.5)
        assert len(await pods_of(stage, "large")) < 0.5 * REPLICAS * SIZE


async def _some_are_told(stage: Stage) -> bool:
    found = await stage.all(PodClique)
    return any(one.get("status", {}).get("readyReplicas") == SIZE for one in found)
