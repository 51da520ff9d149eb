# SPDX-License-Identifier: Apache-2.0
"""The cluster as admission may look at it: what is stored, by caches that the process keeps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trellis.api.grove.podclique import PodClique
from trellis.api.grove.scalinggroup import PodCliqueScalingGroup
from trellis.workloads.admission.parts import Part
from trellis.workloads.admission.policy import Stored
from trellis.workloads.admission.standing import Standing, standing
from trellis.workloads.admission.switching import pods_to_roll
from trellis.workloads.caches import BY_SET
from trellis.workloads.outline import Outline
from trellis.workloads.podclique.state import member_of
from trellis.workloads.scalinggroup.state import place_of

if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import Any

    from trellis.api.meta import Key, Object
    from trellis.runtime.cache import Cache
    from trellis.workloads.caches import Caches


def read_by_admission(caches: Caches) -> tuple[Cache[Any], ...]:
    """What must be kept for `stored`."""
    return caches.sets, caches.cliques, caches.groups


def stored(caches: Caches) -> Stored:
    def minimum_at(plural: str, key: Key) -> int | None:
        if plural == PodClique.resource.plural:
            clique = caches.cliques.get(key)
            return clique.spec.min_available if clique else None
        if plural == PodCliqueScalingGroup.resource.plural:
            group = caches.groups.get(key)
            return group.spec.min_available if group else None
        return None

    def part_at(plural: str, key: Key) -> Part | None:
        if plural == PodClique.resource.plural:
            return _clique_part(caches, caches.cliques.get(key))
        if plural == PodCliqueScalingGroup.resource.plural:
            return _group_part(caches, caches.groups.get(key))
        return None

    def rolled_at(key: Key, changed: Collection[str]) -> int:
        return pods_to_roll(caches.cliques.find(BY_SET, str(key)), changed)

    return Stored(
        set_at=caches.sets.get, minimum_at=minimum_at, part_at=part_at, rolled_at=rolled_at
    )


def _clique_part(caches: Caches, clique: PodClique | None) -> Part | None:
    owner = caches.set_of(clique) if clique else None
    if clique is None or owner is None:
        return None
    outline = Outline(owner)
    member = member_of(outline, clique)
    if member is None:
        return None
    place = member.place
    return Part(
        set=owner,
        replica=place.set_replica,
        group=place.group.name if place.group else "",
        index=place.group.replica if place.group else 0,
        clique=place.clique,
        others=_others(caches, outline, clique),
    )


def _group_part(caches: Caches, group: PodCliqueScalingGroup | None) -> Part | None:
    owner = caches.set_of(group) if group else None
    if group is None or owner is None:
        return None
    outline = Outline(owner)
    place = place_of(group, outline)
    if place is None:
        return None
    others = _others(caches, outline, group)
    return Part(set=owner, replica=place.replica, group=place.config.name, others=others)


def _others(caches: Caches, outline: Outline, part: Object) -> Standing:
    key = str(outline.set.metadata.key)
    groups, cliques = caches.groups.find(BY_SET, key), caches.cliques.find(BY_SET, key)
    return standing(outline, part, groups, cliques)
