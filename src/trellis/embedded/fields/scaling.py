# SPDX-License-Identifier: Apache-2.0
"""Managed fields of a scale: of all that its parent's owners have, the replicas alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trellis.embedded.fields import sets
from trellis.embedded.fields.elements import field
from trellis.embedded.fields.entries import Owner, Owners, stored, written

if TYPE_CHECKING:
    from trellis.embedded.fields.sets import Fields

Entries = list[dict[str, Any]]
_SCALE = "autoscaling/v1"
_REPLICAS: Fields = sets.of_paths(("f:spec", "f:replicas"))


def to_scale(entries: Entries | None, path: tuple[str, ...]) -> Entries:
    """Who owns the replicas, as the scale shows it. `path`: where the parent keeps them."""
    steps = tuple(map(field, path))
    owners = {
        who: Owner(_REPLICAS, _SCALE, owner.time)
        for who, owner in stored(entries).items()
        if sets.has(owner.fields, steps)
    }
    return written(owners, custom=False)


def from_scale(
    scale: Entries | None,
    parent: Entries | None,
    path: tuple[str, ...],
    api_version: str,
    custom: bool = False,
) -> Entries:
    """The parent's entries after its scale was written with these. New owners have no time."""
    steps = tuple(map(field, path))
    replicas = sets.of_paths(steps)
    scaling = {
        who: owner
        for who, owner in stored(scale).items()
        if sets.has(owner.fields, ("f:spec", "f:replicas"))
    }
    before, after = stored(parent), Owners()
    for who, owner in before.items():
        if not sets.has(owner.fields, steps):
            after[who] = owner
        elif who in scaling:
            after[who] = owner
            del scaling[who]
        else:
            less = sets.difference(owner.fields, replicas)
            after[who] = Owner(less, owner.api_version, owner.time)
    for who in scaling:
        time = before[who].time if who in before else None
        after[who] = Owner(replicas, api_version, time)
    return written(after, custom=custom)
