# SPDX-License-Identifier: Apache-2.0
"""The parts of an expression. The checker writes what it finds into them; nothing else does."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from trellis.cel.types import ERROR, Type

if TYPE_CHECKING:
    from trellis.cel.overloads import Overload


@dataclass(slots=True, eq=False)
class Node:
    at: int
    """Offset in the expression, for messages."""
    type: Type = field(default=ERROR, init=False)


@dataclass(slots=True, eq=False)
class Literal(Node):
    value: Any


@dataclass(slots=True, eq=False)
class Ident(Node):
    name: str


@dataclass(slots=True, eq=False)
class Select(Node):
    """`operand.field`, `operand.?field` and `has(operand.field)`."""

    operand: Node
    name: str
    test: bool = False
    optional: bool = False
    whole: str = field(default="", init=False)
    """The dotted name, where all of it names one variable or type."""


@dataclass(slots=True, eq=False)
class Call(Node):
    function: str
    target: Node | None
    args: list[Node]
    overloads: list[Overload] = field(default_factory=list, init=False)

    @property
    def operands(self) -> list[Node]:
        return self.args if self.target is None else [self.target, *self.args]


@dataclass(slots=True, eq=False)
class Items(Node):
    """A list that is written out; `optional` holds the places of `[?x]`."""

    items: list[Node]
    optional: frozenset[int] = frozenset()


@dataclass(slots=True, eq=False)
class Entry:
    key: Node
    value: Node
    optional: bool


@dataclass(slots=True, eq=False)
class Entries(Node):
    """A map that is written out."""

    entries: list[Entry]


@dataclass(slots=True, eq=False)
class Construct(Node):
    """`Name{field: value}`."""

    name: str


@dataclass(slots=True, eq=False)
class Bind(Node):
    """A name for a value inside one expression, which is computed when first needed."""

    name: str
    value: Node
    body: Node


@dataclass(slots=True, eq=False)
class Fold(Node):
    """A loop: `all`, `exists`, `existsOne`, `list` (map and filter), `map`, `entry`, `sort`."""

    macro: str
    source: Node
    names: tuple[str, ...]
    condition: Node | None
    """What decides, or what filters."""
    result: Node | None
    """What each round yields."""
