# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from msgspec import structs
from structlog.testing import capture_logs

from tests.support import virtual
from tests.support.memory_api import MemoryApi
from tests.support.virtual import VirtualClock, dice
from tests.unit.runtime.builders import (
    BALLS,
    BOXES,
    GONE,
    Ball,
    Box,
    a_ball,
    a_box,
    a_delta,
    a_snapshot,
    key,
)
from trellis.api.meta import Key, Resource
from trellis.kube.client import Client
from trellis.kube.errors import Unreachable
from trellis.kube.events import Delta
from trellis.runtime.agenda import Priority
from trellis.runtime.barrier import Barrier, CacheBehind
from trellis.runtime.bell import Bell
from trellis.runtime.cache import Cache
from trellis.runtime.controller import Controller, Wakes, controller_of, priority
from trellis.runtime.env import Env
from trellis.runtime.io import IO
from trellis.runtime.loop import HELD_SECONDS, OUTCOMES, Loop
from trellis.runtime.outcome import DONE, LEAST_SECONDS, Again, FailedForGood, Outcome
from trellis.runtime.recorder import Recorder
from trellis.runtime.writes import Writes

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

CLOCK = VirtualClock()


class Scene:
    """A loop over boxes with a reconciler of the test's own."""

    def __init__(
        self,
        reconcile: Callable[[Key], Awaitable[Outcome]],
        matters: Callable[[Ball, Ball], bool] | None = None,
        **declared: Any,
    ) -> None:
        self.env = Env(clock=CLOCK, rng=dice(3))
        self.boxes: Cache[Box] = Cache(BOXES, Box)
        self.balls: Cache[Ball] = Cache(BALLS, Ball)
        self.boxes.replace(a_snapshot([a_box()], 1))
        self.balls.replace(a_snapshot([], 1))
        self.barrier = Barrier()
        self.runs: list[tuple[str, float]] = []
        client = Client(MemoryApi(), CLOCK, self.env.rng)
        recorder = Recorder(client, self.env.meter, reporter="x", instance="y")
        writes = Writes(client, self.barrier, self.env.meter, lambda: True)

        async def noted(asked: Key, _: IO) -> Outcome:
            self.runs.append((asked.name, CLOCK.monotonic()))
            return await reconcile(asked)

        controller = Controller(
            name="box",
            cache=self.boxes,
            reconcile=noted,
            woken_by=(Wakes(self.balls, controller_of(BOXES), matters),),
            **declared,
        )
        self.loop = Loop(controller, IO(writes, recorder), self.env)
        self.loop.wake()
        self.running = asyncio.get_running_loop().create_task(self.loop.run())

    def counted(self) -> dict[str, float | None]:
        return {
            outcome: self.env.meter.value(
                "trellis_reconcile_total", controller="box", outcome=outcome
            )
            for outcome in OUTCOMES
        }

    @property
    def times(self) -> list[float]:
        return [at for _, at in self.runs]


def ending(*ends: Outcome | Exception) -> Callable[[Key], Awaitable[Outcome]]:
    """A reconciler that ends so, one after another, and then well."""
    left = list(ends)

    async def reconcile(_: Key) -> Outcome:
        end = left.pop(0) if left else DONE
        if isinstance(end, Exception):
            raise end
        return end

    return reconcile


@pytest.mark.parametrize(
    ("end", "counted", "runs"),
    [
        pytest.param(DONE, "done", 1, id="done"),
        pytest.param(Again(60.0), "again", 2, id="again after a while"),
        pytest.param(FailedForGood("Bad"), "failed_for_good", 1, id="failed for good: no more"),
        pytest.param(ValueError("x"), "error", 2, id="raised: tried again"),
        pytest.param(CacheBehind("x"), "held", 2, id="held: tried again and no failure"),
    ],
)
def test_outcomes(end: Outcome | Exception, counted: str, runs: int) -> None:
    async def story() -> None:
        scene = Scene(ending(end))
        assert scene.counted() == dict.fromkeys(OUTCOMES, 0.0)
        await asyncio.sleep(3600)
        assert len(scene.runs) == runs
        expected = dict.fromkeys(OUTCOMES, 0.0) | {counted: 1.0}
        if runs == 2:
            expected["done"] = 1.0
        assert scene.counted() == expected

    virtual.run(story())


@virtual.virtual
async def test_again_is_after_the_time_that_was_asked_for() -> None:
    scene = Scene(ending(Again(60.0), Again(5.0)))
    await asyncio.sleep(3600)
    assert scene.times == [0.0, 60.0, 65.0]


@pytest.mark.parametrize("after", [-1.0, 0.0, 7e-15], ids=["passed", "now", "too little to tell"])
@virtual.virtual
async def test_time_passes_even_for_a_run_that_always_wants_to_come_back_at_once(
    after: float,
) -> None:
    scene = Scene(ending(*[Again(after)] * 5))
    await asyncio.sleep(3600)
    expected = [n * LEAST_SECONDS for n in range(6)]
    assert scene.times == pytest.approx(expected)


@virtual.virtual
async def test_a_change_of_a_child_wakes_its_owner_and_of_a_stranger_nobody() -> None:
    scene = Scene(ending())
    await virtual.settle()
    scene.balls.apply(a_delta(2, a_ball("a"), a_ball("b", owner=None)))
    await virtual.settle()
    assert [name for name, _ in scene.runs] == ["box", "box"]


@virtual.virtual
async def test_a_change_that_does_not_matter_wakes_nobody() -> None:
    scene = Scene(ending(), matters=lambda old, new: old.spec != new.spec)
    scene.balls.apply(a_delta(2, a_ball("a")))
    await virtual.settle()
    before = len(scene.runs)
    scene.balls.apply(a_delta(3, a_ball("a", labels={"seen": "yes"})))
    await virtual.settle()
    assert len(scene.runs) == before
    scene.balls.apply(a_delta(4, a_ball("a", colour="blue")))
    await virtual.settle()
    scene.balls.apply(a_delta(5, gone=[a_ball("a", colour="blue")]))
    await virtual.settle()
    assert len(scene.runs) == before + 2


@virtual.virtual
async def test_everything_is_looked_at_where_a_child_may_have_come_and_gone_unseen() -> None:
    scene = Scene(ending())
    await virtual.settle()
    scene.balls.apply(a_delta(2, gone=[a_ball("a", owner="box")]))
    await virtual.settle()
    assert [name for name, _ in scene.runs] == ["box", "box"]


@virtual.virtual
async def test_a_bell_wakes_for_the_key_that_it_is_rung_for() -> None:
    bell = Bell()
    scene = Scene(ending(), bells=(bell,))
    await virtual.settle()
    bell.ring(key("other"))
    await virtual.settle()
    assert [name for name, _ in scene.runs] == ["box", "other"]


@virtual.virtual
async def test_a_child_that_changes_hands_wakes_both_owners() -> None:
    scene = Scene(ending())
    scene.boxes.apply(a_delta(2, a_box("other")))
    scene.balls.apply(a_delta(2, a_ball("a")))
    await virtual.settle()
    scene.runs.clear()
    moved = a_ball("a", owner=None, owner_references=a_ball("a").metadata.owner_references)
    scene.balls.apply(a_delta(3, _given_to(moved, "other")))
    await virtual.settle()
    assert sorted(name for name, _ in scene.runs) == ["box", "other"]


def _given_to(ball: Ball, name: str) -> Ball:
    (reference,) = ball.metadata.owner_references
    owners = (structs.replace(reference, name=name, uid=f"uid-{name}"),)
    return structs.replace(ball, metadata=structs.replace(ball.metadata, owner_references=owners))


@pytest.mark.parametrize(
    ("resource", "keys"),
    [
        pytest.param(BOXES, [key("box")], id="its controller"),
        pytest.param(BALLS, [], id="of another kind"),
        pytest.param(Resource("other.dev", "v1", "Box", "boxes"), [], id="of another group"),
        pytest.param(
            Resource("toys.dev", "v2", "Box", "boxes", namespaced=False),
            [Key("", "box")],
            id="that has no namespace, in another version",
        ),
    ],
)
def test_a_child_names(resource: Resource, keys: list[Key]) -> None:
    assert list(controller_of(resource)(a_ball("a"))) == keys


@virtual.virtual
async def test_no_two_runs_of_one_key_overlap_and_others_go_on() -> None:
    under_way: list[str] = []
    overlaps: list[str] = []
    most = 0

    async def slow(asked: Key) -> Outcome:
        nonlocal most
        overlaps.extend(name for name in under_way if name == asked.name)
        under_way.append(asked.name)
        most = max(most, len(under_way))
        await asyncio.sleep(10)
        under_way.remove(asked.name)
        return DONE

    scene = Scene(slow, workers=3)
    for second in range(60):
        names = ("box", "second", "third", "fourth")
        boxes = [a_box(name, balls=second) for name in names]
        scene.boxes.apply(a_delta(second + 2, *boxes))
        await asyncio.sleep(1)
    assert overlaps == []
    assert most == 3


@virtual.virtual
async def test_a_poison_object_delays_nobody() -> None:
    async def reconcile(asked: Key) -> Outcome:
        if asked.name == "box":
            raise ValueError("poisonous")
        return DONE

    scene = Scene(reconcile, workers=1)
    for number in range(50):
        scene.boxes.apply(a_delta(number + 2, a_box(f"good-{number}")))
        before = CLOCK.monotonic()
        await virtual.settle()
        assert (f"good-{number}", before) in scene.runs
        await asyncio.sleep(0.01)


@virtual.virtual
async def test_nothing_runs_before_the_caches_have_our_last_write() -> None:
    scene = Scene(ending())
    await virtual.settle()
    scene.runs.clear()
    scene.barrier.wrote("uid-box", scene.balls, "7")
    scene.loop.queue.add(key("box"))
    await asyncio.sleep(3)
    assert scene.runs == []
    scene.balls.apply(Delta([], "7"))
    await virtual.settle()
    assert scene.times == [3.0]
    assert scene.counted()["held"] == 1.0


@virtual.virtual
async def test_a_run_that_never_ends_is_given_up_and_tried_again() -> None:
    attempts = 0

    async def hang_once(_: Key) -> Outcome:
        nonlocal attempts
        attempts += 1
        if attempts == 1:
            await asyncio.Event().wait()
        return DONE

    scene = Scene(hang_once, deadline=60.0)
    with capture_logs() as logs:
        await asyncio.sleep(61)
    assert attempts == 2
    assert logs[0]["event"] == "run given up"
    assert scene.counted()["error"] == 1.0


@virtual.virtual
async def test_a_failure_is_one_line_with_what_and_when_again() -> None:
    with capture_logs() as logs:
        scene = Scene(ending(Unreachable("https://there cannot be reached")))
        await virtual.settle()
    (line,) = [line for line in logs if line["log_level"] == "warning"]
    assert line["event"] == "failed"
    assert line["error"] == "https://there cannot be reached"
    assert 0 < line["again_after"] <= 0.005
    assert scene.counted()["error"] == 1.0


@virtual.virtual
async def test_a_closed_loop_ends_when_its_runs_have() -> None:
    async def slow(_: Key) -> Outcome:
        await asyncio.sleep(10)
        return DONE

    scene = Scene(slow)
    await asyncio.sleep(1)
    scene.loop.queue.close()
    await scene.running
    assert CLOCK.monotonic() == 10.0


@virtual.virtual
async def test_queue_and_runs_are_measured() -> None:
    async def slow(_: Key) -> Outcome:
        await asyncio.sleep(10)
        return DONE

    scene = Scene(slow, workers=1)
    scene.boxes.apply(a_delta(2, a_box("second")))
    await asyncio.sleep(4)
    value = scene.env.meter.value
    assert value("trellis_queue_active", controller="box") == 1.0
    assert value("trellis_queue_waiting", controller="box") == 1.0
    assert value("trellis_queue_oldest_seconds", controller="box") == 4.0
    await asyncio.sleep(10)
    assert value("trellis_reconcile_seconds_sum", controller="box") == 10.0


@pytest.mark.parametrize(
    ("old", "new", "fresh", "expected"),
    [
        pytest.param(None, a_box(), False, Priority.BACKGROUND, id="a list brought it"),
        pytest.param(None, a_box(), True, Priority.NORMAL, id="made"),
        pytest.param(a_box(), a_box(), True, Priority.NORMAL, id="changed"),
        pytest.param(a_box(), None, True, Priority.URGENT, id="gone"),
        pytest.param(
            a_box(), a_box(deletion_timestamp=GONE), True, Priority.URGENT, id="going from now on"
        ),
        pytest.param(
            a_box(deletion_timestamp=GONE),
            a_box(deletion_timestamp=GONE),
            True,
            Priority.NORMAL,
            id="going for a while",
        ),
    ],
)
def test_priority(old: Box | None, new: Box | None, fresh: bool, expected: Priority) -> None:
    assert priority(old, new, fresh=fresh) is expected


@virtual.virtual
async def test_a_run_that_is_held_by_what_is_known_of_another_waits_for_that() -> None:
    async def reconcile(_: Key) -> Outcome:
        if not scene.barrier.is_open("another"):
            raise CacheBehind("x", "another")
        return DONE

    scene = Scene(reconcile)
    scene.barrier.wrote("another", scene.balls, "5")
    await asyncio.sleep(HELD_SECONDS / 2)
    assert len(scene.runs) == 1
    scene.balls.apply(Delta([], "5"))
    await asyncio.sleep(0.1)
    assert scene.counted()["done"] == 1.0


@virtual.virtual
async def test_a_run_that_is_held_by_what_another_wrote_does_not_spin() -> None:
    """The barrier of its own object is open, so nothing there says when to look again."""
    scene = Scene(ending(*(CacheBehind("x") for _ in range(1000))))
    await asyncio.sleep(1.0)
    assert 10 < len(scene.runs) <= 101
