# SPDX-License-Identifier: Apache-2.0
"""A checked expression as nested Python functions of a frame.

A frame is a list: what is left of the budget, then the variables by slot.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from trellis.cel.checker import type_named
from trellis.cel.conditions import LAZIES
from trellis.cel.costs import is_constant, pay, straight
from trellis.cel.loops import fold
from trellis.cel.operators import comparison
from trellis.cel.overloads import Overload, runtime_kind
from trellis.cel.problems import BudgetSpent, CompileProblem, EvaluationProblem
from trellis.cel.selecting import selection
from trellis.cel.shapes import arranger
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
from trellis.cel.values import (
    Optional,
    TypeValue,
    equal,
    kind_of,
    no_overload,
)

if TYPE_CHECKING:
    from trellis.cel.environment import Environment

Frame = list[Any]
Run = Callable[[Frame], Any]
_PENDING: Any = object()
_KEYS = frozenset({"string", "int", "uint", "bool", "double"})
_OPERATOR_SIGNS = ("_", "@", "!", "-")
# Functions that the server calls before it looks at what they are given.
_UNGUARDED = frozenset({"contains", "startsWith", "endsWith", "matches"})
_CONVERSIONS = frozenset(
    {"bool", "bytes", "double", "duration", "int", "string", "timestamp", "uint"}
)
_SCALARS = frozenset({"bool", "int", "uint", "double", "null", "timestamp", "duration", "type"})


class Closures:
    """Compiles nodes and hands out slots."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        self.slots: dict[str, int] = {}
        self.size = 1
        self._scopes: list[dict[str, Run]] = []

    def compiled(self, node: Node) -> Run:
        return _COMPILERS[type(node)](self, node)

    def _literal(self, node: Literal) -> Run:
        return _constant(node.value)

    def _ident(self, node: Ident) -> Run:
        return self._variable(node.name)

    def _slot(self) -> int:
        self.size += 1
        return self.size - 1

    def _variable(self, name: str) -> Run:
        for scope in reversed(self._scopes):
            if name in scope:
                return scope[name]
        if name not in self._environment.variables:
            meant = type_named(name)
            return _constant(TypeValue(meant.name if meant else name))
        if name not in self.slots:
            self.slots[name] = self._slot()
        return itemgetter(self.slots[name])

    def _select(self, node: Select) -> Run:
        if node.whole:
            return self._variable(node.whole)
        return selection(node, self.compiled(node.operand))

    def _items(self, node: Items) -> Run:
        if is_constant(node):
            return _constant(_constant_value(node))
        runs = [self.compiled(item) for item in node.items]
        if not node.optional:
            return lambda frame: [run(frame) for run in runs]
        optional = node.optional

        def build(frame: Frame) -> list[Any]:
            found = []
            for place, run in enumerate(runs):
                value = run(frame)
                if place in optional:
                    if not _opened(value):
                        continue
                    value = value.value
                found.append(value)
            return found

        return build

    def _entries(self, node: Entries) -> Run:
        if is_constant(node) and all(
            kind_of(_constant_value(e.key)) in _KEYS for e in node.entries
        ):
            return _constant(_constant_value(node))
        runs = [
            (self.compiled(entry.key), self.compiled(entry.value), entry.optional)
            for entry in node.entries
        ]

        def build(frame: Frame) -> dict[Any, Any]:
            found: dict[Any, Any] = {}
            for key_run, value_run, optional in runs:
                key, value = key_run(frame), value_run(frame)
                if kind_of(key) not in _KEYS:
                    raise EvaluationProblem(f"unsupported key type: {kind_of(key)}")
                if optional:
                    if not _opened(value):
                        continue
                    value = value.value
                found[key] = value
            return found

        return build

    def _bind(self, node: Bind) -> Run:
        value, cost, slot = self.compiled(node.value), straight(node.value), self._slot()

        def read(frame: Frame) -> Any:
            known = frame[slot]
            if known is _PENDING:
                pay(frame, cost)
                known = frame[slot] = value(frame)
            return known

        self._scopes.append({node.name: read})
        body = self.compiled(node.body)
        self._scopes.pop()

        def bound(frame: Frame) -> Any:
            frame[slot] = _PENDING
            return body(frame)

        return bound

    def _fold(self, node: Fold) -> Run:
        source = self.compiled(node.source)
        slots = [self._slot() for _ in node.names]
        getters: list[Run] = [itemgetter(slot) for slot in slots]
        self._scopes.append(dict(zip(node.names, getters, strict=True)))
        condition = self.compiled(node.condition) if node.condition else None
        result = self.compiled(node.result) if node.result else None
        self._scopes.pop()
        cost = sum(straight(part) for part in (node.condition, node.result) if part)
        return fold(node.macro, source, slots, (condition, result), cost)

    def _call(self, node: Call) -> Run:
        runs = [self.compiled(operand) for operand in node.operands]
        lazy = LAZIES.get(node.function)
        if lazy is not None:
            return lazy(runs, [straight(operand) for operand in node.operands])
        if node.function in {"_==_", "_!=_"}:
            return _equality(node, runs)
        overload = node.overloads[0]
        if node.function in _CONVERSIONS and isinstance(node.operands[0], Literal):
            return _folded(node, overload)
        if len(node.overloads) > 1 or not _certain(node, overload):
            overload = _dispatching(node)
        return _calling(overload, runs)


_COMPILERS: dict[type[Node], Callable[[Closures, Any], Run]] = {
    Literal: Closures._literal,
    Ident: Closures._ident,
    Select: Closures._select,
    Call: Closures._call,
    Items: Closures._items,
    Entries: Closures._entries,
    Bind: Closures._bind,
    Fold: Closures._fold,
}


def _constant_value(node: Node) -> Any:
    match node:
        case Items():
            return [_constant_value(item) for item in node.items]
        case Entries():
            pairs = ((entry.key, entry.value) for entry in node.entries)
            return {_constant_value(key): _constant_value(value) for key, value in pairs}
        case Literal():
            return node.value
    raise AssertionError("only what is_constant says is one")


def _folded(node: Call, overload: Overload) -> Run:
    """A conversion of a literal is made once; one that fails is a fault of the expression."""
    literal = node.operands[0]
    assert isinstance(literal, Literal)  # noqa: S101 - the caller has seen to it
    try:
        return _constant(overload.run(literal.value))
    except EvaluationProblem as problem:
        raise CompileProblem(str(problem), "program instantiation failed") from None


def _constant(value: Any) -> Run:
    return lambda _: value


def _opened(value: Any) -> bool:
    if isinstance(value, Optional):
        return value.present
    raise EvaluationProblem("cannot initialize optional entry from non-optional value")


def _certain(node: Call, overload: Overload) -> bool:
    """Whether what the call gets at run time can only be what the overload takes."""
    if node.function.startswith(_OPERATOR_SIGNS):
        # Operators look at their operands themselves.
        return True
    return all(
        runtime_kind(param) is None or operand.type.kind != "dyn"
        for param, operand in zip(overload.params, node.operands, strict=True)
    )


def _dispatching(node: Call) -> Overload:
    """An overload that picks among several by what it is given."""
    first = node.overloads[0]
    if node.function.startswith(_OPERATOR_SIGNS):
        costs = [overload.cost for overload in node.overloads if overload.cost]
        return Overload(
            first.function,
            first.member,
            first.params,
            first.result,
            first.run,
            costs[0] if costs else None,
        )
    pick = _picker(node)

    def run(*args: Any) -> Any:
        return pick(args).run(*args)

    def cost(*args: Any) -> int:
        overload = pick(args)
        return overload.cost(*args) if overload.cost else 0

    return Overload(first.function, first.member, first.params, first.result, run, cost)


def _picker(node: Call) -> Callable[[tuple[Any, ...]], Overload]:
    table = [
        (tuple(runtime_kind(param) for param in overload.params), overload)
        for overload in node.overloads
    ]

    def pick(args: tuple[Any, ...]) -> Overload:
        kinds = [kind_of(arg) for arg in args]
        for wanted, overload in table:
            if all(want is None or want == kind for want, kind in zip(wanted, kinds, strict=True)):
                return overload
        if node.function in _UNGUARDED:
            raise no_overload()
        if node.function == "size":
            raise EvaluationProblem("no such overload: size")
        raise no_overload(node.function, *args)

    return pick


def _calling(overload: Overload, runs: list[Run]) -> Run:
    run, cost = overload.run, overload.cost
    if cost is not None:

        def costly(frame: Frame) -> Any:
            args = [each(frame) for each in runs]
            frame[0] -= cost(*args)
            if frame[0] < 0:
                raise BudgetSpent
            return run(*args)

        return costly
    match runs:
        case [one]:
            return lambda frame: run(one(frame))
        case [one, other]:
            return lambda frame: run(one(frame), other(frame))
    return lambda frame: run(*[each(frame) for each in runs])


def _equality(node: Call, runs: list[Run]) -> Run:
    first, second = runs
    same = node.function == "_==_"
    arrange = _arranging(node)
    if arrange is None and any(_is_small(operand) for operand in node.args):
        return lambda frame: equal(first(frame), second(frame)) is same
    arrange = arrange or (lambda value: value)

    def compared(frame: Frame) -> bool:
        one, other = first(frame), second(frame)
        pay(frame, comparison(one, other))
        return equal(arrange(one), arrange(other)) is same

    return compared


def _arranging(node: Call) -> Callable[[Any], Any] | None:
    return next((found for arg in node.args if (found := arranger(arg.type))), None)


def _is_small(node: Node) -> bool:
    """Comparing with it costs next to nothing, whatever the other side is."""
    return isinstance(node, Literal) or node.type.kind in _SCALARS
