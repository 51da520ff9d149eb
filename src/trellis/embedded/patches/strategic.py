# SPDX-License-Identifier: Apache-2.0
"""Strategic merge patch: lists are merged by the key their schema names, and directives are obeyed.

`$patch: replace|delete`, `$retainKeys`, `$setElementOrder/LIST`, `$deleteFromPrimitiveList/LIST`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trellis.embedded import gotext
from trellis.embedded.copying import copied
from trellis.embedded.patches.ordering import (
    bad_argument,
    bad_format,
    check_order,
    element_kind,
    failed,
    identity,
    left_behind,
    shown_directive,
    woven,
)

if TYPE_CHECKING:
    from trellis.embedded.schema.node import Node

Map = dict[str, Any]
DIRECTIVE = "$patch"
_RETAIN = "$retainKeys"
_ORDER = "$setElementOrder"
_DELETE = "$deleteFromPrimitiveList"


def strategic(old: Map, patch: Map, node: Node) -> Map:
    return _maps(copied(old), copied(patch), node)


def _maps(old: Map, patch: Map, node: Node | None) -> Map:
    """Both are used up."""
    if DIRECTIVE in patch:
        return _directed(patch)
    _retain(old, patch)
    _put_in_order(old, patch, node)
    for name, value in patch.items():
        if name.startswith(_DELETE):
            listed = _target(name, _DELETE, "invalid patch format of primitive list")
            _delete_items(old, listed, value, node)
        elif value is None:
            old.pop(name, None)
        else:
            _merge_field(old, name, value, node)
    return old


def _directed(patch: Map) -> Map:
    match patch[DIRECTIVE]:
        case "replace":
            return {name: value for name, value in patch.items() if name != DIRECTIVE}
        case "delete":
            return {}
    raise _bad_directive(patch)


def _bad_directive(patch: Map) -> Exception:
    said = shown_directive(patch[DIRECTIVE])
    return failed(f"unknown patch type: {said} in map: {gotext.plain(patch)}")


def _retain(old: Map, patch: Map) -> None:
    if _RETAIN not in patch:
        return
    kept = patch.pop(_RETAIN)
    if not isinstance(kept, list):
        raise bad_format("invalid patch format of retainKeys")
    for name, value in patch.items():
        about_lists = name.startswith((_DELETE, _ORDER))
        if value is not None and not about_lists and name not in kept:
            raise bad_format("invalid patch format of retainKeys")
    for name in [name for name in old if name not in kept]:
        del old[name]


def _merge_field(old: Map, name: str, value: Any, node: Node | None) -> None:
    there = old.get(name)
    if isinstance(there, dict) and isinstance(value, dict):
        below = _field(node, name)
        if "replace" in _strategies(below):
            old[name] = value
        else:
            old[name] = _maps(there, value, below)
    elif isinstance(there, list) and isinstance(value, list):
        below = _field(node, name)
        old[name] = _lists(there, value, below) if "merge" in _strategies(below) else value
    else:
        _discard_nulls(value)
        bare = _without_directives(value)
        if bare is _DROPPED:
            old.pop(name, None)
        else:
            old[name] = bare


def _field(node: Node | None, name: str) -> Node | None:
    """What the schema says of a key. Where it says nothing, only scalars can be patched."""
    if node is None:
        return None
    below = node.properties.get(name, node.additional)
    if below is None and (node.properties or node.special):
        struct = node.name.rpartition(".")[2]
        field = gotext.quoted(name)
        raise failed(f"unable to find api field in struct {struct} for the json field {field}")
    return below


def _strategies(node: Node | None) -> list[str]:
    return node.patch_strategy.split(",") if node is not None else []


def _target(name: str, directive: str, problem: str) -> str:
    said, slash, target = name.partition("/")
    if said != directive or not slash:
        raise bad_format(problem)
    return target


def _delete_items(old: Map, name: str, items: Any, node: Node | None) -> None:
    there = old.get(name)
    if items is None:
        old.pop(name, None)
    elif isinstance(there, list) and isinstance(items, list) and (there or items):
        if element_kind(there, items) == "map":
            old[name] = _lists(there, items, _field(node, name))
        else:
            gone = {identity(item, "") for item in items}
            old[name] = [item for item in there if identity(item, "") not in gone]


def _put_in_order(old: Map, patch: Map, node: Node | None) -> None:
    """Lists whose order the patch sets are merged here, and taken from the patch."""
    for name in [name for name in patch if name.startswith(_ORDER)]:
        order = patch.pop(name)
        if not isinstance(order, list):
            raise bad_argument([], order)
        target = _target(name, _ORDER, "invalid patch format of setElementOrder list")
        there, items = old.get(target), patch.get(target)
        for each, found in ((there, target in old), (items, target in patch)):
            if found and not isinstance(each, list):
                raise bad_argument([], each)
        below = _field(node, target)
        key = below.patch_merge_key if below is not None else ""
        check_order(items or [], order, key)
        if target not in old and target not in patch:
            continue
        merged = _merged_for_order(there, items, below)
        element_kind(there or [], items or [])
        before = left_behind(there or [], items or [], merged, key)
        old[target] = woven(merged, (order, before), key)
        patch.pop(target, None)


def _merged_for_order(there: Any, items: Any, node: Node | None) -> list[Any]:
    if items is None:
        return list(there)
    if there is None:
        return list(_without_directives(items))
    return _lists(list(there), items, node) if "merge" in _strategies(node) else items


def _lists(old: list[Any], patch: list[Any], node: Node | None) -> list[Any]:
    """Of a list that is merged: by its key, or as a set if its items are scalars."""
    if not old and not patch:
        return old
    kind = element_kind(old, patch)
    key = node.patch_merge_key if node is not None else ""
    if kind == "map":
        if not key:
            raise failed("cannot merge lists without merge key for struct")
        old, patch = _without_special(old, patch, key)
        merged = _items(list(old), patch, key, node.items if node is not None else None)
    else:
        merged = list({identity(item, ""): item for item in (*old, *patch)}.values())
    return woven(merged, (patch, old), key)


def _without_special(old: list[Map], patch: list[Map], key: str) -> tuple[list[Map], list[Map]]:
    """Items with directives are obeyed and left out."""
    plain: list[Map] = []
    gone: set[Any] = set()
    replaces = False
    for item in patch:
        if DIRECTIVE not in item:
            plain.append(item)
        elif item[DIRECTIVE] == "delete":
            gone.add(identity(item, key))
        elif item[DIRECTIVE] == "replace":
            replaces = True
        elif item[DIRECTIVE] == "merge":
            raise failed("merging lists cannot yet be specified in the patch")
        else:
            raise _bad_directive(item)
    if replaces:
        return plain, []
    return [item for item in old if key not in item or identity(item, key) not in gone], plain


def _items(merged: list[Map], patch: list[Map], key: str, node: Node | None) -> list[Map]:
    places: dict[Any, int] = {}
    for at, there in enumerate(merged):
        if key in there:
            places.setdefault(identity(there, key), at)
    for item in patch:
        who = identity(item, key)
        if who in places:
            merged[places[who]] = _maps(merged[places[who]], item, node)
        else:
            places[who] = len(merged)
            merged.append(item)
    return merged


_DROPPED: Any = object()


def _without_directives(value: Any) -> Any:
    """A value that is new here; `_DROPPED` if it is nothing but a directive."""
    if isinstance(value, dict):
        if DIRECTIVE in value:
            return _DROPPED
        found = ((name, _without_directives(held)) for name, held in value.items())
        return {name: held for name, held in found if held is not _DROPPED}
    if isinstance(value, list):
        kept = map(_without_directives, value)
        return [item for item in kept if item is not _DROPPED]
    return value


def _discard_nulls(value: Any) -> None:
    if isinstance(value, dict):
        for name in [name for name, held in value.items() if held is None]:
            del value[name]
        for held in value.values():
            _discard_nulls(held)
    elif isinstance(value, list):
        for item in value:
            _discard_nulls(item)
