# SPDX-License-Identifier: Apache-2.0
"""The simulator as a whole, on the cluster of this process and in virtual time."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.virtual import run, settle, virtual
from tests.unit.embedded.nodes.world import (
    LEASES,
    NODE,
    NODES,
    SLICES,
    World,
    condition,
    pass_seconds,
    tiny,
)
from trellis.embedded.nodes.announcing import RealNodes
from trellis.embedded.nodes.pods import PODS, KubeletNode


async def names(world: World, resource: Any) -> list[str]:
    listing = await world.client.of(resource, KubeletNode).list()
    return [one.metadata.name for one in listing.objects]


@virtual
async def test_nodes_slices_and_leases_are_there_and_go_at_the_end() -> None:
    world = await tiny()
    async with world.simulated():
        node = await world.node(NODE)
        assert condition(node, "Ready")["status"] == "True"
        assert "taints" not in node["spec"]
        assert node["status"]["allocatable"]["nvidia.com/gpu"] == "4"
        assert await names(world, SLICES) == [
            f"{NODE}-gpu.nvidia.com",
            "tiny-r001-n02-gpu.nvidia.com",
        ]
        assert len(await names(world, LEASES)) == 2
        await world.add_pod()
        await settle()
    for resource in (NODES, SLICES, LEASES, PODS):
        assert await names(world, resource) == []


@virtual
async def test_a_settled_cluster_sees_no_writes() -> None:
    world = await tiny()
    async with world.simulated():
        await world.add_pod()
        await pass_seconds(10)
        before = len(world.writes)
        await pass_seconds(3600)
        assert world.writes[before:] == []


@virtual
async def test_leases_are_renewed_where_asked_for() -> None:
    world = await tiny()
    async with world.simulated(heartbeat=20.0):
        await pass_seconds(1)
        before = len(world.writes)
        await pass_seconds(100)
        renewed = world.writes[before:]
        assert len(renewed) == 10
        assert all("/leases/" in write for write in renewed)


@virtual
async def test_a_simulator_that_is_started_again_takes_up_what_is_there() -> None:
    world = await tiny()
    async with world.simulated(clean_up=False):
        await world.add_pod(asked={"run-seconds": "100"}, restartPolicy="Never")
        await pass_seconds(30)
    before = await world.pod()
    written = len(world.writes)
    async with world.simulated():
        await settle()
        assert all("/leases" in write for write in world.writes[written:])
        assert (await world.status())["podIP"] == before["status"]["podIP"]
        assert (await world.status())["startTime"] == before["status"]["startTime"]
        await world.add_pod("new")
        assert (await world.status("new"))["podIP"] != before["status"]["podIP"]
        await pass_seconds(71)
        assert (await world.status())["phase"] == "Succeeded"


@virtual
async def test_a_node_that_somebody_deletes_is_not_put_back() -> None:
    world = await tiny()
    async with world.simulated():
        await world.client.of(NODES, bytes).delete(NODE)
        await pass_seconds(100)
        assert await world.node(NODE) is None


@virtual
async def test_a_cluster_with_real_nodes_is_refused_and_left_alone() -> None:
    world = await tiny()
    await world.client.of(NODES, bytes).create({"metadata": {"name": "real"}})
    with pytest.raises(RealNodes, match=r"has 1 real nodes .real.; .* need --beside-real-nodes"):
        async with world.simulated():
            pass
    assert world.writes == []
    async with world.simulated(beside_real_nodes=True, tainted=True):
        node = await world.node(NODE)
        assert [taint["key"] for taint in node["spec"]["taints"]] == ["sim.trellis.dev/node"]
    assert await names(world, NODES) == ["real"]


@virtual
async def test_a_real_node_of_the_same_name_is_never_taken_over() -> None:
    world = await tiny()
    await world.client.of(NODES, bytes).create({"metadata": {"name": NODE}})
    with pytest.raises(RealNodes, match=f"{NODE} is a node of this cluster already, and not ours"):
        async with world.simulated(beside_real_nodes=True):
            pass
    assert world.writes == []


def test_the_same_seed_tells_the_same_story() -> None:
    async def story() -> list[str]:
        world = await tiny(4)
        async with world.simulated(heartbeat=20.0):
            for number in range(8):
                asked = {"run-seconds": "30", "jitter": "0.5", "exit-code": str(number % 2)}
                await world.add_pod(f"pod-{number}", asked=asked)
            await pass_seconds(100)
        return world.writes

    assert run(story()) == run(story())
