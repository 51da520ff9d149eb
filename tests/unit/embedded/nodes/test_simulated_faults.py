# SPDX-License-Identifier: Apache-2.0
"""What goes wrong with simulated nodes, their cards and their pods, and how it ends."""

from __future__ import annotations

import pytest

from tests.support.virtual import run, settle, virtual
from tests.unit.embedded.nodes.world import (
    NAMESPACE,
    NODE,
    NODES,
    SLICES,
    condition,
    pass_seconds,
    tiny,
)
from trellis.api.meta import Key
from trellis.embedded.nodes import injecting
from trellis.embedded.nodes.faults import OOM, NodeFault, PodFault
from trellis.embedded.nodes.fleet import Fault
from trellis.embedded.nodes.pods import PODS

CARD = "0000:17:00.0"


@virtual
async def test_a_node_that_vanishes_is_unknown_after_its_grace_and_returns() -> None:
    world = await tiny()
    async with world.simulated(heartbeat=20.0):
        await world.add_pod()
        await settle()
        await injecting.strike_node(world.client, NODE, NodeFault(vanish=True))
        await pass_seconds(49)
        assert condition(await world.node(NODE), "Ready")["status"] == "True"
        await world.client.of(PODS, bytes, NAMESPACE).delete("pod")
        await pass_seconds(2)
        node = await world.node(NODE)
        assert condition(node, "Ready")["status"] == "Unknown"
        assert [taint["effect"] for taint in node["spec"]["taints"]] == ["NoSchedule", "NoExecute"]
        pod = await world.pod()
        assert condition(pod, "Ready")["status"] == "False"
        lease = len([one for one in world.writes_to("/leases/") if NODE in one])
        await pass_seconds(100)
        assert len([one for one in world.writes_to("/leases/") if NODE in one]) == lease
        await injecting.heal_node(world.client, NODE)
        await pass_seconds(3)
        node = await world.node(NODE)
        assert condition(node, "Ready")["status"] == "True"
        assert "taints" not in node["spec"]
        assert await world.pod() is None


@virtual
async def test_pods_go_on_when_their_node_is_heard_again() -> None:
    world = await tiny()
    async with world.simulated():
        await world.add_pod(asked={"run-seconds": "70"}, restartPolicy="Never")
        await settle()
        await injecting.strike_node(world.client, NODE, NodeFault(vanish=True))
        await pass_seconds(60)
        assert condition(await world.pod(), "Ready")["status"] == "False"
        await injecting.heal_node(world.client, NODE)
        await settle()
        assert condition(await world.pod(), "Ready")["status"] == "True"
        await pass_seconds(11)
        assert (await world.status())["phase"] == "Succeeded"


@pytest.mark.parametrize(
    ("fault", "capacity", "allocatable"),
    [
        pytest.param(NodeFault(gpu=CARD, xid=79), "4", "3", id="fatal Xid"),
        pytest.param(NodeFault(gpu=CARD, removed=True), "3", "3", id="removed"),
    ],
)
def test_a_card_that_fails_leaves_node_and_slice_and_comes_back(
    fault: NodeFault, capacity: str, allocatable: str
) -> None:
    async def story() -> None:
        world = await tiny()
        async with world.simulated() as simulator:
            await injecting.strike_node(world.client, NODE, fault)
            status = (await world.node(NODE))["status"]
            assert status["capacity"]["nvidia.com/gpu"] == capacity
            assert status["allocatable"]["nvidia.com/gpu"] == allocatable
            spec = (await world.get(SLICES, f"{NODE}-gpu.nvidia.com"))["spec"]
            assert [one["name"] for one in spec["devices"]] == ["gpu-1", "gpu-2", "gpu-3"]
            assert spec["pool"]["generation"] == 2
            assert simulator.state(NODE).card(CARD).xid == fault.xid
            await injecting.heal_node(world.client, NODE, CARD)
            status = (await world.node(NODE))["status"]
            assert status["allocatable"]["nvidia.com/gpu"] == "4"
            spec = (await world.get(SLICES, f"{NODE}-gpu.nvidia.com"))["spec"]
            assert (len(spec["devices"]), spec["pool"]["generation"]) == (4, 3)

    run(story())


@virtual
async def test_a_fault_with_an_end_is_over_then() -> None:
    world = await tiny()
    async with world.simulated() as simulator:
        until = world.client.clock.now()
        later = until.replace(second=(until.second + 30) % 60)
        await injecting.strike_node(world.client, NODE, NodeFault(dcgm="down"), later)
        await settle()
        assert simulator.state(NODE).dcgm_silent
        await pass_seconds(31)
        assert not simulator.state(NODE).dcgm_silent


@virtual
async def test_slow_images_hold_back_only_pods_that_start_meanwhile() -> None:
    world = await tiny()
    async with world.simulated():
        await world.add_pod("early")
        await injecting.strike_node(world.client, NODE, NodeFault(slow_images="60s"))
        await settle()
        await world.add_pod("late")
        assert (await world.status("early"))["phase"] == "Running"
        late = await world.status("late")
        assert late["phase"] == "Pending"
        assert late["containerStatuses"][0]["state"]["waiting"]["reason"] == "ContainerCreating"
        await pass_seconds(61)
        assert (await world.status("late"))["phase"] == "Running"


@virtual
async def test_a_pod_is_struck_once_by_one_fault() -> None:
    world = await tiny()
    async with world.simulated():
        await world.add_pod()
        await pass_seconds(5)
        fault = PodFault(at=world.client.clock.now(), exit_code=OOM.exit_code, reason=OOM.reason)
        await injecting.strike_pod(world.client, Key(NAMESPACE, "pod"), fault)
        await pass_seconds(100)
        main = (await world.status())["containerStatuses"][0]
        assert main["restartCount"] == 1
        assert main["lastState"]["terminated"]["reason"] == "OOMKilled"
        assert "running" in main["state"]


@virtual
async def test_the_timeline_of_the_fleet_is_followed() -> None:
    world = await tiny()
    timeline = (
        Fault(at="120s", node=NODE, gpu=CARD, xid=79),
        Fault(at="300s", node=NODE, dcgm="down", for_="90s"),
        Fault(at="60s", pod=f"{NAMESPACE}/pod", crash=True),
    )
    async with world.simulated(timeline=timeline) as simulator:
        await world.add_pod(restartPolicy="Never")
        await pass_seconds(50)
        assert (await world.status())["phase"] == "Running"
        await pass_seconds(10)
        assert (await world.status())["phase"] == "Failed"
        assert simulator.state(NODE).card(CARD).healthy
        await pass_seconds(60)
        assert not simulator.state(NODE).card(CARD).healthy
        await pass_seconds(190)
        assert simulator.state(NODE).dcgm_silent
        await pass_seconds(90)
        assert not simulator.state(NODE).dcgm_silent


@virtual
async def test_a_fault_outlives_the_simulator() -> None:
    world = await tiny()
    async with world.simulated(clean_up=False):
        await injecting.strike_node(world.client, NODE, NodeFault(vanish=True))
        await injecting.strike_node(world.client, NODE, NodeFault(gpu=CARD, removed=True))
        await pass_seconds(100)
        await world.add_pod()
    async with world.simulated() as simulator:
        assert (await world.status())["phase"] == "Pending"
        assert simulator.state(NODE).vanished
        assert simulator.state(NODE).card(CARD).removed


@pytest.mark.parametrize(
    ("node", "fault", "said"),
    [
        pytest.param("none", NodeFault(vanish=True), "there is no node none", id="no such node"),
        pytest.param("real", NodeFault(vanish=True), "node real is real", id="real node"),
        pytest.param(
            NODE,
            NodeFault(gpu="0000:ff:00.0", xid=79),
            f"node {NODE} has no card 0000:ff:00.0; it has 0000:17:00.0, ",
            id="no such card",
        ),
    ],
)
def test_what_cannot_be_struck_is_told(node: str, fault: NodeFault, said: str) -> None:
    async def story() -> None:
        world = await tiny()
        await world.client.of(NODES, bytes).create({"metadata": {"name": "real"}})
        async with world.simulated(beside_real_nodes=True):
            with pytest.raises(injecting.CannotStrike) as caught:
                await injecting.strike_node(world.client, node, fault)
        assert said in str(caught.value)

    run(story())


@virtual
async def test_faults_of_different_kinds_stand_side_by_side() -> None:
    world = await tiny()
    async with world.simulated() as simulator:
        await injecting.strike_node(world.client, NODE, NodeFault(gpu=CARD, xid=13))
        await injecting.strike_node(world.client, NODE, NodeFault(dcgm="down"))
        change = await injecting.strike_node(world.client, NODE, NodeFault(gpu=CARD, xid=79))
        await settle()
        assert len(change.faults) == 2
        assert simulator.state(NODE).card(CARD).xid == 79
        assert simulator.state(NODE).dcgm_silent


@virtual
async def test_a_fault_that_cannot_be_read_is_passed_over() -> None:
    world = await tiny()
    async with world.simulated() as simulator:
        await world.annotate(NODES, NODE, faults='[{"vanish": "yes"}]')
        await world.add_pod()
        await world.annotate(PODS, "pod", fault="crash")
        assert (await world.status())["phase"] == "Running"
        assert not simulator.state(NODE).vanished
