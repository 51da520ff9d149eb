# SPDX-License-Identifier: Apache-2.0
"""The most that an expression can cost, from the limits of what it reads, as the server reckons.

A definition is accepted or refused by these numbers, so they must be the server's to the unit.
Sizes are pairs of the least and the most; what nothing bounds counts as 2⁶⁴ - 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from trellis.cel.prices import BOUNDLESS, UNKNOWN, Price, Size, factor, price, total, union
from trellis.cel.tree import (
    Bind,
    Call,
    Entries,
    Fold,
    Ident,
    Items,
    Literal,
    Node,
    Select,
)
from trellis.cel.types import is_optional

if TYPE_CHECKING:
    from collections.abc import Callable

    from trellis.cel.environment import Environment
    from trellis.cel.types import Type

Path = tuple[str, ...]
_ONE: Size = (1, 1)
_LIST, _MAP = 10, 30
_SCALARS = frozenset({"bool", "double", "duration", "int", "timestamp", "uint"})


@dataclass(frozen=True, slots=True)
class _Local:
    path: Path = ()
    size: Size | None = None
    entry: tuple[Size, Size] | None = None


class Estimate:
    """Walks over one expression, once."""

    def __init__(self, environment: Environment) -> None:
        self._variables = environment.variables if environment.sized else {}
        self._paths: dict[Node, Path] = {}
        self._sizes: dict[Node, Size] = {}
        self._entries: dict[Node, tuple[Size, Size]] = {}
        """Sizes of the keys and of the values of a container."""
        self._locals: dict[str, list[_Local]] = {}

    def of(self, root: Node) -> int:
        return min(self._cost(root), BOUNDLESS)

    def _cost(self, node: Node) -> int:
        return _COSTS[type(node)](self, node)

    def _ident(self, node: Ident) -> int:
        local = self._local(node)
        self._paths[node] = local.path if local else (node.name,)
        return 1

    def _local(self, node: Node) -> _Local | None:
        stack = self._locals.get(node.name) if isinstance(node, Ident) else None
        return stack[-1] if stack else None

    def _path(self, node: Node) -> Path:
        local = self._local(node)
        return local.path if local else self._paths.get(node, ())

    def _select(self, node: Select) -> int:
        if node.whole:
            self._paths[node] = (node.whole,)
            return 1
        cost = self._cost(node.operand)
        if node.test:
            return cost
        if node.optional:
            return cost + 1
        self._paths[node] = (*self._path(node.operand), node.name)
        return cost + (1 if node.operand.type.kind in {"map", "struct", "param"} else 0)

    def declared_size(self, path: Path) -> Size | None:
        """What the declared type at a path allows."""
        root = self._variables.get("self") or self._variables.get(path[0] if path else "")
        if root is None or not path:
            return None
        given: Type | None = root
        for step in path[1:]:
            given = _step(given, step) if given else None
        if given is None:
            return None
        return (0, given.shape.most if given.shape else 0)

    def size(self, node: Node) -> Size | None:
        if node in self._sizes:
            return self._sizes[node]
        written = _written_size(node) or self.declared_size(self._path(node))
        if written is not None:
            return written
        if _is_scalar(node.type):
            return _ONE
        local = self._local(node)
        return local.size if local else None

    def bounded(self, node: Node) -> Size:
        return self.size(node) or UNKNOWN

    def item_size(self, node: Node) -> Size:
        """Of what a list holds."""
        path = self._path(node)
        return (self.declared_size((*path, "@items")) if path else None) or UNKNOWN

    def _entry(self, node: Node) -> tuple[Size, Size] | None:
        if node in self._entries:
            return self._entries[node]
        local = self._local(node)
        return local.entry if local else None

    def _items(self, node: Items) -> int:
        cost = _LIST + sum(map(self._cost, node.items))
        sizes = [self.bounded(item) for item in node.items]
        self._entries[node] = (_ONE, union(*sizes))
        return cost

    def _map(self, node: Entries) -> int:
        cost = _MAP
        for entry in node.entries:
            cost += self._cost(entry.key) + self._cost(entry.value)
        keys = union(*(self.bounded(entry.key) for entry in node.entries))
        values = union(*(self.bounded(entry.value) for entry in node.entries))
        self._entries[node] = (keys, values)
        return cost

    def _bind(self, node: Bind) -> int:
        cost = _LIST + self._cost(node.value)
        local = _Local(self._path(node.value), self.size(node.value), self._entry(node.value))
        self._locals.setdefault(node.name, []).append(local)
        cost += self._cost(node.body)
        self._copy(node, node.body)
        self._locals[node.name].pop()
        return cost

    def _copy(self, node: Node, other: Node) -> None:
        size, entry = self.size(other), self._entry(other)
        if size is not None:
            self._sizes[node] = size
        if entry is not None:
            self._entries[node] = entry

    def _call(self, call: Call) -> int:
        if call.function == "dyn" and call.target is None:
            cost = 1 + self._cost(call.args[0])
            self._copy(call, call.args[0])
            return cost
        costs = [self._cost(arg) for arg in call.args]
        target = self._cost(call.target) if call.target is not None else 0
        if call.function in {"_&&_", "_||_"}:
            return sum(costs)
        prices = [price(self, call, overload) for overload in call.overloads]
        if call.function == "_?_:_":
            return self._choice(call, costs, prices)
        self._remember(call, prices)
        return target + sum(costs) + max(found.cost for found in prices)

    def _choice(self, call: Call, costs: list[int], prices: list[Price]) -> int:
        yes, no = (self._entry(arg) for arg in call.args[1:])
        if yes and no:
            self._entries[call] = (union(yes[0], no[0]), union(yes[1], no[1]))
        if prices[0].size is not None:
            self._sizes[call] = prices[0].size
        return costs[0] + max(costs[1:])

    def _remember(self, call: Call, prices: list[Price]) -> None:
        """What is known of the result."""
        known = [found.size for found in prices if found.size is not None]
        size = union(*known) if known else None
        if call.function == "_[_]" and not is_optional(call.args[0].type):
            entry = self._entry(call.args[0])
            size = entry[1] if entry else None
            step = "@values" if call.overloads[-1].params[0].kind == "map" else "@items"
            self._paths[call] = (*self._path(call.args[0]), step)
        elif call.function == "_+_":
            first, second = map(self._entry, call.args)
            if first and second:
                self._entries[call] = (union(first[0], second[0]), union(first[1], second[1]))
        if size is None:
            size = self.size(call)
        if size is not None:
            self._sizes[call] = size

    def _fold(self, node: Fold) -> int:
        if node.macro == "sort":
            return self._sort(node)
        cost = self._cost(node.source)
        rounds = self.bounded(node.source)[1]
        return cost + self._rounds(node, rounds)

    def _rounds(self, node: Fold, rounds: int) -> int:
        """The price of a loop without that of what it runs over."""
        for name, local in zip(node.names, self._bound(node), strict=True):
            self._locals.setdefault(name, []).append(local)
        condition = self._cost(node.condition) if node.condition else 0
        result = self._cost(node.result) if node.result else 0
        yielded = self.bounded(node.result) if node.result else _ONE
        for name in node.names:
            self._locals[name].pop()
        match node.macro:
            case "all":
                self._sizes[node] = _ONE
                return 1 + total(rounds, 3 + condition)
            case "exists":
                self._sizes[node] = _ONE
                return 1 + total(rounds, 4 + condition)
            case "existsOne":
                self._sizes[node] = _ONE
                return 2 + total(rounds, 2 + condition)
            case "list":
                self._sizes[node] = self.bounded(node.source)
                self._entries[node] = (_ONE, union((0, 0), yielded))
                return _LIST + 1 + total(rounds, 12 + condition + result)
        self._sizes[node] = self.bounded(node.source)
        insert = 3 if node.macro == "map" else 2
        return _MAP + 1 + total(rounds, insert + condition + result)

    def _sort(self, node: Fold) -> int:
        cost = _LIST + self._cost(node.source) + 2
        rounds = self.bounded(node.source)[1]
        cost += self._rounds(
            Fold(node.at, "list", node.source, node.names, None, node.result), rounds
        )
        text = node.result is not None and node.result.type.kind in {"string", "bytes"}
        self._sizes[node] = self.bounded(node.source)
        return cost + factor(rounds * rounds, 2.1 if text else 2) + 1 + _LIST

    def _bound(self, node: Fold) -> list[_Local]:
        path, entry = self._path(node.source), self._entry(node.source)
        is_list = node.source.type.kind == "list"
        keys = _Local((*path, "@indices" if is_list else "@keys"), entry[0] if entry else None)
        values = _Local((*path, "@items" if is_list else "@values"), entry[1] if entry else None)
        if len(node.names) == 2:
            return [keys, values]
        return [values if is_list else keys]


_COSTS: dict[type[Node], Callable[[Estimate, Any], int]] = {
    Literal: lambda _, __: 0,
    Ident: Estimate._ident,
    Select: Estimate._select,
    Call: Estimate._call,
    Items: Estimate._items,
    Entries: Estimate._map,
    Bind: Estimate._bind,
    Fold: Estimate._fold,
}


def _step(given: Type, step: str) -> Type | None:
    match step:
        case "@items" | "@values":
            return given.params[-1] if given.params else None
        case "@keys":
            return given.params[0] if given.kind == "map" else None
    if given.kind == "struct" and given.shape:
        found = given.shape.fields.get(step)
        return found.type if found else None
    # An attribute of a device is read like a field of the map that holds it.
    return given.params[1] if given.kind == "map" and given.params[1].kind == "dyn" else None


def _written_size(node: Node) -> Size | None:
    match node:
        case Literal():
            length = len(node.value) if isinstance(node.value, (str, bytes)) else 1
            return (length, length)
        case Items():
            return (len(node.items), len(node.items))
        case Entries():
            return (len(node.entries), len(node.entries))
    return None


def _is_scalar(given: Type) -> bool:
    if is_optional(given):
        return _is_scalar(given.params[0])
    return given.kind in _SCALARS
