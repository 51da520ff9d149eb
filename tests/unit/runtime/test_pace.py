# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import asyncio

from hypothesis import given
from hypothesis import strategies as st

from tests.support.virtual import VirtualClock, dice, virtual
from trellis.runtime.pace import STEADY, Pace, Paced
from trellis.runtime.queue import WorkQueue


def test_without_a_pace_every_turn_is_due_at_once() -> None:
    paced: Paced[str] = Paced(STEADY)
    for turn in range(100):
        assert paced.due("a", float(turn) / 1000) == float(turn) / 1000
        paced.took("a", float(turn) / 1000)
    assert len(paced) == 0


def test_a_quiet_key_has_its_burst_at_once_and_then_one_turn_at_a_time() -> None:
    paced: Paced[str] = Paced(Pace(burst=3, seconds=0.5))
    for _ in range(3):
        assert paced.due("a", 10.0) == 10.0
        paced.took("a", 10.0)
    assert paced.due("a", 10.0) == 10.5
    assert paced.due("b", 10.0) == 10.0
    assert paced.due("a", 20.0) == 20.0


@given(st.lists(st.floats(0.0, 2.0), max_size=60), st.integers(1, 8))
def test_no_more_turns_than_the_pace_allows_fit_into_any_time(
    gaps: list[float], burst: int
) -> None:
    pace = Pace(burst=burst, seconds=0.5)
    paced: Paced[str] = Paced(pace)
    now, turns = 0.0, []
    for gap in gaps:
        now = paced.due("a", now + gap)
        paced.took("a", now)
        turns.append(now)
    for first in range(len(turns)):
        for last in range(first, len(turns)):
            allowed = burst + (turns[last] - turns[first]) / pace.seconds
            assert last - first + 1 <= allowed + 1e-6


def test_keys_that_are_quiet_again_are_forgotten() -> None:
    paced: Paced[int] = Paced(Pace(burst=1, seconds=1.0))
    for number in range(10_000):
        paced.took(number, float(number))
    assert len(paced) < 2_000


@virtual
async def test_a_queue_hands_out_a_busy_key_at_its_pace_and_loses_nothing() -> None:
    clock = VirtualClock()
    queue: WorkQueue[str] = WorkQueue(clock, dice(1), pace=Pace(burst=2, seconds=0.25))
    times = []
    for _ in range(5):
        queue.add("busy")
        assert await queue.take() == "busy"
        times.append(clock.monotonic())
        queue.succeed("busy")
    assert times == [0.0, 0.0, 0.25, 0.5, 0.75]


@virtual
async def test_when_a_stream_ends_the_last_turn_comes_after_a_lull_and_not_at_the_pace() -> None:
    clock = VirtualClock()
    pace = Pace(burst=1, seconds=0.5, lull=0.125)
    queue: WorkQueue[str] = WorkQueue(clock, dice(1), pace=pace)
    times = []

    async def work() -> None:
        while (key := await queue.take()) is not None:
            times.append(clock.monotonic())
            queue.succeed(key)

    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(work())
        # Sixteen changes within a second: a turn for the first, and at the pace for the others.
        for _ in range(16):
            queue.add("busy")
            await clock.sleep(0.0625)
        assert times == [0.0, 0.5]
        await clock.sleep(0.0625)
        assert times == [0.0, 0.5, 1.0]
        queue.add("busy")
        await clock.sleep(0.0625)
        queue.add("busy")
        await clock.sleep(2.0)
        queue.close()
    assert times == [0.0, 0.5, 1.0, 1.25]


@virtual
async def test_what_was_asked_for_a_time_comes_then_however_much_happens() -> None:
    clock = VirtualClock()
    queue: WorkQueue[str] = WorkQueue(clock, dice(1), pace=Pace(burst=1, seconds=8.0, lull=0.5))
    queue.add("busy")
    await queue.take()
    queue.succeed("busy", after=1.0)
    for _ in range(3):
        queue.add("busy")
        await clock.sleep(0.25)
    assert await queue.take() == "busy"
    assert clock.monotonic() == 1.0


def test_turns_in_lulls_do_not_put_off_the_next_one_for_longer() -> None:
    paced: Paced[str] = Paced(Pace(burst=2, seconds=0.5, lull=0.05))
    for turn in range(100):
        paced.took("a", 10.0 + turn * 0.05)
    last = 10.0 + 99 * 0.05
    assert paced.lull("a", last) == last + 0.05
    assert paced.due("a", last) == last + 0.5
