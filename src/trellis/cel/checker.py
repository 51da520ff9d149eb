# SPDX-License-Identifier: Apache-2.0
"""Fits an expression to declared types: every node gets its type, every call its overloads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trellis.cel import types
from trellis.cel.literals import literal_issues
from trellis.cel.problems import Issue
from trellis.cel.tree import (
    Bind,
    Call,
    Construct,
    Entries,
    Fold,
    Ident,
    Items,
    Literal,
    Node,
    Select,
)
from trellis.cel.types import BOOL, DYN, ERROR, INT, NULL, STRING, Type

if TYPE_CHECKING:
    from collections.abc import Callable

    from trellis.cel.environment import Environment
    from trellis.cel.overloads import Overload

_LITERALS = {
    "bool": BOOL,
    "int": INT,
    "Uint": types.UINT,
    "float": types.DOUBLE,
    "str": STRING,
    "bytes": types.BYTES,
    "NoneType": NULL,
}
_TYPE_NAMES = {
    **{given.name: given for given in (*_LITERALS.values(), types.TIMESTAMP, types.DURATION)},
    "list": types.list_of(DYN),
    "map": types.map_of(DYN, DYN),
    "type": types.TYPE,
    "net.IP": types.named("IP"),
    "net.CIDR": types.named("CIDR"),
    "optional_type": types.optional_of(DYN),
}
_COMPARABLE = frozenset(
    {"int", "uint", "double", "bool", "duration", "timestamp", "string", "bytes", "dyn", "error"}
)


def type_named(name: str) -> Type | None:
    """What a name of a type stands for, such as `int` in `type(x) == int`."""
    return _TYPE_NAMES.get(name)


def qualified(node: Node | None) -> str | None:
    """`a.b.c` as a name, if it is nothing but that."""
    if isinstance(node, Ident):
        return node.name
    if isinstance(node, Select) and not node.test and not node.optional:
        prefix = qualified(node.operand)
        return f"{prefix}.{node.name}" if prefix else None
    return None


class Checker:
    def __init__(self, environment: Environment) -> None:
        self.issues: list[Issue] = []
        self._environment = environment
        self._scopes: list[dict[str, Type]] = []
        self._known: types.Substitution = {}
        self._variables = 0
        self._seen: list[Node] = []

    def checked(self, root: Node) -> None:
        self._check(root)
        for node in self._seen:
            node.type = types.substituted(self._known, node.type, free_is_dyn=True)
        if not self.issues:
            self.issues.extend(literal_issues(root))

    def _check(self, node: Node) -> Type:
        given = _CHECKS[type(node)](self, node)
        node.type = given
        self._seen.append(node)
        return given

    def _literal(self, node: Literal) -> Type:
        return _LITERALS[type(node.value).__name__]

    def _construct(self, node: Construct) -> Type:
        return self._undeclared(node, node.name)

    def _issue(self, node: Node, message: str) -> Type:
        self.issues.append(Issue(node.at, message))
        return ERROR

    def _undeclared(self, node: Node, name: str) -> Type:
        return self._issue(node, f"undeclared reference to '{name}' (in container '')")

    def _mismatch(self, node: Node, expected: Type, found: Type) -> Type:
        shown = types.substituted(self._known, found, free_is_dyn=True)
        return self._issue(node, f"expected type '{expected}' but found '{shown}'")

    def _local(self, name: str) -> Type | None:
        return next((scope[name] for scope in reversed(self._scopes) if name in scope), None)

    def _lookup(self, name: str) -> Type | None:
        local = self._local(name)
        if local is not None:
            return local
        if name in self._environment.variables:
            return self._environment.variables[name]
        meant = type_named(name)
        return types.type_of(meant) if meant is not None else None

    def _ident(self, node: Ident) -> Type:
        return self._lookup(node.name) or self._undeclared(node, node.name)

    def _select(self, node: Select) -> Type:
        name = qualified(node)
        if name is not None and self._local(name.partition(".")[0]) is None:
            found = self._lookup(name)
            if found is not None:
                node.whole = name
                return found
        operand = types.substituted(self._known, self._check(node.operand))
        result = self._field(node, operand)
        return BOOL if node.test else result

    def _field(self, node: Select, operand: Type) -> Type:
        wrapped = types.is_optional(operand)
        target = operand.params[0] if wrapped else operand
        result = DYN
        match target.kind:
            case "map":
                result = target.params[1]
            case "struct":
                result = self._struct_field(node, target)
            case "param":
                self._fits(DYN, target)
            case "dyn" | "error":
                pass
            case _:
                self._issue(node, f"type '{target}' does not support field selection")
        return types.optional_of(result) if wrapped or node.optional else result

    def _struct_field(self, node: Select, target: Type) -> Type:
        if target.shape is None:
            return self._issue(node, f"unexpected failed resolution of '{target.name}'")
        found = target.shape.fields.get(node.name)
        return found.type if found else self._issue(node, f"undefined field '{node.name}'")

    def _fits(self, first: Type, second: Type) -> bool:
        extended = types.assignable(self._known, first, second)
        if extended is None:
            return False
        self._known = extended
        return True

    def _call(self, node: Call) -> Type:
        for arg in node.args:
            self._check(arg)
        functions = self._environment.functions
        if node.target is not None:
            prefix = qualified(node.target)
            name = f"{prefix}.{node.function}"
            if prefix and name in functions:
                node.function, node.target = name, None
            else:
                self._check(node.target)
        if node.function in {"_&&_", "_||_"}:
            return self._condition(node)
        overloads = functions.get(node.function)
        if overloads is None:
            return self._undeclared(node, node.function)
        return self._resolved(node, overloads)

    def _condition(self, node: Call) -> Type:
        wrong = [arg for arg in node.args if not self._fits(arg.type, BOOL)]
        for arg in wrong:
            self._mismatch(arg, BOOL, arg.type)
        return ERROR if wrong else BOOL

    def _resolved(self, node: Call, overloads: list[Overload]) -> Type:
        given = [operand.type for operand in node.operands]
        result: Type | None = None
        for overload in overloads:
            if overload.member != (node.target is not None):
                continue
            fresh = {variable: self._variable() for variable in overload.variables}
            wanted = [types.substituted(fresh, param) for param in overload.params]
            extended = types.all_assignable(self._known, given, wanted)
            if extended is None:
                continue
            self._known = extended
            node.overloads.append(overload)
            gives = types.substituted(self._known, types.substituted(fresh, overload.result))
            if result is None:
                result = gives
            elif not types.is_dyn(result) and gives != result:
                result = DYN
        return result or self._no_overload(
            node, node.function, given, member=node.target is not None
        )

    def _no_overload(self, node: Node, name: str, given: list[Type], *, member: bool) -> Type:
        shown = [str(types.substituted(self._known, one, free_is_dyn=True)) for one in given]
        target = f"{shown.pop(0)}." if member else ""
        signature = f"{target}({', '.join(shown)})"
        return self._issue(
            node, f"found no matching overload for '{name}' applied to '{signature}'"
        )

    def _variable(self) -> Type:
        self._variables += 1
        return Type("param", f"_var{self._variables}")

    def _joined(self, before: Type | None, now: Type) -> Type:
        if before is None:
            return now
        return types.more_general(before, now) if self._fits(before, now) else DYN

    def _unwrapped(self, node: Node) -> Type:
        if types.is_optional(node.type):
            return node.type.params[0]
        if not types.is_dyn(node.type):
            self._mismatch(node, types.optional_of(node.type), node.type)
        return node.type

    def _items(self, node: Items) -> Type:
        item: Type | None = None
        for place, one in enumerate(node.items):
            given = self._check(one)
            if place in node.optional:
                given = self._unwrapped(one)
            item = self._joined(item, given)
        return types.list_of(item or self._variable())

    def _entries(self, node: Entries) -> Type:
        key: Type | None = None
        value: Type | None = None
        for entry in node.entries:
            key = self._joined(key, self._check(entry.key))
            given = self._check(entry.value)
            if entry.optional:
                given = self._unwrapped(entry.value)
            value = self._joined(value, given)
        return types.map_of(key or self._variable(), value or self._variable())

    def _bind(self, node: Bind) -> Type:
        given = self._check(node.value)
        self._scopes.append({node.name: given})
        result = self._check(node.body)
        self._scopes.pop()
        return types.substituted(self._known, result)

    def _fold(self, node: Fold) -> Type:
        source = types.substituted(self._known, self._check(node.source))
        self._scopes.append(dict(zip(node.names, self._ranged(node, source), strict=True)))
        condition = self._check(node.condition) if node.condition else BOOL
        result = self._check(node.result) if node.result else BOOL
        self._scopes.pop()
        return self._folded(node, source, condition, result)

    def _ranged(self, node: Fold, source: Type) -> list[Type]:
        """The types of the names that a loop binds."""
        pair = len(node.names) == 2
        match source.kind:
            case "list":
                item = source.params[0]
                return [INT, item] if pair else [item]
            case "map":
                return list(source.params) if pair else [source.params[0]]
            case "dyn" | "error" | "param":
                self._fits(DYN, source)
                return [DYN, DYN] if pair else [DYN]
        said = f"expression of type '{source}' cannot be range of a comprehension"
        self._issue(node.source, f"{said} (must be list, map, or dynamic)")
        return [ERROR, ERROR] if pair else [ERROR]

    def _folded(self, node: Fold, source: Type, condition: Type, result: Type) -> Type:
        if node.macro in {"all", "exists"}:
            if node.condition and not self._fits(condition, BOOL):
                return self._mismatch(node.condition, BOOL, condition)
            return BOOL
        gives = self._yielded(node, source, result)
        if not self._fits(condition, BOOL):
            branch = INT if node.macro == "existsOne" else gives
            return self._no_overload(node, "_?_:_", [condition, branch, branch], member=False)
        return gives

    def _yielded(self, node: Fold, source: Type, result: Type) -> Type:
        match node.macro:
            case "existsOne":
                return BOOL
            case "list":
                return types.list_of(result)
            case "map":
                key = source.params[0] if source.kind == "map" else INT
                return types.map_of(DYN if source.kind == "dyn" else key, result)
            case "sort":
                return self._sorted(node, source, result)
        if result.kind not in {"map", "dyn", "error", "param"}:
            given = [types.map_of(DYN, DYN), result]
            return self._no_overload(node, "cel.@mapInsert", given, member=False)
        return result

    def _sorted(self, node: Fold, source: Type, keys: Type) -> Type:
        if types.substituted(self._known, keys).kind in _COMPARABLE:
            return source
        given = [source, types.list_of(keys)]
        return self._no_overload(node, "@sortByAssociatedKeys", given, member=True)


_CHECKS: dict[type[Node], Callable[[Checker, Any], Type]] = {
    Literal: Checker._literal,
    Ident: Checker._ident,
    Select: Checker._select,
    Call: Checker._call,
    Items: Checker._items,
    Entries: Checker._entries,
    Bind: Checker._bind,
    Fold: Checker._fold,
    Construct: Checker._construct,
}
