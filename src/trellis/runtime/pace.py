# SPDX-License-Identifier: Apache-2.0
"""How often a key may have its turn: at once while it is quiet, ever so often in a stream. Pure.

What happens to a thousand pods within seconds wakes their owner a thousand times. Its first turns
come at once, so that nobody waits for nothing; then they are spaced, and each does the work of all
that came meanwhile. When the stream ends, nobody has to wait for the next turn in line: it comes as
soon as nothing has happened for a moment.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

K = TypeVar("K")

# Keys that have been quiet for long are forgotten when there are twice as many as at the last look.
_SWEEP_FLOOR = 1024


@dataclass(frozen=True, slots=True)
class Pace:
    """So many turns at once, and one more every so many seconds. Without seconds there is none."""

    burst: int = 1
    seconds: float = 0.0
    lull: float = 0.0
    """After so many seconds in which nothing happened there is another turn anyway; 0: there is
    not."""


STEADY = Pace()


class Paced(Generic[K]):
    """What each key has used up. `full_at` is when a key has all its turns again."""

    def __init__(self, pace: Pace) -> None:
        self._pace = pace
        self._full_at: dict[K, float] = {}
        self._sweep_at = _SWEEP_FLOOR

    def __len__(self) -> int:
        return len(self._full_at)

    def took(self, key: K, now: float) -> None:
        """The key had a turn. Turns that it had in lulls do not put off the next one for longer."""
        if self._pace.seconds:
            full = max(self._full_at.get(key, now), now) + self._pace.seconds
            self._full_at[key] = min(full, now + self._pace.burst * self._pace.seconds)
            self._sweep(now)

    def due(self, key: K, now: float) -> float:
        """When the key may have its next turn at the latest: now, or later."""
        full = self._full_at.get(key, now)
        return max(now, full - (self._pace.burst - 1) * self._pace.seconds)

    def lull(self, key: K, now: float) -> float:
        """When it may have its next turn if nothing happens until then."""
        latest = self.due(key, now)
        return min(now + self._pace.lull, latest) if self._pace.lull else latest

    def _sweep(self, now: float) -> None:
        if len(self._full_at) >= self._sweep_at:
            self._full_at = {key: full for key, full in self._full_at.items() if full > now}
            self._sweep_at = max(_SWEEP_FLOOR, 2 * len(self._full_at))
