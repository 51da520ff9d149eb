# SPDX-License-Identifier: Apache-2.0
"""Whether a document has the shape of a type: known keys, right types, values within bounds."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from trellis.api import durations
from trellis.api.config.problems import Problem
from trellis.api.schema.shapes import Kind, fields

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from msgspec import Struct

    from trellis.api.schema.shapes import Shape

_PYTHON: dict[Kind, tuple[type, ...]] = {
    Kind.STRING: (str,),
    Kind.BOOLEAN: (bool,),
    Kind.INTEGER: (int,),
    Kind.NUMBER: (int, float),
    Kind.LIST: (list,),
    Kind.MAP: (dict,),
    Kind.OBJECT: (dict,),
}
_WORDS = {
    Kind.STRING: "a string",
    Kind.BOOLEAN: "true or false",
    Kind.INTEGER: "a whole number",
    Kind.NUMBER: "a number",
    Kind.LIST: "a list",
    Kind.MAP: "a mapping",
    Kind.OBJECT: "a mapping",
}


def structural_problems(value: Any, struct: type[Struct], path: str = "") -> Iterator[Problem]:
    """Every fault of a mapping that stands for a struct."""
    known = fields(struct)
    for key in value:
        if key not in known:
            yield Problem(_join(path, key), value[key], "is not known", _did_you_mean(key, known))
    for name, field in known.items():
        inner = value.get(name)
        if inner is not None:
            keywords = field.mark.keywords if field.mark else {}
            yield from _value_problems(inner, field.shape, keywords, _join(path, name))
        elif field.required:
            yield Problem(path, value, f"has no {name}", f"add {name}")


def _value_problems(
    value: Any, shape: Shape, keywords: Mapping[str, Any], path: str
) -> Iterator[Problem]:
    if shape.kind is Kind.RAW:
        return
    # A bool is an int to Python, and to nobody else.
    if type(value) not in _PYTHON[shape.kind]:
        yield Problem(path, value, f"is not {_WORDS[shape.kind]}", _rewrite(value, shape.kind))
    elif shape.struct is not None:
        yield from structural_problems(value, shape.struct, path)
    elif shape.kind is Kind.LIST and shape.item is not None:
        for index, item in enumerate(value):
            yield from _value_problems(item, shape.item, {}, f"{path}[{index}]")
    else:
        yield from _bound_problems(value, keywords, path)


def _bound_problems(value: Any, keywords: Mapping[str, Any], path: str) -> Iterator[Problem]:
    allowed = keywords.get("enum", [value])
    low, high = keywords.get("minimum"), keywords.get("maximum")
    if value not in allowed:
        yield Problem(path, value, "is not allowed", f"use one of {', '.join(allowed)}")
    elif low is not None and value < low:
        yield Problem(path, value, "is too small", f"use at least {low}")
    elif high is not None and value > high:
        yield Problem(path, value, "is too large", f"use at most {high}")
    elif keywords.get("duration"):
        yield from _duration_problems(value, path)


def _duration_problems(value: str, path: str) -> Iterator[Problem]:
    try:
        if durations.parse(value) > 0:
            return
    except durations.InvalidDuration:
        pass
    yield Problem(path, value, "is no duration above zero", "write it like 30s, 5m or 1h30m")


def _rewrite(value: Any, kind: Kind) -> str:
    if kind is Kind.STRING:
        return "put it in quotes" if isinstance(value, int | float) else "write a string"
    if kind is Kind.BOOLEAN:
        return "write true or false, without quotes"
    return f"write {_WORDS[kind]}" + ("" if kind is Kind.OBJECT else ", without quotes")


def _did_you_mean(key: str, known: Mapping[str, Any]) -> str:
    near = get_close_matches(key, known, n=1)
    return f"did you mean {near[0]}?" if near else f"remove it, or use one of {', '.join(known)}"


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name
