# SPDX-License-Identifier: Apache-2.0
"""All that one pass over a scaling group may look at, read once. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from trellis.api.labels import SET_REPLICA_INDEX

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from trellis.api.grove.podclique import PodClique
    from trellis.api.grove.podcliqueset import PodCliqueSet
    from trellis.api.grove.scalinggroup import PodCliqueScalingGroup
    from trellis.api.grove.template import ScalingGroupTemplate
    from trellis.workloads.outline import Member, Outline


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a group stands: in which replica of which set, made from which template."""

    outline: Outline
    replica: int
    config: ScalingGroupTemplate


@dataclass(frozen=True, slots=True)
class Seat:
    """A PodClique that is to be, and the one that is there and stays.

    `settled`: it was found to be as wanted, and has not changed since.
    """

    member: Member
    live: PodClique | None = None
    settled: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Replica:
    """One replica of the group. `recycled`: when which of its PodCliques were last made anew."""

    index: int
    seats: tuple[Seat, ...]
    recycled: Mapping[str, datetime]


@dataclass(frozen=True, kw_only=True)
class State:
    """`owner` is the set as it is stored now.

    `others`: what it has besides its members, and what holds names of members to be.
    `missing_classes`: the PriorityClasses that its set asks for and that do not exist.
    `most`: how many replicas it may have at all; with more, nothing is done for it.
    """

    group: PodCliqueScalingGroup
    owner: PodCliqueSet
    place: Place
    replicas: tuple[Replica, ...]
    others: tuple[PodClique, ...] = ()
    missing_classes: tuple[str, ...] = ()
    most: int

    @property
    def is_excessive(self) -> bool:
        return self.group.spec.replicas > self.most

    @cached_property
    def seats(self) -> tuple[Seat, ...]:
        return tuple(seat for replica in self.replicas for seat in replica.seats)


def place_of(group: PodCliqueScalingGroup, outline: Outline) -> Place | None:
    """None: the set has no such group, or not that many replicas. It is being removed then."""
    label = group.metadata.labels.get(SET_REPLICA_INDEX, "")
    # A label that somebody has changed is put right by whoever looks after the set's replica.
    if not (label.isascii() and label.isdecimal() and len(label) <= 9):
        return None
    replica = int(label)
    if replica >= outline.replicas:
        return None
    for config in outline.groups.values():
        if outline.group_name(replica, config) == group.metadata.name:
            return Place(outline=outline, replica=replica, config=config)
    return None
