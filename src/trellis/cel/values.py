# SPDX-License-Identifier: Apache-2.0
"""Values at evaluation: plain JSON values as they are, and a few classes for what JSON lacks.

Objects are never copied or wrapped: a mapping is a map, a list is a list. What Python takes for
equal and CEL does not (`True == 1`) is told apart here.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from trellis.api import durations
from trellis.cel.problems import EvaluationProblem

INT_LOWEST, INT_HIGHEST = -(1 << 63), (1 << 63) - 1
UINT_HIGHEST = (1 << 64) - 1
SECOND = durations.SECOND


class Uint(int):
    """An integer without sign."""

    __slots__ = ()


@dataclass(frozen=True, slots=True, order=True)
class Timestamp:
    """Nanoseconds since 1970."""

    nanos: int


@dataclass(frozen=True, slots=True, order=True)
class Duration:
    nanos: int


@dataclass(frozen=True, slots=True)
class Optional:
    """A value that may be absent."""

    present: bool
    value: Any = None


NOTHING = Optional(present=False)


def some(value: Any) -> Optional:
    return Optional(present=True, value=value)


@dataclass(frozen=True, slots=True)
class TypeValue:
    """What `type(x)` gives."""

    name: str


class SetList(list[Any]):
    """A list of x-kubernetes-list-type=set: order does not matter, `+` is a union."""

    __slots__ = ()


class KeyedList(list[Any]):
    """A list of x-kubernetes-list-type=map: order does not matter, `+` merges by keys."""

    __slots__ = ("keys",)

    def __init__(self, items: list[Any], keys: tuple[str, ...]) -> None:
        super().__init__(items)
        self.keys = keys

    def key_of(self, item: Any) -> tuple[Any, ...]:
        return tuple(item.get(key) for key in self.keys) if isinstance(item, Mapping) else (item,)


_KINDS: dict[type, str] = {
    bool: "bool",
    int: "int",
    Uint: "uint",
    float: "double",
    str: "string",
    bytes: "bytes",
    type(None): "null_type",
    list: "list",
    SetList: "list",
    KeyedList: "list",
    tuple: "list",
    dict: "map",
    Timestamp: "google.protobuf.Timestamp",
    Duration: "google.protobuf.Duration",
    Optional: "optional_type",
    TypeValue: "type",
}
_NUMBERS = frozenset({int, Uint, float})
# Types whose values Python compares as CEL does.
_SIMPLE = frozenset(
    {bool, int, Uint, float, str, bytes, type(None), Timestamp, Duration, TypeValue}
)
_ORDERED = frozenset({bool, int, Uint, str, bytes, Timestamp, Duration})
COMPARABLE = _ORDERED | _NUMBERS


def kind_of(value: Any) -> str:
    kind = _KINDS.get(type(value))
    if kind is not None:
        return kind
    if isinstance(value, Mapping):
        return "map"
    name: str = getattr(value, "type_name", "dyn")
    return name


def no_overload(function: str = "", *args: Any) -> EvaluationProblem:
    if not function:
        return EvaluationProblem("no such overload")
    return EvaluationProblem(f"no such overload: {function}({', '.join(map(kind_of, args))})")


def equal(first: Any, second: Any) -> bool:
    one, other = type(first), type(second)
    if one is other and one in _SIMPLE:
        return bool(first == second)
    if first is second:
        return True
    if one in _NUMBERS and other in _NUMBERS:
        return bool(first == second)
    kind = kind_of(first)
    if kind != kind_of(second):
        return False
    compared = _EQUALITIES.get(kind)
    return compared(first, second) if compared else bool(first == second)


def _equal_lists(first: list[Any], second: list[Any]) -> bool:
    if len(first) != len(second):
        return False
    if isinstance(first, SetList):
        return identities(first) == identities(second)
    if isinstance(first, KeyedList):
        by_key = {first.key_of(item): item for item in first}
        return all(
            (key := first.key_of(item)) in by_key and equal(by_key[key], item) for item in second
        )
    # What is written the same is the same; most lists that are equal are.
    return repr(first) == repr(second) or all(map(equal, first, second))


def _equal_maps(first: Mapping[Any, Any], second: Mapping[Any, Any]) -> bool:
    return len(first) == len(second) and all(
        (found := find(second, key)) is not MISSING and equal(value, found)
        for key, value in first.items()
    )


_EQUALITIES: dict[str, Callable[[Any, Any], bool]] = {
    "list": _equal_lists,
    "map": _equal_maps,
    "optional_type": lambda one, other: (
        one.present == other.present and equal(one.value, other.value)
    ),
}


def identity(item: Any) -> Any:
    """Something to find equal items of a set by, however many there are."""
    if type(item) in _SIMPLE:
        return (type(item) is bool, item)
    return json.dumps(item, sort_keys=True, default=str)


def identities(items: list[Any]) -> frozenset[Any]:
    return frozenset(map(identity, items))


def contains(items: list[Any], wanted: Any) -> bool:
    return any(equal(item, wanted) for item in items)


MISSING: Any = object()


def find(mapping: Mapping[Any, Any], key: Any) -> Any:
    """The value of a key, or MISSING."""
    try:
        value = mapping[key]
    except (KeyError, TypeError):
        return MISSING
    # Python takes True for 1: keys of a map are of one type, so the first one tells.
    if (
        type(key) is not str
        and mapping
        and (type(key) is bool) != (type(next(iter(mapping))) is bool)
    ):
        return MISSING
    return value


def compare(first: Any, second: Any) -> int:
    """-1, 0 or 1; an error where there is no order."""
    one, other = type(first), type(second)
    if not ((one is other and one in _ORDERED) or (one in _NUMBERS and other in _NUMBERS)):
        raise no_overload()
    if first != first or second != second:  # noqa: PLR0124 - NaN
        raise EvaluationProblem("NaN values cannot be ordered")
    return int(first > second) - int(first < second)


def checked_int(value: int) -> int:
    if INT_LOWEST <= value <= INT_HIGHEST:
        return value
    raise EvaluationProblem("integer overflow")


def checked_uint(value: int) -> Uint:
    if 0 <= value <= UINT_HIGHEST:
        return Uint(value)
    raise EvaluationProblem("unsigned integer overflow")


def written(value: Any) -> str:
    """A value inside a message."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return double_text(value)
    return str(value)


def double_text(value: float) -> str:
    """As Go's %g writes it: the shortest digits, with an exponent below 1e-4 and from 1e6 on."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    sign, digits, exponent = _shortest(value)
    point = len(digits) + exponent
    if not -4 < point <= 6:
        mantissa = digits[0] + (f".{digits[1:]}" if digits[1:] else "")
        return f"{sign}{mantissa}e{point - 1:+03d}"
    if point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    if exponent >= 0:
        return f"{sign}{digits}{'0' * exponent}"
    return f"{sign}{digits[:point]}.{digits[point:]}"


def _shortest(value: float) -> tuple[str, str, int]:
    mantissa, _, power = f"{value!r}".partition("e")
    sign = "-" if mantissa.startswith("-") else ""
    whole, _, fraction = mantissa.lstrip("-").partition(".")
    digits = (whole + fraction).lstrip("0")
    stripped = digits.rstrip("0")
    exponent = int(power or 0) - len(fraction) + len(digits) - len(stripped)
    return sign, stripped or "0", exponent if stripped else 0
