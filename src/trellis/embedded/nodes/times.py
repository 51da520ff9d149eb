# SPDX-License-Identifier: Apache-2.0
"""The simulator's one measure of time: seconds since 1970 that never jump."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trellis.instruments.clock import Clock


class Times:
    """The time of day as it was at the start, and from then on by the clock that never goes back.

    So one number serves both for stamps in objects and for what is due when.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._offset = clock.now().timestamp() - clock.monotonic()
        self.start = self.now()

    def now(self) -> float:
        return self._offset + self._clock.monotonic()

    def date(self) -> datetime:
        return datetime.fromtimestamp(self.now(), UTC)
