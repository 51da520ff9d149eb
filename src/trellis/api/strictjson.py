# SPDX-License-Identifier: Apache-2.0
"""JSON from outside: what would harm a parser, or whoever reads on, is refused at the door.

Size and depth are checked on the bytes, before anything is parsed. NaN, invalid UTF-8, lone
surrogates (which could be read but never written again) and integers beyond 64 bits are refused.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

import msgspec

T = TypeVar("T")
# What is around, and how it is called there; nothing is around the whole.
_Place: TypeAlias = "tuple[()] | tuple[_Place, str]"

_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_AS_ZEROS = bytes.maketrans(b"123456789", b"0" * 9)
_LONG_INTEGER = re.compile(rb"(?<![0-9.eE+-])-?[0-9]{19,}+(?![.eE])")
_INT64 = range(-(1 << 63), 1 << 63)
_INT64_DIGITS = 19
_SHOWN = 63
_MANY_DIGITS = b"0" * _INT64_DIGITS
_ESCAPE = re.compile(rb"\\.", re.DOTALL)
_QUOTED_BRACKETS = re.compile(rb'"[^"]*+"')
_AS_BRACKETS = bytes.maketrans(b"{}", b"[]")
_NO_STRUCTURE = bytes(code for code in range(256) if code not in b'[]{}"')
_ANYTHING: msgspec.json.Decoder[Any] = msgspec.json.Decoder()


class InvalidJson(ValueError):
    """The text is refused; the message says why, and what is allowed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What is let in. The defaults suit an admission review, which holds an object twice."""

    size: int = 3 << 20
    depth: int = 64
    keys: int = 100_000


REVIEW = Limits()


def loads(text: bytes, limits: Limits = REVIEW) -> Any:
    """The text as plain dicts, lists and scalars."""
    return decode(text, _ANYTHING, limits)


def decode(text: bytes, decoder: msgspec.json.Decoder[T], limits: Limits = REVIEW) -> T:
    """The text as what the decoder is for."""
    check(text, limits)
    try:
        return decoder.decode(text)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise InvalidJson(f"the JSON cannot be read: {error}") from error


def check(text: bytes, limits: Limits = REVIEW) -> None:
    """Refuses what a parser should not even see."""
    if len(text) > limits.size:
        raise InvalidJson(f"the JSON has {len(text)} bytes, and {limits.size} are allowed")
    if text.count(b"[") + text.count(b"{") > limits.depth and _deeper(text, limits.depth):
        raise InvalidJson(
            f"the JSON is nested deeper than the {limits.depth} levels allowed, or never closed"
        )
    crowded = text.count(b":") > limits.keys
    if not crowded and _MANY_DIGITS not in text.translate(_AS_ZEROS):
        return
    outside = _STRING.sub(b"", text)
    if crowded and outside.count(b":") > limits.keys:
        raise InvalidJson(f"the JSON has more keys than the {limits.keys} allowed")
    if integer := _beyond_int64(outside):
        raise InvalidJson(f"the JSON has {integer[:24].decode()}…, beyond a 64-bit integer")


def place_beyond_int64(text: bytes) -> str:
    """Where an integer stands that 64 bits cannot hold, like `spec.replicas`; empty: nowhere.

    A place is put into words only when it is found: keys may be long, and there may be many.
    """
    try:
        waiting: list[tuple[_Place, Any]] = [((), _ANYTHING.decode(text))]
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return ""
    while waiting:
        place, value = waiting.pop()
        if isinstance(value, dict):
            waiting += [((place, f".{key[:_SHOWN]}"), inner) for key, inner in value.items()]
        elif isinstance(value, list):
            waiting += [((place, f"[{index}]"), inner) for index, inner in enumerate(value)]
        elif isinstance(value, int) and value not in _INT64:
            return _worded(place)
    return ""


def _worded(place: _Place) -> str:
    parts: list[str] = []
    while place:
        place, part = place
        parts.append(part)
    return "".join(reversed(parts)).removeprefix(".")


def _deeper(text: bytes, depth: int) -> bool:
    """Whether brackets are nested deeper, told by removing the innermost pairs over and over."""
    brackets = _brackets(text)
    for _ in range(depth):
        if not brackets:
            return False
        brackets = brackets.replace(b"[]", b"")
    return len(brackets) > 0


def _brackets(text: bytes) -> bytes:
    """The brackets outside strings, all of one kind; a few passes in C, for every review pays."""
    structure = _ESCAPE.sub(b"", text) if b"\\" in text else text
    structure = structure.translate(_AS_BRACKETS, _NO_STRUCTURE)
    # Two quotes side by side end one string and begin another: nothing between them counts.
    structure = structure.replace(b'""', b"")
    return _QUOTED_BRACKETS.sub(b"", structure) if b'"' in structure else structure


def _beyond_int64(outside: bytes) -> bytes | None:
    """The first integer that 64 bits cannot hold. Its digits are counted before it is read."""
    for integer in _LONG_INTEGER.findall(outside):
        digits: bytes = integer.lstrip(b"-")
        if len(digits) > _INT64_DIGITS or int(integer) not in _INT64:
            return bytes(integer)
    return None
