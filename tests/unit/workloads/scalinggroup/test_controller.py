# SPDX-License-Identifier: Apache-2.0
"""The controller at work. Whoever tests plays all the others: the set's, the gangs', the nodes'."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from tests.support.virtual import virtual
from tests.unit.workloads.scalinggroup.builders import GROUP, group_body
from tests.unit.workloads.sets import a_clique, a_group, a_set_body
from tests.unit.workloads.sharing.sets import a_spec, for_all, for_each
from tests.unit.workloads.stage import a_stage
from trellis.api.core.resourceclaim import ResourceClaim, ResourceClaimTemplate
from trellis.api.grove.podclique import PodClique
from trellis.api.grove.podcliqueset import PodCliqueSet
from trellis.api.grove.scalinggroup import PodCliqueScalingGroup
from trellis.api.labels import SCALING_GROUP_FINALIZER, Component, common, of_set_replica
from trellis.api.scheduler.podgang import PodGang
from trellis.kube.errors import Ambiguous, Unreachable
from trellis.runtime.loop import HELD_SECONDS
from trellis.workloads.outline import Outline
from trellis.workloads.scalinggroup.reconciler import controller

if TYPE_CHECKING:
    from tests.unit.workloads.stage import Stage
    from trellis.kube.transport import Request

Json = dict[str, Any]

OTHER_IMAGE = {"containers": [{"name": "main", "image": "registry.example/app:2"}]}


def members(*indices: int) -> list[str]:
    return sorted(f"{GROUP}-{index}-{name}" for index in indices for name in ("leader", "worker"))


def the_set_body(replicas: int = 1, pods: Json | None = None, **group: Any) -> Json:
    spec: Json = {} if pods is None else {"podSpec": pods}
    return a_set_body(
        "llm",
        a_clique("leader", 1, **spec),
        a_clique("worker", 2, least=1),
        groups=(a_group("pd", "leader", "worker", replicas=2, **group),),
        replicas=replicas,
    )


async def a_group_on(
    stage: Stage, replicas: int = 2, least: int = 1, of_set: Json | None = None, **metadata: Any
) -> PodCliqueSet:
    """A set and its group, as the controller of the set's replica would have made it."""
    body = await stage.make(PodCliqueSet, of_set or the_set_body())
    made = _read(body)
    await stage.make(PodCliqueScalingGroup, group_body(made, replicas, least, **metadata))
    return made


async def tell(stage: Stage, *names: str, **status: Any) -> None:
    """What the controller of PodCliques would say of these."""
    outline = Outline(_read(await stage.get(PodCliqueSet, "llm")))
    for name in names:
        found = await stage.get(PodClique, name)
        count = found["spec"]["replicas"]
        told = {
            "replicas": count,
            "readyReplicas": count,
            "scheduledReplicas": count,
            "updatedReplicas": count,
            "firstAvailableTime": _now(stage),
            "currentPodTemplateHash": found["metadata"]["labels"]["grove.io/pod-template-hash"],
            "currentPodCliqueSetGenerationHash": outline.generation_hash,
            "conditions": [_breached(stage, False)],
        }
        await stage.patch(PodClique, name, {"status": told | status}, part="status")


def _read(body: Json) -> PodCliqueSet:
    return msgspec.json.decode(msgspec.json.encode(body), type=PodCliqueSet)


def _breached(stage: Stage, fact: bool) -> Json:
    return {
        "type": "MinAvailableBreached",
        "status": str(fact),
        "reason": "Because",
        "message": "",
        "lastTransitionTime": _now(stage),
    }


def _now(stage: Stage, later: float = 0) -> str:
    moment = stage.client.clock.now() + timedelta(seconds=later)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


async def status_of(stage: Stage) -> Json:
    found: Json = (await stage.get(PodCliqueScalingGroup, GROUP)).get("status", {})
    return found


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
        await stage.settle(60)
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
        stamp = {"trellis.dev/recycled": json.dumps({clique: _now(stage)})}
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

        await tell(stage, *members(0, 1), firstAvailableTime=_now(stage, 1))
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


# A claim, four members, a status.
_WRITES = 6


@pytest.mark.parametrize("lost", [Unreachable, Ambiguous], ids=["before", "after"])
@pytest.mark.parametrize("number", range(_WRITES))
@virtual
async def test_whichever_write_fails_it_ends_the_same(
    number: int, lost: type[Unreachable | Ambiguous]
) -> None:
    stage = await a_stage()
    body = the_set_body(resourceSharing=[for_all("gpu")])
    body["spec"]["template"]["resourceClaimTemplates"] = [
        {"name": "gpu", "templateSpec": a_spec("gpus")}
    ]
    await a_group_on(stage, of_set=body)
    seen = 0

    def fail(request: Request) -> None:
        nonlocal seen
        if request.method == "GET" or "/events" in request.path:
            return
        seen += 1
        if seen == number + 1:
            raise lost("the network is gone")

    if lost is Ambiguous:
        stage.watched.after = fail
    else:
        stage.watched.before = fail
    async with stage.operator(controller):
        await stage.settle(2 * HELD_SECONDS)
        assert seen > number
        assert await stage.names(PodClique) == members(0, 1)
        assert await stage.names(ResourceClaim) == [f"{GROUP}-all-gpu"]
        status = await status_of(stage)
        assert "lastErrors" not in status
        assert status["observedGeneration"] == 1
        stage.forget()
        await stage.settle(60)
        assert stage.writes() == []
