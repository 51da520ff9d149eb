# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import asyncio

from hypothesis import given
from hypothesis import strategies as st

from tests.support.virtual import run, settle, virtual
from trellis.kube.batch import together
from trellis.kube.inflight import Gate, Window


class Line:
    """Callers before a gate that lets one through at a time, and in which order they got in."""

    def __init__(self) -> None:
        self.gate = Gate(Window(start=1, cap=1))
        self.entered: list[str] = []
        self._tasks: list[asyncio.Task[None]] = []

    def comes(self, name: str, size: int = 1, *, finishes: bool = False) -> None:
        with together(size, finishes=finishes):
            self._tasks += [asyncio.create_task(self._caller(name)) for _ in range(size)]

    async def one_comes(self, name: str) -> None:
        self._tasks.append(asyncio.create_task(self._caller(name)))
        await settle()

    async def ends(self) -> list[str]:
        await asyncio.gather(*self._tasks)
        return self.entered

    async def _caller(self, name: str) -> None:
        ticket = await self.gate.enter()
        self.entered.append(name)
        await asyncio.sleep(1)
        self.gate.leave(ticket, None)


@virtual
async def test_what_was_begun_first_is_finished_before_its_like() -> None:
    line = Line()
    line.comes("a", 3)
    await settle()
    line.comes("b", 3)
    await settle()
    assert await line.ends() == ["a", "a", "a", "b", "b", "b"]


@virtual
async def test_a_small_batch_passes_a_large_one_and_a_single_request_both() -> None:
    line = Line()
    line.comes("large", 9)
    await settle()
    line.comes("small", 2)
    await settle()
    await line.one_comes("single")
    assert (await line.ends())[:5] == ["large", "single", "small", "small", "large"]


@virtual
async def test_what_finishes_the_work_of_others_goes_first() -> None:
    line = Line()
    line.comes("births", 4)
    await settle()
    line.comes("lifts", 9, finishes=True)
    await line.one_comes("status")
    assert await line.ends() == ["births", *["lifts"] * 9, "status", *["births"] * 3]


@virtual
async def test_in_a_batch_that_finishes_something_all_do() -> None:
    line = Line()
    line.comes("births", 3)
    await settle()
    with together(1, finishes=True):
        line.comes("few", 2)
    assert await line.ends() == ["births", "few", "few", "births", "births"]


@virtual
async def test_a_large_batch_is_not_passed_for_ever() -> None:
    line = Line()
    line.comes("large", 5)
    for _ in range(20):
        line.comes("small", 1)
        await asyncio.sleep(1)
    entered = await line.ends()
    assert entered.index("large", 1) < 10


@given(st.lists(st.tuples(st.integers(1, 6), st.integers(0, 4), st.booleans()), max_size=20))
def test_everybody_gets_through_whatever_came_before(
    batches: list[tuple[int, int, bool]],
) -> None:
    async def scenario() -> None:
        line = Line()
        for number, (size, pause, finishes) in enumerate(batches):
            line.comes(str(number), size, finishes=finishes)
            await asyncio.sleep(pause)
        assert len(await line.ends()) == sum(size for size, _, _ in batches)
        assert line.gate.under_way == 0

    run(scenario())
