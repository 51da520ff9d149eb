# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest

from tests.support.memory_api import MemoryApi
from tests.support.virtual import VirtualClock, dice, virtual
from tests.unit.runtime.builders import BOXES, Box, BoxStatus, a_box, a_delta
from trellis.api.core.pod import Pod
from trellis.api.meta import Key, Metadata, encode
from trellis.instruments.metrics import Meter
from trellis.kube.client import Client
from trellis.kube.events import Change, Delta
from trellis.runtime.barrier import Barrier
from trellis.runtime.cache import Cache
from trellis.runtime.io import IO
from trellis.runtime.recorder import Recorder
from trellis.runtime.writes import Writes
from trellis.workloads.pacing import (
    FIRST_PATIENCE_SECONDS,
    LOOK_SECONDS,
    MOST_PATIENCE_SECONDS,
    MOST_STREAM_SECONDS,
    NEW_SECONDS,
    QUIET_SECONDS,
    STEP_SECONDS,
    STEPS_SECONDS,
    STREAM_SECONDS,
    TOGETHER_SECONDS,
    WORDS_SECONDS,
    YIELD_SECONDS,
    Haste,
    StatusPacer,
)
from trellis.workloads.streams import MANY, Streams

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from trellis.kube.transport import Request, Response

CLOCK = VirtualClock()


class PatientApi(MemoryApi):
    """Answers only while it is said to."""

    def __init__(self) -> None:
        super().__init__()
        self.answers = asyncio.Event()
        self.answers.set()

    async def request(self, request: Request) -> Response:
        await self.answers.wait()
        return await super().request(request)


class Desk:
    """A box in a cluster, and somebody who writes its status."""

    async def open(self) -> Box:
        self.api = PatientApi()
        self.client = client = Client(self.api, CLOCK, dice(1))
        meter = Meter()
        recorder = Recorder(client, meter, reporter="toys.dev/operator", instance="one")
        self.writes = Writes(client, Barrier(), meter, lambda: True)
        self.io = IO(self.writes, recorder)
        self.cache = Cache(BOXES, Box)
        self.pods = Cache(Pod.resource, Pod)
        self.pacer = StatusPacer(self.cache, Streams(self.pods, CLOCK), CLOCK)
        made = await self.made("box")
        self.api.requests.clear()
        return made

    async def made(self, name: str) -> Box:
        body = encode(a_box(name, resource_version=""))
        return await self.client.of(BOXES, Box, "nursery").create(body)

    @asynccontextmanager
    async def busy(self) -> AsyncIterator[None]:
        """As many others as may be are being made."""
        self.api.answers.clear()
        making = [asyncio.create_task(self.make(f"more-{n}")) for n in range(self.limit)]
        await CLOCK.sleep(0)
        yield
        self.api.answers.set()
        await asyncio.gather(*making)

    def pods_come(self, count: int) -> None:
        """Of the set that boxes without a label are for."""
        made = [Metadata(name=f"p-{n}", namespace="nursery", uid=f"p-{n}") for n in range(count)]
        for each in made:
            self.pods.apply(Delta([Change("nursery", each.name, Pod(metadata=each))], "1"))
            self.pods.apply(Delta([Change("nursery", each.name, None)], "1"))

    @property
    def limit(self) -> int:
        """How many requests may be under way."""
        return self.client.gate.window.limit

    async def make(self, name: str) -> None:
        body = encode(a_box(name, resource_version=""))
        await self.writes.create("owner", self.cache, Key("nursery", name), body)

    async def write(self, box: Box, balls: int, haste: Haste = Haste.SOON) -> float | None:
        return await self.pacer.write(self.io, box, BoxStatus(balls=balls), haste=haste)

    async def tell(self, balls: int, haste: Haste = Haste.SOON) -> float | None:
        return await self.write(await self.box(), balls, haste)

    async def box(self) -> Box:
        return await self.client.of(BOXES, Box, "nursery").get("box")

    async def stream(self, haste: Haste = Haste.SOON) -> float:
        """Changes it over and over until it is written; returns after how many seconds."""
        box = await self.box()
        began, balls = CLOCK.monotonic(), box.status.balls
        while (left := await self.write(box, balls := balls + 1, haste)) is not None:
            await CLOCK.sleep(min(left, 0.05))
        return CLOCK.monotonic() - began


@virtual
async def test_what_streams_in_is_one_write_of_what_is_true_when_it_is_quiet() -> None:
    desk = Desk()
    box = await desk.open()
    for balls in range(1, 5):
        assert await desk.write(box, balls) == pytest.approx(QUIET_SECONDS)
        await CLOCK.sleep(QUIET_SECONDS / 2)
    await CLOCK.sleep(QUIET_SECONDS)
    assert await desk.write(box, 4) is None
    assert desk.api.writes == ["PATCH box/status"]
    assert desk.api.all("boxes")[0]["status"]["balls"] == 4


@virtual
async def test_what_makes_no_difference_puts_off_nothing_that_is_complete() -> None:
    desk = Desk()
    box = await desk.open()
    assert await desk.write(box, 1) == pytest.approx(QUIET_SECONDS)
    await CLOCK.sleep(QUIET_SECONDS / 2)
    assert await desk.write(box, 1) == pytest.approx(QUIET_SECONDS / 2)
    assert await desk.write(box, 2) == pytest.approx(QUIET_SECONDS), "that made one"
    assert await desk.write(box, 2, Haste.WHEN_MORE_IS_KNOWN) == pytest.approx(NEW_SECONDS)
    await CLOCK.sleep(NEW_SECONDS / 2)
    left = await desk.write(box, 2, Haste.WHEN_MORE_IS_KNOWN)
    assert left == pytest.approx(NEW_SECONDS), "more is to come of that"


@virtual
async def test_a_stream_without_end_is_told_of_less_and_less_often() -> None:
    desk = Desk()
    await desk.open()
    assert [await desk.stream() for _ in range(4)] == pytest.approx(
        [
            FIRST_PATIENCE_SECONDS,
            2 * FIRST_PATIENCE_SECONDS,
            MOST_PATIENCE_SECONDS,
            MOST_PATIENCE_SECONDS,
        ]
    )
    assert desk.api.writes == ["PATCH box/status"] * 4


@virtual
async def test_after_a_quiet_moment_a_stream_is_told_of_as_soon_as_the_first() -> None:
    desk = Desk()
    box = await desk.open()
    await desk.stream()
    assert await desk.write(box, 0) is None
    assert await desk.stream() == pytest.approx(FIRST_PATIENCE_SECONDS)


@virtual
async def test_a_status_waits_while_the_client_is_busy_with_other_writes() -> None:
    desk = Desk()
    box = await desk.open()
    async with desk.busy():
        began = CLOCK.monotonic()
        haste = Haste.AS_IT_GOES
        while CLOCK.monotonic() < began + 2:
            left = await desk.write(box, 1, haste)
            assert left is not None
            await CLOCK.sleep(left)
    assert "PATCH box/status" not in desk.api.writes
    await CLOCK.sleep(QUIET_SECONDS)
    assert await desk.write(box, 1, haste) is None
    assert desk.api.writes[-1] == "PATCH box/status"


@virtual
async def test_what_is_as_it_should_be_yields_to_other_writes_but_not_for_long() -> None:
    desk = Desk()
    box = await desk.open()
    async with desk.busy():
        began = CLOCK.monotonic()
        while CLOCK.monotonic() < began + YIELD_SECONDS:
            left = await desk.write(box, 1)
            assert left is not None
            await CLOCK.sleep(left)
        assert CLOCK.monotonic() - began == pytest.approx(YIELD_SECONDS)
        telling = asyncio.create_task(desk.write(box, 1))
    assert await telling is None
    assert "PATCH box/status" in desk.api.writes


@virtual
async def test_of_many_that_wait_for_other_writes_one_looks_and_wakes_the_others() -> None:
    desk = Desk()
    await desk.open()
    woken, goes = list[Key](), Haste.AS_IT_GOES
    desk.pacer.bell.subscribe(woken.append)
    first, second, third = [await desk.made(f"box-{n}") for n in range(3)]
    async with desk.busy():
        assert await desk.write(first, 1, goes) == pytest.approx(LOOK_SECONDS)
        for other in (second, third):
            assert await desk.write(other, 1, goes) == pytest.approx(FIRST_PATIENCE_SECONDS)
        assert await desk.write(first, 1, goes) == pytest.approx(LOOK_SECONDS)
        # What is true again has nothing to wait for: the next one looks.
        assert await desk.write(first, 0) is None
        assert woken == [second.metadata.key]
        assert await desk.write(second, 1, goes) == pytest.approx(LOOK_SECONDS)
        await CLOCK.sleep(2 * LOOK_SECONDS)
    woken.clear()
    await CLOCK.sleep(LOOK_SECONDS)
    assert await desk.write(second, 1, goes) is None
    assert woken == [second.metadata.key, third.metadata.key]
    assert await desk.write(third, 1, goes) is None
    assert len(desk.pacer) == 0


@virtual
async def test_what_is_on_its_way_is_told_when_no_pod_of_its_set_comes_any_more() -> None:
    desk = Desk()
    await desk.open()
    woken: list[Key] = []
    desk.pacer.bell.subscribe(woken.append)
    first, second = [await desk.made(f"box-{n}") for n in range(2)]
    for _ in range(3):
        desk.pods_come(MANY)
        assert await desk.write(first, 1, Haste.AS_IT_GOES) == pytest.approx(STREAM_SECONDS)
        await CLOCK.sleep(STREAM_SECONDS / 2)
    left = FIRST_PATIENCE_SECONDS
    assert await desk.write(second, 1, Haste.AS_IT_GOES) == pytest.approx(left)
    await CLOCK.sleep(STREAM_SECONDS)
    assert await desk.write(first, 1, Haste.AS_IT_GOES) is None
    assert woken == [first.metadata.key, second.metadata.key]
    assert await desk.write(second, 1, Haste.AS_IT_GOES) is None
    assert len(desk.pacer) == 0


@virtual
async def test_what_is_as_it_should_be_is_told_though_other_pods_of_its_set_still_come() -> None:
    desk = Desk()
    box = await desk.open()
    desk.pods_come(MANY)
    assert await desk.write(box, 1, Haste.AS_IT_GOES) == pytest.approx(STREAM_SECONDS)
    assert await desk.write(box, 2, Haste.SOON) == pytest.approx(QUIET_SECONDS)
    await CLOCK.sleep(QUIET_SECONDS)
    desk.pods_come(MANY)
    assert await desk.write(box, 2, Haste.SOON) is None
    assert len(desk.pacer) == 0


@virtual
async def test_pods_that_stream_in_without_end_do_not_keep_a_status_for_ever() -> None:
    desk = Desk()
    box = await desk.open()
    began = CLOCK.monotonic()
    while (left := await desk.write(box, 1, Haste.AS_IT_GOES)) is not None:
        desk.pods_come(MANY)
        await CLOCK.sleep(left)
    assert CLOCK.monotonic() - began == pytest.approx(FIRST_PATIENCE_SECONDS)


@pytest.mark.parametrize(
    ("answers", "silence"),
    [(0.01, STREAM_SECONDS), (0.1, 0.3), (5.0, MOST_STREAM_SECONDS)],
    ids=["quick", "slow", "very slow"],
)
@virtual
async def test_silence_means_more_the_faster_the_api_answers(
    answers: float, silence: float
) -> None:
    desk = Desk()
    box = await desk.open()
    for _ in range(100):
        desk.client.gate.heard(answers)
    desk.pods_come(MANY)
    assert await desk.write(box, 1, Haste.AS_IT_GOES) == pytest.approx(silence, rel=0.01)


@virtual
async def test_where_all_else_is_done_statuses_do_not_wait_for_each_other() -> None:
    desk = Desk()
    await desk.open()
    found = [await desk.made(f"box-{n}") for n in range(desk.limit)]
    desk.api.answers.clear()
    telling = [asyncio.create_task(desk.write(box, 1, Haste.AT_ONCE)) for box in found]
    await CLOCK.sleep(1)
    assert desk.client.gate.is_crowded
    assert not desk.io.is_busy
    making = asyncio.create_task(desk.make("more"))
    await CLOCK.sleep(1)
    assert desk.io.is_busy
    desk.api.answers.set()
    await asyncio.gather(*telling, making)
    assert not desk.io.is_busy


@virtual
async def test_nothing_is_written_when_nothing_differs_in_the_end() -> None:
    desk = Desk()
    box = await desk.open()
    assert await desk.write(box, 3) == QUIET_SECONDS
    assert await desk.write(box, 0) is None
    await CLOCK.sleep(10)
    assert await desk.write(box, 4) == pytest.approx(QUIET_SECONDS)
    assert desk.api.writes == []


@virtual
async def test_what_somebody_waits_for_is_written_at_once() -> None:
    desk = Desk()
    box = await desk.open()
    assert await desk.write(box, 1, Haste.AT_ONCE) is None
    assert desk.api.writes == ["PATCH box/status"]


@virtual
async def test_steps_are_told_at_once_but_not_twice_in_a_second_and_a_new_beginning_always() -> (
    None
):
    desk = Desk()
    await desk.open()
    assert await desk.tell(1, Haste.NEXT_STEP) is None
    await CLOCK.sleep(0.25)
    assert await desk.tell(2, Haste.NEXT_STEP) == pytest.approx(STEP_SECONDS - 0.25)
    assert await desk.tell(2) == pytest.approx(STEP_SECONDS - 0.25)
    assert await desk.tell(2, Haste.FIRST_STEP) is None
    assert await desk.tell(3, Haste.NEXT_STEP) == pytest.approx(STEP_SECONDS)
    await CLOCK.sleep(STEP_SECONDS)
    assert await desk.tell(3, Haste.NEXT_STEP) is None
    assert await desk.tell(4, Haste.AT_ONCE) is None
    assert desk.api.writes == ["PATCH box/status"] * 4


@pytest.mark.parametrize(
    ("haste", "quiet"),
    [(Haste.WITH_STEPS, TOGETHER_SECONDS), (Haste.NOW_AND_THEN, WORDS_SECONDS)],
    ids=["counts", "words"],
)
@virtual
async def test_what_changes_with_every_step_is_told_together_and_is_never_old(
    haste: Haste, quiet: float
) -> None:
    desk = Desk()
    await desk.open()
    assert await desk.tell(1, haste) == pytest.approx(quiet)
    assert await desk.stream(haste) == pytest.approx(STEPS_SECONDS)
    assert await desk.stream(haste) == pytest.approx(STEPS_SECONDS)


@virtual
async def test_what_is_new_is_told_of_when_more_is_known_or_after_a_while() -> None:
    desk = Desk()
    box = await desk.open()
    new = Haste.WHEN_MORE_IS_KNOWN
    assert await desk.write(box, 1, new) == NEW_SECONDS
    await CLOCK.sleep(1)
    assert await desk.write(box, 2) == pytest.approx(QUIET_SECONDS)
    await CLOCK.sleep(QUIET_SECONDS)
    assert await desk.write(box, 2) is None
    assert desk.api.writes == ["PATCH box/status"]


@virtual
async def test_nothing_is_remembered_of_what_is_gone() -> None:
    desk = Desk()
    await desk.open()
    box = await desk.client.of(BOXES, Box, "nursery").get("box")
    desk.cache.apply(a_delta(2, box))
    await desk.stream()
    await desk.write(box, 7)
    assert len(desk.pacer) == 1
    desk.cache.apply(a_delta(3, gone=[box]))
    assert len(desk.pacer) == 0
