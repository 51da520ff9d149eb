# SPDX-License-Identifier: Apache-2.0
"""Time as a parameter: the one module that may read the machine's clock.

Whatever waits or stamps takes a `Clock`, so that a virtual one can drive it in tests.
"""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    def now(self) -> datetime:
        """The time of day in UTC, for people to read: it may jump, so durations are not its use."""

    def monotonic(self) -> float:
        """Seconds from an arbitrary start, which never go back. For durations and deadlines."""

    async def sleep(self, seconds: float) -> None:
        """Waits that long; zero or less only lets others run."""


class SystemClock:
    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(max(0.0, seconds))
