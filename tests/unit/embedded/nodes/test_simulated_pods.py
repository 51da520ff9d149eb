# SPDX-License-Identifier: Apache-2.0
"""Pods on simulated nodes: how they start, run, end and go, and what they wait for."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from tests.support.virtual import run, settle, virtual
from tests.unit.embedded.nodes.world import (
    CLAIMS,
    NAMESPACE,
    NODE,
    condition,
    pass_seconds,
    tiny,
)
from trellis.embedded.nodes.pods import PODS
from trellis.kube.verbs import Deletion, merge_patch

if TYPE_CHECKING:
    from trellis.embedded.nodes.waiters import Start


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
async def test_pods_that_are_over_give_their_addresses_back() -> None:
    world = await tiny()
    async with world.simulated():
        await world.add_pod("over", asked={"run-seconds": "1"}, restartPolicy="Never")
        await pass_seconds(1)
        await world.add_pod("next")
        assert (await world.status("next"))["podIP"] == (await world.status("over"))["podIP"]


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
