# SPDX-License-Identifier: Apache-2.0
"""Grove's scenarios GT1 to GT6: what is recycled when a minimum is lost for too long, and what not.

A pod is lost for good by closing all nodes before it is deleted.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from tests.e2e.workloads.builders import SHORT_DELAY, workload1, workload2, workload5_gt
from tests.e2e.workloads.world import CLIQUES, GROUPS, SETS, clique_of, condition, is_true, uid_of
from tests.support.waiting import eventually

if TYPE_CHECKING:
    from collections.abc import Collection

    from tests.e2e.workloads.world import Json, World

BREACHED = "MinAvailableBreached"


def of(pods: Collection[Json], *cliques: str) -> list[Json]:
    return [pod for pod in pods if clique_of(pod) in cliques]


def not_of(pods: Collection[Json], *cliques: str) -> list[Json]:
    return [pod for pod in pods if clique_of(pod) not in cliques]


def uids(pods: Collection[Json]) -> set[str]:
    return {uid_of(pod) for pod in pods}


async def started(world: World, workload: Json) -> list[Json]:
    """Once it is known to be up: what never was up is not recycled."""
    await world.make(SETS, workload)
    pods = await world.until_ready(10)
    await world.until_up("wl")
    return pods


async def until_unbreached_with(world: World, clique: str, ready: int) -> None:
    """Its status has the loss, and that is no breach: so there is nothing that could recycle it."""

    def holds(found: Json) -> bool:
        counted = found["status"]["readyReplicas"] == ready
        return counted and condition(found, BREACHED).get("status") == "False"

    await world.until(CLIQUES, clique, holds, f"{ready} ready pods and no breach")


async def until_recovered(world: World) -> None:
    await world.uncordon()
    await world.until_ready(10)


async def test_gt1_a_clique_that_needs_all_its_pods_takes_the_whole_replica_along(
    world: World,
) -> None:
    pods = await started(world, workload1(terminationDelay=SHORT_DELAY))
    await world.cordon()
    await world.kill(of(pods, "wl-0-pc-a")[:1])
    await world.until_gone(pods)
    await until_recovered(world)


async def test_gt2_so_does_one_in_a_scaling_group_that_needs_all_its_replicas(
    world: World,
) -> None:
    pods = await started(world, workload1(terminationDelay=SHORT_DELAY))
    await world.cordon()
    await world.kill(of(pods, "wl-0-sg-x-0-pc-c")[:1])
    await world.until_gone(pods)
    await until_recovered(world)


async def test_gt3_a_clique_may_lose_what_it_does_not_need(world: World) -> None:
    pods = await started(world, workload2(terminationDelay=SHORT_DELAY))
    first, second = of(pods, "wl-0-pc-a")
    await world.cordon()
    await world.kill([first])
    await world.until_gone([first])
    await until_unbreached_with(world, "wl-0-pc-a", 1)
    assert uids(pods) - {uid_of(first)} <= await world.uids()
    await world.kill([second])
    await world.until_gone(pods)
    await until_recovered(world)


async def test_gt4_a_replica_of_a_group_falls_alone_while_the_group_can_spare_it(
    world: World,
) -> None:
    pods = await started(world, workload2(terminationDelay=SHORT_DELAY))
    zero, one = ("wl-0-sg-x-0-pc-b", "wl-0-sg-x-0-pc-c"), ("wl-0-sg-x-1-pc-b", "wl-0-sg-x-1-pc-c")
    await world.cordon()

    lost, *rest = of(pods, zero[1])
    await world.kill([lost])
    await world.until_gone([lost])
    await until_unbreached_with(world, zero[1], 2)
    assert uids(pods) - {uid_of(lost)} <= await world.uids()
    await world.kill(rest)
    await world.until_gone(of(pods, *zero))
    others = not_of(pods, *zero)
    assert uids(others) <= await world.uids(), "nobody else is touched"

    lost, *rest = of(pods, one[1])
    await world.kill([lost])
    await world.until_gone([lost])
    await until_unbreached_with(world, one[1], 2)
    assert uids(of(pods, "wl-0-pc-a")) <= await world.uids()
    await world.kill(rest)
    # Replica 0 has not been up since: now the group has too few, and all of it goes.
    await world.until_gone(others)
    await until_recovered(world)


async def test_gt5_a_member_that_needs_all_its_pods_takes_its_group_replica_along(
    world: World,
) -> None:
    pods = await started(world, workload5_gt())
    zero = ("wl-0-sg-x-0-pc-b", "wl-0-sg-x-0-pc-c")
    await world.cordon()
    await world.kill(of(pods, zero[1]))
    await world.until_gone(of(pods, *zero))
    assert uids(not_of(pods, *zero)) <= await world.uids()
    await until_recovered(world)
    assert uids(not_of(pods, *zero)) <= await world.uids()


async def test_gt6_a_pod_of_a_scaled_gang_is_replaced_and_nothing_else_happens(
    world: World,
) -> None:
    pods = await started(world, workload2(terminationDelay=SHORT_DELAY))
    lost = of(pods, "wl-0-sg-x-1-pc-c")[0]
    await world.kill([lost])
    await world.until_gone([lost])
    now = await world.until_ready(10)
    assert uids(pods) - {uid_of(lost)} <= uids(now)


async def test_a_recycle_keeps_what_was_scaled_at_run_time(world: World) -> None:
    """Upstream makes PodCliques anew from the template, and so forgets what autoscalers did."""
    pods = await started(world, workload2(terminationDelay=SHORT_DELAY))
    await world.scale(CLIQUES, "wl-0-pc-a", 3)
    await world.scale(GROUPS, "wl-0-sg-x", 3)
    pods = await world.until_ready(15)
    await world.until_up("wl")
    kept = {uid_of(await world.get(CLIQUES, "wl-0-pc-a"))}
    await world.cordon()
    await world.kill(of(pods, "wl-0-pc-a"))
    await world.until_gone(pods)
    await world.uncordon()
    await world.until_ready(15)
    assert {uid_of(await world.get(CLIQUES, "wl-0-pc-a"))} == kept


async def test_the_deadline_is_told_before_it_passes(world: World) -> None:
    pods = await started(world, workload1(terminationDelay="1h"))
    await world.cordon()
    await world.kill(of(pods, "wl-0-pc-a")[:1])

    def breached(found: Json) -> bool:
        return is_true(found, BREACHED) and "T" in condition(found, BREACHED)["message"]

    told = await world.until(CLIQUES, "wl-0-pc-a", breached, "a breach with its deadline")
    assert condition(told, BREACHED)["reason"] in (
        "ScheduledReplicasBelowMinAvailable",
        "InsufficientReadyPods",
    )
    await world.uncordon()
    now = await world.until_ready(10)
    assert len(uids(now) & uids(pods)) == 9


async def test_a_set_that_never_was_up_is_left_alone(world: World) -> None:
    """It may have to wait for room for longer than its delay; making it anew would not help."""
    await world.cordon()
    await world.make(SETS, workload1(terminationDelay="1s"))

    async def all_there() -> list[Json]:
        pods = await world.pods()
        return pods if len(pods) == 10 else []

    pods = await eventually(all_there, "ten pods that wait for room")
    breached = partial(is_true, kind=BREACHED)
    since = await world.until(CLIQUES, "wl-0-pc-a", breached, "a breach from the start")
    assert condition(since, BREACHED)["reason"] == "ScheduledReplicasBelowMinAvailable"
    await world.uncordon()
    assert uids(await world.until_ready(10)) == uids(pods)
