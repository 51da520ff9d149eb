# SPDX-License-Identifier: Apache-2.0
"""Whether a schema is structural: every field has a type, and alternatives only restrict."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trellis.embedded.fielderrors import FieldError, child, forbidden, index, invalid, key, required
from trellis.embedded.schema import patterns

if TYPE_CHECKING:
    from collections.abc import Iterator

    Schema = dict[str, Any]

_ROOT, _ITEM, _FIELD = "at the root", "for specified array items", "for specified object fields"
_INT_OR_STRING = [{"type": "integer"}, {"type": "string"}]
_PRESERVE = "x-kubernetes-preserve-unknown-fields"
_EMBEDDED = "x-kubernetes-embedded-resource"
_EITHER = "x-kubernetes-int-or-string"
_METADATA_ONLY = (
    "must not specify anything other than name and generateName, but metadata is implicitly "
    "specified"
)
# What an alternative may not say, and how the server puts that.
_NOT_NESTED = {
    "type": "must be empty to be structural",
    "additionalProperties": "must be undefined to be structural",
    "default": "must be undefined to be structural",
    "title": "must be empty to be structural",
    "description": "must be empty to be structural",
    "nullable": "must be false to be structural",
    _PRESERVE: "must be false to be structural",
    _EMBEDDED: "must be false to be structural",
    _EITHER: "must be false to be structural",
    "x-kubernetes-list-map-keys": "must be empty to be structural",
    "x-kubernetes-list-type": "must be undefined to be structural",
    "x-kubernetes-map-type": "must be undefined to be structural",
    "x-kubernetes-validations": "must be empty to be structural",
}


def check_structure(schema: Schema, path: str) -> list[FieldError]:
    return [*_invariants(schema, _ROOT, path), *_complete(schema, schema, path, path)]


def _invariants(schema: Schema, level: str, path: str) -> Iterator[FieldError]:
    items = schema.get("items")
    if schema.get("type") == "array" and items is None:
        yield required(child(path, "items"), "must be specified")
    if items is not None:
        yield from _invariants(items, _ITEM, child(path, "items"))
    for name, inner in (schema.get("properties") or {}).items():
        yield from _invariants(inner, _FIELD, key(child(path, "properties"), name))
    yield from _additional(schema, level, child(path, "additionalProperties"))
    yield from _extensions(schema, path)
    yield from _values(schema, path, skip=_either_pattern(schema))
    yield from _types(schema, level, path)
    yield from _object_fields(schema, level, path)


def _additional(schema: Schema, level: str, path: str) -> Iterator[FieldError]:
    additional = schema.get("additionalProperties")
    if additional is None:
        return
    if level == _ROOT:
        yield forbidden(path, "must not be used at the root")
    if isinstance(additional, dict):
        yield from _invariants(additional, _FIELD, path)
    if schema.get(_EMBEDDED):
        yield forbidden(path, f"must not be used if {_EMBEDDED} is set")


def _extensions(schema: Schema, path: str) -> Iterator[FieldError]:
    if schema.get(_EITHER):
        for name in (_PRESERVE, _EMBEDDED):
            if schema.get(name):
                yield invalid(child(path, name), True, f"must be false if {_EITHER} is true")


def _types(schema: Schema, level: str, path: str) -> Iterator[FieldError]:
    kind, where = schema.get("type") or "", child(path, "type")
    if schema.get(_EMBEDDED) and kind != "object":
        why = f"must be object if {_EMBEDDED} is true"
        yield invalid(where, kind, why) if kind else required(where, why)
    elif not kind and not schema.get(_EITHER) and not schema.get(_PRESERVE):
        yield required(where, f"must not be empty {level}")
    if level == _ROOT and kind not in ("", "object"):
        yield invalid(where, kind, "must be object at the root")


def _object_fields(schema: Schema, level: str, path: str) -> Iterator[FieldError]:
    properties = schema.get("properties") or {}
    whole = level == _ROOT or schema.get(_EMBEDDED)
    where = child(path, "properties")
    for name in ("kind", "apiVersion"):
        kind = properties.get(name, {}).get("type", "")
        if whole and name in properties and kind != "string":
            yield invalid(child(key(where, name), "type"), kind, "must be string")
    metadata = properties.get("metadata")
    if metadata is not None and whole:
        kind = metadata.get("type", "")
        if kind != "object":
            yield invalid(child(key(where, "metadata"), "type"), kind, "must be object")
        if level == _ROOT and not _restricts_names_only(metadata):
            yield forbidden(key(where, "metadata"), _METADATA_ONLY)
    if schema.get(_EMBEDDED) and not schema.get(_PRESERVE) and not properties:
        yield required(where, f"must not be empty if {_EMBEDDED} is true without {_PRESERVE}")


def _restricts_names_only(metadata: Schema) -> bool:
    named = set(metadata.get("properties") or ())
    said = {name for name, value in metadata.items() if value} - {"type", "default", "properties"}
    return not said and named <= {"name", "generateName"}


def _either_pattern(schema: Schema) -> str:
    """Where a schema may name types in alternatives after all: to say that both will do."""
    if not schema.get(_EITHER):
        return ""
    if schema.get("anyOf") == _INT_OR_STRING:
        return "anyOf"
    first: Schema = next(iter(schema.get("allOf") or ()), {})
    return "allOf" if first.get("anyOf") == _INT_OR_STRING else ""


def _values(schema: Schema, path: str, *, skip: str = "") -> Iterator[FieldError]:
    """What a value must be beyond its type. `skip` is an alternative that may name types."""
    for keyword in ("anyOf", "allOf", "oneOf"):
        if keyword == "anyOf" == skip:
            continue
        for at, inner in enumerate(schema.get(keyword) or ()):
            first = keyword == "allOf" == skip and at == 0
            yield from _nested(
                inner, index(child(path, keyword), at), skip="anyOf" if first else ""
            )
    if schema.get("not") is not None:
        yield from _nested(schema["not"], child(path, "not"))
    pattern = schema.get("pattern")
    if pattern and (problem := patterns.problem(pattern)):
        why = f"must be a valid regular expression, but isn't: {problem}"
        yield invalid(child(path, "pattern"), pattern, why)


def _nested(schema: Schema, path: str, *, skip: str = "") -> Iterator[FieldError]:
    yield from _values(schema, path, skip=skip)
    if schema.get("items") is not None:
        yield from _nested(schema["items"], child(path, "items"))
    properties = schema.get("properties") or {}
    for name, inner in properties.items():
        yield from _nested(inner, key(child(path, "properties"), name))
    for keyword, why in _NOT_NESTED.items():
        given = schema.get(keyword)
        if given or (given is not None and keyword in ("additionalProperties", "default")):
            yield forbidden(child(path, keyword), why)
    if "metadata" in properties:
        where = key(child(path, "properties"), "metadata")
        yield forbidden(where, "must not be specified in a nested context")


def _complete(value: Schema, schema: Schema, path: str, named: str) -> Iterator[FieldError]:
    """What alternatives at the root restrict must be there to be restricted."""
    alternatives = [
        (inner, index(child(named, keyword), at))
        for keyword in ("allOf", "anyOf", "oneOf")
        for at, inner in enumerate(value.get(keyword) or ())
    ]
    if value.get("not") is not None:
        alternatives.append((value["not"], child(named, "not")))
    for inner, where in alternatives:
        yield from _complete_nested(inner, schema, path, where)


def _complete_nested(
    value: Schema, schema: Schema | None, path: str, named: str
) -> Iterator[FieldError]:
    if schema is None:
        yield required(path, f"because it is defined in {named}")
        return
    yield from _complete(value, schema, path, named)
    if value.get("items") is not None:
        inner = schema.get("items")
        yield from _complete_nested(
            value["items"], inner, child(path, "items"), child(named, "items")
        )
    for name, restricted in (value.get("properties") or {}).items():
        inner = (schema.get("properties") or {}).get(name)
        where, said = (key(child(base, "properties"), name) for base in (path, named))
        yield from _complete_nested(restricted, inner, where, said)
