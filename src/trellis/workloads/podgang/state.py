# SPDX-License-Identifier: Apache-2.0
"""All that one pass over a gang may look at, read once. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from trellis.workloads.excess import counted
from trellis.workloads.outline import min_available

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from datetime import datetime, timedelta

    from trellis.api.core.pod import Pod
    from trellis.api.grove.podclique import PodClique
    from trellis.api.grove.podcliqueset import PodCliqueSet
    from trellis.api.meta import Key
    from trellis.api.scheduler.podgang import PodGang
    from trellis.workloads.ledger import Listed
    from trellis.workloads.outline import Member, Outline
    from trellis.workloads.podgang.membership import Place


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One PodClique of a gang, and by name its pods and whatever has a name listed for it.

    `listed` is None where the gang does not list it, and where it is not ours yet: what lives is
    taken as it is then.
    """

    member: Member
    clique: PodClique
    pods: Mapping[str, Pod]
    listed: Listed | None = None
    gone: Collection[str] = ()
    """Names of pods that were seen and are no more."""
    doubtful: Collection[str] = ()
    """Listed names that somebody else's pods seem to have. See `taken`."""
    taken: Collection[str] = ()
    """Those that they have indeed: its own pods are to have others."""
    failed_for: Mapping[str, timedelta] = field(default_factory=dict)
    """For how long failed pods have been seen so."""
    most: int
    """How many pods it may have at all; where it asks for more, it keeps what it has."""

    @property
    def name(self) -> str:
        return self.member.name

    @property
    def replicas(self) -> int:
        there = self.pods if self.listed is None else self.listed
        return counted(self.clique.spec.replicas, self.most, len(there))

    @property
    def minimum(self) -> int:
        """How many pods must be there together."""
        return min(min_available(self.member.template), self.replicas)


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """A gang that its set wants. `expected` are the names of its PodCliques, there or not.

    `parts` are those that are there, `absent` those that are not; `listed_names` is the ledger as
    it is stored, or was until somebody deleted the gang, and so are `stamps`: when which were last
    made anew. `base` is the gang that a scaled one comes after, if there is one.
    """

    key: Key
    set: PodCliqueSet
    outline: Outline
    place: Place
    gang: PodGang | None
    expected: tuple[str, ...]
    parts: tuple[Part, ...]
    absent: tuple[Member, ...] = ()
    listed_names: Mapping[str, Sequence[str]] = field(default_factory=dict)
    stamps: Mapping[str, datetime] = field(default_factory=dict)
    base: PodGang | None = None
    missing_classes: tuple[str, ...] = ()
    """The PriorityClasses that its set asks for and that do not exist. Looked for in an update."""

    @property
    def is_complete(self) -> bool:
        """Whether all its PodCliques are there."""
        return len(self.parts) == len(self.expected)

    @property
    def is_scaled(self) -> bool:
        return self.place.group is not None

    def members_of(self, group: str, index: int) -> tuple[str, ...]:
        """Its PodCliques that are in that replica of the scaling group with that full name."""
        places = ((part.name, part.member.place.group) for part in self.parts)
        return tuple(
            name
            for name, place in places
            if place is not None and (place.full_name, place.replica) == (group, index)
        )
