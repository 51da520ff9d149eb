# SPDX-License-Identifier: Apache-2.0
"""Scaled gangs and the base gang that they come after, where that one cannot grow as it is to."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from tests.support.virtual import virtual
from tests.unit.workloads.kubelets import kubelets
from tests.unit.workloads.sets import POD_SPEC, a_clique, a_group, a_set_body
from tests.unit.workloads.stage import a_stage
from trellis.api.core.pod import Pod
from trellis.api.grove.podclique import PodClique
from trellis.api.grove.podcliqueset import PodCliqueSet
from trellis.api.grove.scalinggroup import PodCliqueScalingGroup
from trellis.workloads.podclique.reconciler import controller as podcliques
from trellis.workloads.podcliqueset.reconciler import controllers as podcliquesets
from trellis.workloads.podgang.reconciler import controller as podgangs
from trellis.workloads.scalinggroup.reconciler import controller as scalinggroups

if TYPE_CHECKING:
    from tests.unit.workloads.stage import Stage

EVERYBODY = (podcliquesets, scalinggroups, podgangs, podcliques)
OTHERS = {
    "metadata": {"name": "llm-0-ga-1-a"},
    "spec": {"roleName": "a", "replicas": 1, "podSpec": POD_SPEC},
}


async def scale(stage: Stage, group: str, replicas: int) -> None:
    await stage.patch(PodCliqueScalingGroup, group, {"spec": {"replicas": replicas}})


async def bound(stage: Stage) -> int:
    return sum("nodeName" in pod["spec"] for pod in await stage.all(Pod))


@virtual
async def test_a_scaled_gang_goes_on_when_its_base_gang_need_not_grow_any_more() -> None:
    stage = await a_stage()
    groups = (a_group("ga", "a", replicas=1, least=2), a_group("gb", "b"))
    body = a_set_body("llm", a_clique("a"), a_clique("b"), groups=groups)
    async with kubelets(stage), stage.operator(*EVERYBODY):
        # Somebody else has the name of what the base gang is to take in.
        await stage.make(PodClique, OTHERS)
        await stage.make(PodCliqueSet, body)
        await stage.settle()
        assert await bound(stage) == 2
        # That it lacks something, and then nothing, its status has no time to tell.
        stage.watched.until["/podgangs/llm-0/status"] = asyncio.Event()
        await scale(stage, "llm-0-ga", 2)
        await scale(stage, "llm-0-gb", 2)
        await stage.settle()
        assert await bound(stage) == 2
        await scale(stage, "llm-0-ga", 1)
        await stage.settle()
        assert await bound(stage) == 3
