# SPDX-License-Identifier: Apache-2.0
"""Puts a schema's defaults where an object says nothing, or says null where no null may be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trellis.embedded.copying import copied
from trellis.embedded.schema.node import UNSET, Node

if TYPE_CHECKING:
    from collections.abc import Callable

_PLAN = "default"


def fill_defaults(node: Node, obj: Any) -> None:
    """Changes the object. Only parts of the schema that have defaults are walked at all."""
    plan = _plan(node)
    if plan is not None:
        plan(obj)


def _plan(node: Node) -> Callable[[Any], None] | None:
    if _PLAN not in node.plans:
        node.plans[_PLAN] = _worked_out(node)
    return node.plans[_PLAN]  # type: ignore[no-any-return]


def _worked_out(node: Node) -> Callable[[Any], None] | None:
    fields, others, items = _fields(node), _element(node.additional), _element(node.items)
    if not (fields or others or items):
        return None

    def fill(value: Any) -> None:
        if type(value) is dict:
            if fields is not None:
                fields(value)
            if others is not None:
                value.update(
                    (name, others(each))
                    for name, each in value.items()
                    if name not in node.properties
                )
        elif type(value) is list and items is not None:
            value[:] = map(items, value)

    return fill


def _fields(node: Node) -> Callable[[dict[str, Any]], None] | None:
    own = [
        (name, inner.default, inner.nullable)
        for name, inner in node.properties.items()
        if not (inner.default is UNSET or inner.default is None)
    ]
    inside = [(name, plan) for name, inner in node.properties.items() if (plan := _plan(inner))]
    if not (own or inside):
        return None

    def fill(value: dict[str, Any]) -> None:
        for name, default, nullable in own:
            if name not in value or (not nullable and value[name] is None):
                value[name] = copied(default)
        for name, plan in inside:
            if name in value:
                plan(value[name])

    return fill


def _element(node: Node | None) -> Callable[[Any], Any] | None:
    """What becomes of an item of a list or an entry of a map: itself, or the default for null."""
    if node is None:
        return None
    plan, default = _plan(node), node.default
    replaces = not (node.nullable or default is UNSET or default is None)
    if plan is None and not replaces:
        return None

    def element(value: Any) -> Any:
        if value is None and replaces:
            value = copied(default)
        if plan is not None:
            plan(value)
        return value

    return element
