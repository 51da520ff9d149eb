# SPDX-License-Identifier: Apache-2.0
"""The JSON patch (RFC 6902) that turns one document into another. Pure; it applies nothing.

Equal documents give no operation at all: the API server calls other webhooks again after a patch
that only sets what is already there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterator


class Operation(msgspec.Struct, frozen=True):
    """One step of a patch. `remove` has no value; null is a value."""

    op: Literal["add", "remove", "replace"]
    path: str
    value: Any = msgspec.UNSET


def diff(before: Any, after: Any) -> tuple[Operation, ...]:
    """Operations that give `after` when applied to `before` in this order."""
    return () if _same(before, after) else tuple(_changes(before, after, ""))


def pointer(parent: str, key: str | int) -> str:
    """The JSON pointer (RFC 6901) of a member or an item of what `parent` points to."""
    return f"{parent}/{str(key).replace('~', '~0').replace('/', '~1')}"


def _changes(before: Any, after: Any, path: str) -> Iterator[Operation]:
    """What makes two that are not the same differ."""
    if isinstance(before, dict) and isinstance(after, dict):
        yield from _members(before, after, path)
    elif isinstance(before, list) and isinstance(after, list):
        yield from _items(before, after, path)
    else:
        yield Operation("replace", path, after)


def _members(before: dict[str, Any], after: dict[str, Any], path: str) -> Iterator[Operation]:
    for key in before:
        if key not in after:
            yield Operation("remove", pointer(path, key))
    for key, value in after.items():
        if key not in before:
            yield Operation("add", pointer(path, key), value)
        elif not _same(before[key], value):
            yield from _changes(before[key], value, pointer(path, key))


def _items(before: list[Any], after: list[Any], path: str) -> Iterator[Operation]:
    """What both begin and end with stays, so that an insertion is one operation, wherever it is."""
    shorter = min(len(before), len(after))
    head = _alike(before, after, shorter)
    tail = _alike(before[::-1], after[::-1], shorter - head)
    old, new = before[head : len(before) - tail], after[head : len(after) - tail]
    common = min(len(old), len(new))
    for index in range(common):
        if not _same(old[index], new[index]):
            yield from _changes(old[index], new[index], pointer(path, head + index))
    # From the end, so that no removal moves what a later one points to.
    for index in reversed(range(common, len(old))):
        yield Operation("remove", pointer(path, head + index))
    for index in range(common, len(new)):
        yield Operation("add", pointer(path, head + index), new[index])


def _alike(before: list[Any], after: list[Any], limit: int) -> int:
    """How many items both lists begin with alike, up to the limit."""
    for index in range(limit):
        if not _same(before[index], after[index]):
            return index
    return limit


def _same(before: Any, after: Any) -> bool:
    """Equal as JSON. Python takes true for 1, and 1 for 1.0; users of the API do not."""
    if before != after:
        return False
    if isinstance(before, str):
        return True
    # Text tells them apart, and is quickly made. It may also differ by the order of keys alone.
    return msgspec.json.encode(before) == msgspec.json.encode(after) or _same_types(before, after)


def _same_types(before: Any, after: Any) -> bool:
    """For what Python holds to be equal."""
    if type(before) is not type(after):
        return False
    if isinstance(before, dict):
        return all(_same_types(value, after[key]) for key, value in before.items())
    if isinstance(before, list):
        return all(map(_same_types, before, after))
    return True
