# SPDX-License-Identifier: Apache-2.0
"""The fields of a value: those an apply names, and those that come with a value that is new.

The two differ: an apply owns what it spells out, while one who adds a map owns the map itself too.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from trellis.embedded.fields.elements import SELF, order
from trellis.embedded.fields.listing import steps
from trellis.embedded.fields.shapes import STRUCT

if TYPE_CHECKING:
    from trellis.embedded.fields.sets import Fields
    from trellis.embedded.fields.shapes import Shape

_NOTHING = object()


def named(shape: Shape, configuration: dict[str, Any]) -> Fields:
    """The fields that an applied configuration names, in order."""
    fields: Fields = {}
    for name in sorted(configuration):
        value = configuration[name]
        declared = shape.fields.get(name)
        branch = _named_in(declared or shape.element, value)
        if declared is None or value == {}:
            branch = {SELF: {}, **branch} if branch else {}
        if branch is not None:
            fields["f:" + name] = branch
    return fields


def _named_in(shape: Shape | None, value: Any) -> Fields | None:
    """None: nothing of it is named. An empty one: the value itself is, as a whole."""
    if shape is None or not isinstance(value, dict | list):
        return {}
    if isinstance(value, dict):
        return {} if shape.map_atomic or not shape.is_map else named(shape, value) or None
    if shape.list_atomic or not shape.is_list:
        return {}
    return _named_in_list(shape, value) or None


def _named_in_list(shape: Shape, items: list[Any]) -> Fields:
    fields: Fields = {}
    for step, item in _sorted_items(shape, items):
        branch = {} if item is _NOTHING else _named_in(shape.items, item)
        fields[step] = {SELF: {}, **branch} if branch else {}
    return fields


def _sorted_items(shape: Shape, items: list[Any]) -> list[tuple[str, Any]]:
    """Items by their steps; those that are there more than once stand for no value."""
    labels = steps(shape, items)
    found = list(zip(labels, items, strict=True))
    if len(found) < 2:
        return found
    by_step = dict(found)
    if len(by_step) < len(found):
        count = Counter(labels)
        by_step = {step: item if count[step] == 1 else _NOTHING for step, item in by_step.items()}
    return [(step, by_step[step]) for step in sorted(by_step, key=order)]


def whole(shape: Shape | None, value: Any) -> Fields:
    """The fields of a value that was not there before, itself included, in order."""
    if not value or shape is None:
        return {}
    kind = type(value)
    if kind is dict:
        return {} if shape.map_atomic or not shape.is_map else _whole_map(shape, value)
    if kind is list and not shape.list_atomic:
        fields: Fields = {SELF: {}}
        for step, item in _sorted_items(shape, value):
            fields[step] = {} if item is _NOTHING else whole(shape.items, item)
        return fields
    return {}


def _whole_map(shape: Shape, value: dict[str, Any]) -> Fields:
    fields: Fields = {SELF: {}}
    known, element = shape.fields, shape.element
    for name in sorted(value):
        held = value[name]
        if type(held) is dict or type(held) is list:
            fields["f:" + name] = whole(known.get(name, element), held)
        else:
            fields["f:" + name] = {}
    return fields


def from_zero(shape: Shape, value: dict[str, Any]) -> Fields:
    """The fields of a new object: what a struct of Go holds anyway is nobody's doing."""
    fields: Fields = {}
    for name in sorted(value):
        branch = field_from_zero(shape, name, value[name])
        if branch is not None:
            fields["f:" + name] = branch
    return fields


def field_from_zero(shape: Shape, name: str, value: Any) -> Fields | None:
    """What came to a field that was left out before; None if it holds what it held all along."""
    zero = shape.zero.get(name, _NOTHING)
    below = shape.fields.get(name, shape.element)
    if zero is _NOTHING or below is None:
        return whole(below, value)
    if zero is STRUCT:
        if not value or not isinstance(value, dict):
            return None
        return {} if below.map_atomic else from_zero(below, value) or None
    if value == zero:
        return None
    branch = whole(below, value)
    branch.pop(SELF, None)
    return branch
