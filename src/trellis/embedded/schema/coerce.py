# SPDX-License-Identifier: Apache-2.0
"""A custom object as the server takes it in: metadata typed, the rest pruned to its schema."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trellis.embedded.fielderrors import child, invalid
from trellis.embedded.schema.node import metadata_node
from trellis.embedded.schema.prune import prune
from trellis.embedded.schema.scalars import Undecodable
from trellis.embedded.schema.typed import typed
from trellis.embedded.schema.walking import below, inner_nodes

if TYPE_CHECKING:
    from trellis.embedded.schema.node import Node

_PLAN = "coerce"


def coerce(node: Node, obj: dict[str, Any]) -> list[str]:
    """Changes the object; returns the paths of unknown fields. Raises Undecodable."""
    unknown = coerce_metadata(obj, "")
    unknown += prune(node, obj)
    found: list[str] = []
    _embedded(node, obj, "", found, root=True)
    return unknown + sorted(found)


def coerce_embedded(node: Node, value: Any, path: str) -> None:
    """Objects embedded in a part of an object, such as a default. Raises Undecodable."""
    _embedded(node, value, path, [])


def coerce_metadata(obj: dict[str, Any], path: str) -> list[str]:
    """The metadata of an object, at its root or embedded at a path."""
    if "metadata" not in obj:
        return []
    metadata, problems = typed(metadata_node(), obj["metadata"])
    obj["metadata"] = metadata
    prefix = child(path, "metadata")
    return sorted(f"{prefix}.{problem.split(chr(34))[1]}" for problem in problems)


def _embedded(node: Node, value: Any, path: str, found: list[str], *, root: bool = False) -> None:
    """Objects inside the object, wherever the schema says that there is one."""
    if not has_embedded(node, root=root):
        return
    if node.embedded_resource and not root and type(value) is dict:
        _object_fields(value, path, found)
    for inner, each, where in below(node, value, path):
        _embedded(inner, each, where, found)


def _object_fields(value: dict[str, Any], path: str, found: list[str]) -> None:
    for name in ("apiVersion", "kind"):
        if name in value and type(value[name]) is not str:
            raise Undecodable(str(invalid(child(path, name), value[name], "must be a string")))
    given = value.get("metadata")
    try:
        found += coerce_metadata(value, path)
    except Undecodable as error:
        raise Undecodable(str(invalid(child(path, "metadata"), given, str(error)))) from error


def has_embedded(node: Node, *, root: bool = False) -> bool:
    """Whether there can be any at all, worked out once: most schemas have none."""
    if node.embedded_resource and not root:
        return True
    if _PLAN not in node.plans:
        node.plans[_PLAN] = False
        node.plans[_PLAN] = any(map(has_embedded, inner_nodes(node)))
    return bool(node.plans[_PLAN])
