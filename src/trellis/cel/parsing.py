# SPDX-License-Identifier: Apache-2.0
"""From text to tree, by the parser of cel-expr-python. Nothing here reads CEL itself.

The library's parser has the grammar and the messages of the API server's; its parsed expression
comes as protobuf bytes, which `wire` takes apart. It refuses more than 100,000 characters and
nesting deeper than 32, so what comes back is small enough to recurse over.
"""

from __future__ import annotations

import math
import re
from functools import cache
from typing import TYPE_CHECKING, Any

from trellis.cel import wire
from trellis.cel.problems import CompileProblem, Issue, told
from trellis.cel.tree import (
    Bind,
    Call,
    Construct,
    Entries,
    Entry,
    Ident,
    Items,
    Literal,
    Node,
    Select,
)
from trellis.cel.values import Uint

if TYPE_CHECKING:
    from collections.abc import Callable

_STATUS = re.compile(r"^[A-Z_]+: (.*) \[[A-Z_]+\]$", re.DOTALL)
_NO_PLACE = "<input>:4294967295:0:"


def parsed(expression: str) -> Node:
    try:
        expression.encode()
        compiled = _library().compile(expression, disable_check=True)
    except (RuntimeError, UnicodeEncodeError) as refused:
        raise CompileProblem(_issues(expression, str(refused))) from None
    whole = wire.fields(wire.only(wire.fields(compiled.serialize()), 2))
    return _Reader(expression, wire.only(whole, 3)).node(wire.only(whole, 2))


@cache
def _library() -> Any:
    # 18 MB: a server whose resources have no rules never pays for it.
    from cel_expr_python import cel  # type: ignore[import-untyped]  # noqa: PLC0415
    from cel_expr_python.ext import (  # type: ignore[import-untyped]  # noqa: PLC0415
        ext_optional,
    )

    config = cel.NewEnvConfigFromYaml("stdlib:\n  disable_macros: true\n")
    return cel.NewEnv(config=config, extensions=[ext_optional.ExtOptional()])


def _issues(expression: str, said: str) -> str:
    found = _STATUS.match(said)
    text = found[1] if found else f"ERROR: <input>:1:1: {said}"
    # One fault may be told many times where it has no place.
    lines = text.split("\nERROR: ")
    if _NO_PLACE in lines[0] or not lines[0].startswith("ERROR: "):
        return f"ERROR: <input>:-1:0: {lines[0].split(f'{_NO_PLACE} ')[-1]}"
    return text if expression else text.replace("<input>:1:1:", "<input>:1:0:")


class _Reader:
    """Builds nodes from messages of type cel.expr.Expr."""

    def __init__(self, expression: str, source_info: bytes) -> None:
        self._expression = expression
        self._offsets: dict[int, int] = {}
        for entry in wire.fields(source_info).get(4, ()):
            pair = wire.fields(entry)
            self._offsets[wire.number(pair, 1)] = wire.number(pair, 2)

    def node(self, message: bytes) -> Node:
        found = wire.fields(message)
        at = self._offsets.get(wire.number(found, 2), 0)
        for tag, build in _BUILDERS.items():
            if tag in found:
                return build(self, at, wire.only(found, tag))
        raise CompileProblem("ERROR: <input>:1:1: unexpected expression")

    def _constant(self, at: int, message: bytes) -> Node:
        ((tag, values),) = wire.fields(message).items()
        raw = values[-1]
        value: Any = raw
        match tag:
            case 1:
                value = None
            case 2:
                value = bool(raw)
            case 3:
                value = raw - (1 << 64) if raw >= 1 << 63 else raw
            case 4:
                value = Uint(raw)
            case 5:
                value = wire.double(raw)
                if math.isinf(value):
                    issue = Issue(at, "invalid double literal")
                    raise CompileProblem(told(self._expression, [issue]))
            case 6:
                value = raw.decode()
        return Literal(at, value)

    def _ident(self, at: int, message: bytes) -> Node:
        return Ident(at, wire.text(wire.fields(message), 1).removeprefix("."))

    def _select(self, at: int, message: bytes) -> Node:
        found = wire.fields(message)
        return Select(at, self.node(wire.only(found, 1)), wire.text(found, 2))

    def _call(self, at: int, message: bytes) -> Node:
        found = wire.fields(message)
        target = self.node(found[1][0]) if 1 in found else None
        args = [self.node(arg) for arg in found.get(3, ())]
        return Call(at, wire.text(found, 2).removeprefix("."), target, args)

    def _items(self, at: int, message: bytes) -> Node:
        found = wire.fields(message)
        optional = frozenset(wire.packed(found, 2))
        return Items(at, [self.node(item) for item in found.get(1, ())], optional)

    def _struct(self, at: int, message: bytes) -> Node:
        found = wire.fields(message)
        if 1 in found:
            return Construct(at, wire.text(found, 1))
        entries = []
        for entry in map(wire.fields, found.get(2, ())):
            key, value = self.node(wire.only(entry, 3)), self.node(wire.only(entry, 4))
            entries.append(Entry(key, value, bool(wire.number(entry, 5))))
        return Entries(at, entries)

    def _comprehension(self, at: int, message: bytes) -> Node:
        # The macros are ours to expand, but for optMap and optFlatMap: those bind a name.
        found = wire.fields(message)
        name, value = wire.text(found, 3), self.node(wire.only(found, 4))
        return Bind(at, name, value, self.node(wire.only(found, 7)))


_BUILDERS: dict[int, Callable[[_Reader, int, bytes], Node]] = {
    3: _Reader._constant,
    4: _Reader._ident,
    5: _Reader._select,
    6: _Reader._call,
    7: _Reader._items,
    8: _Reader._struct,
    9: _Reader._comprehension,
}
