# SPDX-License-Identifier: Apache-2.0
"""The simulator as a whole, on the cluster of this process and in virtual time."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.virtual import run, settle, virtual
from tests.unit.embedded.nodes.world import (
    CLAIMS,
    LEASES,
    NAMESPACE,
    SLICES,
    World,
    a_world,
    condition,
    pass_seconds,
)
from trellis.api.meta import Key
from trellis.embedded.nodes import injecting
from trellis.embedded.nodes.announcing import RealNodes
from trellis.embedded.nodes.expanding import expand
from trellis.embedded.nodes.faults import OOM, NodeFault, PodFault
from trellis.embedded.nodes.fleet import Fault
from trellis.embedded.nodes.loading import ready_made
from trellis.embedded.nodes.pods import PODS, KubeletNode
from trellis.kube.verbs import Deletion, merge_patch

if TYPE_CHECKING:
    from trellis.embedded.nodes.waiters import Start

NODES = KubeletNode.resource
NODE = "tiny-r001-n01"
CARD = "0000:17:00.0"


async def tiny(count: int = 2) -> World:
    return await a_world(expand(ready_made("tiny"), count))


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
async def test_a_pod_without_wishes_costs_one_write() -> None:
    world = await tiny()
    async with world.simulated():
        await world.add_pod(initContainers=[{"name": "setup", "image": "image"}])
        pod = await world.pod()
        assert world.writes_to("/pods/") == ["PATCH /api/v1/namespaces/default/pods/pod/status"]
    status = pod["status"]
    assert status["phase"] == "Running"
    assert status["podIP"] == "100.64.0.2"
    assert status["hostIP"] == "10.64.0.0"
    assert {one["type"]: one["status"] for one in status["conditions"]} == {
        "PodReadyToStartContainers": "True",
        "Initialized": "True",
        "Ready": "True",
        "ContainersReady": "True",
    }
    main = status["containerStatuses"][0]
    assert (main["started"], main["ready"], main["restartCount"]) == (True, True, 0)
    assert "running" in main["state"]
    assert status["initContainerStatuses"][0]["state"]["terminated"]["reason"] == "Completed"


@virtual
async def test_a_pod_starts_becomes_ready_and_completes_when_it_says() -> None:
    world = await tiny()
    async with world.simulated():
        asked = {"start-delay": "5", "ready-delay": "10", "run-seconds": "60"}
        await world.add_pod(asked=asked, restartPolicy="Never")
        assert (await world.status())["phase"] == "Pending"
        await pass_seconds(5)
        pod = await world.pod()
        assert pod["status"]["phase"] == "Running"
        assert condition(pod, "Ready")["status"] == "False"
        assert condition(pod, "Ready")["reason"] == "ContainersNotReady"
        await pass_seconds(10)
        ready = condition(await world.pod(), "Ready")
        assert ready["status"] == "True"
        assert "reason" not in ready
        await pass_seconds(50)
        pod = await world.pod()
        assert pod["status"]["phase"] == "Succeeded"
        assert condition(pod, "Ready")["reason"] == "PodCompleted"
        assert len(world.writes_to("/pods/")) == 4


@virtual
async def test_a_container_that_crashes_backs_off() -> None:
    world = await tiny()
    async with world.simulated():
        await world.add_pod(asked={"crash-after": "1", "exit-code": "3"})
        await pass_seconds(2)
        main = (await world.status())["containerStatuses"][0]
        assert main["restartCount"] == 1
        assert main["lastState"]["terminated"]["exitCode"] == 3
        assert main["state"]["waiting"]["reason"] == "CrashLoopBackOff"
        assert (
            "back-off 10s restarting failed container=main" in main["state"]["waiting"]["message"]
        )
        await pass_seconds(10)
        assert (await world.status())["containerStatuses"][0]["restartCount"] == 2


@virtual
async def test_an_annotation_that_cannot_be_followed_is_told_in_the_status() -> None:
    world = await tiny()
    async with world.simulated():
        await world.add_pod(asked={"run-seconds": "soon"})
        waiting = (await world.status())["containerStatuses"][0]["state"]["waiting"]
        assert waiting["reason"] == "CreateContainerConfigError"
        assert "run-seconds: 'soon' is no time" in waiting["message"]
        await pass_seconds(60)
        assert len(world.writes_to("/pods/")) == 1
        await world.client.of(PODS, bytes, NAMESPACE).delete("pod")
        assert await world.pod() is None


@virtual
async def test_a_deleted_pod_ends_within_its_grace_and_is_removed() -> None:
    world = await tiny()
    async with world.simulated():
        await world.add_pod(asked={"stop-delay": "7"}, terminationGracePeriodSeconds=30)
        await settle()
        await world.client.of(PODS, bytes, NAMESPACE).delete("pod")
        await pass_seconds(6.9)
        assert await world.pod() is not None
        await pass_seconds(0.2)
        assert await world.pod() is None


@virtual
async def test_a_pod_with_a_finalizer_is_seen_ended_before_it_goes() -> None:
    world = await tiny()
    async with world.simulated():
        await world.add_pod(finalizers=["example.com/hold"])
        await settle()
        pods = world.client.of(PODS, bytes, NAMESPACE)
        await pods.delete("pod")
        status = await world.status()
        assert status["phase"] == "Failed"
        assert status["containerStatuses"][0]["state"]["terminated"]["exitCode"] == 143
        await pods.patch("pod", merge_patch({"metadata": {"finalizers": None}}))
        assert await world.pod() is None


@virtual
async def test_the_address_of_a_pod_that_is_gone_is_given_again() -> None:
    world = await tiny()
    async with world.simulated():
        for name in ("one", "two"):
            await world.add_pod(name)
            await settle()
        assert (await world.status("two"))["podIP"] == "100.64.0.3"
        await world.client.of(PODS, bytes, NAMESPACE).delete("one")
        await settle()
        await world.add_pod("three")
        assert (await world.status("three"))["podIP"] == "100.64.0.2"


@virtual
async def test_a_pod_waits_until_its_claims_are_its_own() -> None:
    world = await tiny()
    request = {"name": "gpu", "exactly": {"deviceClassName": "gpu.nvidia.com"}}
    claims = world.client.of(CLAIMS, bytes, NAMESPACE)
    await claims.create(
        {"metadata": {"name": "claim"}, "spec": {"devices": {"requests": [request]}}}
    )
    async with world.simulated():
        await world.add_pod(resourceClaims=[{"name": "gpu", "resourceClaimName": "claim"}])
        pod = await world.pod()
        assert pod["status"]["phase"] == "Pending"
        assert world.writes_to("/pods/") == []
        given = {"request": "gpu", "driver": "gpu.nvidia.com", "pool": NODE, "device": "gpu-0"}
        status = {
            "allocation": {"devices": {"results": [given]}},
            "reservedFor": [{"resource": "pods", "name": "pod", "uid": pod["metadata"]["uid"]}],
        }
        await claims.patch("claim", merge_patch({"status": status}), subresource="status")
        assert (await world.status())["phase"] == "Running"


@pytest.mark.parametrize(
    ("codes", "phases"),
    [
        pytest.param([0], ["Pending", "Running"], id="it succeeds"),
        pytest.param([1, 0], ["Pending", "Pending", "Running"], id="it fails once"),
    ],
)
def test_the_start_order_waiter_is_run_and_its_exit_code_decides(
    codes: list[int], phases: list[str]
) -> None:
    starts: list[Start] = []
    go = asyncio.Event

    async def story() -> None:
        gates = [go() for _ in codes]

        async def stand_in(start: Start) -> int:
            starts.append(start)
            await gates[len(starts) - 1].wait()
            return codes[len(starts) - 1]

        world = await tiny()
        async with world.simulated(waiters={"grove-initc": stand_in}):
            waiter = {"name": "grove-initc", "image": "image", "args": ["--podcliques=a:1"]}
            await world.add_pod(initContainers=[waiter])
            seen = [(await world.status())["phase"]]
            for gate in gates:
                gate.set()
                await settle()
                seen.append((await world.status())["phase"])
            assert seen == phases

    run(story())
    assert len(starts) == len(codes)
    assert starts[0].spec["args"] == ["--podcliques=a:1"]
    assert starts[0].token.count(".") == 2
    assert starts[0].token not in repr(starts[0])


@virtual
async def test_a_waiter_is_given_up_when_its_pod_is_deleted() -> None:
    ended = []

    async def stand_in(_: Start) -> int:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(True)
        return 0

    world = await tiny()
    async with world.simulated(waiters={"grove-initc": stand_in}):
        await world.add_pod(initContainers=[{"name": "grove-initc", "image": "image"}])
        await settle()
        await world.client.of(PODS, bytes, NAMESPACE).delete("pod")
        assert await world.pod() is None
        assert ended == [True]


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


@virtual
async def test_pods_that_are_over_give_their_addresses_back() -> None:
    world = await tiny()
    async with world.simulated():
        await world.add_pod("over", asked={"run-seconds": "1"}, restartPolicy="Never")
        await pass_seconds(1)
        await world.add_pod("next")
        assert (await world.status("next"))["podIP"] == (await world.status("over"))["podIP"]


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


@virtual
async def test_a_new_pod_under_an_old_name_is_another_pod() -> None:
    world = await tiny()
    async with world.simulated():
        await world.add_pod(asked={"crash-after": "1"})
        await pass_seconds(5)
        force = Deletion(grace_seconds=0)
        await world.client.of(PODS, bytes, NAMESPACE).delete("pod", force)
        await world.add_pod()
        await settle()
        main = (await world.status())["containerStatuses"][0]
        assert (main["restartCount"], "running" in main["state"]) == (0, True)


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
