# SPDX-License-Identifier: Apache-2.0
"""A command that goes on until it is told to stop: by Ctrl-C, a signal, or its own failure."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Coroutine
from typing import Any

import uvloop

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def serve(work: Coroutine[Any, Any, None]) -> None:
    """The first signal stops the work in order, during its start too; a second one at once."""
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_until_told(work))


async def _until_told(work: Coroutine[Any, Any, None]) -> None:
    loop = asyncio.get_running_loop()
    serving = asyncio.create_task(work)

    def leave() -> None:
        for number in SIGNALS:
            loop.add_signal_handler(number, _end_at_once, number)
        serving.cancel()
        # The terminal may be what has gone away.
        with contextlib.suppress(OSError):
            print("stopping …; Ctrl-C again to stop at once", file=sys.stderr, flush=True)

    for number in SIGNALS:
        loop.add_signal_handler(number, leave)
    with contextlib.suppress(asyncio.CancelledError):
        await serving


def _end_at_once(number: int) -> None:
    """Children notice by themselves that we are gone, and what was acknowledged is kept."""
    os._exit(128 + number)
