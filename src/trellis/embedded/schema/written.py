# SPDX-License-Identifier: Apache-2.0
"""Objects as text in the order in which Go writes them, for messages that quote one whole."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from trellis.embedded import gotypes

if TYPE_CHECKING:
    from trellis.embedded.schema.node import Node


def patched_text(obj: Any, native: Node | None) -> str:
    """A built-in kind's fields come by name, what is in them as its types declare it; all of a
    custom object comes by name, and so does what a patch made that is no object."""
    if native is None or not isinstance(obj, dict):
        return msgspec.json.encode(obj, order="sorted").decode()
    ordered = {name: _ordered(native.properties.get(name), obj[name]) for name in sorted(obj)}
    return msgspec.json.encode(ordered).decode()


def _ordered(node: Node | None, value: Any) -> Any:
    if type(value) is list:
        items = node.items if node is not None else None
        return [_ordered(items, each) for each in value]
    if type(value) is not dict:
        return value
    if node is None or node.name not in gotypes.structs():
        inner = node.additional if node is not None else None
        return {name: _ordered(inner, value[name]) for name in sorted(value)}
    known = [name for name in gotypes.fields(node.name) if name in value]
    others = sorted(set(value) - set(known))
    return {name: _ordered(node.properties.get(name), value[name]) for name in known + others}
