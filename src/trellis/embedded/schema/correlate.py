# SPDX-License-Identifier: Apache-2.0
"""What a value was before an update, where that can be told, and whether it is still the same.

The server tolerates what breaks a rule if it has not changed; lists are followed only by keys.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec

if TYPE_CHECKING:
    from collections.abc import Callable

    from trellis.embedded.schema.node import Node


class Nothing:
    """There is nothing to compare with: the object is new, or the value cannot be followed."""

    def __bool__(self) -> bool:
        return False


NOTHING: Final = Nothing()


def entry(node: Node, old: Any, name: str) -> Any:
    """What the field was, or NOTHING."""
    if type(old) is not dict or name not in old:
        return NOTHING
    return old[name] if name in node.properties or node.additional is not None else NOTHING


def item_finder(node: Node, old: Any) -> Callable[[Any], Any] | None:
    """For a list with keys: tells what an item was. None where items cannot be followed."""
    if node.list_type != "map" or type(old) is not list or node.items is None:
        return None
    by_key: dict[bytes, Any] = {}
    for each in old:
        if type(each) is dict:
            by_key.setdefault(_key(node, each), each)

    def find(item: Any) -> Any:
        return by_key.get(_key(node, item), NOTHING) if type(item) is dict else NOTHING

    return find


def _key(node: Node, item: dict[str, Any]) -> bytes:
    return msgspec.json.encode([item.get(name) for name in node.list_keys])


def same(node: Node | None, new: Any, old: Any) -> bool:
    """Whether nothing changed, as the server sees it: lists with keys may be in another order.

    What the schema does not describe cannot be followed, so it counts as changed.
    """
    if old is NOTHING or (new is None) != (old is None):
        return False
    if type(new) is not type(old):
        return type(new) in (int, float) and type(old) in (int, float) and bool(new == old)
    if type(new) is dict:
        return len(new) == len(old) and all(_same_entry(node, new, old, name) for name in new)
    if type(new) is list:
        return len(new) == len(old) and _same_items(node, new, old)
    return bool(new == old)


def _same_entry(node: Node | None, new: dict[str, Any], old: dict[str, Any], name: str) -> bool:
    if node is None or name not in old:
        return False
    inner = node.properties.get(name, node.additional)
    return inner is not None and same(inner, new[name], old[name])


def _same_items(node: Node | None, new: list[Any], old: list[Any]) -> bool:
    find = item_finder(node, old) if node is not None else None
    if find is None or node is None:
        return new == old
    return all(same(node.items, each, find(each)) for each in new)
