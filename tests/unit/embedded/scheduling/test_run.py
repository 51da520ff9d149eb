# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.support.virtual import run, virtual
from tests.unit.embedded.scheduling.stage import CLAIMS, NODES
from tests.unit.embedded.scheduling.stories import (
    devices_by_quantity,
    the_important_drive_out_the_others,
    two_devices,
    two_pods_share_a_claim,
)
from tests.unit.embedded.scheduling.theatre import Theatre, theatre
from trellis.kube.errors import Ambiguous, Unreachable
from trellis.kube.verbs import merge_patch

if TYPE_CHECKING:
    from collections.abc import Callable

    from trellis.kube.transport import Request

GPU = "nvidia.com/gpu"


class Once:
    """Raises for the first request to such a path."""

    def __init__(self, end: str, error: Exception) -> None:
        self._end = end
        self._error: Exception | None = error

    def __call__(self, request: Request) -> None:
        if self._error is not None and request.method != "GET" and request.path.endswith(self._end):
            error, self._error = self._error, None
            raise error

    @property
    def happened(self) -> bool:
        return self._error is None


def lost() -> Exception:
    return Ambiguous("POST: the connection was lost")


def cut_before(found: Theatre, fault: Once) -> None:
    found.wire.before = fault


def cut_after(found: Theatre, fault: Once) -> None:
    found.wire.after = fault


@pytest.mark.parametrize(
    ("cut", "error"),
    [
        pytest.param(cut_before, Unreachable("POST: refused"), id="the-binding-is-not-sent"),
        pytest.param(cut_before, lost(), id="the-binding-is-lost-on-its-way"),
        pytest.param(cut_after, lost(), id="the-answer-to-the-binding-is-lost"),
    ],
)
def test_a_pod_is_bound_once_and_takes_its_room_once_though(
    cut: Callable[[Theatre, Once], None], error: Exception
) -> None:
    async def play() -> None:
        async with theatre() as found:
            fault = Once("/binding", error)
            cut(found, fault)
            await found.stage.node("a", {GPU: "2"})
            await found.stage.pod("one", {GPU: "1"})
            assert await found.stage.node_of("one") == "a"
            assert fault.happened
            await found.stage.pod("two", {GPU: "1"})
            assert await found.stage.node_of("two") == "a"
            await found.stage.pod("three", {GPU: "1"})
            assert "1 Insufficient" in await found.stage.why_not("three")

    run(play())


@pytest.mark.parametrize("end", ["/binding", "/status", "/resourceclaims/shared"])
@pytest.mark.parametrize("cut", [cut_before, cut_after], ids=["unsent", "unanswered"])
def test_a_shared_claim_is_allocated_once_whatever_write_is_lost(
    cut: Callable[[Theatre, Once], None], end: str
) -> None:
    async def play() -> Any:
        async with theatre() as found:
            fault = Once(end, lost())
            cut(found, fault)
            ending = await two_pods_share_a_claim(found.stage)
            assert fault.happened
            return ending

    nodes, reserved, finalizers = run(play())
    assert nodes == ["a", "a"]
    assert reserved == ["one", "two"]
    assert finalizers == ["resource.kubernetes.io/delete-protection"]


@virtual
async def test_a_claim_that_changed_meanwhile_is_read_again() -> None:
    async with theatre() as found:
        stage = found.stage
        meddled: list[str] = []

        async def meddle() -> None:
            await stage.of(CLAIMS).patch("big", merge_patch({"metadata": {"labels": {"x": "y"}}}))

        inner = found.wire.inner.request

        async def request(one: Request) -> Any:
            if one.method == "PATCH" and "resourceclaims/big" in one.path and not meddled:
                meddled.append(one.path)
                await meddle()
            return await inner(one)

        found.wire.inner = _Meddled(found.wire.inner, request)
        where, allocation, _ = await devices_by_quantity(stage)
        assert meddled
        assert where == "b"
        assert [one["device"] for one in allocation["results"]] == ["gpu-0"]
        claim = await stage.of(CLAIMS).get("big")
        assert claim["metadata"]["labels"] == {"x": "y"}


class _Meddled:
    """A transport of which one function is replaced."""

    def __init__(self, inner: Any, request: Any) -> None:
        self.request = request
        self.stream = inner.stream
        self.close = inner.close


@virtual
async def test_a_settled_cluster_is_left_alone() -> None:
    async with theatre() as found:
        stage = found.stage
        await stage.node("a", {GPU: "1"})
        for name in ("one", "two"):
            await stage.pod(name, {GPU: "1"})
        await stage.node_of("one")
        await stage.why_not("two")
        await stage.client.clock.sleep(60)
        before = len(found.wire.writes())
        await stage.client.clock.sleep(3600)
        assert len(found.wire.writes()) == before


@virtual
async def test_what_cannot_help_wakes_nobody_and_what_can_does() -> None:
    async with theatre() as found:
        stage = found.stage
        await stage.node("a", {GPU: "1"})
        await stage.pod("holder", {GPU: "1"})
        await stage.node_of("holder")
        await stage.pod("waits", {GPU: "1"})
        await stage.why_not("waits")
        await stage.pod("plain")
        await stage.node_of("plain")
        await stage.kill("plain")
        told = len(found.wire.writes("/waits/status"))
        await stage.node("small")
        await stage.client.clock.sleep(30)
        # One more node is told of only when the pod is looked at again.
        assert len(found.wire.writes("/waits/status")) == told
        await stage.node("big", {GPU: "1"})
        assert await stage.node_of("waits") == "big"


@virtual
async def test_a_new_scheduler_goes_on_where_the_old_one_was_stopped() -> None:
    async with theatre(started=False) as found:
        stage = found.stage
        await stage.node("a", {GPU: "2"})
        await stage.pod("one", {GPU: "1"})
        await stage.pod("two", {GPU: "2"})
        await found.start()
        await stage.node_of("one")
        await stage.why_not("two")
        await found.stop()
        await stage.kill("one")
        await stage.client.clock.sleep(2)
        await stage.pod("three", {GPU: "1"})
        await found.start()
        assert await stage.node_of("two") == "a"
        assert "1 Insufficient" in await stage.why_not("three")


@virtual
async def test_a_promise_outlives_the_scheduler_that_made_it() -> None:
    async with theatre() as found:
        inner = found.stage

        async def kill_and_restart(name: str) -> None:
            await found.stop()
            await type(inner).kill(inner, name)
            await inner.pod("thief", {GPU: "4"})
            await found.start()

        stage = _Restarting(inner, kill_and_restart)
        ending = await the_important_drive_out_the_others(stage)  # type: ignore[arg-type]
        assert ending[1:3] == (True, True)
        assert "Insufficient" in await inner.why_not("thief")


class _Restarting:
    """A stage on which killing a pod is something else as well."""

    def __init__(self, stage: Any, kill: Any) -> None:
        self._stage = stage
        self.kill = kill

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stage, name)


async def _busy(found: Theatre) -> list[str]:
    stage = found.stage
    for number in range(5):
        await stage.node(f"{number}", {GPU: "3"})
    for number in range(12):
        await stage.pod(f"pod-{number}", {GPU: "1"})
    await stage.kill("pod-3")
    await stage.pod("last", {GPU: "3"})
    await stage.client.clock.sleep(30)
    return found.wire.writes()


def test_the_same_seed_gives_the_same_writes() -> None:
    async def play(seed: int) -> list[str]:
        async with theatre(seed) as found:
            return await _busy(found)

    assert run(play(7)) == run(play(7))


@virtual
async def test_pods_are_told_once_and_events_are_few() -> None:
    async with theatre() as found:
        stage = found.stage
        await stage.node("a")
        await stage.pod("waits", {GPU: "1"})
        await stage.why_not("waits")
        await stage.pod("plain")
        await stage.node_of("plain")
        await stage.client.clock.sleep(30)
        (failed,) = await stage.events("waits", "FailedScheduling")
        (assigned,) = await stage.events("plain", "Scheduled")
        assert failed["note"].startswith("0/1 nodes are available: 1 Insufficient nvidia.com/gpu.")
        assert assigned["note"] == "Successfully assigned story/plain to n-a"
        assert (assigned["type"], assigned["action"]) == ("Normal", "Binding")
        assert assigned["reportingInstance"] == "default-scheduler-embedded"
        assert len(found.wire.writes("/waits/status")) == 1


@virtual
async def test_pods_of_other_schedulers_and_gated_ones_are_not_touched() -> None:
    async with theatre() as found:
        stage = found.stage
        await stage.node("a")
        await stage.pod("other", schedulerName="another")
        await stage.pod("gated", schedulingGates=[{"name": "x.y/z"}])
        await stage.pod("plain")
        await stage.node_of("plain")
        assert found.wire.writes() == ["POST /api/v1/namespaces/story/pods/plain/binding"]


@virtual
async def test_a_pod_that_names_its_node_takes_its_room() -> None:
    async with theatre() as found:
        stage = found.stage
        await stage.node("a", {GPU: "1"})
        await stage.pod("first", {GPU: "1"}, nodeName="n-a")
        await stage.pod("second", {GPU: "1"})
        assert "1 Insufficient" in await stage.why_not("second")


@virtual
async def test_devices_where_the_pod_cannot_be_any_more_are_given_back() -> None:
    async with theatre(started=False) as found:
        stage = found.stage
        await two_devices(stage)
        selector = {"key": "metadata.name", "operator": "In", "values": ["n-a"]}
        given = {"request": "gpu", "driver": "gpu.example.com", "pool": "n-a", "device": "gpu-0"}
        allocation = {
            "devices": {"results": [given]},
            "nodeSelector": {"nodeSelectorTerms": [{"matchFields": [selector]}]},
        }
        status = {"status": {"allocation": allocation}}
        await stage.of(CLAIMS).patch("mine", merge_patch(status), subresource="status")
        await stage.of(NODES).patch("n-a", merge_patch({"spec": {"unschedulable": True}}))
        uses = [{"name": "gpu", "resourceClaimName": "mine"}]
        await stage.pod("user", resourceClaims=uses)
        await found.start()
        assert await stage.node_of("user") == "b"
        claim = await stage.of(CLAIMS).get("mine")
        assert claim["status"]["allocation"]["devices"]["results"][0]["pool"] == "n-b"
