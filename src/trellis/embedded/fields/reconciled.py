# SPDX-License-Identifier: Apache-2.0
"""Sets of fields that were noted under an older schema, made to fit the one of today."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trellis.embedded.fields.elements import SELF
from trellis.embedded.fields.shapes import FREE

if TYPE_CHECKING:
    from trellis.embedded.fields.sets import Fields
    from trellis.embedded.fields.shapes import Shape


def reconciled(shape: Shape, fields: Fields) -> Fields:
    """Who owned parts of what is now one piece owns the piece. The same set if nothing changed."""
    changed: Fields = {}
    for step, branch in fields.items():
        if branch and step != SELF:
            now = _branch(_below(shape, step), branch)
            if now is not branch:
                changed[step] = now
    return {**fields, **changed} if changed else fields


def _below(shape: Shape, step: str) -> Shape | None:
    return shape.fields.get(step[2:], shape.element) if step[0] == "f" else shape.items


def _branch(shape: Shape | None, branch: Fields) -> Fields:
    if shape is None or (shape.is_map and shape.element is FREE and not shape.fields):
        return branch
    if shape.is_map:
        return {} if shape.map_atomic else reconciled(shape, branch)
    if shape.scalar:
        return branch
    return {} if shape.list_atomic else reconciled(shape, branch)
