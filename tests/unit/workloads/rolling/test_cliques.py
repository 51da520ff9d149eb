# SPDX-License-Identifier: Apache-2.0
"""RollingRecreate of cliques in no scaling group, by all controllers together."""

from __future__ import annotations

import pytest

from tests.support.virtual import virtual
from tests.unit.workloads.rolling.show import HASH, a_show, alone, wl
from trellis.api.core.pod import Pod
from trellis.api.grove.podclique import PodClique
from trellis.api.grove.podcliqueset import PodCliqueSet

A = "llm-0-a"


@virtual
async def test_pods_are_renewed_one_at_a_time() -> None:
    async with a_show(alone(4)) as show:
        before = await show.hashes(A)
        await show.edit("a")
        await show.until_ended()
        assert await show.outdated() == []
        assert set(before).isdisjoint(await show.hashes(A))
        assert show.nodes.least == {A: 3}
        assert len(show.nodes.born) == 4


@virtual
async def test_as_many_go_at_once_as_may_be_down() -> None:
    body = alone(6)
    body["spec"]["template"]["cliques"][0]["rollingUpdate"] = {"maxUnavailable": 3}
    async with a_show(body) as show:
        await show.edit("a")
        await show.until_ended()
        assert await show.outdated() == []
        assert show.nodes.least == {A: 3}


@virtual
async def test_one_replica_of_the_set_at_a_time() -> None:
    async with a_show(wl(3)) as show:
        await show.edit("a")
        await show.until_ended()
        assert await show.outdated() == []
        assert show.nodes.down == {"llm": 1}


@virtual
async def test_what_did_not_change_is_not_touched_and_reaches_the_new_generation() -> None:
    async with a_show(wl(2)) as show:
        before = [one["metadata"]["name"] for one in await show.pods("llm-0-x-0-b")]
        await show.edit("a")
        await show.until_ended()
        assert [one["metadata"]["name"] for one in await show.pods("llm-0-x-0-b")] == before
        member = (await show.clique("llm-0-x-0-b"))["status"]
        generation = (await show.set())["status"]["currentGenerationHash"]
        assert member["currentPodCliqueSetGenerationHash"] == generation
        assert "updateProgress" not in member
        assert "updateProgress" not in (await show.group())["status"]


@virtual
async def test_status_tells_of_the_update_at_both_levels() -> None:
    async with a_show(alone(2)) as show:
        assert "updateProgress" not in (await show.set())["status"]
        assert "updateProgress" not in (await show.clique(A))["status"]
        conditions = await show.stage.conditions(PodCliqueSet, "llm")
        assert conditions["UpdateInProgress"] == ("False", "NoUpdate")
        first = (await show.set())["status"]["currentGenerationHash"]
        await show.edit("a")
        await show.stage.settle(1)
        progress = await show.progress()
        assert [one["replicaIndex"] for one in progress["currentlyUpdating"]] == [0]
        assert "updateEndedAt" not in progress
        conditions = await show.stage.conditions(PodCliqueSet, "llm")
        assert conditions["UpdateInProgress"] == ("True", "UpdateInProgress")
        assert conditions["Reconciling"][0] == "True"
        clique = await show.clique(A)
        target = clique["metadata"]["labels"][HASH]
        assert clique["status"]["updateProgress"]["podTemplateHash"] == target
        assert clique["status"]["updateProgress"]["readyPodsSelectedToUpdate"]["current"]
        assert clique["status"]["currentPodTemplateHash"] != target
        await show.until_ended()
        await show.stage.settle(10)
        status = (await show.set())["status"]
        assert status["updatedReplicas"] == status["replicas"] == 1
        assert status["currentGenerationHash"] != first
        assert "currentlyUpdating" not in status["updateProgress"]
        assert status["updateProgress"]["updatedPodCliquesCount"] == 1
        assert status["updateProgress"]["totalPodCliquesCount"] == 1
        older = status["rollingUpdateProgress"]
        assert older["updateEndedAt"] == status["updateProgress"]["updateEndedAt"]
        found = (await show.clique(A))["status"]
        assert found["currentPodTemplateHash"] == target
        assert found["currentPodCliqueSetGenerationHash"] == status["currentGenerationHash"]
        assert found["updatedReplicas"] == 2
        assert "readyPodsSelectedToUpdate" not in found["updateProgress"]
        assert found["rollingUpdateProgress"] == found["updateProgress"]
        told = [reason for reason, _ in await show.stage.events("llm")]
        assert "UpdateStarted" in told
        assert "UpdateCompleted" in told
        assert "UpdateStep" in [reason for reason, _ in await show.stage.events(A)]


@virtual
async def test_without_room_one_pod_is_down_and_the_update_waits_and_says_why() -> None:
    async with a_show(alone(4, least=1)) as show:
        show.nodes.schedules = lambda _: False
        await show.edit("a")
        await show.stage.settle(120)
        assert show.nodes.least == {A: 3}
        assert len(show.nodes.born) == 1
        message = await show.stage.message(PodClique, A, "UpdateInProgress")
        assert "3 pods have an older template; waiting for pod 3 to be Ready" in message
        show.nodes.schedules = lambda _: True
        show.nodes.look()
        await show.until_ended()
        assert await show.outdated() == []
        assert show.nodes.least == {A: 3}


@virtual
async def test_what_was_chosen_is_told_though_it_is_gone_by_then() -> None:
    async with a_show(alone(3)) as show:
        first = await show.wanted(A)
        show.nodes.starts = lambda pod: pod.metadata.labels[HASH] == first
        chosen = (await show.pods())[2]["metadata"]["name"]
        await show.edit("a")
        await show.stage.settle(10)
        progress = (await show.clique(A))["status"]["updateProgress"]
        assert progress["readyPodsSelectedToUpdate"] == {"current": chosen}


@virtual
async def test_a_clique_that_never_started_is_repaired_by_an_update_at_once() -> None:
    """Pending pods cost no budget, however many there are."""
    async with a_show(alone(4)) as show:
        show.nodes.schedules = lambda _: False
        for pod in await show.pods():
            await show.stage.delete(Pod, pod["metadata"]["name"])
        await show.stage.settle(5)
        show.nodes.schedules = lambda _: True
        await show.edit("a")
        await show.stage.settle(4)
        assert await show.outdated() == []
        await show.until_ended()


@virtual
async def test_pods_that_lost_their_readiness_go_at_once_and_for_nothing() -> None:
    async with a_show(alone(3)) as show:
        for pod in await show.pods():
            await show.stage.ready(pod["metadata"]["name"], ready=False)
        await show.stage.settle(11)
        await show.edit("a")
        await show.stage.settle(3)
        assert len(show.nodes.born) == 3
        await show.until_ended()


@virtual
async def test_an_update_whose_pods_do_not_start_does_not_end() -> None:
    async with a_show(alone(3)) as show:
        show.nodes.starts = lambda _: False
        await show.edit("a")
        await show.stage.settle(100)
        assert show.nodes.least == {A: 2}
        assert "updateEndedAt" not in await show.progress()
        # And a better template mends it.
        show.nodes.starts = lambda _: True
        await show.edit("a")
        await show.until_ended()
        assert await show.outdated() == []
        assert show.nodes.least == {A: 2}


@virtual
async def test_the_last_pod_must_be_ready_before_it_ends() -> None:
    async with a_show(alone(1)) as show:
        show.nodes.starts = lambda _: False
        await show.edit("a")
        await show.stage.settle(30)
        assert await show.outdated() == []
        assert "updateEndedAt" not in await show.progress()
        message = await show.stage.message(PodClique, A, "UpdateInProgress")
        assert message == "Nothing outdated is left; 0 pods are Ready and 1 must be"
        show.nodes.starts = lambda _: True
        show.nodes.look()
        await show.until_ended()


@virtual
async def test_a_newer_template_supersedes_the_update_under_way() -> None:
    async with a_show(alone(4)) as show:
        await show.edit("a")
        await show.stage.settle(4)
        started = (await show.progress())["updateStartedAt"]
        await show.edit("a")
        await show.until_ended()
        assert (await show.progress())["updateStartedAt"] > started
        assert set(await show.hashes(A)) == {await show.wanted(A)}
        assert show.nodes.least == {A: 3}
        # Whoever was new already goes once more, and nobody else goes twice.
        assert len(show.nodes.born) <= 6


@virtual
async def test_a_template_that_is_taken_back_brings_back_what_was_renewed_only() -> None:
    async with a_show(alone(4)) as show:
        first = await show.wanted(A)
        kept = {one["metadata"]["name"] for one in await show.pods()}
        await show.edit("a")
        await show.stage.settle(4)
        body = await show.set()
        container = body["spec"]["template"]["cliques"][0]["spec"]["podSpec"]["containers"][0]
        container["image"] = "registry.example/app:1"
        await show.stage.patch(PodCliqueSet, "llm", {"spec": body["spec"]})
        await show.until_ended()
        assert set(await show.hashes(A)) == {first}
        assert len(kept & {one["metadata"]["name"] for one in await show.pods()}) >= 2
        assert show.nodes.least == {A: 3}


@virtual
async def test_a_deadline_that_passes_is_told_and_stops_nothing() -> None:
    body = alone(3)
    body["spec"]["template"]["cliques"][0]["rollingUpdate"] = {"progressDeadline": "30s"}
    async with a_show(body) as show:
        show.nodes.starts = lambda _: False
        await show.edit("a")
        await show.stage.settle(60)
        conditions = await show.stage.conditions(PodClique, A)
        assert conditions["UpdateInProgress"] == ("True", "ProgressDeadlineExceeded")
        assert "ProgressDeadlineExceeded" in [reason for reason, _ in await show.stage.events(A)]
        show.nodes.starts = lambda _: True
        show.nodes.look()
        await show.until_ended()
        assert await show.outdated() == []


@virtual
async def test_what_is_ready_must_stay_so_for_the_settle_time() -> None:
    body = alone(2)
    body["metadata"]["annotations"] = {"trellis.dev/settle-time": "30s"}
    async with a_show(body) as show:
        await show.stage.settle(30)
        await show.edit("a")
        await show.stage.settle(25)
        assert len(show.nodes.born) == 1
        await show.stage.settle(15)
        assert len(show.nodes.born) == 2
        await show.until_ended()


@pytest.mark.parametrize("count", [3, 6], ids=["in", "out"])
@virtual
async def test_a_clique_that_is_scaled_meanwhile_gets_new_pods_and_none_is_renewed_twice(
    count: int,
) -> None:
    async with a_show(alone(4, least=1)) as show:
        await show.edit("a")
        await show.stage.settle(1)
        await show.stage.patch(PodClique, A, {"spec": {"replicas": count}})
        await show.until_ended()
        assert await show.outdated() == []
        assert len(await show.pods()) == count
        assert len(show.nodes.born) <= max(count, 4)


@pytest.mark.parametrize("replicas", [1, 3], ids=["in", "out"])
@virtual
async def test_a_set_that_is_scaled_meanwhile_ends_its_update(replicas: int) -> None:
    async with a_show(wl(2)) as show, show.stage.collector():
        await show.edit("a", "b")
        await show.stage.settle(2)
        await show.edit(replicas=replicas)
        await show.until_ended()
        await show.stage.settle(20)
        assert await show.outdated() == []
        status = (await show.set())["status"]
        assert status["updatedReplicas"] == status["replicas"] == replicas


@virtual
async def test_scaling_alone_is_no_update() -> None:
    async with a_show(wl(1)) as show:
        await show.edit(replicas=2)
        await show.stage.patch(PodClique, A, {"spec": {"replicas": 3}})
        await show.stage.settle(20)
        await show.edit(replicas=1)
        await show.stage.patch(PodClique, A, {"spec": {"replicas": 1}})
        await show.stage.settle(20)
        assert "updateProgress" not in (await show.set())["status"]
        assert "updateProgress" not in (await show.clique(A))["status"]


@virtual
async def test_writing_an_amount_in_another_way_is_no_update() -> None:
    async with a_show(alone(2)) as show:
        body = await show.set()
        container = body["spec"]["template"]["cliques"][0]["spec"]["podSpec"]["containers"][0]
        container["resources"] = {"requests": {"cpu": "1000m"}}
        await show.stage.patch(PodCliqueSet, "llm", {"spec": body["spec"]})
        await show.until_ended()
        await show.stage.settle(10)
        show.nodes.begin()
        show.stage.forget()
        container["resources"] = {"requests": {"cpu": "1"}}
        await show.stage.patch(PodCliqueSet, "llm", {"spec": body["spec"]})
        await show.stage.settle(10)
        assert show.nodes.born == []
        assert not [one for one in show.stage.writes() if one == f"PATCH podcliques/{A}"]
