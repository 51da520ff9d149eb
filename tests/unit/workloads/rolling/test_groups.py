# SPDX-License-Identifier: Apache-2.0
"""RollingRecreate of scaling groups, by all controllers together."""

from __future__ import annotations

import asyncio

import pytest

from tests.support.virtual import virtual
from tests.unit.workloads.rolling.show import HASH, a_show, wl
from tests.unit.workloads.sets import a_clique, a_group, a_set_body
from trellis.api.annotation import RELEASED
from trellis.api.core.pod import Pod
from trellis.api.core.priorityclass import PriorityClass
from trellis.api.grove.podclique import PodClique
from trellis.api.grove.podcliqueset import PodCliqueSet
from trellis.api.grove.scalinggroup import PodCliqueScalingGroup
from trellis.api.reasons import cliques
from trellis.workloads.pacing import STEP_SECONDS, STEPS_SECONDS

X = "llm-0-x"


@virtual
async def test_one_replica_of_the_group_at_a_time_and_all_pods_of_it() -> None:
    async with a_show(wl()) as show:
        before = {one["metadata"]["name"] for one in await show.pods()}
        await show.edit("b")
        await show.until_ended()
        assert await show.outdated() == []
        assert show.nodes.down == {"llm": 1, X: 1}
        kept = before & {one["metadata"]["name"] for one in await show.pods()}
        assert all(name.startswith("llm-0-a-") for name in kept)
        assert len(kept) == 2
        assert len(show.nodes.born) == 6


@virtual
async def test_all_at_once_change_and_nothing_is_down_twice() -> None:
    async with a_show(wl(2)) as show:
        await show.edit("a", "b", "c")
        await show.until_ended()
        assert await show.outdated() == []
        assert show.nodes.down == {"llm": 1, X: 1, "llm-1-x": 1}
        assert len(show.nodes.born) == 16


@virtual
async def test_as_many_replicas_go_at_once_as_may_be_down() -> None:
    body = wl()
    body["spec"]["template"]["podCliqueScalingGroups"][0] |= {
        "replicas": 4,
        "rollingUpdate": {"maxUnavailable": 2},
    }
    async with a_show(body) as show:
        await show.edit("c")
        await show.until_ended()
        assert await show.outdated() == []
        assert show.nodes.down[X] == 2


@virtual
async def test_a_replica_that_is_yet_to_be_rolled_keeps_its_spec_and_gets_lost_pods_back() -> None:
    async with a_show(wl(2)) as show:
        first = await show.wanted("llm-0-x-0-b")
        show.nodes.starts = lambda pod: pod.metadata.labels[HASH] == first
        await show.edit("b")
        await show.stage.settle(5)
        for name in ("llm-0-x-0-b", "llm-1-x-0-b", "llm-1-x-1-b"):
            assert await show.wanted(name) == first
            lost = (await show.pods(name))[0]["metadata"]["name"]
            await show.stage.delete(Pod, lost)
            await show.stage.settle(5)
            assert await show.hashes(name) == [first]
            assert (await show.pods(name))[0]["metadata"]["name"] != lost
        assert await show.wanted("llm-0-x-1-b") != first
        assert (await show.set())["status"]["observedGeneration"] == 1
        show.nodes.starts = lambda _: True
        show.nodes.look()
        await show.until_ended()
        assert await show.outdated() == []
        assert await show.wanted("llm-1-x-0-b") != first


@virtual
async def test_what_waits_for_its_turn_makes_old_pods_and_new_replicas() -> None:
    async with a_show(wl(2)) as show:
        first = {name: await show.wanted(f"llm-0-{name}") for name in ("a", "x-0-b")}
        show.nodes.starts = lambda pod: pod.metadata.labels[HASH] in first.values()
        await show.edit("a", "b")
        await show.stage.settle(5)
        (turn,) = (await show.progress())["currentlyUpdating"]
        waits = f"llm-{1 - turn['replicaIndex']}"
        lost = (await show.pods(f"{waits}-a"))[0]["metadata"]["name"]
        await show.stage.delete(Pod, lost)
        await show.stage.patch(PodClique, f"{waits}-a", {"spec": {"replicas": 3}})
        await show.stage.patch(PodCliqueScalingGroup, f"{waits}-x", {"spec": {"replicas": 3}})
        await show.edit(replicas=3)
        await show.stage.settle(10)
        assert await show.hashes(f"{waits}-a") == [first["a"]] * 3
        assert await show.hashes(f"{waits}-x-0-b") == [first["x-0-b"]]
        assert await show.hashes(f"{waits}-x-2-b") not in ([], [first["x-0-b"]])
        assert first["a"] not in (added := await show.hashes("llm-2-a"))
        assert added


@virtual
async def test_status_tells_of_the_update_of_a_group() -> None:
    async with a_show(wl()) as show:
        await show.edit("b")
        await show.stage.settle(1)
        status = (await show.group())["status"]
        progress = status["updateProgress"]
        assert progress["readyReplicaIndicesSelectedToUpdate"]["current"] == 1
        assert "updateEndedAt" not in progress
        conditions = await show.stage.conditions(PodCliqueScalingGroup, X)
        assert conditions["UpdateInProgress"] == ("True", "UpdateInProgress")
        await show.until_ended()
        await show.stage.settle(10)
        status, whole = (await show.group())["status"], (await show.set())["status"]
        progress = status["updateProgress"]
        assert status["updatedReplicas"] == status["replicas"] == 2
        assert status["currentPodCliqueSetGenerationHash"] == whole["currentGenerationHash"]
        assert progress["podCliqueSetGenerationHash"] == whole["currentGenerationHash"]
        assert (progress["updatedPodCliquesCount"], progress["totalPodCliquesCount"]) == (4, 4)
        assert "readyReplicaIndicesSelectedToUpdate" not in progress
        assert status["rollingUpdateProgress"]["updateEndedAt"] == progress["updateEndedAt"]
        assert whole["updateProgress"]["updatedPodCliqueScalingGroupsCount"] == 1
        assert whole["updateProgress"]["totalPodCliqueScalingGroupsCount"] == 1
        told = [reason for reason, _ in await show.stage.events(X)]
        assert {"UpdateStarted", "UpdateStep", "UpdateCompleted"} <= set(told)
        member = [reason for reason, _ in await show.stage.events(f"{X}-1-b")]
        assert sorted(member) == ["UpdateCompleted", "UpdateStarted"], "its group tells the steps"


@virtual
async def test_whoever_reads_that_a_group_has_ended_reads_that_all_its_replicas_are_updated() -> (
    None
):
    body = wl()
    body["spec"]["template"]["podCliqueScalingGroups"][0] |= {"replicas": 3}
    async with a_show(body) as show:
        await show.edit("b")
        while "updateEndedAt" not in await show.progress():
            await asyncio.sleep(0.05)
            status = (await show.group())["status"]
            if "updateEndedAt" in status.get("updateProgress", {}):
                assert status["updatedReplicas"] == 3
                assert status["updateProgress"]["updatedPodCliquesCount"] == 6


@virtual
async def test_a_group_ends_though_a_member_has_lost_pods_that_it_can_do_without() -> None:
    async with a_show(wl()) as show:
        show.nodes.schedules = lambda pod: not pod.metadata.name.startswith("llm-0-x-1-c-1-")
        await show.edit("b")
        await show.until_ended()
        assert await show.outdated() == []
        assert (await show.clique("llm-0-x-1-c"))["status"]["readyReplicas"] == 1


@virtual
async def test_a_replica_that_does_not_start_stops_the_others_and_a_better_template_mends_it() -> (
    None
):
    async with a_show(wl()) as show:
        show.nodes.starts = lambda _: False
        await show.edit("b")
        await show.stage.settle(100)
        assert show.nodes.down[X] == 1
        assert "updateEndedAt" not in await show.progress()
        message = await show.stage.message(PodCliqueScalingGroup, X, "UpdateInProgress")
        assert "waiting for replica 1 to be Ready" in message
        show.nodes.starts = lambda _: True
        await show.edit("b")
        await show.until_ended()
        assert await show.outdated() == []
        assert show.nodes.down[X] == 1


@virtual
async def test_a_broken_replica_is_repaired_at_once_and_costs_nothing() -> None:
    async with a_show(wl()) as show:
        show.nodes.schedules = lambda pod: "x-0" not in pod.metadata.name
        (lost,) = await show.pods("llm-0-x-0-b")
        await show.stage.delete(Pod, lost["metadata"]["name"])
        await show.stage.settle(15)
        show.nodes.schedules = lambda _: True
        await show.edit("b")
        await show.stage.settle(2)
        # It went first, though the highest index goes first among those that work.
        assert all("x-0" in name for name in show.nodes.born[1:])
        await show.until_ended()
        assert await show.outdated() == []


@pytest.mark.parametrize("count", [1, 3], ids=["in", "out"])
@pytest.mark.parametrize("seconds", [0, 2], ids=["before", "during"])
@virtual
async def test_a_group_that_is_scaled_ends_its_update_and_renews_nothing_twice(
    count: int, seconds: int
) -> None:
    async with a_show(wl()) as show, show.stage.collector():
        await show.edit("b")
        await show.stage.settle(seconds)
        await show.stage.patch(PodCliqueScalingGroup, X, {"spec": {"replicas": count}})
        await show.until_ended()
        await show.stage.settle(10)
        assert await show.outdated() == []
        assert len(await show.pods()) == 2 + 3 * count
        assert len(show.nodes.born) <= 3 * max(count, 2)
        status = (await show.group())["status"]
        assert status["updatedReplicas"] == count


@virtual
async def test_a_newer_template_supersedes_the_update_under_way() -> None:
    async with a_show(wl(2)) as show:
        await show.edit("b")
        await show.stage.settle(3)
        await show.edit("c")
        await show.until_ended()
        assert await show.outdated() == []
        images = {
            one["metadata"]["name"]: one["spec"]["podSpec"]["containers"][0]["image"]
            for one in await show.stage.all(PodClique)
        }
        assert images["llm-1-x-1-b"] == images["llm-1-x-1-c"] == "registry.example/app:2"
        assert show.nodes.down["llm"] == 1


@virtual
async def test_what_an_update_released_that_began_anew_since_tells_that_it_is_new() -> None:
    """Nobody releases once more what has nothing outdated, and its group waits for its word."""
    async with a_show(wl()) as show:
        name, first = f"{X}-1-b", await show.wanted(f"{X}-1-b")
        await show.edit("b")
        await show.until_ended()
        told = (await show.clique(name))["status"]["updateProgress"] | {"podTemplateHash": first}
        status = {"updateProgress": told, "rollingUpdateProgress": told}
        mark = {"metadata": {"annotations": {RELEASED: "v1-of-an-earlier-one"}}}
        await show.stage.patch(PodClique, name, mark)
        await show.stage.patch(PodClique, name, {"status": status}, part="status")
        await show.stage.settle(5)
        after = (await show.clique(name))["status"]
        assert after["updateProgress"]["podTemplateHash"] == await show.wanted(name)
        assert "updateEndedAt" in after["updateProgress"]
        assert (await show.group())["status"]["updatedReplicas"] == 2
        assert len(show.nodes.born) == 6


@virtual
async def test_gang_termination_waits_for_what_is_rolled_and_for_nothing_else() -> None:
    body = wl(terminationDelay="20s")
    async with a_show(body) as show:
        show.nodes.starts = lambda _: False
        show.nodes.schedules = lambda _: False
        await show.edit("b")
        await show.stage.settle(60)
        # Replica 1 has been down for long, with it also `c`, which has nothing new.
        told = [reason for reason, _ in await show.stage.events("llm")]
        assert "PodCliqueSetReplicaDeleteSuccessful" not in told
        assert "PodCliqueScalingGroupReplicaDeleteSuccessful" not in told
        assert len(show.nodes.born) == 3
        # `a` is not being rolled: when it breaks, all of the replica goes.
        for pod in await show.pods("llm-0-a"):
            await show.stage.delete(Pod, pod["metadata"]["name"])
        await show.stage.settle(60)
        told = [reason for reason, _ in await show.stage.events("llm")]
        assert "PodCliqueSetReplicaDeleteSuccessful" in told


@virtual
async def test_the_class_of_the_set_reaches_pods_with_the_template_that_it_is_part_of() -> None:
    body = wl(2)
    async with a_show(body) as show:
        await show.stage.make(PriorityClass, {"metadata": {"name": "gold"}, "value": 7})
        await show.edit(template={"priorityClassName": "gold"})
        await show.stage.settle(1)
        (lost,) = await show.pods("llm-1-x-0-b")
        await show.stage.delete(Pod, lost["metadata"]["name"])
        await show.stage.settle(1.5)
        (back,) = await show.pods("llm-1-x-0-b")
        assert back["metadata"]["name"] != lost["metadata"]["name"]
        assert "priorityClassName" not in back["spec"]
        await show.until_ended()
        assert {one["spec"].get("priorityClassName") for one in await show.pods()} == {"gold"}
        assert (await show.stage.get(PodCliqueSet, "llm"))["status"]["updatedReplicas"] == 2


@virtual
async def test_a_set_that_is_down_while_it_is_updated_says_so_before_long() -> None:
    body = a_set_body("llm", a_clique("b", 2), groups=(a_group("x", "b", replicas=1),))
    async with a_show(body) as show:
        show.nodes.starts = lambda _: False
        await show.edit("b")
        while show.nodes.ready():
            await asyncio.sleep(0.1)
        await asyncio.sleep(STEPS_SECONDS + 2 * STEP_SECONDS)
        assert (await show.group())["status"]["availableReplicas"] == 0
        assert (await show.stage.conditions(PodCliqueSet, "llm"))["Ready"][0] == "False"


@virtual
async def test_what_an_update_takes_down_itself_is_no_cause_for_alarm() -> None:
    async with a_show(wl()) as show:
        await show.edit("a", "b", "c")
        await show.until_ended()
        told = {reason for reason, _ in await show.stage.events()}
        alarms = (cliques.ALL_SCHEDULED_REPLICAS_LOST, cliques.SCHEDULED_BELOW_MIN_AVAILABLE)
        assert not told & {reason.token for reason in alarms}
        assert "UpdateStep" in told
