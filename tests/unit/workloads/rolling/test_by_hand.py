# SPDX-License-Identifier: Apache-2.0
"""OnDelete, and switching between the strategies, by all controllers together."""

from __future__ import annotations

import asyncio

import pytest

from tests.support.virtual import virtual
from tests.unit.workloads.rolling.show import ON_DELETE, ROLLING, a_show, alone, wl
from trellis.api.core.pod import Pod
from trellis.api.grove.podclique import PodClique
from trellis.api.grove.podcliqueset import PodCliqueSet
from trellis.api.grove.scalinggroup import PodCliqueScalingGroup

A, X = "llm-0-a", "llm-0-x"


@pytest.mark.parametrize("cliques", ["a", "b", "abc"], ids=["alone", "member", "all"])
@virtual
async def test_nothing_is_killed_and_every_podclique_is_patched(cliques: str) -> None:
    async with a_show(wl(2, ON_DELETE)) as show:
        before = {one["metadata"]["name"]: one["metadata"] for one in await show.pods()}
        await show.edit(*cliques)
        await show.stage.settle(30)
        after = {one["metadata"]["name"]: one["metadata"] for one in await show.pods()}
        assert set(after) == set(before)
        assert show.nodes.gone == []
        for one in await show.stage.all(PodClique):
            name = one["metadata"]["labels"]["grove.io/clique-name"]
            image = one["spec"]["podSpec"]["containers"][0]["image"]
            assert image == f"registry.example/app:{2 if name in cliques else 1}"


@virtual
async def test_status_tells_that_it_began_and_ended_in_one_moment() -> None:
    async with a_show(wl(2, ON_DELETE)) as show:
        first = (await show.set())["status"]["currentGenerationHash"]
        await show.edit("a", "b")
        await show.stage.settle(10)
        status = (await show.set())["status"]
        assert status["currentGenerationHash"] != first
        assert status["updatedReplicas"] == 0
        assert status["observedGeneration"] == 2
        clique, group = (await show.clique(A)), (await show.group())
        for progress in (
            status["updateProgress"],
            clique["status"]["updateProgress"],
            group["status"]["updateProgress"],
            (await show.clique("llm-1-x-1-b"))["status"]["updateProgress"],
        ):
            assert progress["updateStartedAt"] == progress["updateEndedAt"]
            assert "currentlyUpdating" not in progress
            assert "readyPodsSelectedToUpdate" not in progress
            assert "readyReplicaIndicesSelectedToUpdate" not in progress
        assert clique["status"]["updateProgress"]["podTemplateHash"] == await show.wanted(A)
        assert clique["status"]["updatedReplicas"] == 0
        assert clique["status"]["currentPodTemplateHash"] in await show.hashes(A)
        assert group["status"]["updatedReplicas"] == 0
        for kind, name in ((PodCliqueSet, "llm"), (PodClique, A), (PodCliqueScalingGroup, X)):
            conditions = await show.stage.conditions(kind, name)
            assert conditions["UpdateInProgress"] == ("False", "UpdateWaitsForDeletion"), name
            assert conditions["Ready"][0] == "True"
        assert "updateProgress" not in (await show.clique("llm-0-x-0-c"))["status"]


@virtual
async def test_what_is_deleted_comes_back_new_and_the_others_stay() -> None:
    async with a_show(wl(1, ON_DELETE)) as show:
        await show.edit("a", "b", "c")
        await show.stage.settle(5)
        for name in (A, "llm-0-x-0-b", "llm-0-x-1-c"):
            lost = (await show.pods(name))[0]["metadata"]["name"]
            await show.stage.delete(Pod, lost)
        await show.stage.settle(10)
        assert len(show.nodes.born) == len(show.nodes.gone) == 3
        for name, count in ((A, 1), ("llm-0-x-0-b", 1), ("llm-0-x-1-c", 1)):
            wanted = await show.wanted(name)
            assert (await show.hashes(name)).count(wanted) == count
            assert (await show.clique(name))["status"]["updatedReplicas"] == count
        done = (await show.clique("llm-0-x-0-b"))["status"]
        assert done["currentPodTemplateHash"] == await show.wanted("llm-0-x-0-b")


@virtual
async def test_a_change_that_is_taken_back_leaves_outdated_what_was_made_meanwhile() -> None:
    async with a_show(wl(1, ON_DELETE)) as show:
        before = (await show.set())["spec"]["template"]
        await show.edit("a", "b", "c")
        await show.stage.settle(5)
        for name in (A, "llm-0-x-1-c"):
            await show.stage.delete(Pod, (await show.pods(name))[0]["metadata"]["name"])
        await show.stage.settle(10)
        await show.edit(template=before)
        await show.stage.settle(10)
        assert (await show.clique(A))["status"]["updatedReplicas"] == 1
        assert (await show.group())["status"]["updatedReplicas"] == 1
        told = (await show.set())["status"]
        assert told["updatedReplicas"] == 0
        counts = ("updatedPodCliquesCount", "updatedPodCliqueScalingGroupsCount")
        assert [told["updateProgress"].get(one, 0) for one in counts] == [0, 0]


@virtual
async def test_failed_and_added_pods_use_the_new_template() -> None:
    async with a_show(alone(2, least=1, strategy=ON_DELETE)) as show:
        await show.edit("a")
        await show.stage.settle(5)
        evicted = (await show.pods())[0]["metadata"]["name"]
        await show.stage.end(evicted)
        await show.stage.patch(PodClique, A, {"spec": {"replicas": 3}})
        await show.stage.settle(10)
        assert (await show.hashes(A)).count(await show.wanted(A)) == 2
        assert (await show.clique(A))["status"]["updatedReplicas"] == 2


@virtual
async def test_scaling_in_takes_outdated_pods_first() -> None:
    async with a_show(alone(3, least=1, strategy=ON_DELETE)) as show:
        await show.edit("a")
        await show.stage.settle(5)
        await show.stage.delete(Pod, (await show.pods())[0]["metadata"]["name"])
        await show.stage.settle(10)
        await show.stage.patch(PodClique, A, {"spec": {"replicas": 1}})
        await show.stage.settle(10)
        assert await show.hashes(A) == [await show.wanted(A)]


@virtual
async def test_a_group_is_scaled_in_from_its_highest_index_whatever_is_outdated() -> None:
    async with a_show(wl(1, ON_DELETE)) as show, show.stage.collector():
        await show.edit("b")
        await show.stage.settle(5)
        (newest,) = await show.pods("llm-0-x-1-b")
        await show.stage.delete(Pod, newest["metadata"]["name"])
        await show.stage.settle(5)
        await show.stage.patch(PodCliqueScalingGroup, X, {"spec": {"replicas": 1}})
        await show.stage.settle(10)
        names = await show.stage.names(PodClique)
        assert names == [A, "llm-0-x-0-b", "llm-0-x-0-c"]
        assert len(await show.outdated()) == 1


@virtual
async def test_a_group_replica_whose_podcliques_are_deleted_comes_back_new() -> None:
    async with a_show(wl(1, ON_DELETE)) as show, show.stage.collector():
        await show.edit("b", "c")
        await show.stage.settle(5)
        for name in ("llm-0-x-0-b", "llm-0-x-0-c"):
            await show.stage.delete(PodClique, name)
        await show.stage.settle(20)
        for name in ("llm-0-x-0-b", "llm-0-x-0-c"):
            assert set(await show.hashes(name)) == {await show.wanted(name)}
        assert {name[:9] for name in await show.outdated()} == {"llm-0-x-1"}
        status = (await show.group())["status"]
        assert (status["replicas"], status["updatedReplicas"]) == (2, 1)


@virtual
async def test_gang_termination_stays_armed() -> None:
    body = alone(2, strategy=ON_DELETE)
    body["spec"]["template"]["terminationDelay"] = "20s"
    async with a_show(body) as show:
        await show.edit("a")
        await show.stage.settle(5)
        show.nodes.schedules = lambda _: False
        await show.stage.delete(Pod, (await show.pods())[0]["metadata"]["name"])
        await show.stage.settle(40)
        told = [reason for reason, _ in await show.stage.events("llm")]
        assert "PodCliqueSetReplicaDeleteSuccessful" in told


@virtual
async def test_switching_to_rolling_renews_exactly_what_is_outdated_at_once() -> None:
    async with a_show(wl(2, ON_DELETE)) as show:
        await show.edit("a", "b")
        await show.stage.settle(5)
        (old,) = await show.pods("llm-0-x-0-b")
        await show.stage.delete(Pod, old["metadata"]["name"])
        await show.stage.delete(Pod, (await show.pods(A))[0]["metadata"]["name"])
        await show.stage.settle(10)
        outdated = await show.outdated()
        kept = {one["metadata"]["name"] for one in await show.pods()} - set(outdated)
        started = (await show.progress())["updateStartedAt"]
        show.nodes.begin()
        await show.switch(ROLLING)
        await show.until_ended()
        assert (await show.progress())["updateStartedAt"] > started
        assert await show.outdated() == []
        # Of the members of a replica that is all new nothing goes; `c` has nothing new anywhere.
        assert kept & set(show.nodes.gone) <= {
            one for one in kept if one.startswith(("llm-0-x-1-c", "llm-1-x"))
        }
        assert show.nodes.down["llm"] == 1
        told = [reason for reason, _ in await show.stage.events("llm")]
        assert told.count("UpdateStarted") == 2


@virtual
async def test_switching_by_itself_changes_nothing_where_all_is_new() -> None:
    async with a_show(wl(1, ON_DELETE)) as show:
        await show.switch(ROLLING)
        await show.stage.settle(10)
        await show.switch(ON_DELETE)
        await show.stage.settle(10)
        assert "updateProgress" not in (await show.set())["status"]
        assert show.nodes.born == []


@pytest.mark.parametrize("seconds", [0.0, 0.5, 1.0, 2.0, 3.0, 5.0, 7.0])
@virtual
async def test_switching_to_by_hand_finishes_what_is_in_flight_and_ends_it(seconds: float) -> None:
    async with a_show(wl(2)) as show:
        await show.edit("a", "b")
        await asyncio.sleep(seconds)
        begun = (await show.progress()).get("updateStartedAt")
        await show.switch(ON_DELETE)
        await asyncio.sleep(1)
        gone = len(show.nodes.gone)
        progress = await show.progress()
        assert progress["updateEndedAt"]
        assert "currentlyUpdating" not in progress
        await show.stage.settle(30)
        # It is the same update that has ended, also when the rest has its template.
        assert (await show.progress())["updateStartedAt"] == (begun or progress["updateStartedAt"])
        told = [reason for reason, _ in await show.stage.events("llm")]
        assert told.count("UpdateStarted") == 1
        # Whatever had been listed anew was made; nothing more went.
        assert len(show.nodes.gone) <= gone + 4
        assert show.nodes.ready() == {
            one["metadata"]["name"]: one["spec"]["replicas"]
            for one in await show.stage.all(PodClique)
        }
        for one in await show.stage.all(PodClique):
            assert one["status"].get("updateProgress", {"updateEndedAt": 1})["updateEndedAt"]
            wanted = "1" if "-c" in one["metadata"]["name"] else "2"
            assert one["spec"]["podSpec"]["containers"][0]["image"].endswith(wanted)
        # Back again: the rest is rolled.
        await show.switch(ROLLING)
        if await show.outdated():
            await show.until_ended()
        await show.stage.settle(10)
        assert await show.outdated() == []
        assert (await show.set())["status"]["updatedReplicas"] == 2


@virtual
async def test_gang_termination_is_armed_again_from_the_moment_of_the_switch() -> None:
    body = alone(2)
    body["spec"]["template"]["terminationDelay"] = "60s"
    async with a_show(body) as show:
        show.nodes.schedules = lambda _: False
        await show.edit("a")
        await show.stage.settle(100)
        await show.switch(ON_DELETE)
        await show.stage.settle(50)
        told = [reason for reason, _ in await show.stage.events("llm")]
        assert "PodCliqueSetReplicaDeleteSuccessful" not in told
        await show.stage.settle(30)
        told = [reason for reason, _ in await show.stage.events("llm")]
        assert "PodCliqueSetReplicaDeleteSuccessful" in told


@virtual
async def test_only_the_edit_in_between_recreates_pods() -> None:
    """OD9 of the specification."""
    async with a_show(wl(1, ON_DELETE)) as show:
        await show.edit("a")
        await show.stage.settle(10)
        assert show.nodes.gone == []
        await show.edit("a", updateStrategy=ROLLING)
        await show.until_ended()
        assert len(show.nodes.gone) == 2
        await show.edit("a", updateStrategy=ON_DELETE)
        await show.stage.settle(10)
        assert len(show.nodes.gone) == 2
