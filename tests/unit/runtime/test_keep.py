# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.support import virtual
from tests.unit.runtime.builders import Ball, a_wanted_ball, key
from tests.unit.runtime.playground import Playground
from tests.unit.runtime.toys import BALL_PATH
from trellis.kube.errors import Ambiguous
from trellis.runtime.barrier import CacheBehind
from trellis.runtime.keep import Keeper
from trellis.runtime.plan import by_fields
from trellis.runtime.writes import LeadershipLost

if TYPE_CHECKING:
    from collections.abc import Callable

    from trellis.kube.transport import Request

RED, BLUE = (a_wanted_ball("a", owner="", colour=colour) for colour in ("red", "blue"))
AT = f"{BALL_PATH}/a"


class Shelf(Playground):
    """Somebody keeps one ball here."""

    async def open(self) -> Shelf:
        await self.prepare()
        self.keeper = Keeper(self.writes)
        return self

    async def keep(self, want: Ball | None) -> Ball | None:
        found = await self.keeper.keep(self.cache, key("a"), want, by_fields())
        await virtual.settle()
        return found

    def colours(self) -> list[str]:
        return [ball["spec"]["colour"] for ball in self.api.all("balls")]


@virtual.virtual
async def test_it_is_made_changed_and_removed_and_else_left_alone() -> None:
    shelf = await Shelf().open()
    assert await shelf.keep(BLUE) is None
    found = await shelf.keep(BLUE)
    assert found is not None
    assert shelf.colours() == ["blue"]
    await shelf.api.do("PATCH", AT, {"spec": {"colour": "green"}})
    await virtual.settle()
    assert await shelf.keep(BLUE) is None
    assert await shelf.keep(BLUE) is not None
    assert await shelf.keep(None) is None
    assert await shelf.keep(None) is None
    assert shelf.api.writes == ["POST balls", "PATCH a", "DELETE a"]
    counted = {
        verb: shelf.meter.value("trellis_writes_total", resource="balls.toys.dev", verb=verb)
        for verb in ("create", "patch", "delete")
    }
    assert counted == {"create": 1.0, "patch": 1.0, "delete": 1.0}


@virtual.virtual
async def test_a_change_is_guarded_by_the_version_and_a_removal_by_the_uid() -> None:
    shelf = await Shelf().open()
    await shelf.api.do("POST", BALL_PATH, {"metadata": {"name": "a"}, "spec": {"colour": "green"}})
    await virtual.settle()
    (stored,) = shelf.api.all("balls")
    await shelf.keep(BLUE)
    patch = json.loads(shelf.api.requests[-1].body or b"")
    assert patch["metadata"]["resourceVersion"] == stored["metadata"]["resourceVersion"]
    assert patch["metadata"]["uid"] == stored["metadata"]["uid"]
    await shelf.keep(None)
    deletion = json.loads(shelf.api.requests[-1].body or b"")
    assert deletion["preconditions"] == {"uid": stored["metadata"]["uid"]}


@virtual.virtual
async def test_nothing_is_decided_on_a_cache_that_lacks_its_own_last_write() -> None:
    shelf = await Shelf().open()
    shelf.api.hold()
    await shelf.keep(BLUE)
    with pytest.raises(CacheBehind):
        await shelf.keep(BLUE)
    await shelf.api.release()
    await virtual.settle()
    assert await shelf.keep(BLUE) is not None
    assert shelf.api.writes == ["POST balls"]


@virtual.virtual
async def test_one_that_another_instance_has_made_is_waited_for() -> None:
    shelf = await Shelf().open()
    shelf.api.hold()
    await shelf.api.do("POST", BALL_PATH, {"metadata": {"name": "a"}, "spec": {"colour": "blue"}})
    assert await shelf.keep(BLUE) is None
    await shelf.api.release()
    await virtual.settle()
    assert await shelf.keep(BLUE) is not None
    assert shelf.colours() == ["blue"]


@virtual.virtual
async def test_one_that_has_moved_on_is_looked_at_again() -> None:
    shelf = await Shelf().open()
    await shelf.api.do("POST", BALL_PATH, {"metadata": {"name": "a"}, "spec": {"colour": "green"}})
    await virtual.settle()
    shelf.api.hold()
    await shelf.api.do("PATCH", AT, {"metadata": {"labels": {"theirs": "stays"}}})
    with pytest.raises(CacheBehind, match="balls nursery/a has moved on"):
        await shelf.keep(BLUE)
    await shelf.api.release()
    await virtual.settle()
    await shelf.keep(BLUE)
    (stored,) = shelf.api.all("balls")
    assert stored["metadata"]["labels"]["theirs"] == "stays"
    assert stored["spec"]["colour"] == "blue"


@virtual.virtual
async def test_one_that_is_going_is_waited_for() -> None:
    shelf = await Shelf().open()
    held = {"metadata": {"name": "a", "finalizers": ["example.com/hold"]}}
    await shelf.api.do("POST", BALL_PATH, held)
    await shelf.api.do("DELETE", AT)
    await virtual.settle()
    assert await shelf.keep(BLUE) is None
    assert await shelf.keep(None) is None
    assert shelf.api.writes == []


def the_first_write_lost() -> Callable[[Request], None]:
    left = ["POST"]

    def lose(request: Request) -> None:
        if request.method in left:
            left.clear()
            raise Ambiguous(f"{request}: timed out")

    return lose


@pytest.mark.parametrize("done", [False, True], ids=["before it was done", "after it was done"])
def test_a_creation_of_unknown_fate_is_looked_into(done: bool) -> None:
    async def story() -> None:
        shelf = await Shelf().open()
        lose = the_first_write_lost()
        if done:
            shelf.api.after = lose
        else:
            shelf.api.before = lose
        with pytest.raises(Ambiguous):
            await shelf.keep(BLUE)
        await virtual.settle()
        for _ in range(2):
            await shelf.keep(BLUE)
        assert shelf.colours() == ["blue"]
        assert await shelf.keep(BLUE) is not None

    virtual.run(story())


@virtual.virtual
async def test_who_leads_no_more_writes_nothing() -> None:
    shelf = await Shelf(allowed=False).open()
    with pytest.raises(LeadershipLost):
        await shelf.keep(RED)
    assert shelf.api.writes == []
