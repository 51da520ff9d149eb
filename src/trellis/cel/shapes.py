# SPDX-License-Identifier: Apache-2.0
"""Declared types from structural schemas, with the limits that cost estimates need.

Objects stay plain dicts at evaluation. A value whose CEL type differs from its JSON type (times,
durations, bytes, numbers, lists that are sets or maps) is admitted: converted where it is read.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from trellis.cel import types
from trellis.cel.problems import EvaluationProblem
from trellis.cel.times import read_date, read_duration, read_timestamp
from trellis.cel.types import Type
from trellis.cel.values import KeyedList, SetList

Admit = Callable[[Any], Any]
Schema = Mapping[str, Any]
Builder = Callable[[Schema, str], Type | None]

MAX_REQUEST = 3 * 1024 * 1024
_MAX_TIME = 32
_DATE_SIZE = 12
_DEPTH_LIMIT = 60
_RESERVED = frozenset(
    {"true", "false", "null", "in", "as", "break", "const", "continue", "else", "for"}
    | {"function", "if", "import", "let", "loop", "package", "namespace", "return", "var"}
    | {"void", "while"}
)
_ESCAPES = {"__": "__underscores__", ".": "__dot__", "-": "__dash__", "/": "__slash__"}
_ESCAPABLE = re.compile(r"__|[-./]")
_IDENTIFIER = re.compile(r"[A-Za-z_./-][A-Za-z0-9_./-]*")
_TEXT: Schema = {"type": "string"}
_METADATA: Schema = {"type": "object", "properties": {"name": _TEXT, "generateName": _TEXT}}


@dataclass(frozen=True, slots=True)
class Field:
    key: str
    """What the field is called in the JSON object."""
    type: Type


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """What a schema says of values beyond their type."""

    fields: Mapping[str, Field] = field(default_factory=dict)
    most: int = 0
    """How many characters, items or entries a value can have."""
    least_bytes: int = 2
    """How short its JSON can be."""
    list_type: str = "atomic"
    list_keys: tuple[str, ...] = ()


def escaped(name: str) -> str | None:
    """The identifier that stands for a property; None where there can be none."""
    if name in _RESERVED:
        return f"__{name}__"
    if not _IDENTIFIER.fullmatch(name):
        return None
    return _ESCAPABLE.sub(lambda found: _ESCAPES[found[0]], name)


def declared(schema: Schema, name: str, *, root: bool = False) -> Type | None:
    """The type of values of a schema; None where expressions cannot see them."""
    if name.count(".") > _DEPTH_LIMIT:
        # Some built-in kinds contain themselves.
        return types.DYN
    if schema.get("x-kubernetes-int-or-string"):
        limit = schema.get("maxLength")
        most = MAX_REQUEST - 2 if limit is None else 4 * max(limit, 0)
        return Type("dyn", "dyn", shape=Shape(most=most, least_bytes=1))
    if root:
        schema = _with_metadata(schema)
    build = _BUILDERS.get(schema.get("type") or "")
    return build(schema, name) if build else None


def least_bytes(given: Type) -> int:
    return given.shape.least_bytes if given.shape else 2


def _with_metadata(schema: Schema) -> Schema:
    properties = {**schema.get("properties", {}), "kind": _TEXT, "apiVersion": _TEXT}
    return {**schema, "properties": {**properties, "metadata": _METADATA}}


def _nested(schema: Schema, name: str) -> Type | None:
    return declared(schema, name, root=bool(schema.get("x-kubernetes-embedded-resource")))


def _limit(schema: Schema, keyword: str, otherwise: int) -> int:
    limit = schema.get(keyword)
    return otherwise if limit is None else max(int(limit), 0)


def _array(schema: Schema, name: str) -> Type | None:
    items = schema.get("items")
    item = _nested(items, f"{name}.@idx") if isinstance(items, Mapping) else None
    if item is None:
        return None
    most = _limit(schema, "maxItems", (MAX_REQUEST - 2) // (least_bytes(item) + 1))
    shape = Shape(
        most=most,
        list_type=schema.get("x-kubernetes-list-type") or "atomic",
        list_keys=tuple(schema.get("x-kubernetes-list-map-keys") or ()),
    )
    return types.list_of(item, shape)


def _object(schema: Schema, name: str) -> Type | None:
    additional = schema.get("additionalProperties")
    if isinstance(additional, Mapping):
        value = _nested(additional, f"{name}.@elem")
        if value is None:
            return None
        otherwise = (MAX_REQUEST - 2) // (least_bytes(value) + 6)
        most = _limit(schema, "maxProperties", otherwise)
        return types.map_of(types.STRING, value, Shape(most=most))
    fields: dict[str, Field] = {}
    least = 2
    required = set(schema.get("required") or ())
    for key, property_schema in (schema.get("properties") or {}).items():
        identifier = escaped(key)
        inner = _nested(property_schema, f"{name}.{identifier}")
        if inner is None:
            continue
        if identifier:
            fields[identifier] = Field(key, inner)
        if key in required and property_schema.get("default") is None:
            least += len(key.encode()) + least_bytes(inner) + 4
    return Type("struct", name, shape=Shape(fields=fields, least_bytes=least))


def _string(schema: Schema) -> Type:
    match schema.get("format"):
        case "byte":
            most = _limit(schema, "maxLength", MAX_REQUEST - 2)
            return Type("bytes", "bytes", shape=Shape(most=most))
        case "duration":
            shape = Shape(most=_MAX_TIME, least_bytes=3)
            return Type("duration", types.DURATION.name, shape=shape)
        case "date":
            shape = Shape(most=_DATE_SIZE, least_bytes=_DATE_SIZE)
            return Type("timestamp", types.TIMESTAMP.name, shape=shape)
        case "date-time":
            shape = Shape(most=_MAX_TIME, least_bytes=21)
            return Type("timestamp", types.TIMESTAMP.name, shape=shape)
    return Type("string", "string", shape=Shape(most=_longest(schema)))


def _scalar(kind: str, least: int) -> Builder:
    given = Type(kind, kind, shape=Shape(least_bytes=least))
    return lambda _schema, _name: given


_BUILDERS: dict[str, Builder] = {
    "array": _array,
    "object": _object,
    "string": lambda schema, _: _string(schema),
    "boolean": _scalar("bool", 4),
    "number": _scalar("double", 1),
    "integer": _scalar("int", 1),
}


def _longest(schema: Schema) -> int:
    if schema.get("maxLength") is not None:
        return 4 * _limit(schema, "maxLength", 0)
    words = [word for word in schema.get("enum") or () if isinstance(word, str)]
    return max((len(word.encode()) for word in words), default=MAX_REQUEST - 2)


def admitter(given: Type) -> Admit | None:
    """How a JSON value becomes a value of the type; None where it is one already."""
    simple = _SIMPLE.get(given.kind)
    if simple is not None:
        return simple
    if given.kind == "list":
        return _list_admitter(given, admitter(given.params[0]))
    if given.kind == "map":
        return _map_admitter(admitter(given.params[1]))
    if types.is_optional(given):
        return _optional_admitter(admitter(given.params[0]))
    return None


def arranger(given: Type) -> Admit | None:
    """The same for whole trees, where comparing them must not mind the order of some lists."""
    if given.kind == "list":
        return _list_admitter(given, arranger(given.params[0]))
    if given.kind == "map":
        return _map_admitter(arranger(given.params[1]))
    if given.kind != "struct" or given.shape is None:
        return None
    inner = {one.key: found for one in given.shape.fields.values() if (found := arranger(one.type))}
    if not inner:
        return None

    def arrange(value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        changed = {key: run(value[key]) for key, run in inner.items() if value.get(key) is not None}
        return {**value, **changed}

    return arrange


def _list_admitter(given: Type, item: Admit | None) -> Admit | None:
    shape = given.shape
    kind = shape.list_type if shape else "atomic"
    if kind == "set":
        return lambda value: SetList(map(item, value) if item else value)
    if kind == "map":
        keys = shape.list_keys if shape else ()
        return lambda value: KeyedList(list(map(item, value)) if item else value, keys)
    if item is None:
        return None
    return lambda value: list(map(item, value))


def _map_admitter(inner: Admit | None) -> Admit | None:
    if inner is None:
        return None
    return lambda value: {key: inner(one) for key, one in value.items()}


def _optional_admitter(inner: Admit | None) -> Admit | None:
    if inner is None:
        return None

    def admit(value: Any) -> Any:
        return type(value)(True, inner(value.value)) if value.present else value

    return admit


def _time(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    found = read_timestamp(value) or read_date(value)
    if found is None:
        raise EvaluationProblem(f"Invalid date-time formatted string {value[:100]}")
    return found


def _duration(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    found = read_duration(value)
    if found is None:
        raise EvaluationProblem(f"Invalid duration {value[:100]}")
    return found


def _bytes(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return base64.b64decode(value)
    except (binascii.Error, ValueError):
        raise EvaluationProblem(f"Invalid byte formatted string {value[:100]}") from None


def _double(value: Any) -> Any:
    return float(value) if type(value) is int else value


_SIMPLE: dict[str, Admit] = {
    "timestamp": _time,
    "duration": _duration,
    "bytes": _bytes,
    "double": _double,
}
