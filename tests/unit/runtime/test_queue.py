# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import asyncio
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.virtual import VirtualClock, dice, settle, virtual
from trellis.runtime.backoff import Backoff
from trellis.runtime.queue import WorkQueue

CLOCK = VirtualClock()


def a_queue() -> WorkQueue[str]:
    return WorkQueue(CLOCK, dice(1))


@virtual
async def test_a_worker_waits_for_a_key() -> None:
    queue = a_queue()
    taker = asyncio.create_task(queue.take())
    await settle()
    assert not taker.done()
    queue.add("a")
    assert await taker == "a"


@virtual
async def test_two_workers_never_hold_one_key_and_an_add_meanwhile_is_one_more_turn() -> None:
    queue = a_queue()
    queue.add("a")
    assert await queue.take() == "a"
    other = asyncio.create_task(queue.take())
    queue.add("a")
    queue.add("a")
    await settle()
    assert not other.done()
    queue.succeed("a")
    assert await other == "a"
    queue.succeed("a")
    assert queue.agenda.waiting == 0


@virtual
async def test_a_delayed_key_comes_at_its_time_and_an_earlier_one_before_it() -> None:
    queue = a_queue()
    queue.add_after("late", 60.0)
    queue.add_after("early", 5.0)
    assert (await queue.take(), CLOCK.monotonic()) == ("early", 5.0)
    assert (await queue.take(), CLOCK.monotonic()) == ("late", 60.0)


@virtual
async def test_a_fresh_add_pulls_a_delayed_key_forward_and_its_old_time_is_void() -> None:
    queue = a_queue()
    queue.add_after("a", 60.0)
    queue.add("a")
    assert await queue.take() == "a"
    queue.succeed("a")
    assert queue.agenda.later == 0


@virtual
async def test_a_failing_key_waits_ever_longer_up_to_five_minutes_and_delays_nobody() -> None:
    queue = a_queue()
    queue.add("poison")
    waits: list[float] = []
    for _ in range(24):
        before = CLOCK.monotonic()
        assert await queue.take() == "poison"
        waits.append(CLOCK.monotonic() - before)
        queue.fail("poison")
        queue.add("healthy")
        assert await queue.take() == "healthy"
        queue.succeed("healthy")
    grown = waits[1:]
    assert grown[0] <= 0.005
    assert all(150.0 <= wait <= 300.0 for wait in grown[-6:])
    assert all(later > 0.99 * earlier for earlier, later in pairwise(grown[:16]))


@virtual
async def test_success_forgets_failures() -> None:
    queue = a_queue()
    queue.add("a")
    for _ in range(10):
        assert await queue.take() == "a"
        queue.fail("a")
    assert await queue.take() == "a"
    queue.succeed("a", after=0.0)
    assert await queue.take() == "a"
    assert queue.fail("a") <= 0.005


@virtual
async def test_a_closed_queue_hands_out_nothing_and_is_drained_when_work_is_given_back() -> None:
    queue = a_queue()
    for key in ("a", "b"):
        queue.add(key)
    assert await queue.take() == "a"
    idle = asyncio.create_task(queue.take())
    assert await idle == "b"
    waiting = asyncio.create_task(queue.take())
    await settle()
    queue.close()
    assert await waiting is None
    drained = asyncio.create_task(queue.drained())
    queue.succeed("a", after=1.0)
    await settle()
    assert not drained.done()
    queue.fail("b")
    await drained
    assert await queue.take() is None
    queue.add("c")
    assert queue.agenda.waiting == 0


@virtual
async def test_a_cancelled_worker_leaves_its_key_to_another() -> None:
    queue = a_queue()
    first, second = (asyncio.create_task(queue.take()) for _ in range(2))
    await settle()
    queue.add("a")
    first.cancel()
    assert await second == "a"
    with pytest.raises(asyncio.CancelledError):
        await first


@virtual
async def test_it_knows_for_how_long_the_oldest_key_has_waited() -> None:
    queue = a_queue()
    queue.add("a")
    await CLOCK.sleep(3.0)
    queue.add("b")
    assert queue.oldest() == 3.0


@given(failures=st.integers(1, 10_000), seed=st.integers(0, 100))
def test_a_backoff_stays_between_its_bounds(failures: int, seed: int) -> None:
    delay = Backoff(first=1.0, longest=60.0).delay(failures, dice(seed))
    assert 0.5 <= delay <= 60.0


class EarlyClock(VirtualClock):
    """Whose timers ring a hair before their time, as a loop of coarse resolution lets them."""

    def __init__(self) -> None:
        self.slept = 0

    async def sleep(self, seconds: float) -> None:
        self.slept += 1
        await super().sleep(seconds - 1e-10)


@virtual
async def test_a_timer_that_rings_a_hair_early_rings_once() -> None:
    clock = EarlyClock()
    queue: WorkQueue[str] = WorkQueue(clock, dice(1))
    queue.add_after("a", 1.0)
    assert await queue.take() == "a"
    assert clock.slept == 1
