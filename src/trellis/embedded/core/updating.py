# SPDX-License-Identifier: Apache-2.0
"""A stored object becomes another: updates, patches and subresources all end here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from trellis.embedded import refusals
from trellis.embedded.core import creating
from trellis.embedded.core.owning import mutate
from trellis.embedded.core.writing import (
    circumstances,
    manager_of,
    once_per_owner,
    place,
    refuse_invalid,
    retried,
    review_of,
    tell,
)
from trellis.embedded.fielderrors import invalid
from trellis.embedded.fields import same_but_for_times, updated
from trellis.embedded.natives.metadata import before_update

if TYPE_CHECKING:
    from collections.abc import Callable

    from trellis.embedded.asking import Object, Review
    from trellis.embedded.core.world import Call, World
    from trellis.embedded.store.records import Record
    from trellis.embedded.wire.options import WriteOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """How an object becomes another. `to` is given what is stored, or None, and may be run again.

    `owned`: the fields of the result have been given to their managers already (apply does).
    """

    to: Callable[[Object | None], Object]
    options: WriteOptions
    uid: str = ""
    creates: bool = False
    owned: bool = False


@dataclass(frozen=True, slots=True)
class Changed:
    object: Object
    created: bool = False


async def update(world: World, call: Call, change: Change) -> Changed:
    return await retried(call, lambda: _update_once(world, call, change))


async def _update_once(world: World, call: Call, change: Change) -> Changed:
    served = call.served
    record = world.shelf(served).get(call.namespace, call.name)
    if record is None:
        if not (change.creates or served.manners.created_by_update):
            raise refusals.not_found(served.group, served.plural, call.name)
        return Changed(await _create(world, call, change), created=True)
    old = world.object(served, record)
    if not change.owned:
        _same_uid(call, change.uid, old)
    new = change.to(old)
    named_as_asked(call, new)
    once_per_owner(call, place(call, new))
    served.strategy.default(new)
    if not change.owned:
        updated(new, old, served, manager_of(world, call, change.options))
    review = review_of(call, change.options, new, old)
    await mutate(world, call, review)
    world.access.check_roles(review)
    return Changed(await _stored(world, call, review, record, old))


async def _create(world: World, call: Call, change: Change) -> Object:
    if change.uid and change.owned:
        why = f"the provided object specified uid {change.uid}, and no existing object was found"
        raise refusals.conflict(
            call.served.group, call.served.plural, call.name, f"uid mismatch: {why}"
        )
    if change.uid:
        raise _wrong_uid(call, change.uid, "")
    new = change.to(None)
    named_as_asked(call, new)
    new["metadata"].pop("resourceVersion", None)
    if not change.owned:
        return await creating.create(world, call, new, change.options)
    place(call, new)
    call.served.strategy.default(new)
    review = review_of(call, change.options, new, None)
    await mutate(world, call, review)
    return await creating.stored(world, call, review)


async def _stored(world: World, call: Call, review: Review, record: Record, old: Object) -> Object:
    new, served = review.written, call.served
    check_current(call, new, record)
    metadata, before = place(call, new), old["metadata"]
    metadata.pop("selfLink", None)
    _keep(metadata, before, "generation")
    about = circumstances(world, call, call.name)
    served.strategy.prepare_update(new, old, about)
    metadata = new["metadata"]
    metadata["uid"] = metadata.get("uid") or before["uid"]
    _keep(metadata, before, "creationTimestamp")
    if "deletionTimestamp" in before:
        metadata["deletionTimestamp"] = before["deletionTimestamp"]
    if "deletionGracePeriodSeconds" in before:
        metadata.setdefault("deletionGracePeriodSeconds", before["deletionGracePeriodSeconds"])
    errors = before_update(new, old, served.namespaced)
    refuse_invalid(served, new, errors + served.strategy.validate_update(new, old, about))
    tell(call, served.strategy.warnings(new, old))
    if same_but_for_times(new, old):
        metadata["managedFields"] = before.get("managedFields", [])
        if not metadata["managedFields"]:
            del metadata["managedFields"]
    await world.admission.validate(review)
    return commit(world, call, Revision(new, old, record, dry_run=review.dry_run))


@dataclass(frozen=True, slots=True)
class Revision:
    """What was stored, as `record` holds it and as the request's version shows it, and what is."""

    new: Object
    old: Object
    record: Record
    dry_run: bool


def commit(world: World, call: Call, revision: Revision) -> Object:
    """Nothing that changes nothing is written; what was only held by finalizers goes now."""
    new, record = revision.new, revision.record
    new["metadata"]["resourceVersion"] = str(record.version)
    if new == revision.old or revision.dry_run:
        return new
    if goes_now(new, revision.old):
        world.shelf(call.served).remove(record.namespace, record.name, record.version)
    else:
        world.put(call.served, new, record.version)
    return new


def goes_now(new: Object, old: Object) -> bool:
    """The last finalizer of an object that waits for nothing else has been taken away."""
    metadata, before = new["metadata"], old["metadata"]
    if metadata.get("finalizers") or "deletionTimestamp" not in before:
        return False
    if new["kind"] == "Namespace" and (new.get("spec") or {}).get("finalizers"):
        return False
    return not before.get("deletionGracePeriodSeconds")


def named_as_asked(call: Call, new: Object) -> None:
    name = (new.get("metadata") or {}).get("name") or ""
    if not name:
        why = "name must be provided"
        raise refusals.bad_request(
            f"the name of the object ({call.name} based on URL) was undeterminable: {why}"
        )
    if name != call.name:
        raise refusals.bad_request(
            f"the name of the object ({name}) does not match the name on the URL ({call.name})"
        )


def check_current(call: Call, new: Object, record: Record) -> None:
    served = call.served
    said = version_number(new["metadata"].get("resourceVersion"))
    if not said:
        if served.manners.unconditional:
            return
        error = invalid("metadata.resourceVersion", 0, "must be specified for an update")
        raise refusals.invalid(served.group, served.plural, call.name, [error])
    if said != record.version:
        raise refusals.conflict(served.group, served.plural, call.name)


def version_number(said: Any) -> int:
    """0 for none; what is no number is the server's own fault, as it sees it."""
    if said in {None, ""}:
        return 0
    if not str(said).isdecimal():
        raise refusals.Refusal(500, "", f'strconv.ParseUint: parsing "{said}": invalid syntax')
    return int(said)


def _same_uid(call: Call, uid: str, old: Object) -> None:
    if uid and uid != old["metadata"]["uid"]:
        raise _wrong_uid(call, uid, old["metadata"]["uid"])


def _wrong_uid(call: Call, uid: str, found: str) -> refusals.Refusal:
    served = call.served
    parts = [part for part in (served.registry_prefix, call.namespace, call.name) if part]
    why = (
        f"StorageError: invalid object, Code: 4, Key: /registry/{'/'.join(parts)}, "
        "ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: "
        f"UID in precondition: {uid}, UID in object meta: {found}"
    )
    return refusals.conflict(served.group, served.plural, call.name, why)


def _keep(metadata: Object, before: Object, name: str) -> None:
    if name in before:
        metadata[name] = before[name]
    else:
        metadata.pop(name, None)
