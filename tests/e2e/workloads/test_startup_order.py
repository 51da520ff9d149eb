# SPDX-License-Identifier: Apache-2.0
"""Grove's scenarios SO1 to SO4: who starts after whom. The first to start are the slowest, so that
order is never an accident."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.e2e.embedded.nodes.simulation import simulated
from tests.e2e.workloads.builders import workload3, workload4, workload5, workload6
from tests.e2e.workloads.world import SETS, World, clique_of, condition
from trellis.embedded.nodes.loading import load

if TYPE_CHECKING:
    from tests.e2e.workloads.world import Json
    from tests.support.cluster import Cluster

BASE = ("wl-0-sg-x-0", "wl-0-sg-x-1")
CARELESS = load("nodes: [{name: careless}]")


def ready_times(pods: list[Json], clique: str) -> list[str]:
    times = [condition(pod, "Ready")["lastTransitionTime"] for pod in pods]
    return sorted(time for time, pod in zip(times, pods, strict=True) if clique_of(pod) == clique)


def assert_order(pods: list[Json], least: int, parent: str, child: str) -> None:
    """The minimum of the parent was ready before the first of the child."""
    before, after = ready_times(pods, parent), ready_times(pods, child)
    assert before[least - 1] <= after[0], f"{child} {after} did not wait for {parent} {before}"


async def started(world: World, workload: Json) -> list[Json]:
    await world.make(SETS, workload)
    return await world.until_ready(10)


def assert_so1(pods: list[Json]) -> None:
    for replica in BASE:
        assert_order(pods, 2, "wl-0-pc-a", f"{replica}-pc-b")
        for other in BASE:
            assert_order(pods, 1, f"{other}-pc-b", f"{replica}-pc-c")


async def test_so1_in_the_order_of_the_list(world: World) -> None:
    assert_so1(await started(world, workload3()))


async def test_so2_a_scaled_gang_has_an_order_of_its_own(world: World) -> None:
    pods = await started(world, workload4())
    assert_order(pods, 1, "wl-0-pc-a", "wl-0-sg-x-0-pc-b")
    assert_order(pods, 1, "wl-0-sg-x-0-pc-b", "wl-0-sg-x-0-pc-c")
    assert_order(pods, 1, "wl-0-sg-x-1-pc-b", "wl-0-sg-x-1-pc-c")
    waiters = [waits_for(pod) for pod in pods if clique_of(pod).startswith("wl-0-sg-x-1")]
    assert sorted(set(waiters)) == [(), ("--podcliques=wl-0-sg-x-1-pc-b:1",)]


async def test_so3_in_an_order_that_is_written_down(world: World) -> None:
    pods = await started(world, workload5())
    for replica in BASE:
        assert_order(pods, 2, "wl-0-pc-a", f"{replica}-pc-c")
        for other in BASE:
            assert_order(pods, 3, f"{other}-pc-c", f"{replica}-pc-b")


async def test_so4_written_down_and_in_a_scaled_gang(world: World) -> None:
    pods = await started(world, workload6())
    assert_order(pods, 1, "wl-0-pc-a", "wl-0-sg-x-0-pc-b")
    assert_order(pods, 1, "wl-0-sg-x-0-pc-b", "wl-0-sg-x-0-pc-c")
    assert_order(pods, 1, "wl-0-sg-x-1-pc-b", "wl-0-sg-x-1-pc-c")


async def test_a_replacement_waits_again(world: World) -> None:
    pods = await started(world, workload3())
    lost = next(pod for pod in pods if clique_of(pod) == "wl-0-sg-x-0-pc-b")
    await world.kill([lost])
    await world.until_gone([lost])
    found = next(pod for pod in await world.until_ready(10) if clique_of(pod) == "wl-0-sg-x-0-pc-b")
    assert waits_for(found) == ("--podcliques=wl-0-pc-a:2",)


async def test_only_waiters_may_read_and_only_while_somebody_waits(world: World) -> None:
    await started(world, workload3())
    role = await world.get("roles", "grove.io:pcs:wl")
    assert sorted(role["rules"][0]["resourceNames"]) == [
        "wl-0-pc-a",
        "wl-0-sg-x-0-pc-b",
        "wl-0-sg-x-1-pc-b",
    ]
    assert (await world.get("rolebindings", "grove.io:pcs:wl"))["subjects"] == [
        {"kind": "ServiceAccount", "name": "default", "namespace": world.namespace}
    ]
    assert not await world.ours("secrets"), "no token lies around"


def waits_for(pod: Json) -> tuple[str, ...]:
    """The arguments of its waiter, the last of its init containers."""
    containers = pod["spec"].get("initContainers", [])
    if not containers:
        return ()
    assert containers[-1]["name"] == "grove-initc"
    return tuple(containers[-1]["args"])


async def test_the_order_is_lost_where_the_waiter_is_skipped(world: World, ground: Cluster) -> None:
    """On nodes that play the waiter like any other init container, which ends at once."""
    await world.cordon()
    async with simulated(ground, CARELESS, waiters={}):
        pods = await started(world, workload3())
        with pytest.raises(AssertionError, match="did not wait for"):
            assert_so1(pods)
        await world.remove_sets()
