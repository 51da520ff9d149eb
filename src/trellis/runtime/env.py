# SPDX-License-Identifier: Apache-2.0
"""What everything that runs is given: the time, the dice, and where to count."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from trellis.instruments.metrics import Meter

if TYPE_CHECKING:
    from random import Random

    from trellis.instruments.clock import Clock


@dataclass(frozen=True, slots=True, kw_only=True)
class Env:
    clock: Clock
    rng: Random
    meter: Meter = field(default_factory=Meter)
