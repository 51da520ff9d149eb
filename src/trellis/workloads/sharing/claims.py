# SPDX-License-Identifier: Apache-2.0
"""The ResourceClaims that are to be there, for each of the three levels that pods share at. Pure.

What a claim asks for is decided when it is made and never again: one that is there stays as it is,
whatever has become of its template.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from msgspec import structs

from trellis.api import names
from trellis.api.core.resourceclaim import ResourceClaim
from trellis.api.grove.resourcesharing import PER_REPLICA
from trellis.api.labels import (
    POD_CLIQUE,
    POD_INDEX,
    SCALING_GROUP,
    SHORT_CLIQUE_NAME,
    SHORT_GROUP_NAME,
    Component,
    GroupPlace,
    common,
    of_group_replica,
    of_set_replica,
)
from trellis.api.meta import Metadata, owner
from trellis.workloads.sharing.templates import Unresolved, resolved

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from trellis.api.grove.podclique import PodClique
    from trellis.api.grove.resourcesharing import ResourceSharing
    from trellis.api.grove.scalinggroup import PodCliqueScalingGroup
    from trellis.api.grove.template import ScalingGroupTemplate
    from trellis.api.meta import Object
    from trellis.workloads.outline import Member, Outline
    from trellis.workloads.sharing.templates import Blueprint, Find


@dataclass(frozen=True, slots=True, kw_only=True)
class Claims:
    """What one owner is to have, and what it cannot have because its template is not there."""

    want: tuple[ResourceClaim, ...] = ()
    unresolved: tuple[Unresolved, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What is looked at: the claims that the owner has, and how templates are found."""

    claims: Iterable[ResourceClaim]
    find: Find


def set_claims(outline: Outline, known: Known) -> Claims:
    """Those of a set: for all its replicas together, or for each."""

    def labels(index: int | None) -> dict[str, str]:
        return {} if index is None else of_set_replica(outline.name, index)

    level = _Level(
        owner=outline.set,
        shared=outline.set.spec.template.resource_sharing,
        indices=range(outline.replicas),
        labels=labels,
    )
    return _claims(outline, level, known)


def group_claims(
    outline: Outline, group: PodCliqueScalingGroup, config: ScalingGroupTemplate, known: Known
) -> Claims:
    """Those of a scaling group: for all its replicas together, or for each."""
    full_name = group.metadata.name

    def labels(index: int | None) -> dict[str, str]:
        if index is None:
            return {SCALING_GROUP: full_name, SHORT_GROUP_NAME: config.name}
        return of_group_replica(GroupPlace(name=config.name, full_name=full_name, replica=index))

    level = _Level(
        owner=group,
        shared=config.resource_sharing,
        indices=range(group.spec.replicas),
        labels=labels,
    )
    return _claims(outline, level, known)


def clique_claims(
    outline: Outline, member: Member, clique: PodClique, indices: Sequence[int], known: Known
) -> Claims:
    """Those of a PodClique: for all its pods together, or for that of each of the indices."""

    def labels(index: int | None) -> dict[str, str]:
        named = {POD_CLIQUE: member.name, SHORT_CLIQUE_NAME: member.template.name}
        return named if index is None else named | {POD_INDEX: str(index)}

    level = _Level(
        owner=clique,
        shared=member.template.resource_sharing,
        indices=indices,
        labels=labels,
    )
    return _claims(outline, level, known)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Level:
    """`labels`: what tells the claim of an index, or of all of them, from those of others."""

    owner: Object
    shared: Sequence[ResourceSharing]
    indices: Sequence[int]
    labels: Callable[[int | None], dict[str, str]]


def _claims(outline: Outline, level: _Level, known: Known) -> Claims:
    if not level.shared:
        return Claims()
    live = {one.metadata.name: one for one in known.claims if not one.metadata.deleting}
    want: list[ResourceClaim] = []
    unresolved: dict[Unresolved, None] = {}
    for sharing in level.shared:
        for claim in _of_template(outline, level, sharing, live, known.find):
            if isinstance(claim, Unresolved):
                unresolved[claim] = None
            else:
                want.append(claim)
    return Claims(want=tuple(want), unresolved=tuple(unresolved))


def _of_template(
    outline: Outline,
    level: _Level,
    sharing: ResourceSharing,
    live: Mapping[str, ResourceClaim],
    find: Find,
) -> Iterator[ResourceClaim | Unresolved]:
    blueprint = resolved(outline.set, sharing, find)
    above = level.owner.metadata
    for index in level.indices if sharing.scope == PER_REPLICA else (None,):
        name = names.shared_claim(above.name, sharing.name, index)
        labels = common(outline.name, name, Component.RESOURCE_CLAIM) | level.labels(index)
        metadata = Metadata(
            name=name,
            namespace=above.namespace,
            labels=labels,
            owner_references=(owner(level.owner),),
        )
        if name in live:
            yield ResourceClaim(metadata=metadata, spec=live[name].spec)
        elif isinstance(blueprint, Unresolved):
            yield blueprint
        else:
            yield _new(metadata, blueprint)


def _new(metadata: Metadata, blueprint: Blueprint) -> ResourceClaim:
    marks = blueprint.metadata
    labelled = structs.replace(
        metadata, labels=marks.labels | metadata.labels, annotations=marks.annotations
    )
    return ResourceClaim(metadata=labelled, spec=blueprint.spec)
