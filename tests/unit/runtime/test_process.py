# SPDX-License-Identifier: Apache-2.0
"""Whole processes on one virtual loop: start, work, hand over, break, stop."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from tests.support import virtual
from tests.support.memory_api import MemoryApi
from tests.support.virtual import VirtualClock
from tests.unit.runtime.builders import NAMESPACE, Box, key
from tests.unit.runtime.toys import BALL_PATH, BOX_PATH, Instance, Toys, put_box
from trellis.api.meta import Resource
from trellis.kube.errors import Ambiguous, Failure, NotFound, Unreachable
from trellis.kube.events import Change, Delta
from trellis.runtime.cache import Cache, Scope
from trellis.runtime.controller import Controller
from trellis.runtime.outcome import DONE
from trellis.runtime.process import FRESHENING_SECONDS, Group
from trellis.runtime.writes import VERBS, LeadershipLost

if TYPE_CHECKING:
    from tests.unit.runtime.builders import Ball
    from trellis.api.meta import Key
    from trellis.kube.errors import KubeError
    from trellis.kube.transport import Request
    from trellis.runtime.io import IO
    from trellis.runtime.outcome import Outcome

CLOCK = VirtualClock()
LEASE = "toys"
LEASE_PATH = f"/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/{LEASE}"


def holder(api: MemoryApi) -> str:
    (lease,) = api.all("leases")
    return str(lease["spec"]["holderIdentity"])


def writes(api: MemoryApi) -> list[str]:
    """Writes that change the cluster: leases and events do not count."""
    aside = ("leases", "events")
    own = [each for each in api.requests if not any(word in each.path for word in aside)]
    return MemoryApi(requests=own).writes


@virtual.virtual
async def test_it_converges_keeps_up_and_is_quiet_at_rest() -> None:
    api = MemoryApi()
    await put_box(api, "box", balls=3)
    one = Instance(api).start()
    await asyncio.sleep(5)
    assert api.names("balls") == ["box-0", "box-1", "box-2"]
    assert api.all("boxes")[0]["status"] == {"balls": 3}
    settled = len(writes(api))
    await asyncio.sleep(3600)
    assert len(writes(api)) == settled
    await api.do("DELETE", f"{BALL_PATH}/box-1")
    await api.do("PATCH", f"{BALL_PATH}/box-2", {"spec": {"colour": "blue"}})
    await asyncio.sleep(5)
    colours = [ball.get("spec", {}).get("colour", "red") for ball in api.all("balls")]
    assert colours == ["red"] * 3
    await api.do("PATCH", f"{BOX_PATH}/box", {"spec": {"balls": 1}})
    await asyncio.sleep(5)
    assert api.names("balls") == ["box-0"]
    assert [event["note"] for event in api.all("events")] == ["3 balls", "1 balls"]
    await one.end()


@virtual.virtual
async def test_it_works_with_nothing_but_what_it_needs_written() -> None:
    api = MemoryApi()
    await put_box(api, "box", balls=3)
    one = Instance(api).start()
    await asyncio.sleep(60)
    assert writes(api) == ["POST balls"] * 3 + ["PATCH box/status"]
    await one.end()


@virtual.virtual
async def test_caches_are_full_before_anything_runs_and_readiness_says_what_is_missing() -> None:
    def down(request: Request) -> None:
        if "balls" in request.path:
            raise Unreachable("https://there cannot be reached")

    api = MemoryApi(before=down)
    await put_box(api, "box", balls=1)
    one = Instance(api).start()
    await asyncio.sleep(60)
    assert one.toys.runs == []
    assert one.process.readiness.why_not() == (
        "caches: balls.toys.dev have not been read yet: https://there cannot be reached",
    )
    api.before = lambda _: None
    await asyncio.sleep(10)
    assert one.process.readiness.why_not() == ()
    assert api.names("balls") == ["box-0"]
    await one.end()


@virtual.virtual
async def test_no_two_caches_share_a_series_even_where_they_watch_the_same() -> None:
    one = Instance(MemoryApi())
    second = Toys()
    one.more.append(Group(controllers=(second.controller,)))
    one.start()
    await asyncio.sleep(5)
    await put_box(one.api, "box", balls=2)
    await asyncio.sleep(5)
    second.balls.apply(Delta([Change(NAMESPACE, "box-0", None)], "1"))
    counts = [
        one.env.meter.value("trellis_cache_objects", resource=label)
        for label in ("balls.toys.dev", "balls.toys.dev#2")
    ]
    assert counts == [2.0, 1.0]
    await one.end()


@virtual.virtual
async def test_writes_of_every_kind_are_counted_from_zero() -> None:
    one = Instance(MemoryApi()).start()
    for resource in ("boxes.toys.dev", "balls.toys.dev"):
        for verb in VERBS:
            assert one.env.meter.value("trellis_writes_total", resource=resource, verb=verb) == 0
    await one.end()


@pytest.mark.parametrize(
    ("trouble", "seconds"),
    [
        pytest.param(NotFound("GET extras", Failure(code=404)), 1, id="there is no such kind"),
        pytest.param(Unreachable("nobody answers"), 10, id="nobody can tell"),
    ],
)
@virtual.virtual
async def test_a_kind_that_is_not_served_holds_nobody_up_if_it_is_optional(
    trouble: KubeError, seconds: float
) -> None:
    def unserved(request: Request) -> None:
        if "extras" in request.path:
            raise trouble

    extras = Cache(Resource("toys.dev", "v1", "Extra", "extras"), Box, scope=Scope(optional=True))

    def with_extras(group: Group) -> Group:
        (controller,) = group.controllers
        return replace(group, controllers=(replace(controller, reads=(extras,)),))

    api = MemoryApi(before=unserved)
    await put_box(api, "box", balls=1)
    one = Instance(api, change=with_extras).start()
    await asyncio.sleep(seconds)
    assert one.process.readiness.why_not() == ()
    assert api.names("balls") == ["box-0"]
    api.before = lambda _: None
    await asyncio.sleep(60)
    assert extras.synced
    await one.end()


@virtual.virtual
async def test_of_two_instances_one_works_and_the_other_is_warm() -> None:
    api = MemoryApi()
    one = Instance(api, LEASE).start("one")
    await asyncio.sleep(1)
    two = Instance(api, LEASE).start("two")
    await asyncio.sleep(5)
    await put_box(api, "box", balls=2)
    await asyncio.sleep(5)
    await api.do("DELETE", f"{BOX_PATH}/box")
    await put_box(api, "next", balls=1)
    await asyncio.sleep(5)
    assert holder(api) == "one"
    assert two.toys.runs == []
    assert [box.metadata.name for box in two.toys.boxes] == ["next"]
    assert two.process.readiness.why_not() == ()
    await one.end()
    await two.end()


@virtual.virtual
async def test_a_leader_that_stops_hands_over_within_a_retry() -> None:
    api = MemoryApi()
    one = Instance(api, LEASE).start("one")
    await asyncio.sleep(1)
    two = Instance(api, LEASE).start("two")
    await asyncio.sleep(20)
    await put_box(api, "box", balls=1)
    await one.end()
    assert holder(api) == ""
    await asyncio.sleep(3)
    assert holder(api) == "two"
    assert api.names("balls") == ["box-0"]
    await two.end()


@virtual.virtual
async def test_a_leader_that_vanishes_is_replaced_when_its_lease_runs_out() -> None:
    api = MemoryApi()
    one = Instance(api, LEASE).start("one")
    await asyncio.sleep(1)
    two = Instance(api, LEASE).start("two")
    await asyncio.sleep(20)
    last = CLOCK.monotonic()
    one.vanish()
    await put_box(api, "box", balls=1)
    while holder(api) != "two":
        await asyncio.sleep(0.1)
    assert 13.0 <= CLOCK.monotonic() - last <= 19.0
    await asyncio.sleep(1)
    assert api.names("balls") == ["box-0"]
    await two.end()


@virtual.virtual
async def test_a_new_leader_knows_what_was_done_while_its_watches_were_silent() -> None:
    api = MemoryApi()
    await put_box(api, "gone", balls=1)
    one = Instance(api, LEASE).start("one")
    await asyncio.sleep(1)
    two = Instance(api, LEASE).start("two")
    await asyncio.sleep(20)
    api.hold()
    one.vanish()
    await api.do("DELETE", f"{BALL_PATH}/gone-0")
    await api.do("DELETE", f"{BOX_PATH}/gone")
    await put_box(api, "box", balls=1)
    while holder(api) != "two":
        await asyncio.sleep(0.1)
    await asyncio.sleep(1)
    assert {run.name for run in two.toys.runs} == {"box"}
    assert api.names("balls") == ["box-0"]
    await two.end()


@virtual.virtual
async def test_a_new_leader_that_cannot_read_all_again_begins_all_the_same() -> None:
    api = MemoryApi()
    one = Instance(api, LEASE).start("one")
    await asyncio.sleep(1)
    two = Instance(api, LEASE).start("two")
    await asyncio.sleep(20)
    one.vanish()
    await put_box(api, "box", balls=1)

    def refuse(request: Request) -> None:
        if request.path.endswith("/balls") and request.method == "GET":
            raise Unreachable("not now")

    api.before = refuse
    await asyncio.sleep(20 + FRESHENING_SECONDS)
    assert holder(api) == "two"
    assert api.names("balls") == ["box-0"]
    await two.end()


@virtual.virtual
async def test_a_leader_that_cannot_renew_gives_up_before_another_could_begin() -> None:
    api = MemoryApi()
    one = Instance(api, LEASE).start("one")
    await asyncio.sleep(5)

    def no_leases(request: Request) -> None:
        if "leases" in request.path:
            raise Ambiguous(str(request))

    api.before = no_leases
    began = CLOCK.monotonic()
    with pytest.raises(LeadershipLost, match="could not be renewed for 10 s"):
        await one.running
    assert 8.0 <= CLOCK.monotonic() - began < 15.0


@pytest.mark.parametrize(
    ("seconds", "lost"),
    [
        pytest.param(5.0, False, id="a short one"),
        pytest.param(12.0, True, id="one longer than the time to renew"),
        pytest.param(20.0, True, id="one longer than the lease"),
    ],
)
def test_a_leader_whose_loop_hung_leads_on_only_if_nobody_could_have_begun(
    seconds: float, lost: bool
) -> None:
    async def story() -> None:
        api = MemoryApi()
        one = Instance(api, LEASE).start("one")
        await asyncio.sleep(5)
        await put_box(api, "box", balls=1)
        virtual.stall(seconds)
        if lost:
            with pytest.raises(LeadershipLost, match="could not be renewed"):
                await one.running
        else:
            await asyncio.sleep(60)
            assert api.names("balls") == ["box-0"]
            await one.end()
        assert holder(api) in ("", "one")

    virtual.run(story())


@virtual.virtual
async def test_after_a_hang_longer_than_the_lease_nothing_more_is_written() -> None:
    """The worker wakes before the renewal does, and must find the door shut."""
    reached: list[str] = []

    class Hanging(Toys):
        def __init__(self) -> None:
            super().__init__()
            inner = self.controller.reconcile

            async def reconcile(asked: Key, io: IO) -> Outcome:
                virtual.stall(20.0)
                reached.append("woke")
                return await inner(asked, io)

            self.controller = replace(self.controller, reconcile=reconcile)

    api = MemoryApi()
    await put_box(api, "box", balls=3)
    one = Instance(api, LEASE, toys=Hanging()).start("one")
    with pytest.raises(LeadershipLost):
        await one.running
    assert reached
    assert api.names("balls") == []


@virtual.virtual
async def test_a_lease_taken_by_force_ends_the_leader() -> None:
    api = MemoryApi()
    one = Instance(api, LEASE).start("one")
    await asyncio.sleep(5)
    await api.do("PATCH", LEASE_PATH, {"spec": {"holderIdentity": "usurper"}})
    with pytest.raises(LeadershipLost, match="was taken by 'usurper'"):
        await one.running
    assert holder(api) == "usurper"


@virtual.virtual
async def test_runs_may_end_before_the_lease_is_released_but_not_for_ever() -> None:
    order: list[str] = []

    class Slow(Toys):
        def __init__(self, seconds: float) -> None:
            super().__init__()

            async def reconcile(_: Key, __: IO) -> Outcome:
                try:
                    await asyncio.sleep(seconds)
                    order.append("run ended")
                except asyncio.CancelledError:
                    order.append("run cut off")
                    raise
                return DONE

            self.controller = replace(self.controller, reconcile=reconcile)

    for seconds, ended in ((12.0, "run ended"), (1000.0, "run cut off")):
        api = MemoryApi()
        await put_box(api, "box", balls=1)
        one = Instance(api, LEASE, toys=Slow(seconds)).start()
        await asyncio.sleep(5)
        stopping = asyncio.create_task(one.end())
        await virtual.settle()
        assert one.process.readiness.why_not() == ("process: is stopping",)
        assert holder(api) == "one"
        await stopping
        assert order.pop() == ended
        assert holder(api) == ""


@virtual.virtual
async def test_stopping_before_the_caches_are_full_is_no_failure() -> None:
    def down(request: Request) -> None:
        raise Unreachable(str(request))

    one = Instance(MemoryApi(before=down), LEASE).start()
    await asyncio.sleep(30)
    await one.end()


@virtual.virtual
async def test_stopping_while_standing_by_leaves_the_leader_alone() -> None:
    api = MemoryApi()
    one = Instance(api, LEASE).start("one")
    await asyncio.sleep(1)
    two = Instance(api, LEASE).start("two")
    await asyncio.sleep(5)
    await two.end()
    assert holder(api) == "one"
    await one.end()


@virtual.virtual
async def test_a_lease_won_in_the_moment_of_stopping_is_given_back() -> None:
    api = MemoryApi()
    one = Instance(api, LEASE)

    def stop_now(request: Request) -> None:
        # The lease is ours by now, and the answer that says so is on its way.
        if request.method == "POST" and "leases" in request.path:
            one.stop.set()

    api.after = stop_now
    one.start("one")
    await one.running
    assert holder(api) == ""


@virtual.virtual
async def test_a_mistake_of_ours_in_the_background_ends_the_process_and_frees_the_lease(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    api = MemoryApi()
    one = Instance(api, LEASE).start("one")
    await asyncio.sleep(5)

    def broken(_: Delta[Ball]) -> None:
        raise RuntimeError("a mistake")

    monkeypatch.setattr(one.toys.balls, "apply", broken)
    await api.do("POST", BALL_PATH, {"metadata": {"name": "x"}})
    with pytest.raises(RuntimeError, match="a mistake"):
        await one.running
    assert holder(api) == ""


@virtual.virtual
async def test_two_leaders_at_once_make_nothing_twice() -> None:
    """Election off for both, watches held back: names and guards are all there is."""
    api = MemoryApi()
    instances = [Instance(api).start(name) for name in ("one", "two")]
    await asyncio.sleep(1)
    for number in range(5):
        api.hold()
        await put_box(api, f"box-{number}", balls=4)
        await api.release(api.version)
        await asyncio.sleep(1)
        await api.release()
        await asyncio.sleep(5)
    assert len(api.names("balls")) == 20
    assert all(box["status"] == {"balls": 4} for box in api.all("boxes"))
    settled = len(writes(api))
    await asyncio.sleep(600)
    assert len(writes(api)) == settled
    for instance in instances:
        await instance.end()


@virtual.virtual
async def test_a_poison_box_does_not_keep_others_waiting() -> None:
    api = MemoryApi()
    one = Instance(api, toys=Toys(poison="bad")).start()
    await put_box(api, "bad", balls=1)
    await asyncio.sleep(60)
    for number in range(10):
        await put_box(api, f"good-{number}", balls=1)
    await asyncio.sleep(0.5)
    assert len(api.names("balls")) == 10
    assert (one.counted("error") or 0) > 5
    assert one.toys.runs.count(key("bad")) < 30
    await one.end()


@virtual.virtual
async def test_a_second_group_stands_by_while_the_first_works() -> None:
    api = MemoryApi()
    other = Instance(api, "second").start("other")
    await asyncio.sleep(1)
    idle: list[Key] = []

    async def count(asked: Key, _: IO) -> Outcome:
        idle.append(asked)
        return DONE

    one = Instance(api, LEASE)
    counter = Controller(name="counter", cache=one.toys.boxes, reconcile=count)
    one.more = [one.group((counter,), "second", "one")]
    one.start("one")
    await put_box(api, "box", balls=1)
    await asyncio.sleep(10)
    assert one.toys.runs
    assert idle == []
    await other.end()
    await asyncio.sleep(3)
    assert idle == [key("box")]
    await one.end()
