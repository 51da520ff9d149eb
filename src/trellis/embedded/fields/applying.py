# SPDX-License-Identifier: Apache-2.0
"""Server-side apply: a configuration is merged into what is there, and its fields change owners."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from trellis.embedded.copying import copied
from trellis.embedded.fields import clientside, conflicts, sets
from trellis.embedded.fields.differences import compared, identical
from trellis.embedded.fields.entries import Manager, Owner, Owners, stored, written
from trellis.embedded.fields.listing import NoStep
from trellis.embedded.fields.merging import merged
from trellis.embedded.fields.owned import named
from trellis.embedded.fields.removal import pruned
from trellis.embedded.fields.resets import resets
from trellis.embedded.fields.shapes import Shape, shape_of
from trellis.embedded.fields.typed import NotTyped, check
from trellis.embedded.fields.updating import (
    NOBODYS,
    OtherVersion,
    created,
    fit_versions,
    known,
    parted,
)
from trellis.embedded.refusals import Refusal, bad_request

if TYPE_CHECKING:
    from trellis.embedded.asking import Object
    from trellis.embedded.fields.sets import Fields
    from trellis.embedded.served import Served

_BEFORE = "before-first-apply"


def applied(
    live: Object | None,
    configuration: Object,
    served: Served,
    manager: Manager,
    force: bool = False,
) -> Object:
    """The object as it is to be stored, all of it new; what it was made of is not changed.

    Defaults are not filled in, and what the schema reads in its own way is not read yet.
    """
    _refuse_other_kinds(configuration, served)
    if _metadata(configuration).get("managedFields") is not None:
        raise bad_request("metadata.managedFields must be nil")
    shape = shape_of(served.schema)
    about = f"{_named(configuration)}; {_kind_of(configuration)}"
    try:
        check(shape, configuration)
    except NotTyped as problem:
        message = f"failed to create typed patch object ({about}): {problem}"
        raise Refusal(500, "", message) from problem
    apply = _Apply(shape, served, manager, configuration)
    try:
        result = apply.to(live, force)
    except NoStep as problem:
        message = f"failed to create typed live object ({about}): {problem}"
        raise Refusal(500, "", message) from problem
    except OtherVersion as problem:
        raise Refusal(500, "", str(problem)) from problem
    if manager.name == clientside.MANAGER:
        clientside.annotate(result, configuration)
    return result


@dataclass(slots=True)
class _Apply:
    shape: Shape
    served: Served
    manager: Manager
    configuration: Object

    def to(self, live: Object | None, force: bool) -> Object:
        base = _without_entries(live) if live else {}
        owners = self._owners(live, base)
        applier = self.manager.identity
        last = owners.get(applier)
        fields = sets.difference_below(named(self.shape, self.configuration), self._resets)
        owned = fields
        for owner in owners.values():
            owned = owned if owner is last else sets.union(owned, owner.fields)
        new = merged(self.shape, base, self.configuration)
        new = pruned(self.shape, new, last.fields if last else {}, owned)
        difference = compared(self.shape, base, new).without(self._resets)
        fit_versions(owners, self.manager, (base, new))
        if not force:
            self._refuse_conflicts(owners, difference.changed, base)
        others = {who: owner for who, owner in owners.items() if who != applier}
        time = last.time if last else None
        mine = Owner(
            sets.difference(fields, NOBODYS),
            self.manager.api_version,
            time if identical(base, new) else self.manager.time,
        )
        return self._with_entries(new, {**parted(others, difference), applier: mine})

    @property
    def _resets(self) -> Fields:
        return resets(self.served, self.manager.subresource)

    def _owners(self, live: Object | None, base: Object) -> Owners:
        if live is None:
            return {}
        owners = known(stored(live["metadata"].get("managedFields")), self.served, self.manager)
        # Nobody has kept track of this object so far: all that is there was there before.
        before = replace(self.manager, name=_BEFORE, operation="Update")
        return owners or created(base, self.served, before)

    def _refuse_conflicts(self, owners: Owners, changed: Fields, live: Object) -> None:
        found = conflicts.found(owners, changed, self.manager.identity)
        if found and self.manager.name == clientside.MANAGER:
            allowed = clientside.taken_over(self.shape, live, self.manager.api_version)
            found = conflicts.without(found, allowed)
        if found:
            raise conflicts.refusal(found)

    def _with_entries(self, new: Object, owners: Owners) -> Object:
        result = copied(new)
        entries = written(owners, custom=self.served.custom)
        if entries:
            result.setdefault("metadata", {})["managedFields"] = entries
        return result


def _without_entries(live: Object) -> Object:
    metadata = {name: value for name, value in live["metadata"].items() if name != "managedFields"}
    return {**live, "metadata": metadata}


def _metadata(configuration: Object) -> dict[str, Any]:
    metadata = configuration.get("metadata")
    return metadata if isinstance(metadata, dict) else {}


def _named(configuration: Object) -> str:
    said = _metadata(configuration)
    names = (said.get("namespace"), said.get("name"))
    return "/".join(name if isinstance(name, str) else "" for name in names)


def _kind_of(configuration: Object) -> str:
    """The group, the version and the kind, as messages write them."""
    version, kind = configuration.get("apiVersion"), configuration.get("kind")
    group, _, name = (version if isinstance(version, str) else "").rpartition("/")
    if "/" in group:
        return "/, Kind="
    return f"{group}/{name}, Kind={kind if isinstance(kind, str) else ''}"


def _refuse_other_kinds(configuration: Object, served: Served) -> None:
    said = _kind_of(configuration)
    if said != f"{served.group}/{served.version}, Kind={served.kind}":
        raise bad_request(f"invalid object type: {said}")
