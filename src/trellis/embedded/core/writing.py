# SPDX-License-Identifier: Apache-2.0
"""What every write has in common: where it belongs, whether it is valid, and the commit."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from trellis.embedded import refusals
from trellis.embedded.asking import Review
from trellis.embedded.fields import Manager
from trellis.embedded.served import Circumstances
from trellis.embedded.store.problems import Stale
from trellis.embedded.store.shelf import ABSENT

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    from trellis.embedded.asking import Object
    from trellis.embedded.core.world import Call, World
    from trellis.embedded.fielderrors import FieldError
    from trellis.embedded.schema.node import Node
    from trellis.embedded.served import Served
    from trellis.embedded.store.records import Record
    from trellis.embedded.wire.options import DeleteOptions, WriteOptions

T = TypeVar("T")

_OTHER_NAMESPACE = (
    "the namespace of the provided object does not match the namespace sent on the request"
)
_TWO_OWNERS = (
    ".metadata.ownerReferences contains duplicate entries; API server dedups owner references in "
    "1.20+, and may reject such requests as early as 1.24; please fix your requests;"
)
_ATTEMPTS = 5
_VERSION_ON_NEW = "resourceVersion should not be set on objects to be created"


def place(call: Call, new: Object) -> Object:
    """Its metadata, with the namespace of the request; one of its own that differs is refused."""
    metadata: Object | None = new.get("metadata")
    if metadata is None:
        metadata = new["metadata"] = {}
    wanted = call.namespace if call.served.namespaced else ""
    said = metadata.get("namespace") or ""
    if said and wanted and said != wanted:
        raise refusals.bad_request(_OTHER_NAMESPACE)
    if wanted:
        metadata["namespace"] = wanted
    else:
        metadata.pop("namespace", None)
    return metadata


def once_per_owner(call: Call, metadata: Object) -> None:
    """An owner that is named twice is kept once, and whoever wrote that is told."""
    owners = metadata.get("ownerReferences") or ()
    if len(owners) < 2:
        return
    kept: list[Object] = []
    repeated: list[str] = []
    for owner in owners:
        if owner in kept:
            repeated.append(owner.get("uid", ""))
        else:
            kept.append(owner)
    if repeated:
        metadata["ownerReferences"] = kept
        tell(call, [f"{_TWO_OWNERS} duplicate UID(s) observed: {', '.join(repeated)}"])


def manager_of(
    world: World,
    call: Call,
    options: WriteOptions,
    served: Served | None = None,
    *,
    apply: bool = False,
) -> Manager:
    """`served` where the fields are not those of the resource itself, but of a subresource."""
    return Manager(
        name=options.field_manager or call.manager,
        operation="Apply" if apply else "Update",
        api_version=(served or call.served).api_version,
        subresource=call.subresource,
        time=world.now(),
        versions=_versions(world, served or call.served),
    )


def _versions(world: World, served: Served) -> dict[str, Node] | None:
    """Custom kinds are known at every version that serves them, each with its own schema."""
    if not served.custom:
        return None
    found = world.registry.versions(served.group, served.plural)
    return {each.api_version: each.schema for each in found}


def review_of(
    call: Call,
    options: WriteOptions | DeleteOptions,
    new: Object | None,
    old: Object | None,
    name: str | None = None,
) -> Review:
    """What admission is asked. `name` where it is told another one than the request's."""
    operation = "CREATE" if old is None else "DELETE" if new is None else "UPDATE"
    return Review(
        user=call.user,
        served=call.served,
        subresource=call.subresource,
        operation=operation,
        namespace=call.namespace,
        name=call.name if name is None else name,
        new=new,
        old=old,
        options=options.spoken(f"{operation.capitalize()}Options"),
        dry_run=options.dry_run,
        warnings=call.warnings,
    )


async def admit(world: World, review: Review) -> Review:
    """All of admission at once, where nothing is done between its halves."""
    await world.admission.mutate(review)
    await world.admission.validate(review)
    return review


async def retried(call: Call, once: Callable[[], Awaitable[T]]) -> T:
    """Another write may come between; then everything is done again on what it left."""
    for _ in range(_ATTEMPTS):
        try:
            return await once()
        except Stale:
            continue
    raise refusals.conflict(call.served.group, call.served.plural, call.name)


def circumstances(world: World, call: Call, name: str) -> Circumstances:
    return Circumstances(
        now=world.now(),
        namespace=call.namespace if call.served.namespaced else "",
        name=name,
        subresource=call.subresource,
        user=call.user,
        random=world.rng,
        read=world.read,
    )


def refuse_invalid(served: Served, new: Object, errors: list[FieldError]) -> None:
    if errors:
        name = new["metadata"].get("name", "")
        raise refusals.invalid(served.group, new.get("kind") or served.kind, name, errors)


def tell(call: Call, warnings: Iterable[str]) -> None:
    call.warnings.extend(each for each in warnings if each not in call.warnings)


def commit_new(world: World, call: Call, new: Object, *, dry_run: bool) -> Object:
    served, metadata = call.served, new["metadata"]
    version = metadata.pop("resourceVersion", None) or ""
    if version.isdecimal() and int(version):
        raise refusals.Refusal(500, "", _VERSION_ON_NEW)
    shelf, name = world.shelf(served), metadata["name"]
    there = shelf.get(metadata.get("namespace", ""), name)
    if there is not None:
        raise _exists(served, there)
    if not dry_run:
        world.put(served, new, ABSENT)
    return new


def _exists(served: Served, there: Record) -> refusals.Refusal:
    refusal = refusals.already_exists(served.group, served.plural, there.name)
    if b'"deletionTimestamp"' in there.data:
        refusal.message = f"object is being deleted: {refusal.message}"
    return refusal
