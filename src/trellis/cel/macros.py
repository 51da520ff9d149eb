# SPDX-License-Identifier: Apache-2.0
"""Calls that are not functions: `has`, loops, `cel.bind`. Rewrites them into their own nodes."""

from __future__ import annotations

from trellis.cel.problems import Issue
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

# By name and number of arguments: the kind of loop, and how many names it binds.
_LOOPS = {
    ("all", 2): ("all", 1),
    ("all", 3): ("all", 2),
    ("exists", 2): ("exists", 1),
    ("exists", 3): ("exists", 2),
    ("exists_one", 2): ("existsOne", 1),
    ("existsOne", 2): ("existsOne", 1),
    ("exists_one", 3): ("existsOne", 2),
    ("existsOne", 3): ("existsOne", 2),
    ("map", 2): ("list", 1),
    ("map", 3): ("list", 1),
    ("filter", 2): ("filter", 1),
    ("sortBy", 2): ("sort", 1),
    ("transformList", 3): ("list", 2),
    ("transformList", 4): ("list", 2),
    ("transformMap", 3): ("map", 2),
    ("transformMap", 4): ("map", 2),
    ("transformMapEntry", 3): ("entry", 2),
    ("transformMapEntry", 4): ("entry", 2),
}
_ACCUMULATORS = {"__result__", "@result"}
_DECIDING = {"all", "exists", "existsOne"}


class Expansion:
    """Rewrites a tree; faults collect in `issues`."""

    def __init__(self, *, bind: bool) -> None:
        self.issues: list[Issue] = []
        self._bind = bind

    def expanded(self, node: Node) -> Node:
        match node:
            case Select():
                node.operand = self.expanded(node.operand)
            case Items():
                node.items = [self.expanded(item) for item in node.items]
            case Entries():
                for entry in node.entries:
                    entry.key, entry.value = self.expanded(entry.key), self.expanded(entry.value)
            case Bind():
                node.value, node.body = self.expanded(node.value), self.expanded(node.body)
            case Call():
                return self._call(node)
        return node

    def _call(self, call: Call) -> Node:
        if call.target is not None:
            call.target = self.expanded(call.target)
        call.args = [self.expanded(arg) for arg in call.args]
        if call.target is None:
            return self._plain(call)
        loop = _LOOPS.get((call.function, len(call.args)))
        if loop is not None:
            return self._loop(call, call.target, loop)
        if self._bind and call.function == "bind" and len(call.args) == 3:
            return self._binding(call)
        return call

    def _plain(self, call: Call) -> Node:
        if call.function == "has" and len(call.args) == 1:
            tested = call.args[0]
            if isinstance(tested, Select) and not tested.test:
                return Select(call.at, tested.operand, tested.name, test=True)
            return self._refused(call, tested, "invalid argument to has() macro")
        if call.function == "_?._" and isinstance(call.args[1], Literal):
            return Select(call.at, call.args[0], call.args[1].value, optional=True)
        return call

    def _refused(self, call: Call, node: Node, message: str) -> Node:
        self.issues.append(Issue(node.at, message))
        return call

    def _binding(self, call: Call) -> Node:
        name, value, body = call.args
        if not (isinstance(call.target, Ident) and call.target.name == "cel"):
            return call
        if not isinstance(name, Ident):
            said = "cel.bind() variable names must be simple identifiers"
            return self._refused(call, name, said)
        return Bind(call.at, name.name, value, body)

    def _loop(self, call: Call, source: Node, loop: tuple[str, int]) -> Node:
        macro, count = loop
        names = []
        for arg in call.args[:count]:
            if not isinstance(arg, Ident):
                return self._refused(call, arg, self._not_a_name(macro, count))
            if arg.name in _ACCUMULATORS:
                said = "iteration variable overwrites accumulator variable"
                return self._refused(call, arg, said)
            names.append(arg.name)
        if count == 2 and names[0] == names[1]:
            return self._refused(call, call.args[1], f"duplicate variable name: {names[0]}")
        condition, result = self._parts(macro, call.args[count:], call.args[0])
        macro = "list" if macro == "filter" else macro
        return Fold(call.at, macro, source, tuple(names), condition, result)

    @staticmethod
    def _not_a_name(macro: str, count: int) -> str:
        simple = macro in _DECIDING or count == 2
        return "argument must be a simple name" if simple else "argument is not an identifier"

    @staticmethod
    def _parts(macro: str, args: list[Node], name: Node) -> tuple[Node | None, Node | None]:
        """What decides or filters, and what each round yields."""
        if macro in _DECIDING:
            return args[0], None
        if macro == "filter":
            assert isinstance(name, Ident)  # noqa: S101 - checked by the caller
            return args[0], Ident(name.at, name.name)
        return (args[0], args[1]) if len(args) == 2 else (None, args[0])
