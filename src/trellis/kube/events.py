# SPDX-License-Identifier: Apache-2.0
"""What a watch says, line by line, and what a reader is told of it. Pure."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Generic, TypeVar, cast

import msgspec

from trellis.kube.codec import decode, decoder
from trellis.kube.errors import Unreadable
from trellis.kube.status import Status, from_status

T = TypeVar("T")

# The server's own mark on the bookmark that ends the initial events.
_INITIAL_END = "k8s.io/initial-events-end"
_CHANGES = frozenset({"ADDED", "MODIFIED", "DELETED"})


class Change(msgspec.Struct, Generic[T], frozen=True):
    """One object as it is now, or None in its place when it is gone.

    `leaving`: since when one that is gone was being deleted. None: nobody said that it was, and it
    may only be out of sight.
    """

    namespace: str
    name: str
    object: T | None
    leaving: datetime | None = None


class Snapshot(msgspec.Struct, Generic[T], frozen=True):
    """Everything there is: whatever a reader had before and is not in it, is gone."""

    objects: list[T]
    resource_version: str


class Delta(msgspec.Struct, Generic[T], frozen=True):
    """What changed since, the latest of each object, up to a resourceVersion.

    It may be empty: then nothing changed up to there. Changes of one object that came while the
    reader was busy are one: an object may be gone that was never seen, and a name may have passed
    to an object with another uid.
    """

    changes: list[Change[T]]
    resource_version: str


class Moment(msgspec.Struct, Generic[T], frozen=True):
    """One line of a watch. No change: a bookmark, or an object that could not be read."""

    resource_version: str
    change: Change[T] | None = None
    initial_end: bool = False
    unreadable: Unreadable | None = None


class _Metadata(msgspec.Struct, frozen=True, rename="camel"):
    name: str = ""
    namespace: str = ""
    resource_version: str = ""
    deletion_timestamp: datetime | None = None


class _Object(msgspec.Struct):
    # A Status may come without.
    metadata: _Metadata = _Metadata()


class _Head(msgspec.Struct):
    type: str
    object: _Object


class _Event(msgspec.Struct, Generic[T]):
    object: T


class _Annotated(msgspec.Struct):
    annotations: dict[str, str] = {}


class _Bookmark(msgspec.Struct):
    metadata: _Annotated


class Reader(Generic[T]):
    """Turns lines into moments. An ERROR, and a line that is no event, is raised."""

    def __init__(self, into: type[T], what: str) -> None:
        self._what = what
        self._raw = into is bytes
        event_type: Any = _Event[msgspec.Raw if self._raw else into]  # type: ignore[misc]
        self._typed = decoder(event_type)

    def read(self, line: bytes) -> Moment[T]:
        # Twice over the line, because the type says into what the object is to be decoded; still
        # cheaper than once into a generic tree.
        head = decode(line, _Head, self._what)
        if head.type == "ERROR":
            raise from_status(self._what, decode(line, _Event[Status], self._what).object)
        version = head.object.metadata.resource_version
        if not version:
            raise Unreadable(f"{self._what}: an event without a resourceVersion")
        if head.type in _CHANGES:
            return self._change(line, head)
        if head.type == "BOOKMARK":
            bookmark = decode(line, _Event[_Bookmark], self._what).object
            end = bookmark.metadata.annotations.get(_INITIAL_END) == "true"
            return Moment(version, initial_end=end)
        raise Unreadable(f"{self._what}: an event of the unknown type {head.type[:20]!r}")

    def _change(self, line: bytes, head: _Head) -> Moment[T]:
        metadata = head.object.metadata
        if head.type == "DELETED":
            # What it last was may not even be readable: that it is gone is all there is to know,
            # and whether it was to go. News of that may have been merged into this.
            place = metadata.namespace, metadata.name
            gone: Change[T] = Change(*place, None, metadata.deletion_timestamp)
            return Moment(metadata.resource_version, gone)
        try:
            found: Any = self._typed.decode(line).object
        except msgspec.ValidationError as error:
            named = f"{metadata.namespace}/{metadata.name}".removeprefix("/")
            odd = Unreadable(f"{self._what}: {named} is not of the expected shape: {error}")
            return Moment(metadata.resource_version, unreadable=odd)
        kept = cast("T", bytes(found) if self._raw else found)
        return Moment(metadata.resource_version, Change(metadata.namespace, metadata.name, kept))
