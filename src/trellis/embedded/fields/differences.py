# SPDX-License-Identifier: Apache-2.0
"""What one object has that another has not, as sets of fields: removed, modified, added."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from trellis.embedded.fields import sets
from trellis.embedded.fields.elements import SELF
from trellis.embedded.fields.listing import steps
from trellis.embedded.fields.owned import field_from_zero, whole

if TYPE_CHECKING:
    from trellis.embedded.fields.sets import Fields
    from trellis.embedded.fields.shapes import Shape

_ABSENT = object()


@dataclass(slots=True)
class Difference:
    """No field is in more than one of them."""

    removed: Fields = field(default_factory=dict)
    modified: Fields = field(default_factory=dict)
    added: Fields = field(default_factory=dict)

    @property
    def changed(self) -> Fields:
        return sets.union(self.modified, self.added)

    def without(self, fields: Fields) -> Difference:
        if not fields:
            return self
        return Difference(
            sets.difference_below(self.removed, fields),
            sets.difference_below(self.modified, fields),
            sets.difference_below(self.added, fields),
        )

    def into(self, step: str, below: Difference) -> None:
        """What `below` says is about what lies under a step of this."""
        if below.removed:
            self.removed[step] = below.removed
        if below.modified:
            self.modified[step] = below.modified
        if below.added:
            self.added[step] = below.added


def compared(shape: Shape, old: dict[str, Any], new: dict[str, Any]) -> Difference:
    result = Difference()
    _maps(shape, old, new, result)
    return result


def identical(left: Any, right: Any) -> bool:
    """As equal as Go has it: a boolean is no number."""
    if type(left) is dict and type(right) is dict:
        return left.keys() == right.keys() and all(identical(left[k], right[k]) for k in left)
    if type(left) is list and type(right) is list:
        return len(left) == len(right) and all(map(identical, left, right))
    return bool(left == right) and (type(left) is bool) == (type(right) is bool)


def _maps(shape: Shape, old: dict[str, Any], new: dict[str, Any], result: Difference) -> None:
    fields, element = shape.fields, shape.element
    for name, value in new.items():
        before = old.get(name, _ABSENT)
        if before is value:
            continue
        if before is _ABSENT:
            branch = field_from_zero(shape, name, value)
            if branch is not None:
                result.added["f:" + name] = branch
        else:
            _values(fields.get(name, element), "f:" + name, before, value, result)
    for name, before in old.items():
        if name not in new:
            branch = field_from_zero(shape, name, before)
            if branch is not None:
                result.removed["f:" + name] = branch


def _values(shape: Shape | None, step: str, old: Any, new: Any, result: Difference) -> None:
    if old == new and (shape is None or shape.strict or identical(old, new)):
        return
    for kind in dict.fromkeys((_kind(shape, old), _kind(shape, new))):
        if kind == "map" and shape is not None:
            _both_maps(shape, step, old, new, result)
        elif kind == "list" and shape is not None:
            _both_lists(shape, step, old, new, result)
        else:
            _leaf(step, result)


def _kind(shape: Shape | None, value: Any) -> str:
    """How the value is walked. Null is whatever may stand here first."""
    if shape is None:
        return "leaf"
    if isinstance(value, dict):
        return "map" if shape.is_map and not shape.map_atomic else "leaf"
    if isinstance(value, list):
        return "list" if shape.is_list and not shape.list_atomic else "leaf"
    if value is not None:
        return "leaf"
    if shape.is_map:
        return "leaf" if shape.map_atomic else "map"
    return "list" if not shape.scalar and not shape.list_atomic else "leaf"


def _leaf(step: str, result: Difference) -> None:
    there = result.modified.get(step)
    result.modified[step] = {SELF: {}, **there} if there else {}


def _both_maps(shape: Shape, step: str, old: Any, new: Any, result: Difference) -> None:
    old = old if isinstance(old, dict) else {}
    new = new if isinstance(new, dict) else {}
    if not old and not new:
        _leaf(step, result)
        return
    below = Difference()
    _maps(shape, old, new, below)
    result.into(step, below)


def _both_lists(shape: Shape, step: str, old: Any, new: Any, result: Difference) -> None:
    old = old if isinstance(old, list) else []
    new = new if isinstance(new, list) else []
    if not old and not new:
        _leaf(step, result)
        return
    before, after = _by_step(shape, old), _by_step(shape, new)
    below = Difference()
    for inner in dict.fromkeys((*before, *after)):
        _items(shape, inner, (before.get(inner, []), after.get(inner, [])), below)
    result.into(step, below)


def _by_step(shape: Shape, items: list[Any]) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for step, item in zip(steps(shape, items), items, strict=True):
        found.setdefault(step, []).append(item)
    return found


def _items(shape: Shape, step: str, both: tuple[list[Any], list[Any]], result: Difference) -> None:
    """Items that are there more than once are owned together, as if they were one value."""
    old, new = both
    if len(old) == 1 and len(new) == 1:
        _values(shape.items, step, old[0], new[0], result)
        return
    if len(old) > 1 and len(new) > 1:
        if not identical(old, new):
            result.modified[step] = {}
        return
    if old:
        result.removed[step] = whole(shape.items, old[0]) if len(old) == 1 else {}
    if new:
        result.added[step] = whole(shape.items, new[0]) if len(new) == 1 else {}
