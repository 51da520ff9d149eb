# SPDX-License-Identifier: Apache-2.0
"""Functions of the language itself: conversions, `size`, tests of strings, optional values."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

from trellis.cel.overloads import Library, traversal
from trellis.cel.problems import EvaluationProblem
from trellis.cel.times import (
    EARLIEST_SECOND,
    LATEST_SECOND,
    duration_text,
    read_duration,
    read_timestamp,
    timestamp_text,
)
from trellis.cel.values import (
    NOTHING,
    SECOND,
    Duration,
    Optional,
    Timestamp,
    TypeValue,
    Uint,
    checked_int,
    checked_uint,
    double_text,
    kind_of,
    some,
)

if TYPE_CHECKING:
    from collections.abc import Callable

STANDARD = Library()
_WHOLE = re.compile(r"[+-]?[0-9]{1,19}")
_UNSIGNED = re.compile(r"[0-9]{1,20}")
_DOUBLE = re.compile(
    r"[+-]?(?:inf|infinity|nan|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]{1,6})?)", re.IGNORECASE
)
_TRUE, _FALSE = {"1", "t", "true", "TRUE", "True"}, {"0", "f", "false", "FALSE", "False"}


def _refused(wanted: str) -> EvaluationProblem:
    return EvaluationProblem(f"type conversion error from 'string' to '{wanted}'")


def _text_to_bool(text: str) -> bool:
    if text in _TRUE:
        return True
    if text in _FALSE:
        return False
    raise _refused("bool")


def _text_to_int(text: str) -> int:
    if not _WHOLE.fullmatch(text):
        raise _refused("int")
    try:
        return checked_int(int(text))
    except EvaluationProblem:
        raise _refused("int") from None


def _text_to_uint(text: str) -> Uint:
    if not _UNSIGNED.fullmatch(text):
        raise _refused("uint")
    try:
        return checked_uint(int(text))
    except EvaluationProblem:
        raise _refused("uint") from None


def _text_to_double(text: str) -> float:
    if len(text) > 400 or not _DOUBLE.fullmatch(text):
        raise _refused("double")
    return float(text)


def _text_to_timestamp(text: str) -> Timestamp:
    found = read_timestamp(text)
    if found is None:
        raise _refused("google.protobuf.Timestamp")
    return found


def _text_to_duration(text: str) -> Duration:
    found = read_duration(text)
    if found is None:
        raise _refused("google.protobuf.Duration")
    return found


def _int_to_duration(_value: int) -> Duration:
    # Declared, so that it compiles; but the server cannot do it either.
    raise EvaluationProblem("type conversion error from 'int' to 'google.protobuf.Duration'")


def _seconds_to_timestamp(seconds: int) -> Timestamp:
    if EARLIEST_SECOND <= seconds <= LATEST_SECOND:
        return Timestamp(seconds * SECOND)
    raise EvaluationProblem("timestamp overflow")


def _double_to_int(value: float) -> int:
    if math.isfinite(value) and -(2.0**63) < value < 2.0**63:
        return int(value)
    raise EvaluationProblem("integer overflow")


def _double_to_uint(value: float) -> Uint:
    if math.isfinite(value) and 0 <= value < 2.0**64:
        return Uint(int(value))
    raise EvaluationProblem("unsigned integer overflow")


def _bytes_to_text(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        raise EvaluationProblem("invalid UTF-8 in bytes, cannot convert to string") from None


def _same(value: Any) -> Any:
    return value


def _declare_conversions() -> None:
    table: list[tuple[str, str, Callable[[Any], Any]]] = [
        ("bool", "string", _text_to_bool),
        ("double", "int", float),
        ("double", "uint", float),
        ("double", "string", _text_to_double),
        ("duration", "string", _text_to_duration),
        ("duration", "int", _int_to_duration),
        ("int", "double", _double_to_int),
        ("int", "duration", lambda value: value.nanos),
        ("int", "string", _text_to_int),
        ("int", "timestamp", lambda value: value.nanos // SECOND),
        ("int", "uint", lambda value: checked_int(int(value))),
        ("string", "bool", lambda value: "true" if value else "false"),
        ("string", "double", double_text),
        ("string", "duration", duration_text),
        ("string", "int", str),
        ("string", "timestamp", timestamp_text),
        ("string", "uint", lambda value: str(int(value))),
        ("timestamp", "int", _seconds_to_timestamp),
        ("timestamp", "string", _text_to_timestamp),
        ("uint", "double", _double_to_uint),
        ("uint", "int", checked_uint),
        ("uint", "string", _text_to_uint),
    ]
    for target, source, run in table:
        STANDARD.function(target, f"{source} -> {target}", run)
    STANDARD.function("bytes", "string -> bytes", str.encode, traversal)
    STANDARD.function("string", "bytes -> string", _bytes_to_text, traversal)
    for kind in ("bool", "bytes", "double", "duration", "int", "string", "timestamp", "uint"):
        STANDARD.function(kind, f"{kind} -> {kind}", _same)
    STANDARD.function("dyn", "A -> dyn", _same)
    STANDARD.function("type", "A -> type<A>", lambda value: TypeValue(kind_of(value)))


def _declare_texts() -> None:
    for kind in ("string", "bytes", "list<A>", "map<A, B>"):
        STANDARD.function("size", f"{kind} -> int", len)
        STANDARD.member("size", f"{kind} -> int", len)
    STANDARD.member(
        "contains",
        "string, string -> bool",
        lambda text, part: part in text,
        lambda text, part: traversal(text) * traversal(part),
    )
    by_part: Callable[[str, str], int] = lambda _, part: traversal(part)  # noqa: E731
    STANDARD.member("startsWith", "string, string -> bool", str.startswith, by_part)
    STANDARD.member("endsWith", "string, string -> bool", str.endswith, by_part)


def _is_zero(value: Any) -> bool:
    if isinstance(value, (Timestamp, Duration)):
        return value.nanos == 0
    return not value


def _value_of(optional: Optional) -> Any:
    if optional.present:
        return optional.value
    raise EvaluationProblem("optional.none() dereference")


def _declare_optionals() -> None:
    STANDARD.function("optional.of", "V -> optional<V>", some)
    STANDARD.function(
        "optional.ofNonZeroValue",
        "V -> optional<V>",
        lambda value: NOTHING if _is_zero(value) else some(value),
    )
    STANDARD.function("optional.none", "-> optional<V>", lambda: NOTHING)
    STANDARD.member("value", "optional<V> -> V", _value_of)
    STANDARD.member("hasValue", "optional<V> -> bool", lambda optional: optional.present)
    unwrapped: Callable[[list[Optional]], list[Any]] = lambda items: [  # noqa: E731
        item.value for item in items if item.present
    ]
    STANDARD.function("optional.unwrap", "list<optional<V>> -> list<V>", unwrapped, len)
    STANDARD.member("unwrapOpt", "list<optional<V>> -> list<V>", unwrapped, len)
    # `or` and `orValue` are lazy: the compiler runs them.
    STANDARD.member("or", "optional<V>, optional<V> -> optional<V>", _same)
    STANDARD.member("orValue", "optional<V>, V -> V", _same)
    STANDARD.member(
        "first", "list<V> -> optional<V>", lambda items: some(items[0]) if items else NOTHING
    )
    STANDARD.member(
        "last", "list<V> -> optional<V>", lambda items: some(items[-1]) if items else NOTHING
    )


_declare_conversions()
_declare_texts()
_declare_optionals()
