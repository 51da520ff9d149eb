# SPDX-License-Identifier: Apache-2.0
"""The watchdog on a real loop: whoever blocks it is named while it still does."""

from __future__ import annotations

import asyncio
import io
import json
import threading
from random import Random

from tests.support.quiet import restored_logs
from trellis.instruments import logs
from trellis.instruments.clock import SystemClock
from trellis.runtime.env import Env
from trellis.runtime.watchdog import Watchdog

PATIENCE_SECONDS = 30.0


class Listening(io.StringIO):
    """A log that lets the blocker go as soon as somebody has complained of it."""

    def __init__(self) -> None:
        super().__init__()
        self.heard = threading.Event()

    def write(self, text: str) -> int:
        written = super().write(text)
        if "event loop hangs" in text:
            self.heard.set()
        return written


def block_the_loop(until: threading.Event) -> None:
    assert until.wait(PATIENCE_SECONDS), "nobody noticed"


async def test_whoever_blocks_the_loop_is_named() -> None:
    stream = Listening()
    env = Env(clock=SystemClock(), rng=Random(0))  # noqa: S311
    with restored_logs():
        logs.configure(env.clock, stream=stream)
        watching = asyncio.create_task(Watchdog(env).run())
        await asyncio.sleep(0)
        block_the_loop(stream.heard)
        watching.cancel()
        await asyncio.wait({watching})
    (line,) = [json.loads(each) for each in stream.getvalue().splitlines()]
    assert line["level"] == "error"
    assert "block_the_loop" in line["stack"]
    assert env.meter.value("trellis_loop_stalls_total") == 1.0
