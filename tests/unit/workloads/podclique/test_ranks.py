# SPDX-License-Identifier: Apache-2.0
"""The index of a pod among all pods of its replica of a scaling group."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.virtual import virtual
from tests.unit.workloads.rolling.show import a_show
from tests.unit.workloads.sets import a_clique, a_group, a_set_body
from trellis.api.core.pod import Pod
from trellis.api.grove.podclique import PodClique

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
