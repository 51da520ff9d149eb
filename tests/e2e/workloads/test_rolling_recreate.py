# SPDX-License-Identifier: Apache-2.0
"""Grove's scenarios RU7 to RU21: templates that change under RollingRecreate, and scaling beside.

An update is held where it is by closing all nodes: what is to replace the first pod finds none.
Those that upstream gave up as flaky are firm here, because what passes is seen by watches.
"""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest

from tests.e2e.workloads.builders import READY_DELAY, clique_of, workload1
from tests.e2e.workloads.updating import (
    all_updated,
    change,
    disturbed,
    group_replica,
    is_over,
    least_ready,
    made,
    most_down,
    of,
    set_replica,
    slot,
    trigger_of,
    uids,
    until_held,
    until_live,
    until_updated,
)
from tests.e2e.workloads.witness import watching
from tests.e2e.workloads.world import CLIQUES, GROUPS, PODS, SETS, condition, is_true

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.e2e.workloads.witness import Witness
    from tests.e2e.workloads.world import Json, World

GROUP = "wl-0-sg-x"
SIZE = 10


async def started(world: World, replicas: int = 1, body: Json | None = None) -> list[Json]:
    found = body or workload1()
    found["spec"]["replicas"] = replicas
    await world.make(SETS, found)
    pods = await world.until_ready(SIZE * replicas)
    await world.until_up("wl")
    return pods


def slow() -> Json:
    """What takes a while to be ready leaves time to do something beside."""
    found = workload1()
    for name in ("pc-a", "pc-b", "pc-c"):
        clique_of(found, name)["annotations"] = {READY_DELAY: "1"}
    return found


@asynccontextmanager
async def held(world: World, pods: Witness, *cliques: str) -> AsyncIterator[int]:
    """A change that has come to a halt; it goes on after the block. Yields its generation."""
    await world.cordon()
    generation = await change(world, "wl", *cliques)
    await until_held(pods)
    yield generation
    await world.uncordon()


def slots(pods: Witness, *cliques: str) -> set[object]:
    return {slot(pod) for pod in of(pods.before, *cliques)}


def group_replicas(pods: Witness, *, below: int = 100) -> set[object]:
    found = {group_replica(pod) for pod in pods.before} - {("", "")}
    return {one for one in found if int(one[1]) < below}


def updating(found: Json) -> list[int]:
    progress = found.get("status", {}).get("updateProgress", {})
    return [one["replicaIndex"] for one in progress.get("currentlyUpdating", [])]


async def test_ru7_one_pod_of_one_replica_at_a_time(world: World) -> None:
    await started(world, 2)
    async with watching(world, PODS) as pods, watching(world, SETS) as sets:
        generation = await change(world, "wl", "pc-a")
        await until_updated(world, "wl", generation, 2)
    await all_updated(world, "pc-a")
    for clique in ("wl-0-pc-a", "wl-1-pc-a"):
        assert most_down(pods, slot, only=slots(pods, clique)) == 1
    assert most_down(pods, set_replica, only={"0", "1"}) == 1
    told = [updating(event.object) for event in sets.events]
    assert {tuple(one) for one in told} == {(), (0,), (1,)}
    assert disturbed(pods) == uids(of(pods.before, "wl-0-pc-a", "wl-1-pc-a"))


async def test_ru8_one_replica_of_a_scaling_group_at_a_time(world: World) -> None:
    await started(world)
    async with watching(world, PODS) as pods, watching(world, GROUPS) as groups:
        generation = await change(world, "wl", "pc-b")
        await until_updated(world, "wl", generation)
    await all_updated(world, "pc-b")
    assert most_down(pods, group_replica, only=group_replicas(pods)) == 1
    assert not disturbed(pods) & uids(of(pods.before, "wl-0-pc-a"))
    chosen = [
        event.object["status"]["updateProgress"]["readyReplicaIndicesSelectedToUpdate"]["current"]
        for event in groups.events
        if "readyReplicaIndicesSelectedToUpdate"
        in event.object.get("status", {}).get("updateProgress", {})
    ]
    assert chosen, "it says which one"
    # A status is told once a second at most, so that of a fast update not every step is in it.
    assert chosen == sorted(chosen, reverse=True)


async def test_ru9_one_pod_a_clique_and_one_replica_a_group(world: World) -> None:
    await started(world)
    async with watching(world, PODS) as pods:
        generation = await change(world, "wl", "pc-a", "pc-b", "pc-c")
        await until_updated(world, "wl", generation)
    await all_updated(world, "pc-a", "pc-b", "pc-c")
    assert most_down(pods, slot, only=slots(pods, "wl-0-pc-a")) == 1
    assert most_down(pods, group_replica, only=group_replicas(pods)) == 1
    assert disturbed(pods) == uids(pods.before), "everyone was replaced, and nobody twice"


async def test_ru10_without_room_one_pod_waits_and_nothing_else_is_touched(world: World) -> None:
    await started(world)
    async with watching(world, PODS) as pods:
        async with held(world, pods, "pc-a") as generation:

            def waits(found: Json) -> bool:
                told = condition(found, "UpdateInProgress")
                return told["status"] == "True" and "waiting for pod" in told["message"]

            await world.until(CLIQUES, "wl-0-pc-a", waits, "to say what it waits for")
            assert len(disturbed(pods)) == 1
            assert len(made(pods, trigger_of)) == 1
        await until_updated(world, "wl", generation)
    await all_updated(world, "pc-a")
    assert most_down(pods, slot, only=slots(pods, "wl-0-pc-a")) == 1


async def test_ru11_a_replica_that_joins_meanwhile_has_the_new_template(world: World) -> None:
    await started(world, 2)
    async with watching(world, PODS) as pods:
        async with held(world, pods, "pc-a") as generation:
            await world.scale(SETS, "wl", 3)
            await until_live(world, 3 * SIZE)
        await until_updated(world, "wl", generation + 1, 3)
    await all_updated(world, "pc-a")
    joined = made(pods, lambda pod: set_replica(pod) == "2")
    assert len(joined) == SIZE, "and none of it is made twice"
    assert {trigger_of(pod) for pod in of(joined, "wl-2-pc-a")} == {"1"}


async def test_ru12_the_replica_that_is_being_updated_may_go(world: World) -> None:
    await started(world, 2, slow())
    async with watching(world, SETS) as sets:
        generation = await change(world, "wl", "pc-a")
        await sets.until(lambda found: updating(found) == [1], "the last replica to be updated")
        await world.scale(SETS, "wl", 1)
        await until_updated(world, "wl", generation + 1, 1)
        scaled = await sets.until(lambda found: found["spec"]["replicas"] == 1, "to be scaled")
    assert "updateEndedAt" not in scaled["status"]["updateProgress"], "it was under way"
    await world.until_ready(SIZE)
    await all_updated(world, "pc-a")


async def test_ru13_so_may_one_that_has_been_updated(world: World) -> None:
    await started(world, 2)
    async with watching(world, SETS) as sets:
        generation = await change(world, "wl", "pc-a")
        await sets.until(lambda found: is_over(found, generation), "the end")
        await world.scale(SETS, "wl", 1)
        await world.until_ready(SIZE)
        await until_updated(world, "wl", generation + 1, 1)
    await all_updated(world, "pc-a")


@pytest.mark.parametrize("before", [pytest.param(False, id="ru14"), pytest.param(True, id="ru15")])
async def test_ru14_ru15_a_scaling_group_grows(world: World, before: bool) -> None:
    await started(world)
    async with watching(world, PODS) as pods:
        if before:
            await world.scale(GROUPS, GROUP, 3)
            generation = await change(world, "wl", "pc-b")
        else:
            async with held(world, pods, "pc-b") as generation:
                await world.scale(GROUPS, GROUP, 3)
                await until_live(world, SIZE + 4)
        await world.until_ready(SIZE + 4)
        await until_updated(world, "wl", generation)
    await all_updated(world, "pc-b")
    assert most_down(pods, group_replica, only=group_replicas(pods)) <= 1
    if not before:
        joined = made(pods, lambda pod: group_replica(pod)[1] == "2")
        assert len(joined) == 4, "what is made of the new template is not updated again"


@pytest.mark.parametrize("before", [pytest.param(False, id="ru16"), pytest.param(True, id="ru17")])
async def test_ru16_ru17_a_scaling_group_shrinks(world: World, before: bool) -> None:
    await started(world)
    await world.scale(GROUPS, GROUP, 3)
    await world.until_ready(SIZE + 4)
    async with watching(world, PODS) as pods:
        if before:
            await world.scale(GROUPS, GROUP, 2)
            generation = await change(world, "wl", "pc-b")
        else:
            async with held(world, pods, "pc-b") as generation:
                await world.scale(GROUPS, GROUP, 2)
        await world.until_ready(SIZE)
        await until_updated(world, "wl", generation)
    await all_updated(world, "pc-b")
    assert most_down(pods, group_replica, only=group_replicas(pods, below=2)) == 1


@pytest.mark.parametrize("before", [pytest.param(False, id="ru18"), pytest.param(True, id="ru19")])
async def test_ru18_ru19_a_clique_grows(world: World, before: bool) -> None:
    await started(world)
    async with watching(world, PODS) as pods:
        if before:
            await world.scale(CLIQUES, "wl-0-pc-a", 4)
            generation = await change(world, "wl", "pc-a")
        else:
            async with held(world, pods, "pc-a") as generation:
                await world.scale(CLIQUES, "wl-0-pc-a", 4)
                await until_live(world, SIZE + 2)
        await world.until_ready(SIZE + 2)
        await until_updated(world, "wl", generation)
    await all_updated(world, "pc-a")
    assert most_down(pods, slot, only=slots(pods, "wl-0-pc-a")) == 1
    if not before:
        known = slots(pods, "wl-0-pc-a")
        joined = [pod for pod in made(pods, trigger_of) if slot(pod) not in known]
        assert len(joined) == 2, "what is made of the new template is not updated again"


@pytest.mark.parametrize("before", [pytest.param(False, id="ru20"), pytest.param(True, id="ru21")])
async def test_ru20_ru21_a_clique_shrinks(world: World, before: bool) -> None:
    await started(world)
    await world.scale(CLIQUES, "wl-0-pc-a", 3)
    await world.until_ready(SIZE + 1)
    async with watching(world, PODS) as pods:
        if before:
            await world.scale(CLIQUES, "wl-0-pc-a", 2)
            generation = await change(world, "wl", "pc-a")
        else:
            async with held(world, pods, "pc-a") as generation:
                await world.scale(CLIQUES, "wl-0-pc-a", 2)
        await world.until_ready(SIZE)
        await until_updated(world, "wl", generation)
    await all_updated(world, "pc-a")
    assert least_ready(pods, "wl-0-pc-a") >= 1


async def test_a_newer_change_takes_the_place_of_one_under_way(world: World) -> None:
    await started(world)
    async with watching(world, PODS) as pods:
        async with held(world, pods, "pc-a"):
            generation = await change(world, "wl", "pc-a", to="2")
            await until_held(pods, to="2")
        await until_updated(world, "wl", generation)
    await all_updated(world, "pc-a", to="2")
    assert most_down(pods, slot, only=slots(pods, "wl-0-pc-a")) == 1
    assert len(made(pods, lambda pod: trigger_of(pod) == "1")) == 1, "no more of the older one"


async def test_what_never_can_run_is_mended_by_an_update(world: World) -> None:
    """All of its pods at once: they cost nothing."""
    body = workload1()
    clique_of(body, "pc-a")["spec"]["podSpec"]["nodeSelector"] = {"there-is": "none"}
    await world.make(SETS, body)
    await until_live(world, SIZE)
    found = await world.get(SETS, "wl")
    place = next(
        index
        for index, one in enumerate(found["spec"]["template"]["cliques"])
        if one["name"] == "pc-a"
    )
    path = f"/spec/template/cliques/{place}/spec/podSpec/nodeSelector"
    patch = [{"op": "remove", "path": path}]
    changed = await world.api.do("PATCH", world.path(SETS, "wl"), patch, patch="json")
    await world.until_ready(SIZE)
    found = await until_updated(world, "wl", changed["metadata"]["generation"])
    assert is_true(found, "Ready")
