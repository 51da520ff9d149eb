# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.virtual import run, settle, virtual
from trellis.kube.inflight import CAP, FLOOR, LEARNING, START, Gate, Verdict, Window

VERDICTS = st.sampled_from(Verdict)


def learned(*verdicts: Verdict, full: bool = True) -> Window:
    """As if all had been under way one after the other."""
    window = Window()
    for number, verdict in enumerate(verdicts, start=1):
        window.learn(verdict, ticket=number, newest=number, full=full)
    return window


def test_it_opens_by_one_a_round_trip() -> None:
    assert Window().limit == START
    assert learned(*[Verdict.QUICK] * (START + 1)).limit == START + 1


def test_where_it_begins_and_how_far_it_opens_may_be_given() -> None:
    window = Window(start=2, cap=3)
    assert window.limit == 2
    for number in range(1, 100):
        window.learn(Verdict.QUICK, ticket=number, newest=number, full=True)
    assert window.limit == 3


def test_it_stays_while_there_is_room_in_it() -> None:
    assert learned(*[Verdict.QUICK] * 10_000, full=False).limit == START


def test_it_stays_while_answers_are_slow() -> None:
    assert learned(*[Verdict.SLOW] * 10_000).limit == START


def test_it_halves_when_the_server_pushes_back() -> None:
    assert learned(Verdict.PUSHED_BACK).limit == START // 2


def test_one_burst_of_refusals_halves_it_once() -> None:
    window = Window()
    for ticket in range(1, START + 1):
        window.learn(Verdict.PUSHED_BACK, ticket=ticket, newest=START, full=True)
    assert window.limit == START // 2
    window.learn(Verdict.PUSHED_BACK, ticket=START + 1, newest=START + 1, full=True)
    assert window.limit == START // 4


@given(st.lists(VERDICTS, max_size=2000))
def test_it_never_leaves_its_bounds(verdicts: list[Verdict]) -> None:
    window = Window()
    for number, verdict in enumerate(verdicts, start=1):
        before = window.limit
        window.learn(verdict, ticket=number, newest=number, full=True)
        assert FLOOR <= window.limit <= CAP
        if verdict is not Verdict.QUICK:
            assert window.limit <= before


@virtual
async def test_no_more_than_the_window_are_let_in_and_the_first_comes_first() -> None:
    gate, entered = Gate(), list[int]()

    async def caller(number: int) -> None:
        ticket = await gate.enter()
        entered.append(number)
        await asyncio.sleep(1)
        gate.leave(ticket, None)

    async with asyncio.TaskGroup() as group:
        for number in range(START * 2):
            group.create_task(caller(number))
        await settle()
        assert entered == list(range(START))
    assert entered == list(range(START * 2))
    assert gate.under_way == 0


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), VERDICTS), max_size=120))
def test_whoever_gives_up_waiting_leaves_no_place_taken(
    callers: list[tuple[int, int, Verdict]],
) -> None:
    async def scenario() -> None:
        gate = Gate()

        async def caller(patience: int, work: int, verdict: Verdict) -> None:
            async with asyncio.timeout(patience):
                ticket = await gate.enter()
            try:
                await asyncio.sleep(work)
            finally:
                gate.leave(ticket, verdict)

        tasks = [asyncio.create_task(caller(*each)) for each in callers]
        results = await asyncio.gather(*tasks, return_exceptions=True)
        assert all(result is None or isinstance(result, TimeoutError) for result in results)
        assert gate.under_way == 0
        assert await gate.enter() > 0

    run(scenario())


@virtual
async def test_who_is_cancelled_while_a_place_comes_free_ends_as_cancelled() -> None:
    gate = Gate(Window(start=1, cap=1))
    ticket = await gate.enter()
    waiting = [asyncio.create_task(gate.enter()) for _ in range(2)]
    await settle()
    for task in waiting:
        task.cancel()
    gate.leave(ticket, None)
    ends = await asyncio.gather(*waiting, return_exceptions=True)
    assert [type(end) for end in ends] == [asyncio.CancelledError] * 2
    assert await gate.enter()


def test_it_learns_how_long_answers_take_and_forgets_how_long_they_took() -> None:
    gate = Gate()
    gate.heard(1.0)
    assert gate.answer_seconds == pytest.approx(LEARNING)
    for seconds in (0.2, 0.02):
        for _ in range(100):
            gate.heard(seconds)
        assert gate.answer_seconds == pytest.approx(seconds, rel=0.01)


@virtual
@pytest.mark.parametrize(
    ("under_way", "verdict", "crowded"),
    [
        pytest.param(3, Verdict.SLOW, False, id="few, however slow the answers"),
        pytest.param(4, Verdict.SLOW, True, id="some, and answers are slow"),
        pytest.param(15, Verdict.QUICK, False, id="many, and answers are quick"),
        pytest.param(16, Verdict.QUICK, True, id="half of what may be"),
    ],
)
async def test_it_is_crowded_when_whatever_can_wait_had_better(
    under_way: int, verdict: Verdict, *, crowded: bool
) -> None:
    gate = Gate()
    for _ in range(20):
        gate.leave(await gate.enter(), verdict)
    for _ in range(under_way):
        await gate.enter()
    assert gate.is_crowded is crowded
