# SPDX-License-Identifier: Apache-2.0
"""Arithmetic, order, membership and indexing."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from trellis.cel.overloads import Library
from trellis.cel.problems import EvaluationProblem
from trellis.cel.times import checked_duration, checked_timestamp
from trellis.cel.values import (
    COMPARABLE,
    MISSING,
    NOTHING,
    Duration,
    KeyedList,
    Optional,
    SetList,
    Timestamp,
    Uint,
    checked_int,
    checked_uint,
    compare,
    contains,
    equal,
    find,
    identities,
    identity,
    kind_of,
    no_overload,
    some,
    written,
)

Binary = Callable[[Any, Any], Any]
OPERATORS = Library()


def _by_types(name: str, table: dict[tuple[type, type], Binary]) -> Binary:
    known = frozenset(first for first, _ in table)

    def operate(first: Any, second: Any) -> Any:
        run = table.get((type(first), type(second)))
        if run is None:
            raise _refused(name, known, first)
        return run(first, second)

    return operate


def _refused(name: str, known: frozenset[type], first: Any) -> EvaluationProblem:
    """The server names the operator where the left side could never be its operand."""
    return no_overload() if type(first) in known else EvaluationProblem(f"no such overload: {name}")


def _joined(first: list[Any], second: list[Any]) -> list[Any]:
    if isinstance(first, SetList):
        known = identities(first)
        return SetList([*first, *(item for item in second if identity(item) not in known)])
    if isinstance(first, KeyedList):
        merged = {first.key_of(item): item for item in first}
        merged.update((first.key_of(item), item) for item in second)
        return KeyedList(list(merged.values()), first.keys)
    return [*first, *second]


_LISTS = (list, SetList, KeyedList)
_SUMS: dict[tuple[type, type], Binary] = {
    (int, int): lambda first, second: checked_int(first + second),
    (Uint, Uint): lambda first, second: checked_uint(int(first) + int(second)),
    (float, float): lambda first, second: first + second,
    (str, str): lambda first, second: first + second,
    (bytes, bytes): lambda first, second: first + second,
    (Duration, Duration): lambda first, second: checked_duration(first.nanos + second.nanos),
    (Timestamp, Duration): lambda first, second: checked_timestamp(first.nanos + second.nanos),
    (Duration, Timestamp): lambda first, second: checked_timestamp(first.nanos + second.nanos),
    **{(one, other): _joined for one in _LISTS for other in _LISTS},
}
add = _by_types("_+_", _SUMS)

_DIFFERENCES: dict[tuple[type, type], Binary] = {
    (int, int): lambda first, second: checked_int(first - second),
    (Uint, Uint): lambda first, second: checked_uint(int(first) - int(second)),
    (float, float): lambda first, second: first - second,
    (Duration, Duration): lambda first, second: checked_duration(first.nanos - second.nanos),
    (Timestamp, Duration): lambda first, second: checked_timestamp(first.nanos - second.nanos),
    (Timestamp, Timestamp): lambda first, second: checked_duration(first.nanos - second.nanos),
}
_PRODUCTS: dict[tuple[type, type], Binary] = {
    (int, int): lambda first, second: checked_int(first * second),
    (Uint, Uint): lambda first, second: checked_uint(int(first) * int(second)),
    (float, float): lambda first, second: first * second,
}


def _divided(first: int, second: int) -> int:
    """Towards zero, as Go divides."""
    if second == 0:
        raise EvaluationProblem("division by zero")
    whole = abs(first) // abs(second)
    return whole if (first < 0) == (second < 0) else -whole


def _remainder(first: int, second: int) -> int:
    if second == 0:
        raise EvaluationProblem("modulus by zero")
    return int(math.copysign(1, first)) * (abs(first) % abs(second))


def _double_quotient(first: float, second: float) -> float:
    if second != 0:
        return first / second
    if first == 0 or math.isnan(first):
        return math.nan
    return math.copysign(math.inf, first) * math.copysign(1, second)


_QUOTIENTS: dict[tuple[type, type], Binary] = {
    (int, int): lambda first, second: checked_int(_divided(first, second)),
    (Uint, Uint): lambda first, second: Uint(_divided(int(first), int(second))),
    (float, float): _double_quotient,
}


_REMAINDERS: dict[tuple[type, type], Binary] = {
    (int, int): _remainder,
    (Uint, Uint): lambda first, second: Uint(_remainder(int(first), int(second))),
}


def negated(value: Any) -> Any:
    if type(value) is int:
        return checked_int(-value)
    if type(value) is float:
        return -value
    raise no_overload()


def inverted(value: Any) -> bool:
    if type(value) is bool:
        return not value
    raise no_overload()


def index(container: Any, key: Any) -> Any:
    kind = kind_of(container)
    if kind == "list":
        place = _place(key)
        if 0 <= place < len(container):
            return container[place]
        raise EvaluationProblem(f"index out of bounds: {written(key)}")
    if kind == "map":
        found = find(container, key)
        if found is not MISSING:
            return found
    elif kind == "optional_type":
        return optional_index(container, key)
    raise EvaluationProblem(f"no such key: {written(key)}")


def _place(key: Any) -> int:
    if type(key) in {int, Uint}:
        return int(key)
    if type(key) is float and key.is_integer():
        return int(key)
    if type(key) is float:
        raise EvaluationProblem(f"unsupported index value {written(key)} in list")
    raise EvaluationProblem(f"unsupported index type '{kind_of(key)}' in list")


def optional_index(container: Any, key: Any) -> Optional:
    if isinstance(container, Optional):
        return optional_index(container.value, key) if container.present else NOTHING
    kind = kind_of(container)
    if kind == "list":
        place = _place(key)
        return some(container[place]) if 0 <= place < len(container) else NOTHING
    if kind == "map":
        found = find(container, key)
        return NOTHING if found is MISSING else some(found)
    raise no_overload()


def within(wanted: Any, container: Any) -> bool:
    kind = kind_of(container)
    if kind == "list":
        return contains(container, wanted)
    if kind == "map":
        # A map that makes up what it lacks (domains of a device) must not do so here.
        return (
            wanted in container if type(wanted) is str else find(container, wanted) is not MISSING
        )
    raise no_overload()


def size_of(value: Any) -> int:
    """What comparing or walking over a value costs, in characters or items."""
    if isinstance(value, (str, bytes, list, Mapping)):
        return len(value)
    return 1


_TEXTS = frozenset({str, bytes})
_LEAVES = frozenset({int, bool, float, type(None), Uint, Timestamp, Duration})


def weight(value: Any) -> int:
    """How many values a tree holds, text by its length: what comparing or writing it takes."""
    total, pending = 0, [value]
    while pending:
        item = pending.pop()
        kind = type(item)
        if kind in _TEXTS:
            total += len(item)
        elif kind in _LEAVES or not isinstance(item, (list, Mapping)):
            total += 1
        else:
            total += len(item)
            parts = item.values() if isinstance(item, Mapping) else item
            # Leaves are counted already.
            pending += [part for part in parts if type(part) not in _LEAVES]
    return total


def comparison(first: Any, second: Any) -> int:
    """The price of comparing. Trees cost more than at the server: we are slower with them."""
    if type(first) in _TEXTS or type(second) in _TEXTS:
        return (min(size_of(first), size_of(second)) + 9) // 10
    return (min(weight(first), weight(second)) + 1) // 2


def _ordering(name: str, accept: Callable[[int], bool]) -> Binary:
    def ordered(first: Any, second: Any) -> bool:
        if type(first) not in COMPARABLE:
            raise _refused(name, COMPARABLE, first)
        return accept(compare(first, second))

    return ordered


_ORDERS = {
    "_<_": _ordering("_<_", lambda order: order < 0),
    "_<=_": _ordering("_<=_", lambda order: order <= 0),
    "_>_": _ordering("_>_", lambda order: order > 0),
    "_>=_": _ordering("_>=_", lambda order: order >= 0),
}


def _concatenated(first: Any, second: Any) -> int:
    return (size_of(first) + size_of(second) + 9) // 10


def _declare_arithmetic() -> None:
    numbers = ("int", "uint", "double")
    for name, run, kinds in (
        ("_-_", _by_types("_-_", _DIFFERENCES), numbers),
        ("_*_", _by_types("_*_", _PRODUCTS), numbers),
        ("_/_", _by_types("_/_", _QUOTIENTS), numbers),
        ("_%_", _by_types("_%_", _REMAINDERS), ("int", "uint")),
    ):
        for kind in kinds:
            OPERATORS.function(name, f"{kind}, {kind} -> {kind}", run)
    for kind in numbers:
        OPERATORS.function("_+_", f"{kind}, {kind} -> {kind}", add)
    for kind in ("bytes", "string", "list<A>"):
        OPERATORS.function("_+_", f"{kind}, {kind} -> {kind}", add, _concatenated)
    for signature in (
        "duration, duration -> duration",
        "duration, timestamp -> timestamp",
        "timestamp, duration -> timestamp",
    ):
        OPERATORS.function("_+_", signature, add)
    for signature in (
        "duration, duration -> duration",
        "timestamp, duration -> timestamp",
        "timestamp, timestamp -> duration",
    ):
        OPERATORS.function("_-_", signature, _by_types("_-_", _DIFFERENCES))
    for kind in ("int", "double"):
        OPERATORS.function("-_", f"{kind} -> {kind}", negated)


def _declare_order() -> None:
    numbers = ("int", "uint", "double")
    for name, run in _ORDERS.items():
        for kind in ("bool", "timestamp", "duration"):
            OPERATORS.function(name, f"{kind}, {kind} -> bool", run)
        for kind in ("string", "bytes"):
            OPERATORS.function(name, f"{kind}, {kind} -> bool", run, comparison)
        for one in numbers:
            for other in numbers:
                OPERATORS.function(name, f"{one}, {other} -> bool", run)


def _declare_rest() -> None:
    OPERATORS.function("!_", "bool -> bool", inverted)
    OPERATORS.function("_?_:_", "bool, A, A -> A", no_overload)
    OPERATORS.function("_==_", "A, A -> bool", equal, comparison)
    OPERATORS.function("_!=_", "A, A -> bool", lambda one, other: not equal(one, other), comparison)
    OPERATORS.function("@in", "A, list<A> -> bool", within, lambda _, items: size_of(items))
    OPERATORS.function("@in", "A, map<A, B> -> bool", within)
    OPERATORS.function("_[_]", "list<A>, int -> A", index)
    OPERATORS.function("_[_]", "map<A, B>, A -> B", index)
    OPERATORS.function("_[_]", "optional<list<V>>, int -> optional<V>", optional_index)
    OPERATORS.function("_[_]", "optional<map<K, V>>, K -> optional<V>", optional_index)
    OPERATORS.function("_[?_]", "list<V>, int -> optional<V>", optional_index)
    OPERATORS.function("_[?_]", "optional<list<V>>, int -> optional<V>", optional_index)
    OPERATORS.function("_[?_]", "map<K, V>, K -> optional<V>", optional_index)
    OPERATORS.function("_[?_]", "optional<map<K, V>>, K -> optional<V>", optional_index)


_declare_arithmetic()
_declare_order()
_declare_rest()
