# SPDX-License-Identifier: Apache-2.0
"""One change as the journal keeps it. A field added here or to `Record` goes last, with a default;
anything else is a new format of the journal.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import msgspec

from trellis.embedded.store.records import Record, shared

if TYPE_CHECKING:
    from trellis.embedded.store.changes import Change, Resource


class Entry(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """`record` None: the object was deleted."""

    group: str
    plural: str
    namespace: str
    name: str
    version: int
    record: Record | None

    def encoded(self) -> bytes:
        return _encode(self)


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Entry).decode


def decoded(payload: bytes) -> Entry:
    return _decode(payload)


def entry_of(change: Change) -> Entry:
    if not change.deleted:
        return kept(change.resource, change.record)
    gone = change.record
    return Entry(*change.resource, gone.namespace, gone.name, gone.version, None)


def kept(resource: Resource, record: Record) -> Entry:
    return Entry(*resource, record.namespace, record.name, record.version, record)


def restored(record: Record) -> Record:
    """The record with its strings shared, as they were when it was made."""
    return Record(
        sys.intern(record.namespace),
        record.name,
        record.uid,
        record.version,
        record.created_version,
        record.data,
        shared(record.labels),
        shared(record.fields),
    )
