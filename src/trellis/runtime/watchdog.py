# SPDX-License-Identifier: Apache-2.0
"""Notices that the event loop hangs, and says where.

One blocking call stops everything at once: renewals, probes, watches. The loop cannot tell, so a
thread does; it only ever reads, and logs.
"""

from __future__ import annotations

import sys
import threading
import traceback
from typing import TYPE_CHECKING

from trellis.instruments.logs import logger

if TYPE_CHECKING:
    from collections.abc import Callable

    from trellis.runtime.env import Env

BEAT_SECONDS = 0.25
STALL_SECONDS = 1.0

_log = logger(__name__)


class Pulse:
    """When the loop last moved. Pure: the times are given."""

    def __init__(self, now: float) -> None:
        self._beat = now
        self._reported = False

    def beat(self, now: float) -> float:
        """The loop moves; returns by how many seconds it is late."""
        late = max(0.0, now - self._beat - BEAT_SECONDS)
        self._beat = now
        self._reported = False
        return late

    def stalled(self, now: float) -> float | None:
        """For how long it has not moved, once a stall."""
        still = now - self._beat
        if self._reported or still <= STALL_SECONDS:
            return None
        self._reported = True
        return still


class Watchdog:
    """`run` is run on the loop that is watched; a thread of its own looks on."""

    def __init__(self, env: Env) -> None:
        self._clock = env.clock
        self._pulse = Pulse(env.clock.monotonic())
        self._stop = threading.Event()
        self._lag = env.meter.gauge("trellis_loop_lag_seconds", "How late the event loop is.")
        self._stalls = env.meter.counter("trellis_loop_stalls_total", "Hangs over a second.")

    async def run(self) -> None:
        """For ever."""
        looking = threading.Thread(
            target=self._look_on,
            args=(frames_of(threading.get_ident()),),
            name="watchdog",
            daemon=True,
        )
        looking.start()
        try:
            await self.beat()
        finally:
            self._stop.set()

    async def beat(self) -> None:
        while True:
            self._lag.set(self._pulse.beat(self._clock.monotonic()))
            await self._clock.sleep(BEAT_SECONDS)

    def look(self, frames: Callable[[], str]) -> None:
        """Reports a stall if there is one. `frames` tells where the loop is."""
        still = self._pulse.stalled(self._clock.monotonic())
        if still is not None:
            self._stalls.inc()
            _log.error("event loop hangs", seconds=round(still, 2), stack=frames())

    def _look_on(self, frames: Callable[[], str]) -> None:
        while not self._stop.wait(BEAT_SECONDS):
            self.look(frames)


def frames_of(thread: int) -> Callable[[], str]:
    """Tells where a thread is, whenever it is asked."""

    def frames() -> str:
        frame = sys._current_frames().get(thread)
        return "".join(traceback.format_stack(frame)) if frame is not None else ""

    return frames
