# SPDX-License-Identifier: Apache-2.0
"""Items of lists that are sets or maps: the step each is known by."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from trellis.embedded.fields.elements import encoded, key, value
from trellis.embedded.schema.node import UNSET

if TYPE_CHECKING:
    from trellis.embedded.fields.shapes import Shape

_NO_MAP = "associative list with keys may not have non-map elements"
_NULL_MAP = "associative list with keys may not have a null element"
_MAP = "associative list without keys has an element that's a map type"
_LIST = "not supported: associative list with lists as elements"
_NULL = "associative list without keys has an element that's an explicit null"


class NoStep(Exception):
    """An item that has nothing it could be known by, in the words of the server."""


def steps(shape: Shape, items: list[Any]) -> list[str]:
    """Of each item. A step that comes twice is an item that is there twice."""
    try:
        if len(shape.keys) == 1:
            name, head = shape.keys[0][0], shape.heads[0]
            return [head + encoded(item[name]) + "}" for item in items]
        if len(shape.keys) == 2:
            (one, _), (other, _) = shape.keys
            head, middle = shape.heads
            return [
                head + encoded(item[one]) + middle + encoded(item[other]) + "}" for item in items
            ]
    except (KeyError, TypeError, IndexError):
        pass
    return [step_of(shape, item) for item in items]


def step_of(shape: Shape, item: Any) -> str:
    if not shape.keys:
        return _value_step(item)
    if not isinstance(item, dict):
        raise NoStep(_NULL_MAP if item is None else _NO_MAP)
    found = ((name, item.get(name, default)) for name, default in shape.keys)
    pairs = [(name, held) for name, held in found if held is not UNSET]
    if not pairs:
        names = " ".join(json.dumps(name) for name, _ in shape.keys)
        raise NoStep(
            f"associative list with keys has an element that omits all key fields [{names}] "
            "(and doesn't have default values for any key fields)"
        )
    return key(pairs)


def _value_step(item: Any) -> str:
    if isinstance(item, dict):
        raise NoStep(_MAP)
    if isinstance(item, list):
        raise NoStep(_LIST)
    if item is None:
        raise NoStep(_NULL)
    return value(item)
