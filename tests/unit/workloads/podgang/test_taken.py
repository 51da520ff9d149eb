# SPDX-License-Identifier: Apache-2.0
"""Pods under listed names that are not of their PodClique: left alone, and replaced at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.support.virtual import virtual
from tests.unit.workloads.podgang.test_recycling import Play, a_play
from tests.unit.workloads.podgang.troupe import W, a_gang
from tests.unit.workloads.sets import a_clique, a_set_body
from trellis.api.core.pod import Pod
from trellis.api.grove.podclique import PodClique
from trellis.api.labels import MANAGED_BY, POD_CLIQUE, POD_GANG, POD_INDEX
from trellis.api.scheduler.podgang import PodGang
from trellis.kube.verbs import Deletion

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from tests.unit.workloads.stage import Stage
    from trellis.kube.transport import Request, Response, Stream, Transport

THREE = a_set_body("wl", a_clique("a", 3), terminationDelay="10s")
A = "wl-0-a"
OTHER = {"apiVersion": "v1", "kind": "ConfigMap", "name": "x", "uid": "u", "controller": True}
LOST: dict[str, Any] = {"ownerReferences": None}
UNSEEN = {MANAGED_BY: None, POD_CLIQUE: None, POD_GANG: None, POD_INDEX: None}


async def _own(play: Play) -> list[dict[str, Any]]:
    """The pods that PodCliques control."""
    return [pod for pod in await play.stage.all(Pod) if _controller(pod) == "PodClique"]


def _controller(pod: dict[str, Any]) -> str:
    owners = pod["metadata"].get("ownerReferences", [])
    return next((str(one["kind"]) for one in owners if one.get("controller")), "")


@virtual
@pytest.mark.parametrize(
    "patch",
    [
        pytest.param(LOST, id="it lost its owner"),
        pytest.param({"ownerReferences": [OTHER]}, id="another owns it"),
        pytest.param(LOST | {"labels": {POD_INDEX: None}}, id="it lost its index as well"),
        pytest.param(LOST | {"labels": UNSEEN}, id="it is out of our sight as well"),
    ],
)
async def test_a_pod_that_is_ours_no_more_is_replaced_at_once_and_left_alone(
    patch: dict[str, Any],
) -> None:
    async with a_play(THREE) as play:
        lost = sorted(await play.pods(A))[2]
        before = (await play.stage.patch(Pod, lost, {"metadata": patch}))["metadata"]
        await play.stage.settle(2)
        assert len(await _own(play)) == 3
        assert (await play.stage.conditions(PodClique, A))["Ready"][0] == "True"
        await play.stage.settle(60)
        now = (await play.stage.get(Pod, lost))["metadata"]
        assert now["resourceVersion"] == before["resourceVersion"]
        indices = [pod["metadata"]["labels"][POD_INDEX] for pod in await _own(play)]
        assert sorted(indices) == ["0", "1", "2"]


@virtual
async def test_a_gang_falls_whose_pod_lost_its_owner_and_has_no_successor() -> None:
    async with a_play(THREE) as play:
        before = await play.pods(A)
        lost = sorted(before)[2]
        await play.kill(A, 0)
        await play.stage.patch(Pod, lost, {"metadata": LOST})
        await play.stage.settle(2)
        assert (await play.stage.get(PodGang, "wl-0"))["status"]["phase"] != "Running"
        await play.expire()
        assert {name for name in await play.pods(A) if name in before} == {lost}


@virtual
async def test_pods_that_a_podclique_leaves_behind_are_replaced_and_left_alone() -> None:
    async with a_play(THREE) as play, play.stage.collector():
        before = await play.pods(A)
        await play.stage.of(PodClique).delete(A, Deletion(propagation="Orphan"))
        await play.stage.settle(10)
        assert len(await _own(play)) == 3
        assert before.items() <= (await play.pods(A)).items()
        assert (await play.stage.conditions(PodClique, A))["Ready"][0] == "True"


class Returning:
    """Gives a pod its owner back just before anybody looks at it on the server."""

    def __init__(self, stage: Stage, pod: str, owners: list[Any]) -> None:
        self._inner: Transport = stage.watched.inner
        self._stage = stage
        self._pod = pod
        self._owners = owners
        self.looked = 0

    async def request(self, request: Request) -> Response:
        if request.method == "GET" and request.path.endswith(f"/pods/{self._pod}"):
            self.looked += 1
            patch = {"metadata": {"ownerReferences": self._owners}}
            await self._stage.patch(Pod, self._pod, patch)
        return await self._inner.request(request)

    def stream(self, request: Request) -> AbstractAsyncContextManager[Stream]:
        return self._inner.stream(request)

    async def close(self) -> None:
        await self._inner.close()


@virtual
async def test_a_pod_keeps_its_name_that_is_ours_on_the_server() -> None:
    troupe = await a_gang()
    async with troupe.operator():
        names = await troupe.make_pods("one-0")
        await troupe.bind(*names)
        before = await troupe.listed("one-0")
        pod = await troupe.stage.get(Pod, before[W][0])
        returning = Returning(troupe.stage, before[W][0], pod["metadata"]["ownerReferences"])
        troupe.stage.watched.inner = returning
        await troupe.stage.patch(Pod, before[W][0], {"metadata": LOST})
        await troupe.stage.settle()
        assert returning.looked
        assert await troupe.listed("one-0") == before


@virtual
async def test_nobody_asks_again_and_again_about_a_name_that_is_taken() -> None:
    async with a_play(THREE) as play:
        lost = sorted(await play.pods(A))[2]
        await play.stage.patch(Pod, lost, {"metadata": LOST})
        await play.stage.settle()
        play.stage.forget()
        await play.stage.settle(600)
        asked = [one.path for one in play.stage.watched.requests if f"/{lost}" in one.path]
        assert asked == []
