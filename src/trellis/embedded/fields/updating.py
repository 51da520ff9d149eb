# SPDX-License-Identifier: Apache-2.0
"""Who owns what after a write that is no apply: the writer owns what it changed, no more."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trellis.embedded.fields import sets
from trellis.embedded.fields.differences import Difference, compared
from trellis.embedded.fields.entries import (
    BadEntries,
    Manager,
    Owner,
    Owners,
    capped,
    given,
    stored,
    written,
)
from trellis.embedded.fields.listing import NoStep
from trellis.embedded.fields.owned import from_zero
from trellis.embedded.fields.reconciled import reconciled
from trellis.embedded.fields.resets import resets
from trellis.embedded.fields.shapes import Shape, shape_of
from trellis.embedded.fields.typed import NotTyped, check

if TYPE_CHECKING:
    from trellis.embedded.asking import Object
    from trellis.embedded.fields.sets import Fields
    from trellis.embedded.served import Served

_METADATA = (
    "name",
    "namespace",
    "creationTimestamp",
    "selfLink",
    "uid",
    "clusterName",
    "generation",
    "managedFields",
    "resourceVersion",
)
NOBODYS = sets.of_paths(
    ("f:apiVersion",),
    ("f:kind",),
    ("f:metadata",),
    *(("f:metadata", f"f:{name}") for name in _METADATA),
)
"""What is the server's own, or says which object it is."""


class OtherVersion(Exception):
    """Fields are owned in a version that a custom kind has not, or that has no such fields."""


def updated(new: Object, old: Object | None, served: Served, manager: Manager) -> None:
    """Sets `metadata.managedFields` of the new object, or takes them away if there are none."""
    metadata = new["metadata"]
    said = metadata.pop("managedFields", None)
    try:
        if old is None and not said:
            owners = created(new, served, manager)
        else:
            before = old["metadata"].get("managedFields") if old else None
            owners = _found(said, before, manager)
            if old and not owners:
                return
            owners = _after(owners, new, old or {}, (served, manager))
    except (NoStep, NotTyped, OtherVersion):
        # What cannot be told apart is owned by nobody; the object is refused for it elsewhere.
        return
    entries = written(owners, custom=served.custom)
    if entries:
        metadata["managedFields"] = entries


def created(new: Object, served: Served, manager: Manager) -> Owners:
    fields = sets.difference_below(
        from_zero(shape_of(served.schema), new), resets(served, manager.subresource)
    )
    fields = sets.difference(fields, NOBODYS)
    return {manager.identity: Owner(fields, manager.api_version, manager.time)} if fields else {}


def _found(said: Any, before: list[dict[str, Any]] | None, manager: Manager) -> Owners:
    """Of what the write says about owners if it may say so, else of what was stored."""
    if manager.subresource or said is None or said == before:
        return stored(before)
    if not said or (len(said) == 1 and not any(said[0].values())):
        return {}
    try:
        return given(said) or stored(before)
    except BadEntries:
        return stored(before)


def _after(owners: Owners, new: Object, old: Object, write: tuple[Served, Manager]) -> Owners:
    served, manager = write
    shape = shape_of(served.schema)
    if served.custom and manager.subresource:
        # Whatever is beside the status is not used, and so not refused for what it is.
        check(shape, new, duplicates=True)
    owners = known(owners, served, manager)
    fit_versions(owners, manager, (old, new))
    difference = compared(shape, old, new).without(resets(served, manager.subresource))
    owners = parted(owners, difference)
    taken = sets.difference(difference.changed, NOBODYS)
    if taken:
        mine = owners.get(manager.identity)
        fields = sets.ordered(sets.union(taken, mine.fields) if mine else taken)
        owners[manager.identity] = Owner(fields, manager.api_version, manager.time)
    return capped(owners)


def known(owners: Owners, served: Served, manager: Manager) -> Owners:
    """Those of versions that there are; what a custom kind's schema made of one piece is one."""
    unknown = [who for who, owner in owners.items() if not manager.knows(owner.api_version)]
    if not served.custom:
        return {who: owner for who, owner in owners.items() if who not in unknown}
    if unknown:
        version = owners[unknown[0]].api_version
        raise OtherVersion(f"request to convert CR to an invalid group/version: {version}")
    shape: Shape = shape_of(served.schema)
    return {
        who: Owner(reconciled(shape, owner.fields), owner.api_version, owner.time)
        for who, owner in owners.items()
    }


def fit_versions(owners: Owners, manager: Manager, objects: tuple[Object, ...]) -> None:
    """An object is compared in each version that it is owned in, and must be one of that version.

    Its versions are converted by name alone, so that fields of one may be unknown to another.
    """
    others = {owner.api_version for owner in owners.values()} - {manager.api_version}
    if manager.versions is None:
        return
    for version in sorted(others):
        try:
            for each in objects:
                check(shape_of(manager.versions[version]), each, duplicates=True)
        except NotTyped as problem:
            raise OtherVersion(f"failed to convert new object: {problem}") from problem


def parted(owners: Owners, difference: Difference) -> Owners:
    """Without what has changed or gone; those that have nothing left are no owners."""
    lost: Fields = sets.union(difference.changed, difference.removed)
    left: Owners = {}
    for who, owner in owners.items():
        fields = sets.difference(owner.fields, lost) if lost else owner.fields
        if fields:
            same = fields is owner.fields
            left[who] = owner if same else Owner(fields, owner.api_version, owner.time)
    return left


def same_but_for_times(new: Object, old: Object) -> bool:
    """Whether only the times of managed fields differ: then nothing has changed."""
    if new.keys() != old.keys():
        return False
    metadata, before = new["metadata"], old["metadata"]
    if metadata.keys() != before.keys():
        return False
    if _timeless(metadata.get("managedFields")) != _timeless(before.get("managedFields")):
        return False
    if any(metadata[name] != before[name] for name in metadata if name != "managedFields"):
        return False
    return all(new[name] == old[name] for name in new if name != "metadata")


def _timeless(entries: list[dict[str, Any]] | None) -> list[dict[str, Any]]:
    return [
        {name: said for name, said in entry.items() if name != "time"} for entry in entries or ()
    ]
