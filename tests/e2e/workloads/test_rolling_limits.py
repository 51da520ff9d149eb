# SPDX-License-Identifier: Apache-2.0
"""What a rolling update may take down at once, and what it leaves as it is while it waits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.e2e.workloads.builders import (
    READY_DELAY,
    SHORT_DELAY,
    a_clique,
    a_group,
    a_pod_spec,
    a_set,
    workload1,
)
from tests.e2e.workloads.updating import (
    all_updated,
    change,
    disturbed,
    group_replica,
    made,
    most_down,
    slot,
    trigger_of,
    until_held,
    until_updated,
)
from tests.e2e.workloads.witness import watching
from tests.e2e.workloads.world import CLIQUES, PODS, SETS, condition, name_of, uid_of

if TYPE_CHECKING:
    from tests.e2e.workloads.world import Json, World

TWO = {"rollingUpdate": {"maxUnavailable": 2}}


async def started(world: World, body: Json, count: int) -> list[Json]:
    await world.make(SETS, body)
    pods = await world.until_ready(count)
    await world.until_up("wl")
    return pods


async def test_as_many_pods_go_at_once_as_are_allowed(world: World) -> None:
    clique = {**a_clique("w", 5, 1), **TWO}
    await started(world, a_set("wl", clique), 5)
    async with watching(world, PODS) as pods:
        await until_updated(world, "wl", await change(world, "wl", "w"))
    await all_updated(world, "w")
    assert most_down(pods, slot, only={slot(pod) for pod in pods.before}) == 2


async def test_so_do_replicas_of_a_scaling_group(world: World) -> None:
    group = a_group("g", "w", replicas=4, least=1, **TWO)
    # Both are released at once. Whether they are down at once shows only if that takes a while.
    clique = a_clique("w", 2, 2, annotations={READY_DELAY: "3s"})
    await started(world, a_set("wl", clique, podCliqueScalingGroups=[group]), 8)
    async with watching(world, PODS) as pods:
        await until_updated(world, "wl", await change(world, "wl", "w"))
    await all_updated(world, "w")
    assert most_down(pods, group_replica, only={group_replica(pod) for pod in pods.before}) == 2


async def test_no_gang_is_made_anew_because_an_update_takes_its_time(world: World) -> None:
    """The delay of gang termination has passed when the deadline of the update has."""
    body = a_set("wl", a_clique("w", 3, 3), terminationDelay=SHORT_DELAY)
    body["spec"]["template"]["cliques"][0]["rollingUpdate"] = {"progressDeadline": "6s"}
    await started(world, body, 3)
    async with watching(world, PODS) as pods:
        await world.cordon()
        generation = await change(world, "wl", "w")

        def is_late(found: Json) -> bool:
            told = condition(found, "UpdateInProgress")["reason"]
            return bool(told == "ProgressDeadlineExceeded")

        await world.until(CLIQUES, "wl-0-w", is_late, "to be late")
        assert len(disturbed(pods)) == 1, "the others run on"
        await world.uncordon()
        await until_updated(world, "wl", generation)
    assert most_down(pods, slot, only={slot(pod) for pod in pods.before}) == 1


async def test_a_pod_lost_before_its_turn_returns_on_the_template_of_its_peers(
    world: World,
) -> None:
    pods = await started(world, workload1(), 10)
    lost = next(pod for pod in pods if group_replica(pod) == ("wl-0-sg-x", "0"))
    async with watching(world, PODS) as seen:
        await world.cordon()
        generation = await change(world, "wl", "pc-b", "pc-c")
        held = await until_held(seen)
        assert group_replica(held) == ("wl-0-sg-x", "1"), "the highest goes first"
        await world.delete(PODS, name_of(lost))

        def follows(pod: Json) -> bool:
            return slot(pod) == slot(lost) and uid_of(pod) != uid_of(lost)

        await seen.until(follows, f"another pod in the place of {slot(lost)}")
        assert [trigger_of(pod) for pod in made(seen, follows)] == [""]
        await world.uncordon()
        await until_updated(world, "wl", generation)
    await all_updated(world, "pc-b", "pc-c")


async def test_what_is_down_already_costs_nothing(world: World) -> None:
    """With all that may be down spent on a pod that is lost, it is replaced with what is new."""
    pods = await started(world, a_set("wl", a_clique("w", 3, 1)), 3)
    async with watching(world, PODS) as seen:
        await world.cordon()
        await world.delete(PODS, name_of(pods[0]))
        await seen.until(lambda pod: uid_of(pod) not in {uid_of(one) for one in pods}, "another")
        generation = await change(world, "wl", "w")
        found = await until_held(seen)
        assert slot(found) == slot(pods[0]), "the one that finds no node, and no other"
        await world.uncordon()
        await until_updated(world, "wl", generation)
    assert most_down(seen, slot, only={slot(pod) for pod in seen.before}) == 1


async def test_what_finds_no_room_does_not_hold_up_the_others(world: World) -> None:
    """One pod fits on a node, and there are two nodes for three pods."""
    await world.cordon(but=2)
    pod = a_pod_spec()
    pod["containers"][0]["resources"] = {"requests": {"cpu": "40"}}
    await world.make(SETS, a_set("wl", a_clique("w", 3, 1, podSpec=pod)))

    def is_cramped(found: Json) -> bool:
        return bool(found["status"].get("readyReplicas") == 2)

    await world.until(CLIQUES, "wl-0-w", is_cramped, "two of three pods to be ready")
    await until_updated(world, "wl", await change(world, "wl", "w"))
    await all_updated(world, "w")
    await world.until(CLIQUES, "wl-0-w", is_cramped, "two of three pods to be ready again")


async def test_kubectl_explains_what_to_do_with_on_delete(world: World) -> None:
    told = await world.cluster.kubectl("explain", "podcliqueset.spec.updateStrategy.type")
    words = " ".join(told.split())
    assert "Good practice with OnDelete: compare status.updatedReplicas" in words
    assert "RollingRecreate replaces what is outdated step by step" in words
