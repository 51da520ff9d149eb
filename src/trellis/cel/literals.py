# SPDX-License-Identifier: Apache-2.0
"""Checks of what is written out in an expression: times, patterns, formats, lists of one type."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trellis.cel.formatting import ANYTHING, clauses
from trellis.cel.problems import EvaluationProblem, Issue
from trellis.cel.strings import pattern
from trellis.cel.tree import Bind, Call, Entries, Fold, Items, Literal, Node, Select
from trellis.cel.values import Duration, Timestamp, TypeValue, Uint

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from trellis.cel.overloads import Overload
    from trellis.cel.types import Type

# A value of each type that a clause of a format may refuse.
_SAMPLES: dict[str, Any] = {
    "bool": True,
    "int": 0,
    "uint": Uint(0),
    "double": 0.0,
    "string": "",
    "bytes": b"",
    "null": None,
    "list": [],
    "map": {},
    "timestamp": Timestamp(0),
    "duration": Duration(0),
    "type": TypeValue("type"),
}


_PARTS: dict[type[Node], Callable[[Any], list[Node | None]]] = {
    Select: lambda node: [node.operand],
    Call: lambda node: node.operands,
    Items: lambda node: node.items,
    Entries: lambda node: [part for one in node.entries for part in (one.key, one.value)],
    Bind: lambda node: [node.value, node.body],
    Fold: lambda node: [node.source, node.condition, node.result],
}


def _children(node: Node) -> list[Node]:
    parts = _PARTS.get(type(node))
    return [part for part in parts(node) if part is not None] if parts else []


def literal_issues(root: Node) -> list[Issue]:
    """What the types alone do not tell."""
    return list(_issues(root, formatting=False))


def _issues(node: Node, *, formatting: bool) -> Iterator[Issue]:
    if isinstance(node, Call):
        yield from _call_issues(node)
        formatting = formatting or node.function == "format"
    elif isinstance(node, Items) and not formatting:
        yield from _mixed(node.items, lambda place: place in node.optional)
    elif isinstance(node, Entries) and not formatting:
        yield from _mixed([entry.key for entry in node.entries])
        yield from _mixed(
            [entry.value for entry in node.entries], lambda place: node.entries[place].optional
        )
    for child in _children(node):
        yield from _issues(child, formatting=formatting)


def _mixed(nodes: list[Node], optional: Callable[[int], bool] = lambda _: False) -> Iterator[Issue]:
    expected: Type | None = None
    for place, node in enumerate(nodes):
        found = node.type
        if optional(place) and found.params:
            found = found.params[0]
        if expected is None:
            expected = found
        elif found != expected:
            yield Issue(node.at, f"expected type '{expected}' but found '{found}'")
            return


def _call_issues(call: Call) -> Iterator[Issue]:
    literal = call.args[-1] if call.args else None
    if call.function == "format":
        yield from _format_issues(call)
    elif not isinstance(literal, Literal):
        return
    elif call.function in {"duration", "timestamp"}:
        if not _runs(call.overloads[0], literal.value):
            yield Issue(literal.at, f"invalid {call.function} argument")
    elif call.function == "matches" and not _compiles(literal.value):
        yield Issue(literal.at, "invalid matches argument")


def _runs(overload: Overload, value: Any) -> bool:
    try:
        overload.run(value)
    except EvaluationProblem:
        return False
    return True


def _compiles(text: str) -> bool:
    try:
        pattern(text)
    except EvaluationProblem:
        return False
    return True


def _format_issues(call: Call) -> Iterator[Issue]:
    args = call.args[0] if call.args else None
    if not (isinstance(call.target, Literal) and isinstance(args, Items)):
        return
    wanted = 0
    for clause in clauses(call.target.value):
        if wanted == len(args.items):
            yield Issue(call.at, f"index {wanted} out of range")
            return
        arg = args.items[wanted]
        wanted += 1
        try:
            clause(_SAMPLES.get(arg.type.kind, ANYTHING))
        except EvaluationProblem as problem:
            said = str(problem)
            yield Issue(arg.at if said.startswith("error during") else call.at, said)
            return
    if len(args.items) > wanted:
        said = "too many arguments supplied to string.format"
        yield Issue(call.at, f"{said} (expected {wanted}, got {len(args.items)})")
