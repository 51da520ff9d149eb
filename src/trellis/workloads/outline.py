# SPDX-License-Identifier: Apache-2.0
"""What a PodCliqueSet is made of: its cliques, where each stands, in which gang, after whom. Pure.

Which object belongs to which clique is decided here by exact names, worked out forwards from the
template. Nothing takes a name apart: `worker` and `gpu-worker` of one set are never mixed up.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from trellis.api import hashes, names
from trellis.api.grove.template import EXPLICIT, IN_ORDER
from trellis.api.labels import CliquePlace, GroupPlace

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from trellis.api.grove.podcliqueset import PodCliqueSet
    from trellis.api.grove.template import CliqueTemplate, ScalingGroupTemplate


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One PodClique that is to be: its full name, its place and its template."""

    name: str
    place: CliquePlace
    template: CliqueTemplate
    group: ScalingGroupTemplate | None = None


@dataclass(frozen=True, slots=True)
class Parent:
    """A PodClique that others start after, and how many of its pods must be ready for that."""

    name: str
    needed: int
    member: Member | None = field(default=None, compare=False)
    """That PodClique, where it is known."""


@dataclass(frozen=True)
class Outline:
    """A set, unfolded. Made once for a version of the set and shared by all who read it."""

    set: PodCliqueSet

    @property
    def name(self) -> str:
        return self.set.metadata.name

    @property
    def replicas(self) -> int:
        return self.set.spec.replicas

    @cached_property
    def cliques(self) -> Mapping[str, CliqueTemplate]:
        """Every clique of the template by its own name, in the order of the template."""
        return {clique.name: clique for clique in self.set.spec.template.cliques}

    @cached_property
    def groups(self) -> Mapping[str, ScalingGroupTemplate]:
        """Every scaling group by its own name."""
        return {group.name: group for group in self.set.spec.template.pod_clique_scaling_groups}

    @cached_property
    def group_of(self) -> Mapping[str, ScalingGroupTemplate]:
        """The scaling group of each clique that is in one."""
        return {name: group for group in self.groups.values() for name in group.clique_names}

    @cached_property
    def standalone(self) -> tuple[CliqueTemplate, ...]:
        return tuple(one for one in self.cliques.values() if one.name not in self.group_of)

    def base_gang(self, replica: int) -> str:
        return names.set_replica(self.name, replica)

    def group_name(self, replica: int, group: ScalingGroupTemplate) -> str:
        return names.scaling_group(self.name, replica, group.name)

    def gang_of(
        self, replica: int, group: ScalingGroupTemplate | None = None, index: int = 0
    ) -> str:
        """The gang of a replica's standalone cliques, or of one replica of its scaling group."""
        if group is None or index < group.min_available:
            return self.base_gang(replica)
        return names.scaled_gang(self.group_name(replica, group), index, group.min_available)

    def alone(self, replica: int) -> tuple[Member, ...]:
        """The PodCliques of a replica that are in no scaling group."""
        return tuple(self._alone(replica, template) for template in self.standalone)

    def grouped(self, replica: int, group: ScalingGroupTemplate, index: int) -> tuple[Member, ...]:
        """The PodCliques of one replica of a scaling group, in the order that numbers pods."""
        return tuple(
            self._grouped(replica, group, index, self.cliques[name]) for name in group.clique_names
        )

    def base_members(self, replica: int, live: Mapping[str, int]) -> tuple[Member, ...]:
        """The PodCliques of a base gang. `live`: how many replicas each scaling group has now."""
        found = list(self.alone(replica))
        for group in self.groups.values():
            for index in range(min(live.get(group.name, 0), group.min_available)):
                found += self.grouped(replica, group, index)
        return tuple(found)

    def parents(self, member: Member) -> tuple[Parent, ...]:
        """The PodCliques that must have their minimum ready before this one starts.

        A parent in a scaling group stands for all its PodCliques in the base gang. What is in a
        scaled gang waits for its own replica of the group alone: the base gang runs by then.
        """
        found: list[Parent] = []
        for template in self._parent_templates(member):
            found += self._parent_cliques(member, template)
        return tuple(found)

    @cached_property
    def template_hashes(self) -> Mapping[str, str]:
        """What the pods of each clique are to carry, by the clique's own name."""
        priority = self.set.spec.template.priority_class_name
        return {
            name: hashes.template_hash(clique, priority) for name, clique in self.cliques.items()
        }

    @cached_property
    def generation_hash(self) -> str:
        """The hash of all cliques together."""
        return hashes.generation_hash(self.template_hashes)

    @cached_property
    def group_hashes(self) -> Mapping[str, str]:
        """The hash of all cliques of each scaling group together, by the group's own name."""
        return {
            group.name: hashes.generation_hash(
                {name: self.template_hashes.get(name, "") for name in group.clique_names}
            )
            for group in self.groups.values()
        }

    @cached_property
    def waits(self) -> bool:
        """Whether any clique starts after another one."""
        return any(self._named_parents(clique) for clique in self.cliques.values())

    def _alone(self, replica: int, template: CliqueTemplate) -> Member:
        place = CliquePlace(
            set_name=self.name,
            set_replica=replica,
            clique=template.name,
            gang=self.base_gang(replica),
        )
        name = names.clique(self.name, replica, template.name)
        return Member(name=name, place=place, template=template)

    def _grouped(
        self, replica: int, group: ScalingGroupTemplate, index: int, template: CliqueTemplate
    ) -> Member:
        full_name = self.group_name(replica, group)
        scaled = index >= group.min_available
        place = CliquePlace(
            set_name=self.name,
            set_replica=replica,
            clique=template.name,
            gang=self.gang_of(replica, group, index),
            group=GroupPlace(name=group.name, full_name=full_name, replica=index),
            base_gang=self.base_gang(replica) if scaled else "",
        )
        name = names.member_clique(full_name, index, template.name)
        return Member(name=name, place=place, template=template, group=group)

    def _parent_templates(self, member: Member) -> Iterator[CliqueTemplate]:
        if member.group is None or not member.place.base_gang:
            yield from self._named_parents(member.template)
            return
        if self.set.spec.template.clique_startup_type == IN_ORDER:
            # The nearest before it in its own group; others between them are none of its business.
            order = [name for name in self.cliques if name in member.group.clique_names]
            position = order.index(member.template.name)
            yield from (self.cliques[name] for name in order[max(position - 1, 0) : position])
            return
        for template in self._named_parents(member.template):
            if template.name in member.group.clique_names:
                yield template

    def _named_parents(self, template: CliqueTemplate) -> tuple[CliqueTemplate, ...]:
        startup = self.set.spec.template.clique_startup_type
        if startup == IN_ORDER:
            order = list(self.cliques)
            position = order.index(template.name)
            return tuple(self.cliques[name] for name in order[max(position - 1, 0) : position])
        if startup == EXPLICIT:
            known = (self.cliques.get(name) for name in template.spec.starts_after)
            return tuple(one for one in known if one is not None)
        return ()

    def _parent_cliques(self, member: Member, template: CliqueTemplate) -> Iterator[Parent]:
        needed, replica = min_available(template), member.place.set_replica
        group = self.group_of.get(template.name)
        if group is None:
            members = [self._alone(replica, template)]
        else:
            own = member.place.group if member.place.base_gang else None
            indices = (own.replica,) if own else range(group.min_available)
            members = [self._grouped(replica, group, index, template) for index in indices]
        yield from (Parent(one.name, needed, one) for one in members)


def min_available(template: CliqueTemplate) -> int:
    """How many pods of a clique make its minimum, before anything is scaled below it."""
    spec = template.spec
    return spec.replicas if spec.min_available is None else spec.min_available
