# SPDX-License-Identifier: Apache-2.0
"""The managedFields of an object: who owns what, since when, and how it is written down."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from trellis.embedded.fields import sets
from trellis.embedded.fields.elements import BadStep, encoded

if TYPE_CHECKING:
    from collections.abc import Mapping

    from trellis.embedded.fields.sets import Fields
    from trellis.embedded.schema.node import Node

APPLY = "Apply"
UPDATE = "Update"
FIELDS_TYPE = "FieldsV1"
_UNKNOWN = "unknown"
_ANCIENT = "ancient-changes"
_MOST_UPDATERS = 10
LONGEST_NAME = 128


class BadEntries(Exception):
    """Managed fields that no server would have written, in the words of the server."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Manager:
    """Who writes. `versions`: those the kind is known in, and what an object may have in each.

    None: all that the group may have, which all have the same.
    """

    name: str
    operation: str
    api_version: str
    time: str
    subresource: str = ""
    versions: Mapping[str, Node] | None = None

    @property
    def identity(self) -> Identity:
        version = "" if self.operation == APPLY else self.api_version
        return Identity(self.name or _UNKNOWN, self.operation, version, self.subresource)

    def knows(self, api_version: str) -> bool:
        if self.versions is not None:
            return api_version in self.versions
        return api_version.rpartition("/")[0] == self.api_version.rpartition("/")[0]


class Identity(NamedTuple):
    """What tells entries apart. An applier is the same in every version."""

    name: str
    operation: str
    api_version: str
    subresource: str

    @property
    def text(self) -> str:
        """The server sorts by this."""
        parts = {
            "manager": self.name,
            "operation": self.operation,
            "apiVersion": self.api_version,
            "subresource": self.subresource,
        }
        said = (f'"{name}":{encoded(value)}' for name, value in parts.items() if value)
        return f"{{{','.join(said)}}}"


@dataclass(frozen=True, slots=True)
class Owner:
    fields: Fields
    api_version: str
    time: str | None = None


Owners = dict[Identity, Owner]


def manager_name(user_agent: str) -> str:
    """Who writes without saying so: the program, as its User-Agent starts."""
    name = "".join(filter(str.isprintable, user_agent.split("/", 1)[0]))
    return name.encode()[:LONGEST_NAME].decode(errors="ignore")


def stored(entries: list[dict[str, Any]] | None) -> Owners:
    """Of what this server wrote itself: taken as it is."""
    return {_identity(entry): _owner(entry, entry.get("fieldsV1") or {}) for entry in entries or ()}


def given(entries: Any) -> Owners:
    """Of what a client wrote: checked and made canonical."""
    owners: Owners = {}
    for number, entry in enumerate(entries):
        _check(number, entry)
        try:
            owners[_identity(entry)] = _owner(entry, sets.parsed(entry.get("fieldsV1") or {}))
        except BadStep as step:
            raise BadEntries(f"error decoding set: {step}") from step
    return owners


def _check(number: int, entry: dict[str, Any]) -> None:
    if entry.get("operation") not in {APPLY, UPDATE}:
        raise BadEntries("operation must be `Apply` or `Update`")
    if not entry.get("apiVersion"):
        raise BadEntries("apiVersion must not be empty")
    kind = entry.get("fieldsType") or ""
    if not kind:
        raise BadEntries(f"missing fieldsType in managed fields entry {number}")
    if kind != FIELDS_TYPE:
        raise BadEntries(f"invalid fieldsType {encoded(kind)} in managed fields entry {number}")


def problem(entries: list[dict[str, Any]] | None) -> str:
    """What is wrong with managed fields that someone else has changed; empty: nothing."""
    try:
        given(entries or ())
    except BadEntries as bad:
        return str(bad)
    return ""


def _identity(entry: dict[str, Any]) -> Identity:
    operation = entry.get("operation") or ""
    version = "" if operation == APPLY else entry.get("apiVersion") or ""
    return Identity(entry.get("manager") or "", operation, version, entry.get("subresource") or "")


def _owner(entry: dict[str, Any], fields: Fields) -> Owner:
    return Owner(fields, entry.get("apiVersion") or "", entry.get("time"))


def written(owners: Owners, *, custom: bool) -> list[dict[str, Any]]:
    """As objects hold them, in order; empty ones are none."""
    found = [(identity, owner) for identity, owner in owners.items() if owner.fields]
    found.sort(key=_place)
    return [_entry(identity, owner, custom=custom) for identity, owner in found]


def _place(both: tuple[Identity, Owner]) -> tuple[str, ...]:
    identity, owner = both
    subresource = identity.subresource
    return (identity.operation, owner.time or "", identity.name, owner.api_version, subresource)


def _entry(identity: Identity, owner: Owner, *, custom: bool) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "manager": identity.name,
        "operation": identity.operation,
        "apiVersion": owner.api_version,
        "time": owner.time,
        "fieldsType": FIELDS_TYPE,
        "fieldsV1": owner.fields,
        "subresource": identity.subresource,
    }
    # Built-in kinds are written in the order of their structs, custom ones by the alphabet.
    names = sorted(entry) if custom else entry
    return {name: entry[name] for name in names if entry[name]}


def capped(owners: Owners) -> Owners:
    """The oldest of too many updaters become one, for each version."""
    updaters = [identity for identity in owners if identity.operation != APPLY]
    count = len(updaters)
    if count <= _MOST_UPDATERS:
        return owners
    owners = dict(owners)
    updaters.sort(key=lambda identity: (owners[identity].time or "", identity.text))
    first: dict[str, Identity] = {}
    for identity in updaters:
        if count <= _MOST_UPDATERS:
            break
        owner = owners[identity]
        if owner.api_version not in first:
            first[owner.api_version] = identity
            continue
        bucket = Identity(_ANCIENT, UPDATE, owner.api_version, "")
        if bucket not in owners:
            owners[bucket] = owners.pop(first[owner.api_version])
        both = sets.ordered(sets.union(owner.fields, owners[bucket].fields))
        del owners[identity]
        owners[bucket] = replace(owner, fields=both)
        count -= 1
    return owners
