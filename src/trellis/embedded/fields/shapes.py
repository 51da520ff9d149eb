# SPDX-License-Identifier: Apache-2.0
"""What a schema says about ownership: which parts are owned one by one and which as a whole.

Made once for each node of a schema and kept with it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from trellis.embedded.fields.elements import encoded
from trellis.embedded.schema.node import UNSET
from trellis.embedded.schema.typed import normalised

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trellis.embedded.schema.node import Node

NUMERIC = "numeric"
STRING = "string"
BOOLEAN = "boolean"
UNTYPED = "untyped"
STRUCT: Final = object()
"""In `zero`: a struct of Go, which is there even if nothing in it is."""
_RAW = "io.k8s.apimachinery.pkg.runtime.RawExtension"
_SCALARS = {"integer": NUMERIC, "number": NUMERIC, "boolean": BOOLEAN}


class Shape:
    """A value may be a scalar, a map, a list, or where the schema leaves it open any of them."""

    __slots__ = (
        "element",
        "fields",
        "heads",
        "is_list",
        "is_map",
        "items",
        "keys",
        "list_atomic",
        "map_atomic",
        "scalar",
        "strict",
        "zero",
    )

    def __init__(self) -> None:
        self.scalar = ""
        self.is_map = False
        self.map_atomic = False
        self.fields: dict[str, Shape] = {}
        self.element: Shape | None = None
        """What keys hold that are no fields; None where there may be none."""
        self.is_list = False
        self.list_atomic = True
        self.items: Shape = self
        self.keys: tuple[tuple[str, Any], ...] = ()
        """Of a list that is a map, its keys in order of their names, and each one's default."""
        self.heads: tuple[str, ...] = ()
        """What stands before each key's value in the step of an item."""
        self.zero: dict[str, Any] = {}
        """Fields that a new struct of Go has without being told, and what they hold then."""
        self.strict = True
        """Python's equality will do: nothing here may be a boolean now and a number then."""


def _untyped(*, atomic: bool) -> Shape:
    shape = Shape()
    shape.scalar, shape.is_map, shape.is_list, shape.strict = UNTYPED, True, True, False
    shape.map_atomic = atomic
    shape.items = shape.element = shape
    if not atomic:
        shape.items = _WHOLE
    return shape


_WHOLE = _untyped(atomic=True)
FREE = _untyped(atomic=False)
"""What no schema describes: maps are owned by key, lists as a whole."""


def shape_of(node: Node, unknown: bool = False) -> Shape:
    """`unknown`: a schema around this one keeps the fields it does not know."""
    unknown = unknown or (node.preserve_unknown and not node.special)
    plan = "fields, unknown kept" if unknown else "fields"
    shape: Shape | None = node.plans.get(plan)
    if shape is None:
        shape = node.plans[plan] = Shape()
        _Builder(node, shape, unknown).build()
    return shape


class _Builder:
    def __init__(self, node: Node, shape: Shape, unknown: bool) -> None:
        self.node = node
        self.shape = shape
        self.unknown = unknown and not node.name

    def build(self) -> None:
        node, shape = self.node, self.shape
        if node.name == _RAW:
            for name in Shape.__slots__:
                setattr(shape, name, getattr(_WHOLE, name))
        elif node.special == "quantity" or (node.int_or_string and node.name):
            shape.scalar = UNTYPED
        elif node.type in {"object", ""}:
            self._open()
        elif node.type == "array":
            self._list()
        elif node.type == "string":
            shape.scalar = STRING if node.format in {"", "byte"} else UNTYPED
        else:
            shape.scalar = _SCALARS.get(node.type, UNTYPED)

    def _open(self) -> None:
        if not self.node.type:
            self.shape.scalar = UNTYPED
            self._list()
        self._map()
        if not self.node.type:
            self.shape.strict = False

    def _map(self) -> None:
        node, shape = self.node, self.shape
        shape.is_map = True
        shape.map_atomic = node.map_type == "atomic"
        for name, below in node.properties.items():
            shape.fields[name] = shape_of(below, self.unknown)
        if node.additional is not None:
            shape.element = shape_of(node.additional, self.unknown)
        elif self.unknown or not node.properties:
            shape.element = FREE
        if node.name and node.properties:
            shape.zero = dict(self._zeros())
        else:
            shape.strict = all(below.strict for below in self._below())

    def _below(self) -> list[Shape]:
        parts = [*self.shape.fields.values(), self.shape.element]
        return [part for part in parts if part is not None]

    def _zeros(self) -> Iterator[tuple[str, Any]]:
        for name, value in normalised(self.node, {}).items():
            struct = isinstance(value, dict) and self.node.properties[name].properties
            yield name, STRUCT if struct else value

    def _list(self) -> None:
        node, shape = self.node, self.shape
        shape.is_list = True
        shape.items = _WHOLE if node.items is None else shape_of(node.items, self.unknown)
        shape.strict = bool(node.name) or shape.items.strict
        strategies = node.patch_strategy.split(",")
        if node.list_type:
            shape.list_atomic = node.list_type == "atomic"
            names = node.list_keys
        elif "merge" in strategies:
            shape.list_atomic = False
            names = (node.patch_merge_key,) if node.patch_merge_key else ()
        else:
            return
        if node.items is not None:
            properties = node.items.properties
            shape.keys = tuple((name, _default(properties.get(name))) for name in sorted(names))
            starts = ("k:{", *("," for _ in shape.keys))
            shape.heads = tuple(
                f"{start}{encoded(name)}:"
                for start, (name, _) in zip(starts, shape.keys, strict=False)
            )


def _default(node: Node | None) -> Any:
    return UNSET if node is None or node.default is None else node.default
