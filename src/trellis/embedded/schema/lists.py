# SPDX-License-Identifier: Apache-2.0
"""Lists that are sets or have keys: nothing may be in them twice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from trellis.embedded.fielderrors import FieldError, duplicate, index, invalid
from trellis.embedded.schema.walking import below, inner_nodes

if TYPE_CHECKING:
    from trellis.embedded.schema.node import Node

_PLAN = "lists"


def validate_lists(node: Node, value: Any, path: str = "") -> list[FieldError]:
    """Only the parts of the schema that have such lists are walked."""
    if not _concerned(node):
        return []
    found = _list(node, value, path) if type(value) is list else []
    for inner, each, where in below(node, value, path):
        found += validate_lists(inner, each, where)
    return found


def _concerned(node: Node) -> bool:
    if _PLAN not in node.plans:
        special = node.list_type in {"set", "map"}
        node.plans[_PLAN] = special or any(map(_concerned, inner_nodes(node)))
    return bool(node.plans[_PLAN])


def _list(node: Node, value: list[Any], path: str) -> list[FieldError]:
    if node.list_type == "set":
        return [duplicate(index(path, at), value[at]) for at in _repeated(value)]
    return _keyed(node, value, path) if node.list_type == "map" else []


def _keyed(node: Node, value: list[Any], path: str) -> list[FieldError]:
    for at, each in enumerate(value):
        if each is not None and type(each) is not dict:
            why = "must be an object for an array of list-type map"
            return [invalid(index(path, at), each, why)]
    if len(node.list_keys) == 1:
        name = node.list_keys[0]
        told: list[Any] = [each.get(name, _ABSENT) if each else _ABSENT for each in value]
        return [duplicate(index(path, at), _shown(name, told[at])) for at in _repeated(told)]
    keys = [
        {name: item[name] for name in node.list_keys if name in item}
        for item in (each or {} for each in value)
    ]
    return [duplicate(index(path, at), keys[at]) for at in _repeated(keys)]


# An item without its key is the same as another without it, and as no other.
_ABSENT: list[Any] = [[]]


def _shown(name: str, key: Any) -> dict[str, Any]:
    return {} if key is _ABSENT else {name: key}


def _repeated(values: list[Any]) -> list[int]:
    """Where each value is for the second time; a third time is not said again."""
    if len(values) <= 1:
        return []
    times: dict[Any, int] = {}
    found = []
    for at, each in enumerate(values):
        text = each if type(each) is str else msgspec.json.encode(each, order="sorted")
        times[text] = times.get(text, 0) + 1
        if times[text] == 2:
            found.append(at)
    return found
