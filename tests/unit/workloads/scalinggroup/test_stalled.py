# SPDX-License-Identifier: Apache-2.0
"""What a group says while something is in its way."""

from __future__ import annotations

from tests.support.virtual import virtual
from tests.unit.workloads.scalinggroup.builders import GROUP, Json
from tests.unit.workloads.scalinggroup.neighbours import (
    OTHER_IMAGE,
    a_group_on,
    members,
    status_of,
    tell,
    the_set_body,
)
from tests.unit.workloads.stage import a_stage
from trellis.api.grove.podclique import PodClique
from trellis.api.grove.podcliqueset import PodCliqueSet
from trellis.api.grove.scalinggroup import PodCliqueScalingGroup
from trellis.workloads.scalinggroup.reconciler import controller


@virtual
async def test_an_object_of_somebody_else_under_our_name_is_told_and_left_alone() -> None:
    stage = await a_stage()
    name = f"{GROUP}-0-leader"
    spec = {"roleName": "theirs", "replicas": 1, "podSpec": OTHER_IMAGE}
    theirs = await stage.make(PodClique, {"metadata": {"name": name}, "spec": spec})
    await a_group_on(stage)

    async with stage.operator(controller):
        assert await stage.get(PodClique, name) == theirs
        assert len(await stage.names(PodClique)) == 4
        conditions = await stage.conditions(PodCliqueScalingGroup, GROUP)
        assert conditions["Stalled"] == ("True", "NameConflict")
        message = await stage.message(PodCliqueScalingGroup, GROUP, "Stalled")
        assert message == f"{name} belongs to nobody and is left alone: remove or rename it"
        assert (await status_of(stage))["lastErrors"][0]["code"] == "NameConflict"
        assert f"POST podcliques/{name}" not in stage.writes()
        await stage.delete(PodClique, name)
        await stage.settle(1)
        assert (await stage.get(PodClique, name))["spec"]["roleName"] == "leader"
        status = await status_of(stage)
        assert "lastErrors" not in status


@virtual
async def test_a_member_that_somebody_takes_away_counts_no_more_at_once() -> None:
    stage = await a_stage()
    await a_group_on(stage)

    async with stage.operator(controller):
        await tell(stage, *members(0, 1))
        await stage.settle(1)
        assert (await status_of(stage))["availableReplicas"] == 2
        nobodys: Json = {"metadata": {"ownerReferences": None}}
        await stage.patch(PodClique, f"{GROUP}-1-leader", nobodys)
        await stage.settle(1)
        assert (await status_of(stage))["availableReplicas"] == 1
        conditions = await stage.conditions(PodCliqueScalingGroup, GROUP)
        assert conditions["Stalled"] == ("True", "NameConflict")


@virtual
async def test_a_refusal_is_told_with_its_words_and_tried_again() -> None:
    stage = await a_stage()
    long = {"labels": {"team": "x" * 64}}
    body = the_set_body()
    body["spec"]["template"]["cliques"][0] |= long
    await a_group_on(stage, of_set=body)

    async with stage.operator(controller):
        conditions = await stage.conditions(PodCliqueScalingGroup, GROUP)
        assert conditions["Stalled"] == ("True", "Refused")
        assert "63" in await stage.message(PodCliqueScalingGroup, GROUP, "Stalled")
        assert await stage.names(PodClique) == [f"{GROUP}-{index}-worker" for index in (0, 1)]
        await stage.patch(PodCliqueSet, "llm", {"spec": the_set_body()["spec"]})
        await stage.settle(30)
        assert await stage.names(PodClique) == members(0, 1)


@virtual
async def test_too_many_replicas_are_refused_before_any_list_is_built() -> None:
    stage = await a_stage()
    await a_group_on(stage, replicas=2)

    async with stage.operator(controller):
        stage.forget()
        await stage.patch(PodCliqueScalingGroup, GROUP, {"spec": {"replicas": 2**31 - 1}})
        await stage.settle()
        assert await stage.names(PodClique) == members(0, 1)
        conditions = await stage.conditions(PodCliqueScalingGroup, GROUP)
        assert conditions["Stalled"] == ("True", "InvalidSpec")
        assert [write for write in stage.writes() if "status" not in write] == []
