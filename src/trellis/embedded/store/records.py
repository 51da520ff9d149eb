# SPDX-License-Identifier: Apache-2.0
"""An object as it is kept: its JSON, and beside it the little that is needed to find and match it.

A record never changes: whoever holds one may keep it. It holds no decoded object, which would cost
six times the memory and make the garbage collector walk through it.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import msgspec

Object = dict[str, Any]

NOTHING: Mapping[str, str] = {}

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder().decode


class Record(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """`data` is the whole object, `apiVersion` and `kind` first. The journal holds records as such.

    `fields` are the values of selectable fields beside `metadata.name` and `metadata.namespace`.
    """

    namespace: str
    name: str
    uid: str
    version: int
    created_version: int
    data: bytes
    labels: Mapping[str, str]
    fields: Mapping[str, str]

    @property
    def key(self) -> str:
        """Lists are sorted by it, as the real server's are."""
        return key_of(self.namespace, self.name)

    @property
    def bare(self) -> bytes:
        """The object without `apiVersion` and `kind`, as lists of built-in kinds show it."""
        data = self.data
        kind = data.index(b',"kind":"')
        return b"{" + data[data.index(b'",', kind + 9) + 2 :]

    def field(self, path: str) -> str:
        """The value that a field selector compares with."""
        if path == "metadata.name":
            return self.name
        if path == "metadata.namespace":
            return self.namespace
        return self.fields.get(path, "")

    def decoded(self) -> Object:
        """A fresh copy of the object, the caller's own."""
        return _decode(self.data)  # type: ignore[no-any-return]

    def reissued(self, version: int) -> Record:
        """The same content under another version."""
        return record_of(self.decoded(), version, self.fields, self.created_version)


def key_of(namespace: str, name: str) -> str:
    return f"{namespace}/{name}" if namespace else name


def record_of(obj: Object, version: int, fields: Mapping[str, str], created: int) -> Record:
    """The record of an object at a version, which is written into the object."""
    metadata = obj["metadata"]
    metadata["resourceVersion"] = str(version)
    return Record(
        sys.intern(metadata.get("namespace") or ""),
        metadata["name"],
        metadata.get("uid") or "",
        version,
        created,
        _encode(_headed(obj)),
        shared(metadata.get("labels")),
        shared(fields),
    )


def shared(mapping: Mapping[str, str] | None) -> Mapping[str, str]:
    """A copy whose strings exist once in the process: thousands of pods say the same words."""
    if not mapping:
        return NOTHING
    intern = sys.intern
    return {intern(key): intern(value) for key, value in mapping.items()}


def _headed(obj: Object) -> Object:
    """Itself where it begins with `apiVersion` and `kind`, else one that does."""
    keys = iter(obj)
    if next(keys) == "apiVersion" and next(keys) == "kind":
        return obj
    return {"apiVersion": obj["apiVersion"], "kind": obj["kind"], **obj}
