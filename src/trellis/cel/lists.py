# SPDX-License-Identifier: Apache-2.0
"""Functions over lists: Kubernetes' own, CEL's extension for lists, and sets."""

from __future__ import annotations

from functools import cmp_to_key
from itertools import pairwise
from typing import Any

from trellis.cel.operators import add, weight
from trellis.cel.overloads import Library
from trellis.cel.problems import BudgetSpent, EvaluationProblem
from trellis.cel.values import Duration, Uint, compare, contains, equal, kind_of

LISTS = Library()
_COMPARABLE = ("int", "uint", "double", "bool", "duration", "timestamp", "string", "bytes")
_NEW_LIST = 10
_ZEROS: dict[str, Any] = {"int": 0, "uint": Uint(0), "double": 0.0, "duration": Duration(0)}
# A list longer than any request could carry is an attack, and the cost limit would end it anyway.
_RANGE_LIMIT = 1_000_000


def _is_sorted(items: list[Any]) -> bool:
    return all(compare(first, second) <= 0 for first, second in pairwise(items))


def _sum(zero: Any) -> Any:
    def total(items: list[Any]) -> Any:
        if not items:
            return zero
        result = items[0]
        for item in items[1:]:
            result = add(result, item)
        return result

    return total


def _extreme(name: str, sign: int) -> Any:
    def pick(items: list[Any]) -> Any:
        if not items:
            raise EvaluationProblem(f"{name} called on empty list")
        best = items[0]
        for item in items[1:]:
            if compare(best, item) == sign:
                best = item
        return best

    return pick


def _index_of(items: list[Any], wanted: Any) -> int:
    return next((place for place, item in enumerate(items) if equal(item, wanted)), -1)


def _last_index_of(items: list[Any], wanted: Any) -> int:
    found = _index_of(items[::-1], wanted)
    return -1 if found < 0 else len(items) - 1 - found


def _slice(items: list[Any], start: int, end: int) -> list[Any]:
    asked = f"cannot slice({start}, {end})"
    if start < 0 or end < 0:
        raise EvaluationProblem(f"{asked}, negative indexes not supported")
    if start > end:
        raise EvaluationProblem(f"{asked}, start index must be less than or equal to end index")
    if end > len(items):
        raise EvaluationProblem(f"{asked}, list is length {len(items)}")
    return list(items[start:end])


def _flatten(items: list[Any], depth: int = 1) -> list[Any]:
    if depth < 0:
        raise EvaluationProblem("level must be non-negative")
    flat: list[Any] = []
    for item in items:
        if depth and isinstance(item, list):
            flat.extend(_flatten(item, depth - 1))
        else:
            flat.append(item)
    return flat


def sorted_by(items: list[Any], keys: list[Any]) -> list[Any]:
    if keys and any(kind_of(key) != kind_of(keys[0]) for key in keys):
        raise EvaluationProblem("list elements must have the same type")
    order = cmp_to_key(compare)
    places = sorted(range(len(items)), key=lambda place: order(keys[place]))
    return [items[place] for place in places]


def _range(count: int) -> list[int]:
    if count > _RANGE_LIMIT:
        raise BudgetSpent
    return list(range(count))


def _distinct(items: list[Any]) -> list[Any]:
    seen: list[Any] = []
    for item in items:
        if not contains(seen, item):
            seen.append(item)
    return seen


def _contains_all(items: list[Any], wanted: list[Any]) -> bool:
    return all(contains(items, item) for item in wanted)


def _per_item(items: list[Any], *_rest: Any) -> int:
    return weight(items)


def _new_list(items: list[Any], *_rest: Any) -> int:
    return len(items) + 1 + _NEW_LIST


def self_compared(items: list[Any], *_rest: Any) -> int:
    factor = 2.1 if items and isinstance(items[0], (str, bytes)) else 2
    return int(len(items) ** 2 * factor) + 1 + _NEW_LIST


def _flatten_cost(items: list[Any], depth: int = 1) -> int:
    return max(depth, 1) * len(items) + 1 + _NEW_LIST


def _pairs(first: list[Any], second: list[Any]) -> int:
    return len(first) * len(second) + 1


for _kind in _COMPARABLE:
    LISTS.member("isSorted", f"list<{_kind}> -> bool", _is_sorted, _per_item)
    LISTS.member("min", f"list<{_kind}> -> {_kind}", _extreme("min", 1), _per_item)
    LISTS.member("max", f"list<{_kind}> -> {_kind}", _extreme("max", -1), _per_item)
    LISTS.member(
        "sort",
        f"list<{_kind}> -> list<{_kind}>",
        lambda items: sorted_by(items, items),
        self_compared,
    )
for _kind, _zero in _ZEROS.items():
    LISTS.member("sum", f"list<{_kind}> -> {_kind}", _sum(_zero), _per_item)
LISTS.member("indexOf", "list<A>, A -> int", _index_of, _per_item)
LISTS.member("lastIndexOf", "list<A>, A -> int", _last_index_of, _per_item)
LISTS.member("slice", "list<T>, int, int -> list<T>", _slice, _new_list)
LISTS.member("flatten", "list<list<T>> -> list<T>", _flatten, _flatten_cost)
LISTS.member("flatten", "list<dyn>, int -> list<dyn>", _flatten, _flatten_cost)
LISTS.member("reverse", "list<T> -> list<T>", lambda items: items[::-1], _new_list)
LISTS.member("distinct", "list<T> -> list<T>", _distinct, self_compared)
LISTS.function("lists.range", "int -> list<int>", _range, lambda count: max(count, 0) + 11)
LISTS.function("sets.contains", "list<T>, list<T> -> bool", _contains_all, _pairs)
LISTS.function(
    "sets.equivalent",
    "list<T>, list<T> -> bool",
    lambda one, other: _contains_all(one, other) and _contains_all(other, one),
    lambda one, other: 2 * _pairs(one, other),
)
LISTS.function(
    "sets.intersects",
    "list<T>, list<T> -> bool",
    lambda one, other: any(contains(other, item) for item in one),
    _pairs,
)
