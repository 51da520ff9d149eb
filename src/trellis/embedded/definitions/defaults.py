# SPDX-License-Identifier: Apache-2.0
"""The defaults in a schema must be what the schema allows, or no object could be made of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trellis.embedded.copying import copied
from trellis.embedded.fielderrors import FieldError, child, invalid, key
from trellis.embedded.schema.coerce import coerce_embedded
from trellis.embedded.schema.embedded import validate_embedded
from trellis.embedded.schema.node import UNSET
from trellis.embedded.schema.prune import prune_value
from trellis.embedded.schema.rules import has_rules, run_rules
from trellis.embedded.schema.scalars import Undecodable
from trellis.embedded.schema.validate import validate

if TYPE_CHECKING:
    from trellis.embedded.schema.node import Node


def check_defaults(node: Node, path: str) -> list[FieldError]:
    """Of the node and of all below it; entries of maps have no defaults of their own checked."""
    found: list[FieldError] = []
    if node.default is not UNSET and node.default is not None:
        found += _default(node, node.default, child(path, "default"))
    if node.items is not None:
        found += check_defaults(node.items, child(path, "items"))
    for name, inner in node.properties.items():
        found += check_defaults(inner, key(child(path, "properties"), name))
    return found


def _default(node: Node, default: Any, path: str) -> list[FieldError]:
    pruned = copied(default)
    prune_value(node, pruned)
    found = []
    if pruned != default:
        found.append(invalid(path, default, "must not have unknown fields"))
    try:
        coerce_embedded(node, copied(default), path)
    except Undecodable as error:
        return [*found, invalid(path, default, f"must result in valid metadata: {error}")]
    errors = validate_embedded(node, default, path)
    errors = errors or validate(node, default, prefix=path)
    if not errors and has_rules(node):
        # Once as if it had been there before, and once as if it had not.
        errors = run_rules(node, default, default, path, tolerant=False).errors
        errors = errors or run_rules(node, default, path=path).errors
    return found + errors
