# SPDX-License-Identifier: Apache-2.0
"""All objects that the status of a set is told from, by key, worked out once for an outline. Pure.

A set of hundreds of replicas is looked at several times a second while it starts: what does not
change meanwhile must not be worked out anew.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from trellis.api.annotation import APPLIED
from trellis.api.meta import Key
from trellis.workloads.members import applied
from trellis.workloads.outline import min_available
from trellis.workloads.podcliqueset.desired import scaling_group
from trellis.workloads.priorities import priority_classes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from trellis.api.grove.template import CliqueTemplate, ScalingGroupTemplate
    from trellis.workloads.outline import Member, Outline

_MOST = 1024


@dataclass(frozen=True, slots=True)
class Slot:
    """A PodClique or scaling group: where it is, the mark it is to bear, and its minimum."""

    key: Key
    mark: str
    least: int


@dataclass(frozen=True, slots=True)
class CliqueSlot(Slot):
    """`template_hash` is what it is to bear for the template that it is to have."""

    template: CliqueTemplate
    template_hash: str


@dataclass(frozen=True, slots=True)
class GroupSlot(Slot):
    replica: int
    template: ScalingGroupTemplate


@dataclass(frozen=True, slots=True)
class ReplicaSlots:
    """One replica of a set. `gang` is its base gang."""

    index: int
    gang: Key
    cliques: tuple[CliqueSlot, ...]
    groups: tuple[GroupSlot, ...]


class Layout:
    def __init__(self, outline: Outline) -> None:
        self.outline = outline
        self._namespace = outline.set.metadata.namespace
        self._members: dict[tuple[Key, int], tuple[CliqueSlot, ...]] = {}
        self._gangs: dict[tuple[Key, int], Key] = {}

    @cached_property
    def replicas(self) -> tuple[ReplicaSlots, ...]:
        return tuple(self._replica(index) for index in range(self.outline.replicas))

    @cached_property
    def priority_classes(self) -> tuple[str, ...]:
        return priority_classes(self.outline.set)

    def members(self, group: GroupSlot, count: int) -> Iterator[Sequence[CliqueSlot]]:
        """The PodCliques of each of so many replicas of a scaling group."""
        for index in range(count):
            known = self._members.get((group.key, index))
            if known is None:
                members = self.outline.grouped(group.replica, group.template, index)
                known = tuple(self._clique(member) for member in members)
                self._members[group.key, index] = known
            yield known

    def scaled_gangs(self, group: GroupSlot, count: int) -> Iterator[Key]:
        """The gangs of those of so many replicas of a scaling group that are in no base gang."""
        for index in range(group.least, count):
            known = self._gangs.get((group.key, index))
            if known is None:
                name = self.outline.gang_of(group.replica, group.template, index)
                known = self._gangs[group.key, index] = Key(self._namespace, name)
            yield known

    def _replica(self, index: int) -> ReplicaSlots:
        return ReplicaSlots(
            index,
            Key(self._namespace, self.outline.base_gang(index)),
            tuple(self._clique(member) for member in self.outline.alone(index)),
            tuple(self._group(index, template) for template in self.outline.groups.values()),
        )

    def _clique(self, member: Member) -> CliqueSlot:
        return CliqueSlot(
            Key(self._namespace, member.name),
            applied(self.outline, member),
            min_available(member.template),
            member.template,
            self.outline.template_hashes[member.template.name],
        )

    def _group(self, replica: int, template: ScalingGroupTemplate) -> GroupSlot:
        wanted = scaling_group(self.outline, replica, template, None).metadata
        mark = wanted.annotations[APPLIED]
        return GroupSlot(wanted.key, mark, template.min_available, replica, template)


class Layouts:
    """Of the sets looked at last, by uid."""

    def __init__(self, most: int = _MOST) -> None:
        self._most = most
        self._known: OrderedDict[str, Layout] = OrderedDict()

    def of(self, outline: Outline) -> Layout:
        uid = outline.set.metadata.uid
        known = self._known.get(uid)
        if known is None or known.outline is not outline:
            known = self._known[uid] = Layout(outline)
        self._known.move_to_end(uid)
        if len(self._known) > self._most:
            self._known.popitem(last=False)
        return known
