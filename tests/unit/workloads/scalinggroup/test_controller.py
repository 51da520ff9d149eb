# SPDX-License-Identifier: Apache-2.0
"""The controller at work. Whoever tests plays all the others: the set's, the gangs', the nodes'."""

from __future__ import annotations

import json

import pytest

from tests.support.virtual import virtual
from tests.unit.workloads.scalinggroup.builders import GROUP, Json, group_body
from tests.unit.workloads.scalinggroup.neighbours import (
    OTHER_IMAGE,
    a_group_on,
    members,
    now,
    status_of,
    tell,
    the_set_body,
)
from tests.unit.workloads.sharing.sets import a_spec, for_all, for_each
from tests.unit.workloads.stage import a_stage
from trellis.api.core.resourceclaim import ResourceClaim, ResourceClaimTemplate
from trellis.api.grove.podclique import PodClique
from trellis.api.grove.podcliqueset import PodCliqueSet
from trellis.api.grove.scalinggroup import PodCliqueScalingGroup
from trellis.api.labels import SCALING_GROUP_FINALIZER, Component, common, of_set_replica
from trellis.api.scheduler.podgang import PodGang
from trellis.workloads.outline import Outline
from trellis.workloads.scalinggroup.reconciler import controller


@virtual
async def test_members_are_made_for_every_replica_and_told_in_one_event() -> None:
    stage = await a_stage()
    await a_group_on(stage)

    async with stage.operator(controller):
        assert await stage.names(PodClique) == members(0, 1)
        owner = (await stage.get(PodCliqueScalingGroup, GROUP))["metadata"]["uid"]
        for one in await stage.all(PodClique):
            assert one["metadata"]["ownerReferences"][0]["uid"] == owner
            assert "finalizers" not in one["metadata"]
        assert [reason for reason, _ in await stage.events(GROUP)] == ["PodCliqueCreateSuccessful"]
        status = await status_of(stage)
        assert (status["replicas"], status["observedGeneration"]) == (2, 1)
        assert (await stage.conditions(PodCliqueScalingGroup, GROUP))["Ready"] == (
            "False",
            "InsufficientScheduledPodCliqueScalingGroupReplicas",
        )


@virtual
async def test_a_group_follows_its_members_with_few_writes_and_is_still_when_they_are() -> None:
    stage = await a_stage()
    await a_group_on(stage)

    async with stage.operator(controller):
        stage.forget()
        for name in members(0, 1):
            await tell(stage, name, scheduledReplicas=0, readyReplicas=0)
            await tell(stage, name, readyReplicas=0)
            await tell(stage, name)
        await stage.settle()
        status = await status_of(stage)
        counts = ("scheduledReplicas", "availableReplicas", "updatedReplicas")
        assert [status[count] for count in counts] == [2, 2, 2]
        conditions = await stage.conditions(PodCliqueScalingGroup, GROUP)
        assert conditions["Ready"] == ("True", "AllReplicasAvailable")
        assert conditions["MinAvailableBreached"][0] == "False"
        assert len(stage.writes()) <= 2
        stage.forget()
        await stage.settle(600)
        assert stage.writes() == []


@virtual
async def test_a_restart_writes_nothing() -> None:
    stage = await a_stage()
    await a_group_on(stage)
    async with stage.operator(controller):
        await tell(stage, *members(0, 1))
        await stage.settle()
    stage.forget()

    async with stage.operator(controller):
        await stage.settle(60)

    assert stage.writes() == []


@virtual
async def test_scaling_in_takes_the_highest_indices_and_out_brings_them_back() -> None:
    stage = await a_stage()
    await a_group_on(stage, replicas=3)

    async with stage.operator(controller):
        for count in (1, 0, 2):
            await stage.patch(PodCliqueScalingGroup, GROUP, {"spec": {"replicas": count}})
            await stage.settle()
            assert await stage.names(PodClique) == members(*range(count))
        reasons = [reason for reason, _ in await stage.events(GROUP)]
        assert reasons.count("PodCliqueScalingGroupReplicaDeleteSuccessful") == 2


@virtual
async def test_a_new_template_reaches_the_members_and_what_was_scaled_stays_so() -> None:
    stage = await a_stage()
    await a_group_on(stage)

    async with stage.operator(controller):
        scaled = f"{GROUP}-1-worker"
        await stage.patch(PodClique, scaled, {"spec": {"replicas": 5}})
        before = await stage.get(PodClique, f"{GROUP}-0-leader")
        stage.forget()
        changed = the_set_body(pods=OTHER_IMAGE)["spec"]
        changed["updateStrategy"] = {"type": "OnDelete"}
        await stage.patch(PodCliqueSet, "llm", {"spec": changed})
        await stage.settle()

        after = await stage.get(PodClique, f"{GROUP}-0-leader")
        assert after["spec"]["podSpec"] == OTHER_IMAGE
        assert after["metadata"]["uid"] == before["metadata"]["uid"]
        hashed = "grove.io/pod-template-hash"
        assert after["metadata"]["labels"][hashed] != before["metadata"]["labels"][hashed]
        assert (await stage.get(PodClique, scaled))["spec"]["replicas"] == 5
        assert sorted(write for write in stage.writes() if "status" not in write) == [
            f"PATCH podcliques/{GROUP}-{index}-leader" for index in (0, 1)
        ]
        assert (await status_of(stage))["observedGeneration"] == 1


@virtual
async def test_what_others_delete_or_change_comes_back() -> None:
    stage = await a_stage()
    await a_group_on(stage)

    async with stage.operator(controller):
        await stage.delete(PodClique, f"{GROUP}-0-leader")
        labels = {"grove.io/podgang": "elsewhere", "theirs": "stays"}
        await stage.patch(PodClique, f"{GROUP}-1-leader", {"metadata": {"labels": labels}})
        await stage.patch(PodClique, f"{GROUP}-1-worker", {"spec": {"roleName": "other"}})
        await stage.settle()

        assert await stage.names(PodClique) == members(0, 1)
        kept = (await stage.get(PodClique, f"{GROUP}-1-leader"))["metadata"]["labels"]
        assert (kept["grove.io/podgang"], kept["theirs"]) == ("llm-0-pd-0", "stays")
        worker = await stage.get(PodClique, f"{GROUP}-1-worker")
        assert worker["spec"]["roleName"] == "worker"


@pytest.mark.parametrize("finalizers", [[SCALING_GROUP_FINALIZER, "theirs"], ["theirs"]])
@virtual
async def test_a_group_that_is_going_is_let_go_and_nothing_is_made_for_it(
    finalizers: list[str],
) -> None:
    stage = await a_stage()
    await a_group_on(stage, finalizers=finalizers)
    await stage.delete(PodCliqueScalingGroup, GROUP)

    async with stage.operator(controller):
        await stage.settle()
        found = await stage.get(PodCliqueScalingGroup, GROUP)
        assert found["metadata"]["finalizers"] == ["theirs"]
        assert await stage.names(PodClique) == []


@virtual
async def test_the_last_finalizer_lets_it_go_for_good() -> None:
    stage = await a_stage()
    await a_group_on(stage, finalizers=[SCALING_GROUP_FINALIZER])
    async with stage.collector(), stage.operator(controller):
        await stage.delete(PodCliqueScalingGroup, GROUP)
        await stage.settle(30)

        assert await stage.names(PodCliqueScalingGroup) == []
        assert await stage.names(PodClique) == []


@virtual
async def test_nothing_is_made_while_the_set_is_going_or_lacks_that_replica() -> None:
    stage = await a_stage()
    await a_group_on(stage, of_set=the_set_body(replicas=0))

    async with stage.operator(controller):
        assert await stage.names(PodClique) == []
        await stage.patch(PodCliqueSet, "llm", {"metadata": {"finalizers": ["example.com/hold"]}})
        await stage.delete(PodCliqueSet, "llm")
        await stage.patch(PodCliqueSet, "llm", {"spec": {"replicas": 1}})
        await stage.settle()
        assert await stage.names(PodClique) == []


@virtual
async def test_a_group_of_nobody_is_left_alone() -> None:
    stage = await a_stage()
    made = await a_group_on(stage)
    await stage.delete(PodCliqueScalingGroup, GROUP)
    stray = group_body(made)
    del stray["metadata"]["ownerReferences"]
    await stage.make(PodCliqueScalingGroup, stray)

    async with stage.operator(controller):
        assert stage.writes() == []


@virtual
async def test_claims_are_made_from_templates_as_soon_as_these_are_there() -> None:
    stage = await a_stage()
    sharing = [for_all("gpu"), for_each("gpu")]
    sharing[1]["name"] = "nic"
    body = the_set_body(resourceSharing=sharing)
    body["spec"]["template"]["resourceClaimTemplates"] = [
        {"name": "gpu", "templateSpec": a_spec("gpus")}
    ]
    await a_group_on(stage, of_set=body)

    async with stage.operator(controller):
        assert await stage.names(ResourceClaim) == [f"{GROUP}-all-gpu"]
        assert await stage.names(PodClique) == members(0, 1)
        conditions = await stage.conditions(PodCliqueScalingGroup, GROUP)
        assert conditions["Stalled"] == ("True", "ClaimTemplateMissing")

        template = {"metadata": {"name": "nic"}, "spec": a_spec("nics")}
        await stage.make(ResourceClaimTemplate, template)
        await stage.settle()
        nics = [f"{GROUP}-{index}-nic" for index in (0, 1)]
        assert await stage.names(ResourceClaim) == sorted([f"{GROUP}-all-gpu", *nics])
        assert (await stage.conditions(PodCliqueScalingGroup, GROUP))["Stalled"][0] == "False"

        await stage.delete(ResourceClaimTemplate, "nic")
        await stage.patch(PodCliqueScalingGroup, GROUP, {"spec": {"replicas": 1}})
        await stage.settle()
        assert await stage.names(ResourceClaim) == sorted([f"{GROUP}-all-gpu", nics[0]])

        await stage.delete(ResourceClaim, f"{GROUP}-all-gpu")
        await stage.settle()
        assert f"{GROUP}-all-gpu" in await stage.names(ResourceClaim)


@virtual
async def test_a_replica_made_anew_is_told_until_it_is_available_again() -> None:
    stage = await a_stage()
    await a_group_on(stage, replicas=2, least=1)
    scaled = {
        "metadata": {
            "name": "llm-0-pd-0",
            "labels": common("llm", "llm-0-pd-0", Component.POD_GANG)
            | of_set_replica("llm", 0)
            | {"grove.io/podcliquescalinggroup": GROUP},
        },
        "spec": {"podgroups": []},
    }
    base = {
        "metadata": {
            "name": "llm-0",
            "labels": common("llm", "llm-0", Component.POD_GANG) | of_set_replica("llm", 0),
        },
        "spec": {"podgroups": []},
    }
    await stage.make(PodGang, scaled)
    await stage.make(PodGang, base)

    async def recycle(gang: str, clique: str) -> None:
        stamp = {"trellis.dev/recycled": json.dumps({clique: now(stage)})}
        await stage.patch(PodGang, gang, {"metadata": {"annotations": stamp}})
        await stage.settle()

    async def in_progress() -> str:
        name = "GangTerminationInProgress"
        return await stage.message(PodCliqueScalingGroup, GROUP, name)

    async with stage.operator(controller):
        await tell(stage, *members(0, 1))
        await stage.settle()
        assert await in_progress() == ""

        await recycle("llm-0-pd-0", f"{GROUP}-1-worker")
        assert await in_progress() == "being made anew: 1"
        await recycle("llm-0", "*")
        assert await in_progress() == "being made anew: 0, 1"
        breach = (await stage.conditions(PodCliqueScalingGroup, GROUP))["MinAvailableBreached"]
        assert breach[0] == "True"

        await tell(stage, *members(0, 1), firstAvailableTime=now(stage, 1))
        await stage.settle()
        assert await in_progress() == ""
        breach = (await stage.conditions(PodCliqueScalingGroup, GROUP))["MinAvailableBreached"]
        assert breach[0] == "False"


@virtual
async def test_a_tree_made_by_grove_is_taken_over_in_place() -> None:
    stage = await a_stage()
    made = await a_group_on(stage, finalizers=[SCALING_GROUP_FINALIZER])
    async with stage.operator(controller):
        pass
    # As Grove would have left it: another hash, fields of its types, its own finalizer.
    for one in await stage.all(PodClique):
        foreign: Json = {
            "labels": {"grove.io/pod-template-hash": "7f9c", "grove.io/pcs-name": None},
            "annotations": {"trellis.dev/applied": None},
            "finalizers": ["grove.io/podclique.grove.io"],
        }
        containers = [
            {**each, "resources": {}, "env": [{"name": "GROVE_PCSG_INDEX", "value": "0"}]}
            for each in one["spec"]["podSpec"]["containers"]
        ]
        spec = {"replicas": 4, "podSpec": {"containers": containers}}
        await stage.patch(PodClique, one["metadata"]["name"], {"metadata": foreign, "spec": spec})
    before = {one["metadata"]["uid"] for one in await stage.all(PodClique)}

    async with stage.operator(controller):
        hashes = Outline(made).template_hashes
        for one in await stage.all(PodClique):
            metadata = one["metadata"]
            own = hashes[metadata["labels"]["grove.io/clique-name"]]
            assert metadata["labels"]["grove.io/pod-template-hash"] == own
            noted = json.loads(metadata["annotations"]["trellis.dev/template-hash-aliases"])
            assert noted == {own: ["7f9c"]}
            assert metadata["finalizers"] == ["grove.io/podclique.grove.io"]
            assert one["spec"]["replicas"] == 4
        assert {one["metadata"]["uid"] for one in await stage.all(PodClique)} == before
        stage.forget()
        await stage.settle(60)
        assert stage.writes() == []
