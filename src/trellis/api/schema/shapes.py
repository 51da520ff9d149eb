# SPDX-License-Identifier: Apache-2.0
"""The shape of our types, read from their annotations, for schemas and for checks of input."""

from __future__ import annotations

import types
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, Union, get_args, get_origin, get_type_hints

import msgspec

from trellis.api.schema.marks import Embedded, Mark

if TYPE_CHECKING:
    from collections.abc import Mapping

    from msgspec import Struct


class Kind(StrEnum):
    STRING = "string"
    INTEGER = "integer"
    NUMBER = "number"
    BOOLEAN = "boolean"
    TIME = "time"
    LIST = "list"
    MAP = "map"
    OBJECT = "object"
    RAW = "raw"


@dataclass(frozen=True, slots=True)
class Shape:
    """A type: its kind, what it is a list or map of, which struct or embedded type it is."""

    kind: Kind
    item: Shape | None = None
    struct: type[Struct] | None = None
    embedded: Embedded | None = None


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a struct by its name on the wire."""

    name: str
    shape: Shape
    required: bool
    default: Any
    mark: Mark | None


class NotOnTheWire(TypeError):
    """A type that has no form in JSON."""


_SCALARS: dict[Any, Kind] = {
    str: Kind.STRING,
    bool: Kind.BOOLEAN,
    int: Kind.INTEGER,
    float: Kind.NUMBER,
    datetime: Kind.TIME,
}


@cache
def fields(struct: type[Struct]) -> Mapping[str, Field]:
    """The fields of a struct by their names on the wire, in the order they are declared in."""
    hints = get_type_hints(struct, include_extras=True)
    found = {}
    for field in msgspec.structs.fields(struct):
        annotation, marks = _unwrapped(hints[field.name])
        found[field.encode_name] = Field(
            name=field.encode_name,
            shape=_shape(annotation, marks),
            required=field.required,
            default=_default(field),
            mark=next((mark for mark in marks if isinstance(mark, Mark)), None),
        )
    return types.MappingProxyType(found)


def _default(field: msgspec.structs.FieldInfo) -> Any:
    if field.default_factory is not msgspec.NODEFAULT:
        return field.default_factory()
    return None if field.default is msgspec.NODEFAULT else field.default


def _shape(annotation: Any, marks: tuple[Any, ...] = ()) -> Shape:
    if annotation in _SCALARS:
        return Shape(_SCALARS[annotation])
    if annotation is msgspec.Raw:
        return Shape(
            Kind.RAW, embedded=next((one for one in marks if isinstance(one, Embedded)), None)
        )
    if isinstance(annotation, type) and issubclass(annotation, msgspec.Struct):
        return Shape(Kind.OBJECT, struct=annotation)
    arguments = get_args(annotation)
    if get_origin(annotation) is tuple and arguments[1:] == (Ellipsis,):
        return Shape(Kind.LIST, item=_shape(*_unwrapped(arguments[0])))
    if get_origin(annotation) is dict and arguments[0] is str:
        return Shape(Kind.MAP, item=_shape(*_unwrapped(arguments[1])))
    raise NotOnTheWire(repr(annotation))


def _unwrapped(annotation: Any) -> tuple[Any, tuple[Any, ...]]:
    """The type without `| None` and `Annotated`, and all that was annotated."""
    marks: tuple[Any, ...] = ()
    while True:
        if get_origin(annotation) is Annotated:
            annotation, *more = get_args(annotation)
            marks += tuple(more)
        elif get_origin(annotation) in (Union, types.UnionType):
            options = [one for one in get_args(annotation) if one is not types.NoneType]
            if len(options) != 1:
                raise NotOnTheWire(repr(annotation))
            annotation = options[0]
        else:
            return annotation, marks
