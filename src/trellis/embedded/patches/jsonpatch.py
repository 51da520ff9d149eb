# SPDX-License-Identifier: Apache-2.0
"""JSON patch (RFC 6902), as the library behind the server takes it, its liberties included.

A number below zero counts from the end of a list, `replace` sets what is missing, `copy` of nothing
copies null, and what stands before the first slash of a path is not looked at.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec

from trellis.embedded.copying import copied
from trellis.embedded.patches.results import rejected
from trellis.embedded.refusals import Refusal

_MOST_OPERATIONS = 10_000
# All that the copies of one patch may come to; a few operations could make any amount otherwise.
_MOST_COPIED_BYTES = 3 << 20
_INDEX = re.compile(r"[+-]?[0-9]{1,18}", re.ASCII)


class _Failed(Exception):
    """An operation that cannot be done; which one, the server does not say."""


def json_patch(old: dict[str, Any], operations: list[Any]) -> Any:
    count = len(operations)
    if count > _MOST_OPERATIONS:
        said = f"The allowed maximum operations in a JSON patch is {_MOST_OPERATIONS}, got {count}"
        raise Refusal(413, "RequestEntityTooLarge", f"Request entity too large: {said}")
    document = _Document(copied(old))
    try:
        for operation in operations:
            document.do(operation)
    except _Failed as failed:
        raise rejected() from failed
    return document.root


class _Document:
    def __init__(self, root: Any) -> None:
        self.root = root
        self.copied_bytes = 0

    def do(self, operation: Any) -> None:
        name = operation.get("op") if isinstance(operation, dict) else None
        step = _OPERATIONS.get(name) if isinstance(name, str) else None
        if step is None:
            raise _Failed(f"unexpected kind {name!r}")
        step(self, operation)

    def add(self, operation: dict[str, Any]) -> None:
        self._put(_pointer(operation, "path"), copied(operation.get("value")))

    def remove(self, operation: dict[str, Any]) -> None:
        self._take(_pointer(operation, "path"))

    def replace(self, operation: dict[str, Any]) -> None:
        pointer, value = _pointer(operation, "path"), copied(operation.get("value"))
        if not pointer:
            if not isinstance(value, dict | list):
                raise _Failed("the whole must be an object or a list")
            self.root = value
            return
        place, key = self._place(pointer)
        if isinstance(place, dict):
            place[key] = value
        else:
            place[_existing(place, key)] = value

    def move(self, operation: dict[str, Any]) -> None:
        self._put(_pointer(operation, "path"), self._take(_pointer(operation, "from")))

    def copy(self, operation: dict[str, Any]) -> None:
        value = self._get(_pointer(operation, "from"))
        self.copied_bytes += 0 if value is None else len(msgspec.json.encode(value))
        if self.copied_bytes > _MOST_COPIED_BYTES:
            raise _Failed("too much is copied")
        self._put(_pointer(operation, "path"), copied(value))

    def test(self, operation: dict[str, Any]) -> None:
        pointer = _pointer(operation, "path")
        found = self._get(pointer) if pointer else self.root
        if not _same(found, operation.get("value")):
            raise _Failed("the test failed")

    def _place(self, pointer: str) -> tuple[Any, str]:
        """What the last part of a pointer is a key or a number of, and that part."""
        parts = pointer.split("/")
        if len(parts) < 2:
            raise _Failed("there is nothing at such a path")
        place = self.root
        for part in parts[1:-1]:
            place = _at(place, _unescaped(part))
            if not isinstance(place, dict | list):
                raise _Failed("there is nothing at such a path")
        return place, _unescaped(parts[-1])

    def _get(self, pointer: str) -> Any:
        return _at(*self._place(pointer))

    def _take(self, pointer: str) -> Any:
        place, key = self._place(pointer)
        if isinstance(place, list):
            return place.pop(_existing(place, key))
        if key not in place:
            raise _Failed("there is nothing to remove")
        return place.pop(key)

    def _put(self, pointer: str, value: Any) -> None:
        place, key = self._place(pointer)
        if isinstance(place, dict):
            place[key] = value
        elif key == "-":
            place.append(value)
        else:
            place.insert(_position(key, len(place) + 1), value)


_OPERATIONS = {
    "add": _Document.add,
    "remove": _Document.remove,
    "replace": _Document.replace,
    "move": _Document.move,
    "copy": _Document.copy,
    "test": _Document.test,
}


def _pointer(operation: dict[str, Any], name: str) -> str:
    pointer = operation.get(name)
    if not isinstance(pointer, str):
        raise _Failed(f"{name} is missing")
    return pointer


def _unescaped(part: str) -> str:
    return part.replace("~1", "/").replace("~0", "~") if "~" in part else part


def _at(place: Any, key: str) -> Any:
    return place.get(key) if isinstance(place, dict) else place[_existing(place, key)]


def _existing(items: list[Any], key: str) -> int:
    return _position(key, len(items))


def _position(key: str, count: int) -> int:
    """A number below `count`; one below zero counts from there."""
    if not _INDEX.fullmatch(key):
        raise _Failed("a list has numbers")
    index = int(key)
    if not -count <= index < count:
        raise _Failed("a number outside of the list")
    return index + count if index < 0 else index


def _same(left: Any, right: Any) -> bool:
    """As they are written: 1 is not 1.0, and no number is a boolean."""
    if type(left) is not type(right):
        return False
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(_same(left[k], right[k]) for k in left)
    if isinstance(left, list):
        return len(left) == len(right) and all(map(_same, left, right))
    return bool(left == right)
