# SPDX-License-Identifier: Apache-2.0
"""What a call can cost at most, and how large its result can be, by function."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from trellis.cel.tree import Call, Literal, Node

if TYPE_CHECKING:
    from trellis.cel.estimate import Estimate
    from trellis.cel.overloads import Overload

Size = tuple[int, int]
BOUNDLESS = (1 << 64) - 1
UNKNOWN: Size = (0, BOUNDLESS)
_NEW_LIST = 10
_TEXT = 0.1
_REGEX = 0.25
_FORMAT_REGEX = 128
_CHECK = 350_000


@dataclass(frozen=True, slots=True)
class Price:
    cost: int
    size: Size | None = None
    """Of the result, where it has one."""


_UNIT = Price(1)


def factor(amount: int, per_unit: float) -> int:
    return min(math.ceil(float(min(amount, BOUNDLESS)) * per_unit), BOUNDLESS)


def total(rounds: int, cost: int) -> int:
    return min(rounds * cost, BOUNDLESS)


def union(*sizes: Size) -> Size:
    if not sizes:
        return (0, 0)
    return (min(size[0] for size in sizes), max(size[1] for size in sizes))


def _sum(*sizes: Size) -> Size:
    least, most = (min(sum(part), BOUNDLESS) for part in zip(*sizes, strict=True))
    return (least, most)


def _product(first: Size, second: Size) -> Size:
    return (min(first[0] * second[0], BOUNDLESS), min(first[1] * second[1], BOUNDLESS))


def price(estimate: Estimate, call: Call, overload: Overload) -> Price:
    found = _PRICES.get(call.function)
    return found(estimate, call, overload) if found else _UNIT


Pricing = Callable[["Estimate", Call, "Overload"], Price]


def _subject(call: Call) -> Node:
    return call.operands[0]


def _text(times: float = 1, *, keeps: bool = False) -> Pricing:
    """Walking over the first operand; with `keeps` the result is as long."""

    def reckon(estimate: Estimate, call: Call, _overload: Overload) -> Price:
        size = estimate.bounded(_subject(call))
        return Price(factor(size[1], times * _TEXT), size if keeps else None)

    return reckon


def _walked(estimate: Estimate, call: Call, _overload: Overload) -> Price:
    """Every item of a list, and every character where it holds text; or a string."""
    subject = _subject(call)
    size = estimate.bounded(subject)[1]
    if subject.type.kind != "list":
        return Price(factor(size, _TEXT))
    each = 1
    if subject.type.params[0].kind in {"string", "bytes"}:
        each += factor(estimate.item_size(subject)[1], _TEXT)
    return Price(total(size, each))


def _replaced(estimate: Estimate, call: Call, _overload: Overload) -> Price:
    text, old, new = (estimate.bounded(node) for node in call.operands[:3])
    if old[0] == 0:
        most_rounds, most_kept = min(text[1] + 1, BOUNDLESS), text[1]
    elif new[1] <= old[0]:
        most_rounds, most_kept = 0, text[1]
    else:
        most_rounds, most_kept = math.ceil(text[1] / old[0]), 0
    if old[1] == 0:
        least_rounds, least_kept = text[0] + 1, text[0]
    elif old[1] <= new[0]:
        least_rounds, least_kept = 0, text[0]
    else:
        least_rounds, least_kept = math.ceil(text[0] / old[1]), 0
    size = _sum(_product((least_rounds, most_rounds), new), (least_kept, most_kept))
    return Price(factor(text[1], 2 * _TEXT), size)


def _split(estimate: Estimate, call: Call, _overload: Overload) -> Price:
    size = estimate.bounded(_subject(call))
    most = size[1]
    if len(call.args) > 1 and isinstance(call.args[1], Literal):
        most = call.args[1].value if call.args[1].value >= 0 else BOUNDLESS
    return Price(factor(size[1], 2 * _TEXT), (0, most))


def _joined(estimate: Estimate, call: Call, _overload: Overload) -> Price:
    items = estimate.bounded(_subject(call))
    size = _product(items, estimate.item_size(_subject(call)))
    if call.args:
        between = (max(items[0] - 1, 0), max(items[1] - 1, 0))
        size = _sum(size, _product(estimate.bounded(call.args[0]), between))
    return Price(factor(size[1], _TEXT), size)


def _regex(*, finds: bool) -> Pricing:
    def reckon(estimate: Estimate, call: Call, overload: Overload) -> Price:
        if not overload.member:
            return _UNIT
        text, pattern = (estimate.bounded(node)[1] for node in call.operands[:2])
        cost = total(factor(text + 1, _TEXT), factor(pattern, _REGEX))
        return Price(cost, (0, text) if finds else None)

    return reckon


def _contains(estimate: Estimate, call: Call, _overload: Overload) -> Price:
    text, part = (factor(estimate.bounded(node)[1], _TEXT) for node in call.operands)
    return Price(total(text, part))


def _affix(estimate: Estimate, call: Call, _overload: Overload) -> Price:
    return Price(factor(estimate.bounded(call.args[0])[1], _TEXT))


def _within(estimate: Estimate, call: Call, overload: Overload) -> Price:
    if overload.params[1].kind == "map":
        return _UNIT
    return Price(estimate.bounded(call.args[1])[1])


def _compared(estimate: Estimate, call: Call, overload: Overload) -> Price:
    if call.function == "_==_" and call.args[0].type == call.args[1].type:
        kind = call.args[0].type
        if kind.kind in {"struct", "opaque"} and kind.name.startswith(("kubernetes.", "net.")):
            return _UNIT
    if overload.params[0].kind in {"string", "bytes", "param"}:
        least = min(estimate.bounded(arg)[1] for arg in call.args)
        return Price(factor(least, _TEXT))
    return _UNIT


def _added(estimate: Estimate, call: Call, overload: Overload) -> Price:
    if overload.params[0].kind not in {"string", "bytes", "list"}:
        return _UNIT
    size = _sum(*(estimate.bounded(arg) for arg in call.args))
    return Price(1 if overload.params[0].kind == "list" else factor(size[1], _TEXT), size)


def _chosen(estimate: Estimate, call: Call, _overload: Overload) -> Price:
    return Price(0, union(*(estimate.bounded(arg) for arg in call.args[1:])))


def _network(estimate: Estimate, call: Call, overload: Overload) -> Price:
    cost = factor(32, _TEXT)
    if call.function == "containsCIDR":
        cost += factor(16, _TEXT) + 1
    if overload.params[1].kind == "string":
        cost += factor(estimate.bounded(call.args[0])[1], _TEXT)
    return Price(cost)


def _validated(estimate: Estimate, call: Call, _overload: Overload) -> Price:
    text = factor(estimate.bounded(call.args[0])[1], _TEXT)
    return Price(factor(text, _FORMAT_REGEX * _REGEX))


def _selector(estimate: Estimate, call: Call, _overload: Overload) -> Price:
    length = estimate.bounded(call.args[0])[1]
    return Price(_NEW_LIST + factor(length, _TEXT) + factor(factor(length, 0.5), 50))


def _sets(times: int) -> Pricing:
    def reckon(estimate: Estimate, call: Call, _overload: Overload) -> Price:
        first, second = (estimate.bounded(arg)[1] for arg in call.args)
        return Price(total(first, second) * times + 1)

    return reckon


def _new_list(cost_factor: float, size: Size) -> Price:
    return Price(factor(size[1], cost_factor) + 1 + _NEW_LIST, size)


def _whole_list(estimate: Estimate, call: Call, overload: Overload) -> Price:
    if overload.params[0].kind != "list":
        return _UNIT
    return _new_list(1, estimate.bounded(_subject(call)))


def _number(node: Node, otherwise: int) -> int:
    if isinstance(node, Literal) and type(node.value) is int:
        return max(node.value, 0)
    return otherwise


def _sliced(estimate: Estimate, call: Call, _overload: Overload) -> Price:
    end = _number(call.args[1], estimate.bounded(_subject(call))[1])
    length = max(end - _number(call.args[0], 0), 0)
    return _new_list(1, (length, length))


def _flattened(estimate: Estimate, call: Call, _overload: Overload) -> Price:
    depth = _number(call.args[0], BOUNDLESS) if call.args else 1
    return _new_list(depth, estimate.bounded(_subject(call)))


def _ranged(_estimate: Estimate, call: Call, _overload: Overload) -> Price:
    count = _number(call.args[0], BOUNDLESS)
    return _new_list(1, (count, count))


def _self_compared(estimate: Estimate, call: Call, overload: Overload) -> Price:
    size = estimate.bounded(_subject(call))
    text = call.function == "sort" and overload.params[0].params[0].kind in {"string", "bytes"}
    return _new_list(2 + _TEXT if text else 2, _product(size, size))


def _converted(estimate: Estimate, call: Call, overload: Overload) -> Price:
    """Between strings and bytes: a character is one to four bytes."""
    if {param.kind for param in (*overload.params, overload.result)} != {"string", "bytes"}:
        return _UNIT
    low, high = estimate.bounded(call.args[0])
    cost = factor(high, _TEXT)
    if overload.result.kind == "bytes":
        return Price(cost, (low, min(high * 4, BOUNDLESS)))
    return Price(cost, (low // 4, high))


def _quoted(estimate: Estimate, call: Call, _overload: Overload) -> Price:
    low, high = estimate.bounded(call.args[0])
    return Price(factor(high, _TEXT), (low + 2, min(high * 2 + 2, BOUNDLESS)))


def _address(estimate: Estimate, call: Call, overload: Overload) -> Price:
    return _UNIT if overload.member else _text()(estimate, call, overload)


def _included(_estimate: Estimate, _call: Call, _overload: Overload) -> Price:
    return Price(48)


def _checked(_estimate: Estimate, _call: Call, _overload: Overload) -> Price:
    return Price(_CHECK)


_PRICES: dict[str, Pricing] = {
    **dict.fromkeys(("isSorted", "sum", "max", "min", "indexOf", "lastIndexOf"), _walked),
    **dict.fromkeys(("lowerAscii", "upperAscii", "substring", "trim", "url"), _text(keeps=True)),
    **dict.fromkeys(
        ("cidr", "isIP", "isCIDR", "quantity", "isQuantity", "semver", "isSemver", "format"),
        _text(),
    ),
    **dict.fromkeys(("startsWith", "endsWith"), _affix),
    **dict.fromkeys(("_==_", "_!=_", "_<_", "_<=_", "_>_", "_>=_"), _compared),
    **dict.fromkeys(("containsIP", "containsCIDR"), _network),
    **dict.fromkeys(("fieldSelector", "labelSelector"), _selector),
    **dict.fromkeys(("sets.contains", "sets.intersects"), _sets(1)),
    **dict.fromkeys(("bytes", "string"), _converted),
    **dict.fromkeys(("sort", "distinct"), _self_compared),
    "ip.isCanonical": _text(2),
    "ip": _address,
    "replace": _replaced,
    "split": _split,
    "join": _joined,
    "find": _regex(finds=True),
    "findAll": _regex(finds=True),
    "matches": _regex(finds=False),
    "contains": _contains,
    "@in": _within,
    "_+_": _added,
    "_?_:_": _chosen,
    "validate": _validated,
    "sets.equivalent": _sets(2),
    "slice": _sliced,
    "flatten": _flattened,
    "lists.range": _ranged,
    "reverse": _whole_list,
    "strings.quote": _quoted,
    "includes": _included,
    "check": _checked,
}
