# SPDX-License-Identifier: Apache-2.0
"""What is looked at besides when pods are about to be made: neighbours, parents. Reads caches only.

What a pod is told about them is what is true when it is made; but for how many pods come before it,
which follows them.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby, takewhile
from typing import TYPE_CHECKING

from trellis.api import names
from trellis.api.meta import Key
from trellis.workloads.outline import Parent

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from trellis.api.grove.template import ScalingGroupTemplate
    from trellis.workloads.caches import Caches
    from trellis.workloads.outline import Member
    from trellis.workloads.podclique.state import State


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """`pods_before`: pods of the cliques before this one in its replica of the scaling group."""

    pods_before: int = 0
    parents: tuple[Parent, ...] = ()


def surroundings(caches: Caches, state: State, member: Member) -> Surroundings:
    look = _Look(caches, state)
    return Surroundings(
        pods_before=look.pods_before(member),
        parents=look.parents(member) if state.outline.waits else (),
    )


def pods_before(caches: Caches, state: State, member: Member) -> int:
    """In the same replica of its scaling group."""
    return _Look(caches, state).pods_before(member)


def parents_not_ready(caches: Caches, state: State) -> tuple[str, ...]:
    """The PodCliques whose pods must be ready before those of this one begin, and are not."""
    if state.member is None or not state.outline.waits:
        return ()
    look = _Look(caches, state)
    return tuple(
        parent.name for parent in look.parents(state.member) if look.ready(parent) < parent.needed
    )


class _Look:
    """The caches, as seen from one PodClique."""

    def __init__(self, caches: Caches, state: State) -> None:
        self._caches = caches
        self._outline = state.outline
        self._namespace = state.clique.metadata.namespace
        self._owner = state.owner.metadata.uid

    def pods_before(self, member: Member) -> int:
        group = member.place.group
        if member.group is None or group is None:
            return 0
        found = 0
        for sibling in takewhile(
            lambda name: name != member.template.name, member.group.clique_names
        ):
            full_name = names.member_clique(group.full_name, group.replica, sibling)
            found += self._replicas(full_name, self._outline.cliques[sibling].spec.replicas)
        return found

    def parents(self, member: Member) -> tuple[Parent, ...]:
        """Without those that are scaled away, and never for more pods than a parent is to have."""
        away = frozenset(self._away(member.place.set_replica))
        return tuple(self._standing(member, away, {member.template.name}))

    def _standing(self, member: Member, away: Collection[str], seen: set[str]) -> Iterator[Parent]:
        """What a clique without any pods would wait for is waited for in its place."""
        for clique, parents in groupby(self._outline.parents(member), _clique_of):
            if clique in seen:
                continue
            seen.add(clique)
            counted = [
                Parent(one.name, min(one.needed, self._replicas(one.name, one.needed)), one.member)
                for one in parents
            ]
            standing = [one for one in counted if one.name not in away and one.needed > 0]
            yield from standing
            above = counted[0].member
            if not standing and above is not None:
                yield from self._standing(above, away, seen)

    def ready(self, parent: Parent) -> int:
        found = self._caches.cliques.get(Key(self._namespace, parent.name))
        return 0 if found is None else found.status.ready_replicas

    def _away(self, replica: int) -> Iterator[str]:
        """The PodCliques of base gangs in replicas that their scaling group does not have now."""
        for group in self._outline.groups.values():
            for index in range(self._group_replicas(replica, group), group.min_available):
                yield from (one.name for one in self._outline.grouped(replica, group, index))

    def _replicas(self, clique: str, otherwise: int) -> int:
        found = self._caches.cliques.get(Key(self._namespace, clique))
        return otherwise if found is None else found.spec.replicas

    def _group_replicas(self, replica: int, group: ScalingGroupTemplate) -> int:
        key = Key(self._namespace, self._outline.group_name(replica, group))
        found = self._caches.groups.get(key)
        controller = found.metadata.controller if found is not None else None
        if found is None or controller is None or controller.uid != self._owner:
            return group.replicas
        live: int = found.spec.replicas
        return live


def _clique_of(parent: Parent) -> str:
    return "" if parent.member is None else parent.member.template.name
