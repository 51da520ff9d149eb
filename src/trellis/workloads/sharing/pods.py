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


def claims_from_above(outline: Outline, member: Member) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Of these, those that the set makes, and those that its scaling group does."""
    return tuple(_of_set(outline, member)), tuple(_of_group(member))


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
    yield from _of_set(outline, member)
    yield from _of_group(member)
    for sharing in member.template.resource_sharing:
        yield _name(member.name, sharing, pod_index)


def _of_set(outline: Outline, member: Member) -> Iterator[str]:
    for sharing in outline.set.spec.template.resource_sharing:
        if _is_for(sharing, member):
            yield _name(outline.name, sharing, member.place.set_replica)


def _of_group(member: Member) -> Iterator[str]:
    place = member.place.group
    if member.group is None or place is None:
        return
    for sharing in member.group.resource_sharing:
        if _is_for_member(sharing, member):
            yield _name(place.full_name, sharing, place.replica)


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
