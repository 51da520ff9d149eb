# SPDX-License-Identifier: Apache-2.0
"""What running an expression costs, at the prices of the API server.

Straight code is paid for in advance; what may be skipped (branches, rounds of loops) when it is
reached. So the same budget buys about the same work as it does there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trellis.cel.problems import BudgetSpent
from trellis.cel.tree import Bind, Call, Entries, Fold, Ident, Items, Literal, Node, Select

if TYPE_CHECKING:
    from collections.abc import Callable

LAZY = frozenset({"_&&_", "_||_", "_?_:_", "or", "orValue"})
"""Functions that may leave operands unevaluated."""
_LIST, _MAP, _BIND = 10, 30, 10
# A loop is paid for by the round; this is what remains.
_FOLD = {"all": 1, "exists": 1, "existsOne": 2, "list": 1, "map": 1, "entry": 1, "sort": 2}


def pay(frame: list[Any], cost: int) -> None:
    frame[0] -= cost
    if frame[0] < 0:
        raise BudgetSpent


def straight(node: Node) -> int:
    """What evaluating a node costs at least: without branches and rounds that may not happen."""
    return _COSTS[type(node)](node)


def is_constant(node: Node) -> bool:
    """Whether it is written out in full, so that one value serves every evaluation."""
    match node:
        case Items():
            return not node.optional and all(map(is_constant, node.items))
        case Entries():
            return all(
                is_constant(entry.key) and is_constant(entry.value) and not entry.optional
                for entry in node.entries
            )
    return isinstance(node, Literal)


def _select(node: Select) -> int:
    return 1 if node.whole else straight(node.operand) + (0 if node.test else 1)


def _call(call: Call) -> int:
    if call.function in LAZY:
        return straight(call.operands[0]) + (1 if call.target else 0)
    priced = bool(call.overloads) and all(overload.cost for overload in call.overloads)
    return (0 if priced else 1) + sum(map(straight, call.operands))


def _items(node: Items) -> int:
    return 0 if is_constant(node) else _LIST + sum(map(straight, node.items))


def _entries(node: Entries) -> int:
    if is_constant(node):
        return 0
    return _MAP + sum(straight(entry.key) + straight(entry.value) for entry in node.entries)


_COSTS: dict[type[Node], Callable[[Any], int]] = {
    Literal: lambda _: 0,
    Ident: lambda _: 1,
    Select: _select,
    Call: _call,
    Items: _items,
    Entries: _entries,
    Bind: lambda node: _BIND + straight(node.body),
    Fold: lambda node: _FOLD[node.macro] + straight(node.source),
}
