# SPDX-License-Identifier: Apache-2.0
"""Takes from a custom object what its schema does not know, and nulls that mean nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trellis.embedded.schema.node import UNSET
from trellis.embedded.schema.typed import Where, path_of

if TYPE_CHECKING:
    from trellis.embedded.schema.node import Node

# Every object has these, at its root and where it is embedded, whatever its schema says.
OBJECT_FIELDS = frozenset({"apiVersion", "kind", "metadata"})


def prune(node: Node, obj: dict[str, Any]) -> list[str]:
    """Changes the object; returns the paths of the unknown fields that went, in order.

    A null goes silently where the schema allows none and has no default to put there.
    """
    pruner = _Pruner()
    pruner.object(node, obj, None, whole=True)
    return sorted(path_of(where) for where in pruner.dropped)


def prune_value(node: Node, value: Any) -> None:
    """The same of a part of an object, such as a default."""
    _Pruner().value(node, value, None)


class _Pruner:
    __slots__ = ("dropped",)

    def __init__(self) -> None:
        self.dropped: list[Where] = []

    def value(self, node: Node | None, value: Any, where: Where, *, kept: bool = False) -> None:
        """`kept` holds inside a list that keeps what is unknown: its items do, too."""
        if type(value) is dict:
            if node is None:
                self._clear(value, where, kept=kept)
            else:
                self.object(node, value, where, kept=kept, whole=node.embedded_resource)
        elif type(value) is list:
            kept = kept or (node is not None and node.preserve_unknown)
            items = node.items if node is not None else None
            for at, each in enumerate(value):
                self.value(items, each, (where, "", at), kept=kept)

    def _clear(self, value: dict[str, Any], where: Where, *, kept: bool) -> None:
        if not kept:
            self.dropped += [(where, "", name) for name in value]
            value.clear()

    def object(
        self, node: Node, value: dict[str, Any], where: Where, *, kept: bool = False, whole: bool
    ) -> None:
        """`whole`: it is an object with a kind and metadata, which stay."""
        properties, additional = node.properties, node.additional
        kept = kept or node.preserve_unknown
        gone: list[str] = []
        for name, each in value.items():
            inner = properties.get(name, additional)
            if whole and name in OBJECT_FIELDS:
                continue
            if inner is None:
                if not kept:
                    gone.append(name)
                    self.dropped.append((where, "", name))
            elif each is None and _is_nothing(inner):
                gone.append(name)
            elif type(each) is dict or type(each) is list:
                self.value(inner, each, (where, "", name))
        for name in gone:
            del value[name]


def _is_nothing(node: Node) -> bool:
    """Whether a null there is as good as leaving the field out."""
    return not node.nullable and (node.default is UNSET or node.default is None)
