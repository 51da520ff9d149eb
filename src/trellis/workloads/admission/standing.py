# SPDX-License-Identifier: Apache-2.0
"""How the parts of a set are scaled now, besides the one that is about to be. Pure.

What is not made yet comes with the numbers of its template, so only what differs from those is
counted: a pass over what there is, whatever the numbers are.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from trellis.api.labels import (
    SET_REPLICA_INDEX,
    SHORT_CLIQUE_NAME,
    SHORT_GROUP_NAME,
    number,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from trellis.api.grove.podclique import PodClique
    from trellis.api.grove.scalinggroup import PodCliqueScalingGroup
    from trellis.api.meta import Object
    from trellis.workloads.outline import Outline


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """`more_pods`: by how many, in all of the set, the other parts pass what their templates say.

    `groups`: how many replicas the scaling groups beside it have, by their own names.
    """

    more_pods: int = 0
    groups: Mapping[str, int] = field(default_factory=dict)


def standing(
    outline: Outline,
    part: Object,
    groups: Iterable[PodCliqueScalingGroup],
    cliques: Iterable[PodClique],
) -> Standing:
    """`groups` and `cliques` are all of the set; `part` is one of them, and left out."""
    beside = number(part.metadata.labels, SET_REPLICA_INDEX)
    found: dict[str, int] = {}
    more = 0
    for group in groups:
        name = group.metadata.labels.get(SHORT_GROUP_NAME, "")
        config = outline.groups.get(name)
        if config is None or not _stays(outline, group) or _is(group, part):
            continue
        members = sum(_replicas(outline, member) for member in config.clique_names)
        more += (group.spec.replicas - config.replicas) * members
        if number(group.metadata.labels, SET_REPLICA_INDEX) == beside:
            found[name] = group.spec.replicas
    for clique in cliques:
        name = clique.metadata.labels.get(SHORT_CLIQUE_NAME, "")
        if name in outline.cliques and _stays(outline, clique) and not _is(clique, part):
            more += clique.spec.replicas - _replicas(outline, name)
    return Standing(more_pods=more, groups=found)


def _replicas(outline: Outline, clique: str) -> int:
    template = outline.cliques.get(clique)
    return template.spec.replicas if template else 0


def _stays(outline: Outline, found: Object) -> bool:
    replica = number(found.metadata.labels, SET_REPLICA_INDEX)
    return not found.metadata.deleting and replica is not None and replica < outline.replicas


def _is(found: Object, part: Object) -> bool:
    return found.metadata.uid == part.metadata.uid
