# SPDX-License-Identifier: Apache-2.0
"""An object goes: at once, after its grace, or when its finalizers let it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING

from trellis.embedded import refusals
from trellis.embedded.copying import copied
from trellis.embedded.core.writing import admit, retried, review_of, tell
from trellis.embedded.definitions.status import CLEANUP, terminating
from trellis.embedded.stamps import moment_of, stamp

if TYPE_CHECKING:
    from trellis.embedded.asking import Object
    from trellis.embedded.core.world import Call, World
    from trellis.embedded.store.records import Record
    from trellis.embedded.wire.options import DeleteOptions

ORPHAN, FOREGROUND = "orphan", "foregroundDeletion"
_ORPHANS = (
    "child pods are preserved by default when {} are deleted; set propagationPolicy=Background to "
    "remove them or set propagationPolicy=Orphan to suppress this warning"
)


@dataclass(frozen=True, slots=True)
class Deleted:
    """What is answered: the object as it was last, and whether it is gone."""

    object: Object
    gone: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Deletion:
    """What is wanted. `shown` is the name that admission is told; None: it is not asked at all."""

    options: DeleteOptions
    shown: str | None


async def delete(world: World, call: Call, wanted: Deletion) -> Deleted:
    return await retried(call, lambda: _delete_once(world, call, wanted))


async def _delete_once(world: World, call: Call, wanted: Deletion) -> Deleted:
    served, options = call.served, wanted.options
    record = world.shelf(served).get(call.namespace, call.name)
    if record is None:
        raise refusals.not_found(served.group, served.plural, call.name)
    old = world.object(served, record)
    _warn(call, options)
    begin = _BEGINNINGS.get((served.group, served.plural))
    if begin is _namespace:
        _preconditions_of_namespace(call, options, old)
    _preconditions(call, options, old)
    new = copied(old)
    if begin and begin(world, new):
        await _admit(world, call, wanted, old)
        _finalizers(call, options, new)
        if not options.dry_run and new != old:
            world.put(served, new, record.version)
        return Deleted(new, gone=False)
    step = _graceful(world, call, options, new)
    if step == "pending":
        return Deleted(old, gone=False)
    if step == "yes":
        wanted = _with_grace(wanted, new["metadata"]["deletionGracePeriodSeconds"])
    await _admit(world, call, wanted, old)
    held = _finalizers(call, options, new)
    if step == "no" and not held:
        return _removed(world, call, record, old, options)
    return await _marked(world, call, wanted, record, new)


def _warn(call: Call, options: DeleteOptions) -> None:
    said = options.propagation or options.orphan is not None
    if call.served.manners.orphans_by_default and not said:
        tell(call, [_ORPHANS.format(call.served.plural)])


async def _marked(
    world: World, call: Call, wanted: Deletion, record: Record, new: Object
) -> Deleted:
    """First it is seen to be deleted; if nothing holds it, it goes in a second step."""
    metadata = new["metadata"]
    if not metadata.get("deletionGracePeriodSeconds"):
        _mark(world, metadata)
    kept = bool(metadata.get("finalizers")) or metadata["deletionGracePeriodSeconds"] > 0
    if wanted.options.dry_run:
        return Deleted(new, gone=not kept)
    if new != world.object(call.served, record):
        record = world.put(call.served, new, record.version)
    if kept:
        return Deleted(new, gone=False)
    await _admit(world, call, wanted, new)
    return _removed(world, call, record, new, wanted.options)


def _with_grace(wanted: Deletion, seconds: int) -> Deletion:
    """Admission is told how long the deletion really waits."""
    said = {**(wanted.options.said or {}), "gracePeriodSeconds": seconds}
    return replace(wanted, options=replace(wanted.options, said=said))


def _removed(
    world: World, call: Call, record: Record, old: Object, options: DeleteOptions
) -> Deleted:
    if options.dry_run:
        return Deleted(old, gone=True)
    gone = copied(old)
    removed = world.shelf(call.served).remove(record.namespace, record.name, record.version)
    gone["metadata"]["resourceVersion"] = str(removed.version)
    return Deleted(gone, gone=True)


async def _admit(world: World, call: Call, wanted: Deletion, old: Object) -> None:
    if wanted.shown is not None:
        await admit(world, review_of(call, wanted.options, None, copied(old), wanted.shown))


def _namespace(world: World, new: Object) -> bool:
    """It goes when its content is gone, which is what its finalizers wait for."""
    if "deletionTimestamp" in new["metadata"]:
        return bool((new.get("spec") or {}).get("finalizers"))
    new["metadata"]["deletionTimestamp"] = world.now()
    new.setdefault("status", {})["phase"] = "Terminating"
    return True


def _definition(world: World, new: Object) -> bool:
    """It goes when all objects of its kind are gone."""
    metadata = new["metadata"]
    if "deletionTimestamp" in metadata:
        return False
    metadata["deletionTimestamp"] = world.now()
    metadata["finalizers"] = [*(metadata.get("finalizers") or ()), CLEANUP]
    new["status"] = terminating(new, world.now(), waiting=None)
    return True


_BEGINNINGS = {
    ("", "namespaces"): _namespace,
    ("apiextensions.k8s.io", "customresourcedefinitions"): _definition,
}


def _preconditions(call: Call, options: DeleteOptions, old: Object) -> None:
    metadata, served = old["metadata"], call.served
    if options.uid is not None and options.uid != metadata["uid"]:
        why = (
            f"the UID in the precondition ({options.uid}) does not match the UID in record "
            f"({metadata['uid']}). The object might have been deleted and then recreated"
        )
        raise refusals.conflict(served.group, served.kind, call.name, why)
    found = metadata["resourceVersion"]
    if options.resource_version is not None and options.resource_version != found:
        why = (
            f"the ResourceVersion in the precondition ({options.resource_version}) does not match "
            f"the ResourceVersion in record ({found}). The object might have been modified"
        )
        raise refusals.conflict(served.group, served.kind, call.name, why)


def _preconditions_of_namespace(call: Call, options: DeleteOptions, old: Object) -> None:
    """A kind of its own in the real server too, down to its words."""
    found = old["metadata"]
    for said, wanted, name in (
        ("UID", options.uid, "uid"),
        ("ResourceVersion", options.resource_version, "resourceVersion"),
    ):
        if wanted is not None and wanted != found[name]:
            why = (
                f"Precondition failed: {said} in precondition: {wanted}, "
                f"{said} in object meta: {found[name]}"
            )
            raise refusals.conflict("", "namespaces", call.name, why)


def _graceful(world: World, call: Call, options: DeleteOptions, new: Object) -> str:
    """`yes` when a grace now runs (it may be none), `pending` when one does already, or `no`."""
    grace_of = call.served.manners.grace
    if grace_of is None:
        return "no"
    metadata = new["metadata"]
    asked = options.grace
    if asked is not None and asked < 0:
        asked = 1
    if "deletionTimestamp" in metadata:
        return _shortened(world, metadata, asked)
    grace = grace_of(new, asked)
    due = world.clock.now() + _lasting(grace)
    metadata["deletionTimestamp"] = stamp(due)
    metadata["deletionGracePeriodSeconds"] = grace
    if metadata.get("generation"):
        metadata["generation"] += 1
    return "yes"


def _shortened(world: World, metadata: Object, asked: int | None) -> str:
    running = metadata.get("deletionGracePeriodSeconds")
    if not running:
        return "no"
    if asked is None or asked >= running:
        return "pending"
    due = moment_of(metadata["deletionTimestamp"])
    due += _lasting(asked) - _lasting(running)
    now = world.clock.now()
    if due < now:
        # The time is over; whoever runs it is still to be told, unless none was wanted.
        due, asked = now, min(asked, 1)
    metadata["deletionTimestamp"] = stamp(due)
    metadata["deletionGracePeriodSeconds"] = asked
    return "yes"


def _lasting(seconds: int) -> timedelta:
    """As the real server reckons: nanoseconds of 64 bits, which begin again after 292 years."""
    nanoseconds = (seconds * 10**9 + (1 << 63)) % (1 << 64) - (1 << 63)
    return timedelta(microseconds=nanoseconds // 1000)


def _mark(world: World, metadata: Object) -> None:
    if "deletionTimestamp" not in metadata and metadata.get("generation"):
        metadata["generation"] += 1
    now = world.now()
    if metadata.get("deletionTimestamp", "~") > now:
        metadata["deletionTimestamp"] = now
    metadata["deletionGracePeriodSeconds"] = 0


def _finalizers(call: Call, options: DeleteOptions, new: Object) -> bool:
    """Sets what the policy asks the garbage collector for; tells whether anything holds it."""
    metadata = new["metadata"]
    there = metadata.get("finalizers") or []
    wanted = [each for each in there if each not in {ORPHAN, FOREGROUND}]
    policy = _policy(call, options, there)
    if policy is not None:
        wanted.append(policy)
    if set(wanted) != set(there):
        if wanted:
            metadata["finalizers"] = wanted
        else:
            metadata.pop("finalizers", None)
    return bool(metadata.get("finalizers"))


def _policy(call: Call, options: DeleteOptions, there: list[str]) -> str | None:
    if options.orphan is not None:
        return ORPHAN if options.orphan else None
    if options.propagation:
        return {"Orphan": ORPHAN, "Foreground": FOREGROUND}.get(options.propagation)
    for each in there:
        if each in {ORPHAN, FOREGROUND}:
            return each
    return ORPHAN if call.served.manners.orphans_by_default else None
