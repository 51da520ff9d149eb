# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import asyncio
import threading

from structlog.testing import capture_logs

from tests.support import virtual
from tests.support.virtual import VirtualClock, dice
from trellis.runtime.env import Env
from trellis.runtime.watchdog import Pulse, Watchdog, frames_of


def test_a_stall_is_reported_once_and_the_next_one_again() -> None:
    pulse = Pulse(0.0)
    assert [pulse.stalled(now) for now in (0.5, 1.0, 1.5, 2.0, 9.0)] == [
        None,
        None,
        1.5,
        None,
        None,
    ]
    pulse.beat(9.5)
    assert [pulse.stalled(now) for now in (10.0, 11.0)] == [None, 1.5]


def test_a_beat_knows_how_late_it_is() -> None:
    pulse = Pulse(0.0)
    assert [pulse.beat(now) for now in (0.25, 0.5, 1.75)] == [0.0, 0.0, 1.0]


@virtual.virtual
async def test_a_loop_that_hangs_is_logged_with_where_it_hangs() -> None:
    env = Env(clock=VirtualClock(), rng=dice(1))
    dog = Watchdog(env)
    await asyncio.sleep(2.5)
    with capture_logs() as logs:
        dog.look(lambda: "in a long loop")
        dog.look(lambda: "in a long loop")
    assert logs == [
        {
            "event": "event loop hangs",
            "module": "trellis.runtime.watchdog",
            "seconds": 2.5,
            "stack": "in a long loop",
            "log_level": "error",
        }
    ]
    assert env.meter.value("trellis_loop_stalls_total") == 1.0


def test_the_stack_is_that_of_the_thread_that_is_asked_about() -> None:
    assert "test_the_stack_is_that_of_the_thread" in frames_of(threading.get_ident())()
    assert frames_of(-1)() == ""


@virtual.virtual
async def test_a_loop_that_moves_is_left_alone() -> None:
    env = Env(clock=VirtualClock(), rng=dice(1))
    dog = Watchdog(env)
    beating = asyncio.create_task(dog.beat())
    await asyncio.sleep(60)
    dog.look(lambda: "nowhere")
    assert env.meter.value("trellis_loop_stalls_total") == 0.0
    assert env.meter.value("trellis_loop_lag_seconds") == 0.0
    beating.cancel()
