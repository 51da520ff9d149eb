# SPDX-License-Identifier: Apache-2.0
"""Which shared claims a pod uses, and how its spec says so. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trellis.api import names
from trellis.api.grove.resourcesharing import PER_REPLICA

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from trellis.api.grove.resourcesharing import (
        GroupResourceSharing,
        ResourceSharing,
        SetResourceSharing,
    )
    from trellis.workloads.outline import Member, Outline


def claims_of_pod(outline: Outline, member: Member, pod_index: int) -> tuple[str, ...]:
    """The names of the claims: of the set, then of its group, then of its own PodClique."""
    return tuple(_claims(outline, member, pod_index))


def inject(spec: dict[str, Any], claim_names: Sequence[str]) -> dict[str, Any]:
    """The pod spec with these claims for all its containers. Given its own answer, the same."""
    if not claim_names:
        return spec
    wanted = [{"name": name, "resourceClaimName": name} for name in claim_names]
    containers = {
        kind: [_with_claims(one, claim_names) for one in spec[kind]]
        for kind in ("initContainers", "containers")
        if spec.get(kind)
    }
    return spec | containers | {"resourceClaims": _with(spec.get("resourceClaims"), wanted)}


def _with_claims(container: dict[str, Any], claim_names: Sequence[str]) -> dict[str, Any]:
    resources = container.get("resources") or {}
    claims = _with(resources.get("claims"), [{"name": name} for name in claim_names])
    return container | {"resources": resources | {"claims": claims}}


def _with(present: list[Any] | None, wanted: list[dict[str, str]]) -> list[Any]:
    """What is there stays, whatever it says: the name is taken then."""
    known = [one.get("name") for one in present or ()]
    return [*(present or ()), *(one for one in wanted if one["name"] not in known)]


def _claims(outline: Outline, member: Member, pod_index: int) -> Iterator[str]:
    place, template = member.place, outline.set.spec.template
    for of_set in template.resource_sharing:
        if _is_for(of_set, member):
            yield _name(outline.name, of_set, place.set_replica)
    if member.group is not None and place.group is not None:
        for of_group in member.group.resource_sharing:
            if _is_for_member(of_group, member):
                yield _name(place.group.full_name, of_group, place.group.replica)
    for of_clique in member.template.resource_sharing:
        yield _name(member.name, of_clique, pod_index)


def _name(owner: str, sharing: ResourceSharing, index: int) -> str:
    return names.shared_claim(owner, sharing.name, index if sharing.scope == PER_REPLICA else None)


def _is_for(sharing: SetResourceSharing, member: Member) -> bool:
    if sharing.filter is None or member.template.name in sharing.filter.child_clique_names:
        return True
    return member.group is not None and (
        member.group.name in sharing.filter.child_scaling_group_names
    )


def _is_for_member(sharing: GroupResourceSharing, member: Member) -> bool:
    return sharing.filter is None or member.template.name in sharing.filter.child_clique_names
