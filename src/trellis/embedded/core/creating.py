# SPDX-License-Identifier: Apache-2.0
"""A new object, from its decoded body to the store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trellis.embedded import refusals
from trellis.embedded.core.owning import mutate
from trellis.embedded.core.writing import (
    circumstances,
    commit_new,
    manager_of,
    once_per_owner,
    place,
    refuse_invalid,
    review_of,
    tell,
)
from trellis.embedded.fields import updated

if TYPE_CHECKING:
    from trellis.embedded.asking import Object, Review
    from trellis.embedded.core.world import Call, World
    from trellis.embedded.wire.options import WriteOptions

# Of the body's metadata, what only the server may say.
_SERVERS_OWN = (
    "uid",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "selfLink",
)
_ATTEMPTS = 8


async def create(world: World, call: Call, new: Object, options: WriteOptions) -> Object:
    """Returns the object as it is stored (of a dry run: as it would be)."""
    metadata = place(call, new)
    for name in _SERVERS_OWN:
        metadata.pop(name, None)
    served = call.served
    once_per_owner(call, metadata)
    served.strategy.default(new)
    updated(new, None, served, manager_of(world, call, options))
    name = metadata.get("name", "") or call.name
    review = review_of(call, options, new, None, name)
    await mutate(world, call, review)
    return await stored(world, call, review)


async def stored(world: World, call: Call, review: Review) -> Object:
    """From mutating admission on. A name that the server draws is one that is free."""
    world.access.check_roles(review)
    _not_of_a_going_kind(world, call, review)
    served, new = call.served, review.written
    metadata = new["metadata"]
    metadata["uid"] = world.uid()
    metadata["creationTimestamp"] = world.now()
    place(call, new)
    if not metadata.get("name") and metadata.get("generateName"):
        metadata["name"] = _drawn(world, call, metadata["generateName"])
    about = circumstances(world, call, metadata.get("name", ""))
    served.strategy.prepare_create(new, about)
    refuse_invalid(served, new, served.strategy.validate_create(new, about))
    tell(call, served.strategy.warnings(new, None))
    review.name = metadata["name"]
    await world.admission.validate(review)
    return commit_new(world, call, new, dry_run=review.dry_run)


def _not_of_a_going_kind(world: World, call: Call, review: Review) -> None:
    served = call.served
    if not served.custom:
        return
    found = world.reader.get(
        "apiextensions.k8s.io", "customresourcedefinitions", "", f"{served.plural}.{served.group}"
    )
    if found and "deletionTimestamp" in found["metadata"]:
        why = "create not allowed while custom resource definition is terminating"
        raise refusals.forbidden(served.group, served.plural, review.name, why)


def _drawn(world: World, call: Call, base: str) -> str:
    """If luck is bad so often that none is free, the last one is refused as taken."""
    shelf, name = world.shelf(call.served), ""
    for _ in range(_ATTEMPTS):
        name = world.suffixed(base)
        if shelf.get(call.namespace, name) is None:
            break
    return name
