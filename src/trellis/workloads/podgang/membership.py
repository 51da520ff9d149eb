# SPDX-License-Identifier: Apache-2.0
"""Which gang of its set a PodGang is, whether it is wanted, and which PodCliques are in it. Pure.

Labels say where to look; what is found there counts only if its name, worked out forwards from the
set, is the name of the gang.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from trellis.api.labels import (
    SCALING_GROUP,
    SCALING_GROUP_REPLICA_INDEX,
    SET_REPLICA_INDEX,
    GroupPlace,
    number,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trellis.api.grove.template import ScalingGroupTemplate
    from trellis.workloads.outline import Member, Outline

Live: TypeAlias = Mapping[str, int]
"""How many replicas each scaling group of a replica has now, by the group's own name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A gang of a set: the base gang of a replica, or that of one replica of a scaling group."""

    replica: int
    group: ScalingGroupTemplate | None = None
    index: int = 0

    def gang(self, outline: Outline) -> str:
        return outline.gang_of(self.replica, self.group, self.index)

    def group_place(self, outline: Outline) -> GroupPlace | None:
        """How the replica of the scaling group is labelled, if it is one."""
        if self.group is None:
            return None
        full_name = outline.group_name(self.replica, self.group)
        return GroupPlace(name=self.group.name, full_name=full_name, replica=self.index)


def place_of(outline: Outline, gang: str, marks: Iterable[Mapping[str, str]]) -> Place | None:
    """The place of the gang with that name. `marks` are labels: of its PodCliques, or its own.

    None: the set has no such gang, or nothing is left that says which it is.
    """
    for marked in marks:
        place = _marked(outline, marked)
        if place is not None and place.gang(outline) == gang:
            return place
    return None


def is_wanted(outline: Outline, place: Place, live: Live) -> bool:
    if place.replica >= outline.replicas:
        return False
    return place.group is None or place.index < live.get(place.group.name, 0)


def expected(outline: Outline, place: Place, live: Live) -> tuple[Member, ...]:
    """The PodCliques of the gang, whether they are there or not."""
    if place.group is None:
        return outline.base_members(place.replica, live)
    return outline.grouped(place.replica, place.group, place.index)


def _marked(outline: Outline, marked: Mapping[str, str]) -> Place | None:
    replica = number(marked, SET_REPLICA_INDEX)
    if replica is None:
        return None
    if SCALING_GROUP not in marked:
        return Place(replica=replica)
    index = number(marked, SCALING_GROUP_REPLICA_INDEX)
    groups = outline.groups.values()
    full_name = marked[SCALING_GROUP]
    group = next((one for one in groups if outline.group_name(replica, one) == full_name), None)
    if index is None or group is None:
        return None
    if index < group.min_available:
        return Place(replica=replica)
    return Place(replica=replica, group=group, index=index)
