# SPDX-License-Identifier: Apache-2.0
"""The index of a pod among all pods of its replica of a scaling group."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from tests.support.virtual import virtual
from tests.unit.embedded.core.clusters import TOKEN
from tests.unit.workloads.kubelets import kubelets
from tests.unit.workloads.rolling.show import a_show
from tests.unit.workloads.sets import a_clique, a_group, a_set_body
from tests.unit.workloads.stage import Stage, Watched, a_stage
from trellis.api.core.pod import Pod
from trellis.api.grove.podclique import PodClique
from trellis.api.grove.podcliqueset import PodCliqueSet
from trellis.workloads.podclique.reconciler import controller as podcliques
from trellis.workloads.podcliqueset.reconciler import controllers as podcliquesets
from trellis.workloads.podgang.reconciler import controller as podgangs
from trellis.workloads.scalinggroup.reconciler import controller as scalinggroups

if TYPE_CHECKING:
    from tests.unit.workloads.rolling.show import Show

LABEL = "grove.io/podcliquescalinggroup-pod-index"
LEAD, WORK = "llm-0-x-1-lead", "llm-0-x-1-work"
BODY = a_set_body(
    "llm",
    a_clique("work", 3, 1),
    a_clique("lead", 2, 1),
    groups=(a_group("x", "lead", "work", replicas=2),),
)


async def ranks(show: Show, clique: str) -> list[int]:
    return [int(pod["metadata"]["labels"][LABEL]) for pod in await show.pods(clique)]


@pytest.mark.parametrize("count", [1, 4], ids=["in", "out"])
@virtual
async def test_indices_have_no_gaps_and_none_is_there_twice_when_an_earlier_clique_is_scaled(
    count: int,
) -> None:
    async with a_show(BODY) as show:
        assert (await ranks(show, LEAD), await ranks(show, WORK)) == ([0, 1], [2, 3, 4])
        running = {pod["metadata"]["uid"] for pod in await show.pods(WORK)}
        await show.stage.patch(PodClique, LEAD, {"spec": {"replicas": count}})
        await show.stage.settle(10)
        assert await ranks(show, LEAD) == list(range(count))
        assert await ranks(show, WORK) == list(range(count, count + 3))
        assert {pod["metadata"]["uid"] for pod in await show.pods(WORK)} == running
        assert await ranks(show, "llm-0-x-0-work") == [2, 3, 4]
        await show.stage.delete(Pod, (await show.pods(WORK))[0]["metadata"]["name"])
        await show.stage.settle(10)
        assert await ranks(show, WORK) == list(range(count, count + 3))


@virtual
async def test_a_pod_that_another_operator_made_without_one_is_left_alone() -> None:
    async with a_show(BODY) as show:
        (name, *_) = [pod["metadata"]["name"] for pod in await show.pods(WORK)]
        await show.stage.patch(Pod, name, {"metadata": {"labels": {LABEL: None}}})
        await show.stage.patch(PodClique, LEAD, {"spec": {"replicas": 1}})
        await show.stage.settle(10)
        labels = [pod["metadata"]["labels"].get(LABEL) for pod in await show.pods(WORK)]
        assert labels == [None, "2", "3"]


@pytest.mark.parametrize("count", [1, 4], ids=["in", "out"])
@virtual
async def test_indices_follow_also_where_news_of_the_gang_comes_first(count: int) -> None:
    """As it may where PodCliques have a process of their own."""
    stage = await a_stage()
    transport = stage.admin.cluster.transport(TOKEN)
    elsewhere = Stage(stage.admin, stage.client, Watched(transport))
    others = stage.operator(podcliquesets, scalinggroups, podgangs)
    async with kubelets(stage), stage.collector(), others, elsewhere.operator(podcliques):
        await stage.make(PodCliqueSet, BODY)
        await stage.settle(10)
        told = elsewhere.watched.heard["/podcliques"] = asyncio.Event()
        await stage.patch(PodClique, LEAD, {"spec": {"replicas": count}})
        await stage.settle(3)
        told.set()
        await stage.settle(10)
        labels = [one["metadata"]["labels"] for one in await stage.all(Pod)]
        found = [int(one[LABEL]) for one in labels if one["grove.io/pcsg-replica-index"] == "1"]
        assert sorted(found) == list(range(count + 3))
