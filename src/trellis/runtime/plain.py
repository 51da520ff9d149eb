# SPDX-License-Identifier: Apache-2.0
"""Structs as plain JSON values to be compared: what is at its default is left out, on both sides.

Encoding does not do: it takes a default for one only if it is the very same object, so that a value
read from the cluster and an equal one that was built would differ.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import msgspec
from msgspec import NODEFAULT, Raw, Struct, structs

_EMPTIES: dict[Any, Any] = {dict: {}, list: [], tuple: ()}


def plain(value: Any) -> Any:
    if isinstance(value, Struct):
        return {
            encoded: plain(own)
            for name, encoded, default in _fields(type(value))
            if (own := getattr(value, name)) != default
        }
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {name: plain(item) for name, item in value.items()}
    if isinstance(value, Raw):
        return msgspec.json.decode(value)
    return msgspec.to_builtins(value)


@lru_cache(maxsize=1024)
def _fields(kind: type[Struct]) -> tuple[tuple[str, str, Any], ...]:
    """Name, name in JSON, and default of each field; none for those that are always written."""
    return tuple((each.name, each.encode_name, _default(each)) for each in structs.fields(kind))


def _default(field: structs.FieldInfo) -> Any:
    return (
        field.default
        if field.default is not NODEFAULT
        else _EMPTIES.get(field.default_factory, NODEFAULT)
    )
