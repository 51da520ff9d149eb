# SPDX-License-Identifier: Apache-2.0
"""What every object has: its kind, its metadata, its owners, and how it goes on the wire.

A struct holds only the fields it declares; the rest of what a server sends is dropped while
decoding. So a decoded object must never be sent back whole with PUT: unknown fields would be lost.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, ClassVar, NamedTuple, TypeVar

import msgspec
from msgspec import Struct, field, structs

T = TypeVar("T")
# A raw field that is not there. (`Raw | None` would be decoded as null alone.)
ABSENT = msgspec.Raw()
# Timestamps of metadata and status, always UTC. What is written is cut to seconds (`to_seconds`).
Time = datetime


class Value(Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True, rename="camel"):
    """The base of everything that goes on the wire. Values are trees, so the collector skips them.

    Optional fields are None and stay out of what is encoded. Every subclass repeats `frozen` and
    `kw_only`, because type checkers do not inherit them.
    """


class OwnerReference(Value, frozen=True, kw_only=True):
    """An owner. The collector of the cluster deletes an object when all its owners are gone."""

    api_version: str
    kind: str
    name: str
    uid: str
    controller: bool = False
    block_owner_deletion: bool = False


class Metadata(Value, frozen=True, kw_only=True):
    """The metadata of any object, without managedFields and what else nobody here reads."""

    name: str = ""
    generate_name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    generation: int = 0
    creation_timestamp: Time | None = None
    deletion_timestamp: Time | None = None
    labels: dict[str, str] = field(default_factory=dict)
    annotations: dict[str, str] = field(default_factory=dict)
    owner_references: tuple[OwnerReference, ...] = ()
    finalizers: tuple[str, ...] = ()

    @property
    def key(self) -> Key:
        return Key(self.namespace, self.name)

    @property
    def deleting(self) -> bool:
        return self.deletion_timestamp is not None

    @property
    def controller(self) -> OwnerReference | None:
        """The one owner that answers for this object."""
        return next((owner for owner in self.owner_references if owner.controller), None)


class Key(NamedTuple):
    """Where an object is found. Memory about an object is keyed by uid, never by this."""

    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}" if self.namespace else self.name


@dataclass(frozen=True, slots=True)
class Resource:
    """A kind as a server names and serves it."""

    group: str
    version: str
    kind: str
    plural: str
    namespaced: bool = True

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def full_name(self) -> str:
        """What tells it from the kinds of other groups. Its definition, if custom, is called so."""
        return f"{self.plural}.{self.group}" if self.group else self.plural


class Object(Value, frozen=True, kw_only=True):
    """An object of some kind. `apiVersion` and `kind` are facts of the class and take no memory."""

    resource: ClassVar[Resource]
    metadata: Metadata


def always(default: T) -> T:
    """A default that is written out all the same: a count of 0 is something to say."""
    written: T = field(default_factory=lambda: default)
    return written


def encode(value: Object) -> bytes:
    """The object as JSON, with `apiVersion` and `kind`, as a create wants it."""
    resource = value.resource
    head = f'{{"apiVersion":"{resource.api_version}","kind":"{resource.kind}",'
    return head.encode() + msgspec.json.encode(value)[1:]


def to_builtins(value: Value) -> dict[str, Any]:
    """The value as plain dicts and lists, raw parts included, for comparing and patching."""
    built: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(value))
    return built


def detach(value: Value, *raw_fields: str) -> None:
    """Gives raw fields bytes of their own. As decoded, they keep the whole message in memory."""
    for name in raw_fields:
        raw: msgspec.Raw = getattr(value, name)
        structs.force_setattr(value, name, raw.copy())


def owner(value: Object) -> OwnerReference:
    """The reference by which a stored object controls a child."""
    return OwnerReference(
        api_version=value.resource.api_version,
        kind=value.resource.kind,
        name=value.metadata.name,
        uid=value.metadata.uid,
        controller=True,
        block_owner_deletion=True,
    )


def to_seconds(moment: datetime) -> Time:
    """The moment as servers keep it in a `Time`: UTC, without fractions of a second."""
    try:
        universal = moment.astimezone(UTC)
    except OverflowError:
        # Less than a day from either end of all time, which is as good as the end itself.
        universal = moment.replace(tzinfo=UTC)
    return universal.replace(microsecond=0)


def to_micro_time(moment: datetime) -> str:
    """The moment as a `MicroTime` of leases and events, which always has six decimals."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
