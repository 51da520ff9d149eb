# SPDX-License-Identifier: Apache-2.0
"""Fields taken out of a value, and which of those an applier dropped really go."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trellis.embedded.fields import sets
from trellis.embedded.fields.elements import SELF
from trellis.embedded.fields.listing import steps
from trellis.embedded.fields.owned import named

if TYPE_CHECKING:
    from trellis.embedded.fields.sets import Fields
    from trellis.embedded.fields.shapes import Shape


def pruned(shape: Shape, merged: dict[str, Any], last: Fields, owned: Fields) -> dict[str, Any]:
    """Without what its applier named the last time (`last`) and now nobody owns (`owned`)."""
    if not last:
        return merged
    last = with_parents(shape, last)
    everything = with_parents(shape, named(shape, merged))
    kept = with_parents(shape, named(shape, _map(shape, merged, last) or {}))
    kept = sets.union(kept, with_parents(shape, owned))
    less = _map(shape, merged, sets.difference(everything, kept)) or {}
    # Only what the applier owned itself goes: the rest was nobody's, and stays.
    gone = sets.difference(everything, with_parents(shape, named(shape, less)))
    return _map(shape, merged, sets.intersection(gone, last)) or {}


def with_parents(shape: Shape | None, fields: Fields) -> Fields:
    """With every named field that something below of which is in the set; keys of maps are none."""
    result: Fields = {}
    for step, branch in fields.items():
        if not branch:
            result[step] = branch
            continue
        name = step[2:] if step[0] == "f" else None
        below = _below(shape, name, step)
        whole = with_parents(below, branch)
        if SELF not in whole and shape is not None and name in shape.fields:
            whole = {SELF: {}, **whole}
        result[step] = whole
    return result


def _below(shape: Shape | None, name: str | None, step: str) -> Shape | None:
    if shape is None:
        return None
    if name is not None:
        return shape.fields.get(name, shape.element)
    return shape.items if step[0] == "k" else None


def _removed(shape: Shape | None, value: Any, fields: Fields) -> Any:
    if shape is None or not isinstance(value, dict | list):
        return None if shape is not None and not shape.scalar else value
    if isinstance(value, dict):
        return _map(shape, value, fields) if shape.is_map and not shape.map_atomic else None
    return _list(shape, value, fields) if shape.is_list and not shape.list_atomic else None


def _map(shape: Shape, value: dict[str, Any], fields: Fields) -> dict[str, Any] | None:
    result: dict[str, Any] = {}
    for name, held in value.items():
        branch = fields.get("f:" + name)
        if branch is None:
            result[name] = held
        elif not sets.is_member(branch):
            result[name] = _removed(shape.fields.get(name, shape.element), held, branch)
    return result or None


def _list(shape: Shape, value: list[Any], fields: Fields) -> list[Any] | None:
    result: list[Any] = []
    for step, item in zip(steps(shape, value), value, strict=True):
        branch = fields.get(step)
        if branch is None:
            result.append(item)
        elif not sets.is_member(branch):
            result.append(_removed(shape.items, item, branch))
    return result or None
