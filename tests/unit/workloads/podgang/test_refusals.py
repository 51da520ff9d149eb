# SPDX-License-Identifier: Apache-2.0
"""What the controller of gangs does, and says, where the server refuses what it asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.virtual import virtual
from tests.unit.workloads.podgang.troupe import W, a_gang, a_troupe
from tests.unit.workloads.sets import a_clique, a_set_body
from trellis.api.grove.podclique import PodClique
from trellis.api.grove.podcliqueset import PodCliqueSet
from trellis.api.scheduler.podgang import PodGang
from trellis.kube.errors import Failure, Forbidden, Invalid

if TYPE_CHECKING:
    from collections.abc import Callable

    from trellis.kube.transport import Request


@virtual
async def test_what_the_server_refuses_is_told_and_tried_again() -> None:
    troupe = await a_gang()
    refusing = True

    def refuse(request: Request) -> None:
        if refusing and request.method == "POST" and request.path.endswith("/podgangs"):
            raise Invalid(str(request), Failure(code=422, message="too much"))

    troupe.stage.watched.before = refuse
    async with troupe.operator():
        told = await troupe.stage.events("one")
        assert told[0] == ("PodGangCreateOrUpdateFailed", "PodGang: create one-0: too much")
        refusing = False
        await troupe.stage.settle(120)
        assert await troupe.stage.names(PodGang) == ["one-0"]


def turning_away(method: str, path: str) -> Callable[[Request], None]:
    def refuse(request: Request) -> None:
        if request.method == method and path in request.path and "status" not in request.path:
            raise Forbidden(str(request), Failure(code=403, message="exceeded quota: small"))

    return refuse


@virtual
async def test_why_a_gang_cannot_be_made_is_told_by_its_first_podclique_that_is_to_have_pods() -> (
    None
):
    troupe = await a_troupe(a_set_body("one", a_clique("v", 1), a_clique("w", 3, 2)))
    await troupe.make_alone()
    await troupe.stage.patch(PodClique, "one-0-v", {"spec": {"replicas": 0}})
    troupe.stage.watched.before = turning_away("POST", "/podgangs")
    async with troupe.operator():
        said = (await troupe.stage.conditions(PodClique, "one-0-w"))["PodGangRefused"]
        assert said == ("True", "QuotaRefused")
        told = await troupe.stage.message(PodClique, "one-0-w", "PodGangRefused")
        assert told == "PodGang: create one-0: exceeded quota: small"
        assert await troupe.stage.conditions(PodClique, "one-0-v") == {}
        troupe.stage.forget()
        await troupe.stage.settle(120)
        assert set(troupe.stage.writes()) == {"POST podgangs"}, "the same is told once"


@virtual
async def test_a_gang_that_cannot_be_changed_says_so_itself_until_it_can() -> None:
    troupe = await a_gang()
    async with troupe.operator():
        await troupe.make_pods("one-0")
        await troupe.stage.settle()
        troupe.stage.watched.before = turning_away("PATCH", "/podgangs/one-0")
        await troupe.stage.patch(PodClique, W, {"spec": {"replicas": 4}})
        await troupe.stage.settle()
        found = await troupe.stage.conditions(PodGang, "one-0")
        assert found["Stalled"] == ("True", "QuotaRefused")
        troupe.stage.watched.before = lambda _: None
        await troupe.stage.settle(120)
        assert (await troupe.stage.conditions(PodGang, "one-0"))["Stalled"][0] == "False"


@virtual
async def test_a_gang_whose_gates_cannot_be_lifted_says_so_until_they_can() -> None:
    troupe = await a_gang()
    troupe.stage.watched.before = turning_away("PATCH", "/pods/")
    async with troupe.operator():
        pods = await troupe.make_pods("one-0")
        await troupe.stage.settle()
        found = await troupe.stage.conditions(PodGang, "one-0")
        assert found["Stalled"] == ("True", "QuotaRefused")
        told = await troupe.stage.message(PodGang, "one-0", "Stalled")
        assert told == f"Pod: patch {pods[0]}: exceeded quota: small"
        troupe.stage.watched.before = lambda _: None
        await troupe.stage.settle(120)
        assert (await troupe.stage.conditions(PodGang, "one-0"))["Stalled"][0] == "False"
        assert await troupe.gated() == []


@virtual
async def test_a_gang_that_may_not_be_deleted_is_told_of_and_tried_again() -> None:
    troupe = await a_gang()
    refusing = True

    def refuse(request: Request) -> None:
        if refusing and request.method == "DELETE":
            raise Forbidden(str(request), Failure(code=403, message="not allowed"))

    troupe.stage.watched.before = refuse
    async with troupe.operator():
        await troupe.stage.patch(PodCliqueSet, "one", {"spec": {"replicas": 0}})
        await troupe.stage.settle()
        told = await troupe.stage.events("one")
        assert told[0] == ("PodGangDeleteFailed", "PodGang: delete one-0: not allowed")
        refusing = False
        await troupe.stage.settle(120)
        assert await troupe.stage.names(PodGang) == []
