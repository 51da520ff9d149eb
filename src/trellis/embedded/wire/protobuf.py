# SPDX-License-Identifier: Apache-2.0
"""Reads objects that typed clients send as protobuf. Answers are never written in it.

The bytes are anybody's: every length is checked, nesting is bounded, and what does not fit is
`Malformed`, never another error.
"""

from __future__ import annotations

import base64
import struct
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any, NamedTuple

import msgspec

from trellis.embedded.gotypes import GoField, objects, structs
from trellis.embedded.stamps import stamp
from trellis.embedded.wire.numbers import duration

MAGIC = b"k8s\0"
META = "meta.k8s.io/v1"
# As deep as Go's decoders go.
DEEPEST = 100
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DEFINITIONS = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1."

Value = Any
Read = Callable[[Any, int], Value]


class Malformed(ValueError):
    """The bytes are no object in protobuf. The text is what the server would say of them."""


def decode(body: bytes) -> tuple[str, str, dict[str, Any]]:
    """The apiVersion and kind of an object, and the object as a JSON client would have sent it."""
    if not body.startswith(MAGIC):
        raise Malformed(
            "provided data does not appear to be a protobuf message, "
            f"expected prefix [{' '.join(str(each) for each in MAGIC)}]"
        )
    api_version = kind = ""
    raw = b""
    for number, _, value in _fields(body[len(MAGIC) :]):
        if number == 1 and isinstance(value, bytes):
            parts = {part: text for part, _, text in _fields(value)}
            api_version, kind = _text(parts.get(1, b""), 0), _text(parts.get(2, b""), 0)
        elif number == 2 and isinstance(value, bytes):
            raw = value
    found = objects().get(api_version, {}).get(kind) or objects()[META].get(kind)
    if found is None:
        raise Malformed(f'no kind "{kind}" is registered for version "{api_version}"')
    return api_version, kind, {"apiVersion": api_version, "kind": kind, **_message(found, raw, 0)}


def _fields(data: bytes) -> Iterator[tuple[int, int, int | bytes]]:
    """The number, wire type and value of each field of a message."""
    at, end = 0, len(data)
    while at < end:
        tag, at = _varint(data, at)
        number, wire = tag >> 3, tag & 7
        if wire == _VARINT:
            value, at = _varint(data, at)
            yield number, wire, value
            continue
        if wire == _BYTES:
            size, at = _varint(data, at)
        elif wire in (_FIXED64, _FIXED32):
            size = 8 if wire == _FIXED64 else 4
        else:
            raise Malformed(f"proto: illegal wireType {wire}")
        if size > end - at:
            raise Malformed("unexpected EOF")
        yield number, wire, data[at : at + size]
        at += size


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        if at >= len(data):
            raise Malformed("unexpected EOF")
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
        if shift > 63:
            raise Malformed("proto: integer overflow")


class _Known(NamedTuple):
    """How one field is read and where it goes."""

    json: str
    read: Read
    shape: str
    """`[` a list, `{` a map, `i` into its parent, empty for a single value."""
    zero: Value
    """What is not worth keeping: Go writes every field that is no pointer, set or not."""


@cache
def _known(name: str) -> dict[int, _Known]:
    return {field.number: _of(field) for field in structs()[name]}


def _of(field: GoField) -> _Known:
    shape = field.type[0] if field.type[0] in "[{" else ""
    read = _reader(field.type.lstrip("[{"))
    if "i" in field.flags and not field.json:
        return _Known("", read, "i", None)
    return _Known(field.json, read, shape, _zero(field))


def _zero(field: GoField) -> Value:
    """A JSON client writes zeros that Go does not leave out; empty structs say nothing."""
    if "p" in field.flags or field.type[0] in "[{":
        return _KEPT
    if "o" in field.flags:
        return {"s": "", "i": 0, "b": False, "d": 0.0, "y": "", "t": None, "m": None}.get(
            field.type, {}
        )
    return {} if len(field.type) > 1 else _KEPT


_KEPT = object()


def _message(name: str, data: bytes, depth: int) -> dict[str, Any]:
    if depth > DEEPEST:
        raise Malformed(f"proto: nested deeper than {DEEPEST}")
    known = _known(name)
    found: dict[str, Any] = {}
    for number, _, value in _fields(data):
        field = known.get(number)
        if field is None:
            continue
        if field.shape == "{":
            key, each = _entry(field, value, depth)
            found.setdefault(field.json, {})[key] = each
            continue
        if field.shape == "[":
            found.setdefault(field.json, []).extend(_items(field, value, depth))
            continue
        read = field.read(value, depth)
        if field.shape == "i":
            found |= read
        elif field.zero is _KEPT or read != field.zero:
            found[field.json] = read
    return found


def _entry(field: _Known, value: int | bytes, depth: int) -> tuple[str, Value]:
    parts = {number: part for number, _, part in _fields(_bytes(value))}
    return _text(parts.get(1, b""), 0), field.read(parts.get(2, b""), depth)


def _items(field: _Known, value: int | bytes, depth: int) -> list[Value]:
    """One element, or several where numbers come packed."""
    if isinstance(value, bytes) and field.read in (_integer, _boolean):
        at, found = 0, []
        while at < len(value):
            each, at = _varint(value, at)
            found.append(field.read(each, depth))
        return found
    return [field.read(value, depth)]


def _bytes(value: int | bytes) -> bytes:
    if not isinstance(value, bytes):
        raise Malformed("proto: wrong wireType")
    return value


def _text(value: Any, _: int) -> str:
    try:
        return _bytes(value).decode()
    except UnicodeDecodeError:
        raise Malformed("proto: invalid UTF-8") from None


def _integer(value: Any, _: int) -> int:
    if not isinstance(value, int):
        if value == b"":
            return 0
        raise Malformed("proto: wrong wireType")
    return value - (1 << 64) if value >= 1 << 63 else value


def _boolean(value: Any, depth: int) -> bool:
    return _integer(value, depth) != 0


def _double(value: Any, _: int) -> float:
    if not isinstance(value, bytes) or len(value) not in (0, 8):
        raise Malformed("proto: wrong wireType")
    found: float = struct.unpack("<d", value)[0] if value else 0.0
    return found


def _base64(value: Any, _: int) -> str:
    return base64.b64encode(_bytes(value)).decode()


def _moment(value: Any) -> datetime | None:
    """Go's zero time is an empty message."""
    parts = {number: part for number, _, part in _fields(_bytes(value))}
    if not parts:
        return None
    seconds, nanos = _integer(parts.get(1, 0), 0), _integer(parts.get(2, 0), 0)
    try:
        return _EPOCH + timedelta(seconds=seconds, microseconds=nanos // 1000)
    except OverflowError:
        raise Malformed("proto: time out of range") from None


def _time(value: Any, _: int) -> str | None:
    moment = _moment(value)
    return None if moment is None else stamp(moment)


def _micro_time(value: Any, _: int) -> str | None:
    moment = _moment(value)
    return None if moment is None else moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _duration(value: Any, depth: int) -> str:
    parts = {number: part for number, _, part in _fields(_bytes(value))}
    return duration(_integer(parts.get(1, 0), depth))


def _quantity(value: Any, depth: int) -> str:
    parts = {number: part for number, _, part in _fields(_bytes(value))}
    return _text(parts.get(1, b""), depth)


def _int_or_string(value: Any, depth: int) -> int | str:
    parts = {number: part for number, _, part in _fields(_bytes(value))}
    if _integer(parts.get(1, 0), depth):
        return _text(parts.get(3, b""), depth)
    number = _integer(parts.get(2, 0), depth)
    return number - (1 << 32) if number >= 1 << 31 else number


def _raw(value: Any, depth: int) -> Value:
    parts = {number: part for number, _, part in _fields(_bytes(value))}
    text = _bytes(parts.get(1, b""))
    if text.startswith(MAGIC):
        return decode(text)[2] if depth < DEEPEST else None
    try:
        return msgspec.json.decode(text) if text else None
    except (msgspec.DecodeError, RecursionError):
        raise Malformed("proto: a raw field holds no JSON") from None


def _or_bool(value: Any, depth: int) -> Value:
    found = _message(_DEFINITIONS + "JSONSchemaPropsOrBool", _bytes(value), depth)
    return found["Schema"] if "Schema" in found else found.get("Allows", False)


def _or_array(value: Any, depth: int) -> Value:
    found = _message(_DEFINITIONS + "JSONSchemaPropsOrArray", _bytes(value), depth)
    return found.get("JSONSchemas") or found.get("Schema")


def _or_strings(value: Any, depth: int) -> Value:
    found = _message(_DEFINITIONS + "JSONSchemaPropsOrStringArray", _bytes(value), depth)
    return found.get("Property") or found.get("Schema")


_READERS: dict[str, Read] = {
    "s": _text,
    "i": _integer,
    "b": _boolean,
    "d": _double,
    "y": _base64,
    "t": _time,
    "m": _micro_time,
    "u": _duration,
    "q": _quantity,
    "I": _int_or_string,
    "r": _raw,
    _DEFINITIONS + "JSONSchemaPropsOrBool": _or_bool,
    _DEFINITIONS + "JSONSchemaPropsOrArray": _or_array,
    _DEFINITIONS + "JSONSchemaPropsOrStringArray": _or_strings,
}


def _reader(code: str) -> Read:
    if (known := _READERS.get(code)) is not None:
        return known
    if code.startswith("<"):
        inner = _reader(code[1:])

        def wrapped(value: Any, depth: int) -> Value:
            return [inner(part, depth) for _, _, part in _fields(_bytes(value))]

        return wrapped

    def message(value: Any, depth: int) -> Value:
        return _message(code, _bytes(value), depth + 1)

    return message
