# SPDX-License-Identifier: Apache-2.0
"""The controller of gangs alone on a cluster: what it writes, when, and what it leaves alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.virtual import virtual
from tests.unit.workloads.podgang.troupe import ONE, Troupe, W, a_base, a_gang, a_troupe, wl2_body
from tests.unit.workloads.sets import a_clique, a_group, a_set_body
from trellis.api.core.pod import Pod
from trellis.api.grove.podclique import PodClique
from trellis.api.grove.podcliqueset import PodCliqueSet
from trellis.api.grove.scalinggroup import PodCliqueScalingGroup
from trellis.api.scheduler.podgang import PodGang

if TYPE_CHECKING:
    from trellis.workloads.outline import Member


@virtual
async def test_a_gang_is_made_in_one_write_when_the_last_of_its_podcliques_is_there() -> None:
    troupe = await a_troupe()
    async with troupe.operator():
        await troupe.make_alone()
        await troupe.make_group(1)
        await troupe.stage.settle()
        assert troupe.stage.writes() == []
        await troupe.make_members(0)
        await troupe.stage.settle(0.1)
        assert troupe.stage.writes() == ["POST podgangs"]
        listed = await troupe.listed("wl2-0")
        assert {clique: len(names) for clique, names in listed.items()} == {
            "wl2-0-pc-a": 2,
            "wl2-0-sg-x-0-pc-b": 1,
            "wl2-0-sg-x-0-pc-c": 3,
        }


@virtual
async def test_gates_are_lifted_when_the_last_pod_is_there_and_not_before() -> None:
    troupe = await a_gang()
    async with troupe.operator():
        await troupe.make_pods("one-0", skip=1)
        await troupe.stage.settle(1)
        assert len(await troupe.gated()) == 2
        (last,) = await troupe.make_pods("one-0")
        await troupe.stage.settle(0.1)
        assert last
        assert await troupe.gated() == []
        lifted = [write for write in troupe.stage.writes() if write.startswith("PATCH pods/")]
        assert len(lifted) == 3


@virtual
async def test_gates_of_users_stay() -> None:
    troupe = await a_gang()
    async with troupe.operator():
        names = await troupe.make_pods("one-0", gates=["example.com/quota"])
        await troupe.stage.settle(0.1)
        for name in names:
            gates = (await troupe.stage.get(Pod, name))["spec"]["schedulingGates"]
            assert gates == [{"name": "example.com/quota"}]


@virtual
async def test_a_small_gang_is_told_of_in_two_writes_and_then_left_alone() -> None:
    troupe = await a_troupe(ONE)
    async with troupe.operator():
        await troupe.make_alone()
        await troupe.stage.settle(0.1)
        names = await troupe.make_pods("one-0")
        await troupe.bind(*names)
        assert await troupe.phase("one-0") == "Starting"
        await troupe.ready(*names)
        assert await troupe.phase("one-0") == "Running"
        told = [write for write in troupe.stage.writes() if write.endswith("/status")]
        assert len(told) == 2
        troupe.stage.forget()
        await troupe.stage.settle(3600)
        assert troupe.stage.writes() == []
    async with troupe.operator():
        assert troupe.stage.writes() == [], "a restart writes nothing"


@virtual
async def test_a_gang_that_starts_at_once_is_told_of_once() -> None:
    troupe = await a_troupe(ONE)
    async with troupe.operator():
        await troupe.make_alone()
        await troupe.stage.settle(0.1)
        names = await troupe.make_pods("one-0")
        await troupe.stage.settle(0.1)
        for name in names:
            await troupe.stage.bind(name)
            await troupe.stage.ready(name)
        await troupe.stage.settle()
        told = [write for write in troupe.stage.writes() if write.endswith("/status")]
        assert len(told) == 1
        assert await troupe.phase("one-0") == "Running"


@virtual
@pytest.mark.parametrize("spoiled", ["[]", "emptied"])
async def test_lists_that_somebody_emptied_are_written_anew_with_what_lives(spoiled: str) -> None:
    troupe = await a_gang()
    async with troupe.operator():
        await troupe.stage.settle(1)
        names = await troupe.make_pods("one-0")
        await troupe.stage.settle(1)
        groups = (await troupe.stage.get(PodGang, "one-0"))["spec"]["podgroups"]
        emptied = [] if spoiled == "[]" else [{**one, "podReferences": []} for one in groups]
        await troupe.stage.patch(PodGang, "one-0", {"spec": {"podgroups": emptied}})
        await troupe.stage.settle(1)
        found = (await troupe.stage.get(PodGang, "one-0"))["spec"]["podgroups"]
        assert [each["name"] for one in found for each in one["podReferences"]] == names


@virtual
async def test_that_nothing_comes_of_it_is_told_after_a_while() -> None:
    troupe = await a_gang()
    async with troupe.operator():
        await troupe.stage.settle()
        assert await troupe.phase("one-0") == "Pending"
        told = await troupe.stage.conditions(PodGang, "one-0")
        assert told["Initialized"] == ("False", "PodGangPodsCreationPending")


@virtual
async def test_a_scaled_gang_waits_for_its_base_gang_to_have_nodes() -> None:
    troupe = await a_troupe()
    async with troupe.operator():
        await troupe.make_alone()
        await troupe.make_group(2)
        await troupe.make_members(0, 1)
        await troupe.stage.settle()
        base = await troupe.make_pods("wl2-0")
        scaled = await troupe.make_pods("wl2-0-sg-x-0")
        await troupe.stage.settle()
        assert sorted(await troupe.gated()) == sorted(scaled)
        told = await troupe.stage.conditions(PodGang, "wl2-0-sg-x-0")
        assert told["Scheduled"] == ("False", "WaitingForGang")
        least = [names[0] for names in (await troupe.listed("wl2-0")).values()]
        for pod in least[:-1]:
            await troupe.stage.bind(pod)
        await troupe.stage.settle()
        assert await troupe.gated() != []
        await troupe.stage.bind(least[-1])
        await troupe.stage.settle(0.1)
        assert await troupe.gated() == []
        told = await troupe.stage.conditions(PodGang, "wl2-0")
        assert told["Scheduled"] == ("True", "AllMinimaScheduled"), "told at once"
        assert len(base) == 6


@virtual
async def test_a_scaled_gang_has_nobody_to_wait_for_where_the_base_has_no_pods() -> None:
    troupe = await a_troupe()
    async with troupe.operator():
        await a_base(troupe)
        await troupe.stage.patch(PodCliqueScalingGroup, "wl2-0-sg-x", {"spec": {"replicas": 2}})
        await troupe.make_members(1)
        for clique in ("wl2-0-pc-a", "wl2-0-sg-x-0-pc-b", "wl2-0-sg-x-0-pc-c"):
            await troupe.stage.patch(PodClique, clique, {"spec": {"replicas": 0}})
        await troupe.stage.settle()
        assert await troupe.stage.names(PodGang) == ["wl2-0-sg-x-0"]
        await troupe.make_pods("wl2-0-sg-x-0")
        await troupe.stage.settle()
        assert await troupe.gated() == []


@virtual
async def test_gangs_go_with_their_replica_of_the_set_and_of_the_group() -> None:
    troupe = await a_troupe(wl2_body(replicas=2))
    async with troupe.operator():
        await troupe.make_alone(1)
        await troupe.make_group(2, replica=1)
        await troupe.make_members(0, 1, replica=1)
        await a_base(troupe)
        assert await troupe.stage.names(PodGang) == ["wl2-0", "wl2-1", "wl2-1-sg-x-0"]
        await troupe.stage.patch(PodCliqueScalingGroup, "wl2-1-sg-x", {"spec": {"replicas": 1}})
        await troupe.stage.settle()
        assert await troupe.stage.names(PodGang) == ["wl2-0", "wl2-1"]
        await troupe.stage.patch(PodCliqueSet, "wl2", {"spec": {"replicas": 1}})
        await troupe.stage.settle()
        assert await troupe.stage.names(PodGang) == ["wl2-0"]


@virtual
async def test_a_group_below_its_minimum_has_only_what_lives_in_the_base_gang() -> None:
    troupe = await a_troupe()
    async with troupe.operator():
        await a_base(troupe)
        await troupe.stage.patch(PodCliqueScalingGroup, "wl2-0-sg-x", {"spec": {"replicas": 0}})
        await troupe.stage.settle()
        assert list(await troupe.listed("wl2-0")) == ["wl2-0-pc-a"]
        await troupe.stage.patch(PodCliqueScalingGroup, "wl2-0-sg-x", {"spec": {"replicas": 1}})
        await troupe.stage.settle()
        assert len(await troupe.listed("wl2-0")) == 3


async def a_unit_that_joins_in_part(pods_of_the_rest: int) -> tuple[Troupe, list[Member]]:
    """A gang that runs, and a replica of a scaling group of which one of two PodCliques is there.

    With the other one, which is yet to come.
    """
    cliques = (a_clique("w"), a_clique("a"), a_clique("b", pods_of_the_rest))
    body = a_set_body("one", *cliques, groups=(a_group("g", "a", "b"),))
    troupe = await a_troupe(body)
    await troupe.make_alone()
    await troupe.make_group(0)
    async with troupe.operator():
        running = await troupe.make_pods("one-0")
        await troupe.bind(*running)
        await troupe.ready(*running)
        assert await troupe.phase("one-0") == "Running"
    await troupe.stage.patch(PodCliqueScalingGroup, "one-0-g", {"spec": {"replicas": 1}})
    first, *rest = troupe.outline.grouped(0, troupe.outline.groups["g"], 0)
    await troupe.make_cliques([first], troupe.group)
    return troupe, rest


@virtual
async def test_what_joins_a_running_gang_starts_when_all_of_its_unit_is_there() -> None:
    troupe, rest = await a_unit_that_joins_in_part(2)
    async with troupe.operator():
        (joins,) = await troupe.make_pods("one-0")
        await troupe.stage.settle()
        assert await troupe.gated() == [joins]
        assert await troupe.phase("one-0") == "Pending"
        told = await troupe.stage.message(PodGang, "one-0", "Scheduled")
        assert told == "PodClique one-0-g-0-b has not its minimum on nodes"
        await troupe.make_cliques(rest, troupe.group)
        await troupe.stage.settle(0.1)
        await troupe.make_pods("one-0")
        await troupe.stage.settle(0.1)
        assert await troupe.gated() == []


@virtual
async def test_what_joins_does_not_wait_for_a_podclique_that_is_to_have_no_pods() -> None:
    troupe, _ = await a_unit_that_joins_in_part(0)
    async with troupe.operator():
        await troupe.make_pods("one-0")
        await troupe.stage.settle(0.1)
        assert await troupe.gated() == []


@virtual
async def test_a_clique_of_none_is_left_out_and_the_last_takes_the_gang_with_it() -> None:
    troupe = await a_gang()
    async with troupe.operator():
        await troupe.stage.patch(PodClique, W, {"spec": {"replicas": 0}})
        await troupe.stage.settle()
        assert await troupe.stage.names(PodGang) == []
        await troupe.stage.patch(PodClique, W, {"spec": {"replicas": 1}})
        await troupe.stage.settle(0.1)
        assert len((await troupe.listed("one-0"))[W]) == 1


@virtual
async def test_a_gang_that_is_going_is_waited_for() -> None:
    troupe = await a_gang()
    async with troupe.operator():
        hold = {"metadata": {"finalizers": ["example.com/hold"]}}
        await troupe.stage.patch(PodGang, "one-0", hold)
        await troupe.stage.delete(PodGang, "one-0")
        await troupe.stage.settle()
        troupe.stage.forget()
        await troupe.make_pods("one-0")
        await troupe.stage.settle()
        assert troupe.stage.writes() == []
        await troupe.stage.patch(PodGang, "one-0", {"metadata": {"finalizers": None}})
        await troupe.stage.settle(0.1)
        assert troupe.stage.writes()[0] == "POST podgangs"


@virtual
async def test_the_gang_of_somebody_else_is_never_touched_and_made_once_that_is_gone() -> None:
    troupe = await a_troupe(ONE)
    theirs = {"metadata": {"name": "one-0"}, "spec": {"podgroups": []}}
    before = await troupe.stage.make(PodGang, theirs)
    async with troupe.operator():
        await troupe.make_alone()
        await troupe.stage.settle()
        assert await troupe.stage.get(PodGang, "one-0") == before
        ((reason, text),) = await troupe.stage.events("one")
        assert reason == "NameConflict"
        assert "PodGang one-0 belongs to nobody" in text
        await troupe.stage.delete(PodGang, "one-0")
        await troupe.stage.settle()
        assert list(await troupe.listed("one-0")) == [W]


@virtual
async def test_of_two_sets_with_one_gang_name_the_first_has_it_and_the_other_is_told() -> None:
    cliques = (a_clique("alone"), a_clique("member"))
    body = a_set_body("a", *cliques, groups=(a_group("sg", "member", replicas=2),))
    troupe = await a_troupe(body)
    rival = Troupe(troupe.stage, a_set_body("a-0-sg", a_clique("w")))
    async with troupe.operator():
        await troupe.make_alone()
        await troupe.make_group(2)
        await troupe.make_members(0, 1)
        await rival.begin()
        await rival.make_alone()
        await troupe.stage.settle()
        assert await troupe.stage.names(PodGang) == ["a-0", "a-0-sg-0"]
        assert list(await troupe.listed("a-0-sg-0")) == ["a-0-sg-1-member"]
        ((reason, text),) = await troupe.stage.events("a-0-sg")
        assert reason == "NameConflict"
        assert "PodGang a-0-sg-0 is that of PodCliqueSet a" in text
        assert await troupe.stage.events("a") == []
        await troupe.stage.patch(PodCliqueScalingGroup, "a-0-sg", {"spec": {"replicas": 1}})
        await troupe.stage.delete(PodClique, "a-0-sg-1-member")
        await troupe.stage.settle()
        assert list(await troupe.listed("a-0-sg-0")) == ["a-0-sg-0-w"]


@virtual
async def test_marks_of_a_set_reach_its_gangs_and_those_of_others_stay() -> None:
    troupe = await a_gang()
    async with troupe.operator():
        await troupe.stage.patch(PodGang, "one-0", {"metadata": {"labels": {"theirs": "1"}}})
        marks = {"metadata": {"labels": {"kai.scheduler/queue": "blue", "team": "red"}}}
        await troupe.stage.patch(PodCliqueSet, "one", marks)
        await troupe.stage.settle()
        labels = (await troupe.stage.get(PodGang, "one-0"))["metadata"]["labels"]
        assert (labels["kai.scheduler/queue"], labels["team"], labels["theirs"]) == (
            "blue",
            "red",
            "1",
        )
        await troupe.stage.patch(PodCliqueSet, "one", {"metadata": {"labels": {"team": None}}})
        await troupe.stage.settle()
        labels = (await troupe.stage.get(PodGang, "one-0"))["metadata"]["labels"]
        assert "team" not in labels
        assert labels["theirs"] == "1"


@virtual
async def test_conditions_of_others_survive() -> None:
    troupe = await a_gang()
    theirs = {
        "type": "Theirs",
        "status": "True",
        "reason": "Because",
        "message": "",
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    }
    async with troupe.operator():
        await troupe.stage.settle()
        found = (await troupe.stage.get(PodGang, "one-0"))["status"]["conditions"]
        await troupe.stage.patch(
            PodGang, "one-0", {"status": {"conditions": [*found, theirs]}}, part="status"
        )
        names = await troupe.make_pods("one-0")
        await troupe.bind(*names)
        told = await troupe.stage.conditions(PodGang, "one-0")
        assert told["Theirs"] == ("True", "Because")
        assert told["Scheduled"][0] == "True"


@virtual
async def test_no_gate_is_lifted_while_placement_lets_the_gang_wait() -> None:
    troupe = await a_gang()
    async with troupe.operator():
        wait = {"metadata": {"annotations": {"trellis.dev/placement": "wait"}}}
        await troupe.stage.patch(PodGang, "one-0", wait)
        await troupe.make_pods("one-0")
        await troupe.stage.settle()
        assert len(await troupe.gated()) == 3
        go = {"metadata": {"annotations": {"trellis.dev/placement": None}}}
        await troupe.stage.patch(PodGang, "one-0", go)
        await troupe.stage.settle()
        assert await troupe.gated() == []


@virtual
async def test_nothing_is_made_for_a_set_that_is_going() -> None:
    troupe = await a_troupe(ONE)
    hold = {"metadata": {"finalizers": ["example.com/hold"]}}
    await troupe.stage.patch(PodCliqueSet, "one", hold)
    await troupe.stage.delete(PodCliqueSet, "one")
    async with troupe.operator():
        await troupe.make_alone()
        await troupe.stage.settle()
        assert troupe.stage.writes() == []
