# SPDX-License-Identifier: Apache-2.0
"""How a run of a reconciler ends. To be tried again after a failure, it raises instead."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

# Whoever comes back sooner may find that, for all its clock can tell, it is still too early: for
# ever, where time stands still while there is work, as it does in simulations.
LEAST_SECONDS = 0.001


@dataclass(frozen=True, slots=True)
class Done:
    """Nothing is left to do until something changes."""


@dataclass(frozen=True, slots=True)
class Again:
    """Nothing is left to do now; look again after that many seconds, or when something changes."""

    after: float

    def __post_init__(self) -> None:
        # A time that has passed already means: as soon as the others had their turn.
        object.__setattr__(self, "after", max(LEAST_SECONDS, self.after))


@dataclass(frozen=True, slots=True)
class FailedForGood:
    """Trying again cannot help: only a change of the object, or of what it refers to, can."""

    reason: str


Outcome: TypeAlias = Done | Again | FailedForGood
DONE = Done()
