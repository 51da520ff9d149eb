# SPDX-License-Identifier: Apache-2.0
"""The order of merged lists: as the patch has its items, with the rest where it was around them.

Also what strategic patches are refused with, which is mostly about lists.
"""

from __future__ import annotations

from typing import Any

from trellis.embedded import gotext
from trellis.embedded.patches.results import rejected
from trellis.embedded.refusals import Refusal, bad_request


def failed(said: str) -> Refusal:
    return Refusal(500, "", said)


def bad_format(said: str) -> Refusal:
    return bad_request(said)


def bad_argument(wanted: Any, found: Any) -> Refusal:
    said = "%!s(<nil>)" if found is None else gotext.kind(found)
    return failed(f"expected a {gotext.kind(wanted)}, but received a {said}")


def no_merge_key(item: dict[str, Any], key: str) -> Refusal:
    return failed(f"map: {gotext.plain(item)} does not contain declared merge key: {key}")


def shown_directive(said: Any) -> str:
    return said if isinstance(said, str) else f"%!s({gotext.kind(said)}={gotext.plain(said)})"


def element_kind(*lists: list[Any]) -> str:
    """`map` or `scalar`: all items of both lists must be of one type, and of no list."""
    kinds = dict.fromkeys(type(item) for items in lists for item in items)
    if not kinds:
        raise failed("no elements in any of the given slices")
    if next(iter(kinds)) is list:
        raise rejected()
    if len(kinds) > 1:
        raise failed(f"list element types are not identical: {gotext.plain(list(lists))}")
    return "map" if dict in kinds else "scalar"


def check_order(patch: list[Any], order: list[Any], key: str) -> None:
    """An order must name all that the patch has, in the order that the patch has it in."""
    items = [item for item in patch if _directive(item, key) != "delete"]
    at = named = 0
    while at < len(items) and named < len(order):
        if _directive(items[at], key) is not None:
            at += 1
            continue
        at += identity(items[at], key) == identity(order[named], key)
        named += 1
    if order and at < len(items):
        raise failed(
            f"The order in patch list:\n{gotext.plain(patch)}\n doesn't match "
            f"$setElementOrder list:\n{gotext.plain(order)}\n"
        )


def _directive(item: Any, key: str) -> Any:
    if key and not isinstance(item, dict):
        raise bad_argument({}, item)
    return item.get("$patch") if isinstance(item, dict) else None


def identity(item: Any, key: str) -> Any:
    """What an item is found by: hashable, and no number is a boolean."""
    if key:
        if not isinstance(item, dict):
            raise bad_argument({}, item)
        if key not in item:
            raise no_merge_key(item, key)
        item = item[key]
    return type(item), gotext.syntax(item) if isinstance(item, dict | list) else item


def woven(merged: list[Any], orders: tuple[list[Any], list[Any]], key: str) -> list[Any]:
    """`orders`: that of the patch, which comes first, and that of what was there."""
    wanted, before = (_places(order, key) for order in orders)
    found = [(identity(item, key), item) for item in merged]
    first = sorted((each for each in found if each[0] in wanted), key=lambda each: wanted[each[0]])
    rest = [each for each in found if each[0] not in wanted]
    rest.sort(key=lambda each: before.get(each[0], -1))
    result: list[Any] = []
    at = 0
    for who, item in first:
        place = before.get(who, -1)
        while at < len(rest) and -1 < before.get(rest[at][0], -1) < place:
            result.append(rest[at][1])
            at += 1
        result.append(item)
    return result + [item for _, item in rest[at:]]


def _places(order: list[Any], key: str) -> dict[Any, int]:
    places: dict[Any, int] = {}
    for at, item in enumerate(order):
        places.setdefault(identity(item, key), at)
    return places


def left_behind(there: list[Any], patch: list[Any], merged: list[Any], key: str) -> list[Any]:
    """The order of what was there, once a patch has been merged into it.

    Go deletes items in place and puts new ones where they were, for whoever still looks there.
    """
    kept = {identity(item, key) for item in merged}
    before = {identity(item, key) for item in there}
    new = [item for item in patch if _directive(item, key) is None]
    combined = [item for item in there if identity(item, key) in kept]
    combined += [item for item in new if identity(item, key) not in before]
    return combined[: len(there)]
