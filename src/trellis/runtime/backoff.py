# SPDX-License-Identifier: Apache-2.0
"""How long to wait before something that failed is tried again. Pure but for the dice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from random import Random


@dataclass(frozen=True, slots=True, kw_only=True)
class Backoff:
    """Doubles from `first` to `longest` seconds, spread so that what failed together parts."""

    first: float = 0.005
    longest: float = 300.0

    def delay(self, failures: int, rng: Random) -> float:
        """After that many failures in a row, at least one: from half of the ceiling up to it."""
        # Beyond that many doublings a float would overflow long before anybody's patience ends.
        ceiling = min(self.longest, self.first * 2.0 ** min(failures - 1, 60))
        return ceiling * (0.5 + rng.random() / 2)
