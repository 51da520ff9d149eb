# SPDX-License-Identifier: Apache-2.0
"""What people and programs of a cluster may write, and what must not become of gangs by it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from msgspec import structs

from tests.support.virtual import virtual
from tests.unit.workloads.podgang.troupe import ONE, Troupe, W, a_gang, a_troupe
from tests.unit.workloads.sets import POD_SPEC, a_clique, a_set_body
from trellis.api.annotation import POD_LEDGER
from trellis.api.grove.podclique import PodClique
from trellis.api.labels import PART_OF, POD_GANG
from trellis.api.scheduler.podgang import PodGang

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from trellis.kube.transport import Request, Response, Stream, Transport

GANG = {POD_GANG: "one-0"}
THEIRS = {"roleName": "w", "replicas": 1, "podSpec": POD_SPEC}


@virtual
@pytest.mark.parametrize(
    "labels",
    [GANG, GANG | {PART_OF: ""}, GANG | {PART_OF: "one"}, GANG | {PART_OF: "other"}],
    ids=["of no set", "of a set without a name", "as if of the set", "of a set that is not there"],
)
async def test_a_podclique_of_nobody_that_names_a_gang_is_none_of_its_business(
    labels: dict[str, str],
) -> None:
    troupe = await a_troupe(ONE)
    async with troupe.operator():
        await troupe.stage.make(
            PodClique, {"metadata": {"name": "any", "labels": labels}, "spec": THEIRS}
        )
        await troupe.make_alone()
        await troupe.stage.settle()
        assert list(await troupe.listed("one-0")) == [W]


@virtual
async def test_a_podclique_of_another_set_that_is_labelled_as_ours_hides_none_of_ours() -> None:
    troupe = await a_troupe(ONE)
    other = Troupe(troupe.stage, a_set_body("any", a_clique("w")))
    await other.begin()
    await other.make_alone()
    labels = {"metadata": {"labels": GANG | {PART_OF: "one"}}}
    await troupe.stage.patch(PodClique, "any-0-w", labels)
    async with troupe.operator():
        await troupe.make_alone()
        await troupe.stage.settle()
        assert list(await troupe.listed("one-0")) == [W]


@virtual
@pytest.mark.parametrize("noted", ["{}", json.dumps({W: ["one-0-w-7-bbbbb"]})])
async def test_a_ledger_that_somebody_notes_on_a_gang_not_for_kai_is_taken_off(noted: str) -> None:
    troupe = await a_gang()
    async with troupe.operator():
        listed = await troupe.listed("one-0")
        patch = {"metadata": {"annotations": {POD_LEDGER: noted}}}
        await troupe.stage.patch(PodGang, "one-0", patch)
        await troupe.stage.settle(1)
        gang = await troupe.stage.get(PodGang, "one-0")
        assert POD_LEDGER not in gang["metadata"].get("annotations", {})
        assert await troupe.listed("one-0") == listed


class Dropping:
    """As a mutating policy would: it takes an annotation off whatever is written of gangs."""

    def __init__(self, inner: Transport, key: str) -> None:
        self._inner = inner
        self._key = key

    async def request(self, request: Request) -> Response:
        if "/podgangs" in request.path and request.body:
            body = json.loads(request.body)
            body.get("metadata", {}).get("annotations", {}).pop(self._key, None)
            request = structs.replace(request, body=json.dumps(body).encode())
        return await self._inner.request(request)

    def stream(self, request: Request) -> AbstractAsyncContextManager[Stream]:
        return self._inner.stream(request)

    async def close(self) -> None:
        await self._inner.close()


@virtual
async def test_a_gang_that_is_never_as_wanted_is_tended_as_it_is() -> None:
    noted = {"metadata": {**ONE["metadata"], "annotations": {"example.com/x": "1"}}}
    troupe = await a_gang(ONE | noted)
    troupe.stage.watched.inner = Dropping(troupe.stage.watched.inner, "example.com/x")
    async with troupe.operator():
        names = await troupe.make_pods("one-0")
        await troupe.bind(*names)
        await troupe.ready(*names)
        assert await troupe.phase("one-0") == "Running"
        troupe.stage.forget()
        await troupe.stage.settle(600)
        assert troupe.stage.writes() == []
