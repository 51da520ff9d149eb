# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING

from tests.support.memory_api import MemoryApi
from tests.support.transport import failure
from tests.support.virtual import START, VirtualClock, virtual
from tests.unit.runtime.builders import BOXES
from tests.unit.runtime.test_recorder import BOX, MISSING, a_recorder
from trellis.kube.status import refused
from trellis.runtime.going import GOING_SECONDS, Going

if TYPE_CHECKING:
    from trellis.kube.transport import Request

LATER = START + timedelta(seconds=1)


@virtual
async def test_who_was_there_when_something_was_refused_goes_and_who_came_later_does_not() -> None:
    going = Going(VirtualClock())
    assert not going.takes_along("team", START)
    going.note("team", START)
    assert going.takes_along("team", START)
    assert going.takes_along("team", None)
    assert not going.takes_along("team", LATER)
    assert not going.takes_along("other", START)
    going.note("team", LATER)
    going.note("team", START)
    assert going.takes_along("team", LATER)


@virtual
async def test_it_is_tried_once_more_after_a_while() -> None:
    going = Going(VirtualClock())
    going.note("team", START)
    await asyncio.sleep(GOING_SECONDS)
    assert not going.takes_along("team", START)


@virtual
async def test_it_remembers_no_more_than_so_many() -> None:
    going = Going(VirtualClock())
    for number in range(2000):
        going.note(f"team-{number}", START)
    assert not going.takes_along("team-0", START)
    assert going.takes_along("team-1999", START)


@virtual
async def test_no_event_is_sent_to_a_namespace_that_is_going() -> None:
    api = MemoryApi()
    recorder, meter = a_recorder(api)
    answer = failure(403, "Forbidden", causes=[{"reason": "NamespaceTerminating"}])

    tries: list[Request] = []

    def refusing(request: Request) -> None:
        tries.append(request)
        raise refused(str(request), answer)

    api.before = refusing
    for _ in range(3):
        recorder.record(BOXES, BOX, MISSING)
        await recorder.flush()
        await asyncio.sleep(11)
    assert len(tries) == 1
    assert meter.value("trellis_events_total", fate="dropped") == 3.0
