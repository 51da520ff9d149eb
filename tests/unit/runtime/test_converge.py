# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest
from structlog.testing import capture_logs

from tests.support import virtual
from tests.support.memory_api import MemoryApi
from tests.support.transport import failure
from tests.support.virtual import VirtualClock
from tests.unit.runtime.builders import (
    BOXES,
    NAMESPACE,
    Ball,
    Box,
    a_box,
    a_wanted_ball,
    an_owner,
    key,
)
from tests.unit.runtime.playground import Playground
from trellis.api.meta import encode
from trellis.kube.errors import AlreadyExists, Ambiguous, Conflict, Unreachable
from trellis.kube.status import refused
from trellis.kube.verbs import Selection
from trellis.runtime.barrier import CacheBehind
from trellis.runtime.cache import Cache, Scope
from trellis.runtime.converge import Children, Converger
from trellis.runtime.converged import Converged, NameConflict
from trellis.runtime.going import Going
from trellis.runtime.parallel import in_parallel
from trellis.runtime.plan import Draft, Edit, by_fields
from trellis.runtime.writes import LeadershipLost, part_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from trellis.kube.transport import Request

BOX = a_box()
COLLECTION = f"/apis/toys.dev/v1/namespaces/{NAMESPACE}/balls"


class Room(Playground):
    """Somebody converges here."""

    async def open(self) -> Room:
        await self.prepare()
        self.converger = Converger(self.writes, Going(VirtualClock()))
        return self

    async def converge(self, *want: Ball) -> Converged:
        children = Children(cache=self.cache, compare=by_fields("spec"))
        have = self.cache.owned(BOX.metadata.uid)
        done = await self.converger.converge(BOX, children, have, want)
        await virtual.settle()
        return done

    async def put(self, ball: Ball) -> None:
        await self.api.do("POST", COLLECTION, json.loads(encode(ball)))
        await virtual.settle()


def balls(names: str, **rest: Any) -> list[Ball]:
    return [a_wanted_ball(name, **rest) for name in names]


@virtual.virtual
async def test_it_makes_changes_and_deletes_what_it_must_and_nothing_else() -> None:
    room = await Room().open()
    assert await room.converge(*balls("abc")) == Converged(created=("a", "b", "c"))
    assert await room.converge(*balls("ab"), *balls("d", colour="blue")) == Converged(
        created=("d",), deleted=("c",)
    )
    assert await room.converge(*balls("ab", colour="blue"), *balls("d")) == Converged(
        patched=("a", "b", "d")
    )
    writes = len(room.api.writes)
    assert await room.converge(*balls("ab", colour="blue"), *balls("d")) == Converged()
    assert len(room.api.writes) == writes


@virtual.virtual
async def test_a_draft_is_sent_as_it_was_written() -> None:
    room = await Room().open()
    metadata = a_wanted_ball("a").metadata
    text = b'{"metadata": {"name": "a"}, "spec": {"unknown": [1,   2]}}'
    children = Children(cache=room.cache, compare=by_fields("spec"))
    done = await room.converger.converge(BOX, children, (), [Draft(metadata, lambda: text)])
    assert done == Converged(created=("a",))
    assert room.api.requests[-1].body == text


@virtual.virtual
async def test_deletions_carry_the_uid_and_come_before_creations() -> None:
    room = await Room().open()
    await room.converge(*balls("a"))
    uid = room.api.all("balls")[0]["metadata"]["uid"]
    await room.converge(*balls("b"))
    assert room.api.writes == ["POST balls", "DELETE a", "POST balls"]
    deletion = json.loads(room.api.requests[1].body or b"")
    assert deletion == {"preconditions": {"uid": uid}, "propagationPolicy": "Background"}


@virtual.virtual
async def test_a_patch_holds_the_difference_and_the_uid_only() -> None:
    room = await Room().open()
    await room.converge(*balls("a"))
    uid = room.api.all("balls")[0]["metadata"]["uid"]
    await room.converge(*balls("a", colour="blue"))
    patch = json.loads(room.api.requests[-1].body or b"")
    assert patch == {"metadata": {"uid": uid}, "spec": {"colour": "blue"}}


@virtual.virtual
async def test_an_object_of_somebody_else_is_a_conflict_and_is_not_touched() -> None:
    room = await Room().open()
    await room.put(a_wanted_ball("a", owner="uid-other"))
    await room.put(a_wanted_ball("b", owner=""))
    before = room.api.all("balls")
    done = await room.converge(*balls("abc"))
    assert done == Converged(
        created=("c",),
        conflicts=(NameConflict("a", "Box other"), NameConflict("b", "nobody")),
    )
    assert not done.complete
    assert room.api.all("balls")[:2] == before
    assert str(done.conflicts[0]) == "a belongs to Box other"


@virtual.virtual
async def test_an_owner_that_does_not_control_the_object_is_somebody_else() -> None:
    room = await Room().open()
    owned = an_owner("uid-box", controller=False)
    await room.put(a_wanted_ball("a", owner="", owner_references=(owned,)))
    children = Children(cache=room.cache, compare=by_fields("spec"))
    done = await room.converger.converge(BOX, children, [], balls("a"))
    assert done.conflicts == (NameConflict("a", "nobody"),)


@virtual.virtual
async def test_nothing_is_decided_on_a_cache_that_lacks_the_last_write() -> None:
    room = await Room().open()
    room.api.hold()
    await room.converge(*balls("a"))
    with pytest.raises(CacheBehind, match="lack our last write"):
        await room.converge(*balls("a"))
    await room.api.release()
    await virtual.settle()
    assert await room.converge(*balls("a")) == Converged()


@virtual.virtual
async def test_a_write_of_another_kind_does_not_hold_up_this_one() -> None:
    room = await Room().open()
    boxes: Cache[Box] = Cache(BOXES, Box)
    room.barrier.wrote("uid-box", boxes, "999")
    assert await room.converge(*balls("a")) == Converged(created=("a",))
    assert not room.barrier.is_open("uid-box")


@virtual.virtual
async def test_a_child_that_another_instance_made_is_ours_and_waited_for() -> None:
    room = await Room().open()
    room.api.hold()
    await room.put(a_wanted_ball("a"))
    assert await room.converge(*balls("a")) == Converged()
    assert not room.barrier.is_open("uid-box")
    await room.api.release()
    await virtual.settle()
    assert room.barrier.is_open("uid-box")


@virtual.virtual
@pytest.mark.parametrize(
    "going",
    [
        pytest.param(a_wanted_ball("a", finalizers=("slow",)), id="our own, which is deleted"),
        pytest.param(
            a_wanted_ball("a", owner="", owner_references=(an_owner("uid-before", "box"),)),
            id="that of an owner of before",
        ),
    ],
)
async def test_what_is_going_and_was_not_heard_of_yet_is_waited_for(going: Ball) -> None:
    room = await Room().open()
    room.api.hold()
    await room.put(going)
    if going.metadata.finalizers:
        await room.api.do("DELETE", f"{COLLECTION}/a")
    with pytest.raises(CacheBehind):
        await room.converge(*balls("a"))
    assert not room.barrier.is_open("uid-box")
    await room.api.release()
    await virtual.settle()
    assert room.barrier.is_open("uid-box")


@virtual.virtual
async def test_what_is_going_out_of_our_sight_is_asked_for_again() -> None:
    room = await Room().open()
    await room.put(a_wanted_ball("a", finalizers=("slow",)))
    await room.api.do("DELETE", f"{COLLECTION}/a")
    children = Children(cache=room.cache, compare=by_fields("spec"))
    with pytest.raises(AlreadyExists):
        await room.converger.converge(BOX, children, [], balls("a"))


@pytest.mark.parametrize(
    "gone", [pytest.param("gone", id="gone"), pytest.param("anew", id="made anew by somebody")]
)
@pytest.mark.parametrize("colour", ["blue", None])
def test_what_went_away_under_us_is_no_failure(gone: str, colour: str | None) -> None:
    async def story() -> None:
        room = await Room().open()
        await room.converge(*balls("a"))
        room.api.hold()
        await room.api.do("DELETE", f"{COLLECTION}/a")
        if gone == "anew":
            await room.put(a_wanted_ball("a", owner="uid-other"))
        assert not (await room.converge(*(balls("a", colour=colour) if colour else []))).conflicts
        assert not room.barrier.is_open("uid-box")
        await room.api.release()
        await virtual.settle()
        assert room.barrier.is_open("uid-box")

    virtual.run(story())


def refusing(*codes: tuple[int, str]) -> Callable[[Request], None]:
    """Refuses creations one after another with these codes, and then accepts."""
    left = list(codes)

    def before(request: Request) -> None:
        if request.method == "POST" and left:
            raise refused(str(request), failure(*left.pop(0), message="exceeded quota"))

    return before


@virtual.virtual
async def test_a_refusal_that_concerns_one_does_not_stop_the_others() -> None:
    room = await Room(MemoryApi(before=refusing((422, "Invalid")))).open()
    done = await room.converge(*balls("abcdef"))
    assert [(each.verb, each.name) for each in done.refused] == [("create", "a")]
    assert str(done.refused[0]) == "create a: exceeded quota"
    assert done.created == ("b", "c", "d", "e", "f")


@virtual.virtual
async def test_a_refusal_that_concerns_all_costs_a_handful_of_writes() -> None:
    room = await Room(MemoryApi(before=refusing(*[(403, "Forbidden")] * 100))).open()
    done = await room.converge(*(a_wanted_ball(f"ball-{number}") for number in range(100)))
    assert done.created == ()
    assert len(done.refused) == 4


@virtual.virtual
async def test_trouble_is_raised_after_what_could_be_done_was_done() -> None:
    room = await Room(MemoryApi(before=refusing((500, "")))).open()
    with pytest.raises(Exception, match="500"):
        await room.converge(*balls("abc"))
    assert room.api.names("balls") == ["b", "c"]


@virtual.virtual
async def test_a_write_of_unknown_fate_is_looked_into_before_anything_else() -> None:
    def answer_lost(request: Request) -> None:
        if request.method == "POST":
            raise Ambiguous(str(request))

    room = await Room(MemoryApi(after=answer_lost)).open()
    with pytest.raises(Ambiguous):
        await room.converge(*balls("a"))
    assert room.barrier.doubts("uid-box") == ((room.cache, key("a")),)
    with pytest.raises(CacheBehind):
        await room.converge(*balls("a"))
    await room.writes.settle("uid-box")
    assert await room.converge(*balls("a")) == Converged()


@virtual.virtual
async def test_a_run_that_is_cut_off_leaves_its_write_in_doubt() -> None:
    room = await Room().open()
    hanging = asyncio.Event()

    async def hang(request: Request) -> Any:
        del request
        hanging.set()
        await asyncio.Event().wait()

    room.api.request = hang  # type: ignore[method-assign]
    run = asyncio.create_task(room.converge(*balls("a")))
    await hanging.wait()
    run.cancel()
    await asyncio.wait({run})
    assert room.barrier.doubts("uid-box") == ((room.cache, key("a")),)


@virtual.virtual
async def test_who_has_lost_the_lead_writes_nothing() -> None:
    room = await Room().open()
    room.allowed = False
    with pytest.raises(LeadershipLost, match="not allowed to create balls nursery/a"):
        await room.converge(*balls("a"))
    assert room.api.writes == []


@virtual.virtual
async def test_a_patch_that_changed_nothing_is_not_sent_again() -> None:
    """A server that writes a value in its own way would otherwise be patched for ever."""
    room = await Room().open()
    await room.converge(*balls("a"))
    room.api._patch = lambda found, *_: room.api._objects[found]  # type: ignore[method-assign]
    with capture_logs() as logs:
        assert await room.converge(*balls("a", colour="#f00")) == Converged(futile=("a",))
    assert [line["fields"] for line in logs if "changed nothing" in line["event"]] == [
        ["spec.colour"]
    ]
    sent = len(room.api.writes)
    assert await room.converge(*balls("a", colour="#f00")) == Converged(futile=("a",))
    assert len(room.api.writes) == sent
    assert await room.converge(*balls("a", colour="#00f")) == Converged(futile=("a",))
    assert len(room.api.writes) == sent + 1


@virtual.virtual
async def test_every_write_is_counted() -> None:
    room = await Room().open()
    await room.converge(*balls("ab"))
    await room.converge(*balls("a", colour="blue"))
    counted = {
        verb: room.meter.value("trellis_writes_total", resource="balls.toys.dev", verb=verb)
        for verb in ("create", "patch", "delete")
    }
    assert counted == {"create": 2.0, "patch": 1.0, "delete": 1.0}


@virtual.virtual
async def test_no_more_than_the_limit_is_under_way_and_it_is_reached_by_success() -> None:
    now, most = 0, 0

    async def act() -> int:
        nonlocal now, most
        now += 1
        most = max(most, now)
        await asyncio.sleep(1)
        now -= 1
        return now

    results = await in_parallel([act] * 200, 32, lambda _: True)
    assert most == 32
    assert None not in results
    # 4, 12, 32 at a time: three rounds for the first 48, five more for the rest.
    assert asyncio.get_running_loop().time() == 8.0


@virtual.virtual
async def test_results_keep_their_places_and_what_was_not_begun_has_none() -> None:
    def acts(failing: Iterable[int]) -> list[Any]:
        async def act(number: int) -> int:
            if number in failing:
                raise Unreachable(str(number))
            return number

        return [lambda number=number: act(number) for number in range(6)]

    assert await in_parallel(acts([]), 2, lambda _: True) == [0, 1, 2, 3, 4, 5]
    results = await in_parallel(acts([1]), 2, lambda _: False)
    assert results[0] == 0
    assert isinstance(results[1], Unreachable)
    assert results[3:] == [None, None, None]
    assert await in_parallel([], 2, lambda _: True) == []


@virtual.virtual
async def test_a_deletion_in_conflict_with_itself_is_not_taken_for_done() -> None:
    def busy(request: Request) -> None:
        if request.method == "DELETE":
            raise refused(str(request), failure(409, "Conflict"))

    room = await Room(MemoryApi()).open()
    await room.converge(*balls("a"))
    room.api.before = busy
    with pytest.raises(Conflict):
        await room.converge()
    assert room.barrier.is_open("uid-box")


@virtual.virtual
async def test_parts_of_an_owner_do_not_wait_for_each_others_writes() -> None:
    room = await Room().open()
    first, second = (
        Children(cache=room.cache, compare=by_fields("spec"), part=part_of(BOX.metadata.uid, name))
        for name in ("0", "1")
    )
    room.api.hold()
    await room.converger.converge(BOX, first, (), balls("a"))
    # The cache has not heard of it yet: the part that wrote waits, the other one does not.
    with pytest.raises(CacheBehind):
        await room.converger.converge(BOX, first, (), balls("a"))
    assert await room.converger.converge(BOX, second, (), balls("b")) == Converged(created=("b",))


@virtual.virtual
async def test_objects_of_others_can_be_edited_and_those_that_are_gone_are_passed_over() -> None:
    room = await Room().open()
    await room.put(a_wanted_ball("a"))
    await room.put(a_wanted_ball("b"))
    have = {ball.metadata.name: ball for ball in room.cache}
    await room.api.do("DELETE", f"{COLLECTION}/b")
    children = Children(cache=room.cache, compare=by_fields())
    patch = {"metadata": {"labels": {"seen": "yes"}}}
    stranger = a_box(name="stranger")
    edits = [Edit(have[name], patch) for name in ("a", "b")]
    done = await room.converger.edit(stranger, children, edits)
    assert done.patched == ("a",)
    assert (await room.api.do("GET", f"{COLLECTION}/a"))["metadata"]["labels"]["seen"] == "yes"


@virtual.virtual
async def test_what_lost_the_label_that_we_read_it_by_is_labelled_again() -> None:
    room = await Room().open()
    room.cache.scope = Scope(selection=Selection(labels="kept=yes"))
    stray = a_wanted_ball("a")
    await room.api.do("POST", COLLECTION, json.loads(encode(stray)))
    children = Children(cache=room.cache, compare=by_fields("spec"))
    labelled = a_wanted_ball("a", labels={"kept": "yes"})
    # Of a draft the metadata may tell no more than who it is.
    draft = Draft(a_wanted_ball("a").metadata, lambda: encode(labelled))
    await room.converger.converge(BOX, children, (), [draft])
    assert (await room.api.do("GET", f"{COLLECTION}/a"))["metadata"]["labels"] == {"kept": "yes"}


@virtual.virtual
async def test_what_belongs_to_somebody_else_is_not_labelled() -> None:
    room = await Room().open()
    room.cache.scope = Scope(selection=Selection(labels="kept=yes"))
    theirs = a_wanted_ball("a", owner="theirs")
    await room.api.do("POST", COLLECTION, json.loads(encode(theirs)))
    children = Children(cache=room.cache, compare=by_fields("spec"))
    done = await room.converger.converge(BOX, children, (), balls("a", labels={"kept": "yes"}))
    assert done.conflicts
    assert "labels" not in (await room.api.do("GET", f"{COLLECTION}/a"))["metadata"]


@virtual.virtual
async def test_what_is_not_wanted_any_more_is_labelled_again_too_and_never_made() -> None:
    room = await Room().open()
    room.cache.scope = Scope(selection=Selection(labels="kept=yes"))
    await room.api.do("POST", COLLECTION, json.loads(encode(a_wanted_ball("a"))))
    await room.api.do("POST", COLLECTION, json.loads(encode(a_wanted_ball("b", owner="theirs"))))
    children = Children(cache=room.cache, compare=by_fields("spec"))
    done = await room.converger.call_back(BOX, children, balls("abc", labels={"kept": "yes"}))
    assert done == Converged(patched=("a",))
    found = (await room.api.do("GET", COLLECTION))["items"]
    labels = {one["metadata"]["name"]: one["metadata"].get("labels") for one in found}
    assert labels == {"a": {"kept": "yes"}, "b": None}


@virtual.virtual
async def test_what_is_there_and_has_lost_nothing_is_waited_for_until_the_cache_shows_it() -> None:
    room = await Room().open()
    room.cache.scope = Scope(selection=Selection(labels="kept=yes"))
    (whole,) = balls("a", labels={"kept": "yes"})
    await room.api.do("POST", COLLECTION, json.loads(encode(whole)))
    children = Children(cache=room.cache, compare=by_fields("spec"))
    with pytest.raises(CacheBehind):
        await room.converger.call_back(BOX, children, [whole])


@virtual.virtual
async def test_what_the_server_turned_away_for_long_is_decided_on_anew() -> None:
    room = await Room().open()
    turned_away = [2]

    def busy(request: Request) -> None:
        if request.method == "POST" and turned_away:
            seconds = turned_away.pop()
            raise refused(str(request), failure(429, "TooManyRequests", retryAfterSeconds=seconds))

    room.api.before = busy
    with pytest.raises(CacheBehind):
        await room.converge(*balls("a"))
    assert room.api.all("balls") == []
    # Nothing is in doubt: it never was done.
    assert (await room.converge(*balls("a"))).created == ("a",)
