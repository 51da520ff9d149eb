# SPDX-License-Identifier: Apache-2.0
"""All that one decision about an update looks at, read once. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING

from trellis.api.grove.updates import ON_DELETE, ROLLING_RECREATE

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from trellis.workloads.updates.choosing import Unit
    from trellis.workloads.updates.decisions import Why
    from trellis.workloads.updates.facts import PodFacts, ReplicaFacts, SetReplicaFacts


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """How fast an update may go. `settle`: how long what is Ready must stay so before it counts."""

    max_unavailable: int = 1
    progress_deadline: timedelta | None = None
    settle: timedelta = timedelta()

    @property
    def most(self) -> int:
        """How many may be down at once. With none, nothing could ever be renewed."""
        return max(self.max_unavailable, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class RollState:
    """What PodCliques and scaling groups have in common.

    `its_turn`: the replica of the set that it is in is the one being updated. `at_start`: how many
    pods were Ready, or replicas available, when the update began; `started`: when that was.
    `obstacle`: why nothing can be made in the place of what goes: what is of use stays then.
    `refusal`: what keeps what is missing from being made.
    """

    now: datetime
    strategy: str = ROLLING_RECREATE
    minimum: int = 0
    at_start: int = 0
    started: datetime | None = None
    budget: Budget = field(default_factory=Budget)
    its_turn: bool = True
    obstacle: Why | None = None
    refusal: Why | None = None

    @property
    def by_hand(self) -> bool:
        """Whether what is outdated is left until somebody deletes it."""
        return self.strategy == ON_DELETE

    def needed(self, units: Sequence[Unit]) -> int:
        """How many must be available for the update to end."""
        return min(max(self.minimum, self.at_start), len(units))

    def is_whole(self, available: int) -> bool:
        """Whether all that the update has taken down is up again, or as many others."""
        return available >= self.at_start


@dataclass(frozen=True, slots=True, kw_only=True)
class CliqueState(RollState):
    """A PodClique in no scaling group. `pods`: one for each listed index, as many as are wanted.

    `current`: the hashes of pods that are up to date.
    """

    pods: tuple[PodFacts, ...]
    current: frozenset[str]

    def is_whole(self, available: int) -> bool:
        """What was noted at the start says nothing where more have come up since."""
        return available == min(self.at_start, len(self.pods))


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupState(RollState):
    """A scaling group: all replicas that are wanted of it.

    `were_up`: those that were available when they were released, or are and were not yet.
    """

    replicas: tuple[ReplicaFacts, ...]
    were_up: frozenset[int] = frozenset()

    def needed(self, units: Sequence[Unit]) -> int:
        """Also what has come up since. What was up before and finds no room now is given up where
        as many are up as were."""
        up = sum(
            unit.available or (unit.index in self.were_up and not unit.stuck) for unit in units
        )
        return max(min(max(self.minimum, self.at_start), len(units)), up)


@dataclass(frozen=True, slots=True, kw_only=True)
class SetState:
    """A set. `selected`: the replicas that its status says are being updated."""

    replicas: tuple[SetReplicaFacts, ...]
    strategy: str = ROLLING_RECREATE
    selected: tuple[int, ...] = ()

    @property
    def by_hand(self) -> bool:
        return self.strategy == ON_DELETE
