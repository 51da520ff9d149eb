# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from tests.support.memory_api import MemoryApi
from tests.support.virtual import VirtualClock, dice, virtual
from tests.unit.runtime.builders import BOXES, Box, BoxStatus, a_box
from trellis.api.meta import encode
from trellis.instruments.metrics import Meter
from trellis.kube.client import Client
from trellis.runtime.barrier import Barrier
from trellis.runtime.cache import Cache
from trellis.runtime.io import IO
from trellis.runtime.recorder import Recorder
from trellis.runtime.writes import Writes
from trellis.workloads.pacing import MOST_SECONDS, QUIET_SECONDS, StatusPacer

CLOCK = VirtualClock()


class Desk:
    """A box in a cluster, and somebody who writes its status."""

    async def open(self) -> Box:
        self.api = MemoryApi()
        client = Client(self.api, CLOCK, dice(1))
        meter = Meter()
        recorder = Recorder(client, meter, reporter="toys.dev/operator", instance="one")
        self.io = IO(Writes(client, Barrier(), meter, lambda: True), recorder)
        self.pacer = StatusPacer(Cache(BOXES, Box), CLOCK)
        made = await client.of(BOXES, Box, "nursery").create(encode(a_box(resource_version="")))
        self.api.requests.clear()
        return made

    async def write(self, box: Box, balls: int, *, at_once: bool = False) -> float | None:
        return await self.pacer.write(self.io, box, BoxStatus(balls=balls), at_once=at_once)


@virtual
async def test_what_streams_in_is_one_write_of_what_is_true_when_it_is_quiet() -> None:
    desk = Desk()
    box = await desk.open()
    for balls in range(1, 5):
        assert await desk.write(box, balls) == pytest.approx(QUIET_SECONDS)
        await CLOCK.sleep(0.2)
    await CLOCK.sleep(0.15)
    assert await desk.write(box, 4) is None
    assert desk.api.writes == ["PATCH box/status"]
    assert desk.api.all("boxes")[0]["status"]["balls"] == 4


@virtual
async def test_a_stream_without_end_is_told_of_ever_so_often() -> None:
    desk = Desk()
    box = await desk.open()
    balls = 0
    while (left := await desk.write(box, balls := balls + 1)) is not None:
        await CLOCK.sleep(min(left, 0.05))
    assert desk.api.writes == ["PATCH box/status"]
    assert pytest.approx(MOST_SECONDS) == CLOCK.monotonic()


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
    assert await desk.write(box, 1, at_once=True) is None
    assert desk.api.writes == ["PATCH box/status"]
