# SPDX-License-Identifier: Apache-2.0
"""What a schema of a definition may say beyond being structural: lists, maps, defaults, rules."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from trellis.embedded.definitions.ruling import check_rules, compile_rules
from trellis.embedded.fielderrors import (
    FieldError,
    child,
    forbidden,
    index,
    invalid,
    key,
    not_supported,
    required,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trellis.embedded.definitions.costs import Costs

    Schema = dict[str, Any]

_TYPES = ("array", "boolean", "integer", "number", "object", "string")
_META = frozenset({"metadata", "kind", "apiVersion"})
_LIST, _KEYS, _MAP = "x-kubernetes-list-type", "x-kubernetes-list-map-keys", "x-kubernetes-map-type"
_PRESERVE = "x-kubernetes-preserve-unknown-fields"
_UNSUPPORTED = ("id", "additionalItems", "patternProperties", "definitions", "dependencies", "$ref")
_QUADRATIC = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic"
_ATOMIC = f"must be atomic as item of a list with {_LIST}=set"
_A_KEY = f"this property is in {_KEYS}, so it"


@dataclass(frozen=True, slots=True, kw_only=True)
class Within:
    """What holds on the way down a schema."""

    root: bool = False
    no_defaults: str | None = None
    """Why there may be no default; None where there may be."""
    inside_meta: bool = False
    uncorrelatable: str = ""
    """The list or map below which nothing can be compared with what it was."""
    costs: Costs | None = None
    """None where rules are not looked at: in alternatives, and in schemas that are not sound."""


def check_schema(schema: Schema, path: str, within: Within) -> list[FieldError]:
    """Faults of the schema first, then those of rules; rules below a fault are not compiled."""
    checked = _Checked()
    checked.node(schema, path, within)
    return checked.faults + checked.rule_faults


class _Checked:
    def __init__(self) -> None:
        self.faults: list[FieldError] = []
        self.rule_faults: list[FieldError] = []

    def node(self, schema: Schema, path: str, within: Within) -> None:
        before = len(self.faults)
        self.faults += _standard(schema, path, within)
        self._inside(schema, path, replace(within, root=False), root=within.root)
        self.faults += _extensions(schema, path)
        if schema.get("x-kubernetes-validations"):
            self.faults += check_rules(schema, path)
            if len(self.faults) == before and within.costs is not None:
                whole = within.root or bool(schema.get("x-kubernetes-embedded-resource"))
                self.rule_faults += compile_rules(
                    schema, path, within.costs, within.uncorrelatable, root=whole
                )

    def _inside(self, schema: Schema, path: str, within: Within, *, root: bool) -> None:
        inner_costs = within.costs.below(schema) if within.costs is not None else None
        below = replace(within, costs=inner_costs)
        additional = schema.get("additionalProperties")
        if isinstance(additional, dict):
            self.node(additional, child(path, "additionalProperties"), _for_entries(below))
        for name, inner in (schema.get("properties") or {}).items():
            where = key(child(path, "properties"), name)
            self.node(inner, where, _for_field(schema, below, name, path, root=root))
        uncosted = replace(within, costs=None)
        if schema.get("not") is not None:
            self.node(schema["not"], child(path, "not"), uncosted)
        for keyword in ("allOf", "oneOf", "anyOf"):
            for at, inner in enumerate(schema.get(keyword) or ()):
                self.node(inner, index(child(path, keyword), at), uncosted)
        items = schema.get("items")
        if items is not None:
            listed = items if isinstance(items, list) else [items]
            followed = schema.get(_LIST) == "map"
            one = below if followed else _uncorrelatable(below, path)
            for at, inner in enumerate(listed):
                where = child(path, "items")
                self.node(inner, index(where, at) if isinstance(items, list) else where, one)


def _uncorrelatable(within: Within, path: str) -> Within:
    return within if within.uncorrelatable else replace(within, uncorrelatable=path)


def _for_entries(within: Within) -> Within:
    if not within.inside_meta:
        return within
    return replace(within, no_defaults="inside additionalProperties applying to object metadata")


def _for_field(schema: Schema, within: Within, name: str, path: str, *, root: bool) -> Within:
    if schema.get(_MAP) not in (None, "granular", "atomic"):
        within = _uncorrelatable(within, path)
    if (root or schema.get("x-kubernetes-embedded-resource")) and name in _META:
        within = replace(within, inside_meta=True)
        if root:
            within = replace(within, no_defaults=f"in top-level {name}")
    return within


def _standard(schema: Schema, path: str, within: Within) -> Iterator[FieldError]:
    kind = schema.get("type")
    if kind and kind not in _TYPES:
        yield not_supported(child(path, "type"), kind, _TYPES)
    if schema.get("default") is not None and within.no_defaults is not None:
        yield forbidden(child(path, "default"), f"must not be set {within.no_defaults}".strip())
    if kind == "null":
        why = "type cannot be set to null, use nullable as an alternative"
        yield forbidden(child(path, "type"), why)
    if within.inside_meta and schema.get("x-kubernetes-embedded-resource"):
        where = child(path, "x-kubernetes-embedded-resource")
        yield forbidden(where, "must not be used inside of resource meta")
    yield from _unsupported(schema, path)


def _unsupported(schema: Schema, path: str) -> Iterator[FieldError]:
    for name in _UNSUPPORTED:
        if schema.get(name):
            yield forbidden(child(path, name), f"{name} is not supported")
    if isinstance(schema.get("items"), list):
        yield forbidden(child(path, "items"), "items must be a schema object and not an array")
    if schema.get("uniqueItems"):
        yield forbidden(child(path, "uniqueItems"), _QUADRATIC)
    additional = schema.get("additionalProperties")
    if additional is not None and additional is not True and schema.get("properties"):
        where = child(path, "additionalProperties")
        yield forbidden(where, "additionalProperties and properties are mutual exclusive")


def _extensions(schema: Schema, path: str) -> Iterator[FieldError]:
    if schema.get(_PRESERVE) is False:
        yield invalid(child(path, _PRESERVE), False, "must be true or undefined")
    yield from _typed(schema, path, _MAP, "object")
    map_type = schema.get(_MAP)
    if map_type not in (None, "atomic", "granular"):
        yield not_supported(child(path, _MAP), map_type, ("atomic", "granular"))
    yield from _typed(schema, path, _LIST, "array")
    if schema.get(_LIST) == "set" and schema.get("type") == "array":
        yield from _set(schema, path)
    yield from _list_type(schema, path)
    if schema.get(_LIST) == "map":
        yield from _keyed(schema, path)
    yield from _items_of_list(schema, path)


def _typed(schema: Schema, path: str, keyword: str, wanted: str) -> Iterator[FieldError]:
    kind = schema.get("type") or ""
    if schema.get(keyword) is None or kind == wanted:
        return
    where, why = child(path, "type"), f"must be {wanted} if {keyword} is specified"
    yield invalid(where, kind, why) if kind else required(where, why)


def _set(schema: Schema, path: str) -> Iterator[FieldError]:
    items = schema.get("items")
    if not isinstance(items, dict):
        return
    where = child(path, "items")
    if items.get("type") == "array" and items.get(_LIST) not in (None, "atomic"):
        yield invalid(child(where, _LIST), items[_LIST], _ATOMIC)
    if items.get("type") == "object" and items.get(_MAP) != "atomic":
        # The server shows the list type here, whatever the map type is.
        yield invalid(child(where, _MAP), items.get(_LIST), _ATOMIC)


def _list_type(schema: Schema, path: str) -> Iterator[FieldError]:
    kind, keys = schema.get(_LIST), schema.get(_KEYS)
    if kind not in (None, "atomic", "set", "map"):
        yield not_supported(child(path, _LIST), kind, ("atomic", "set", "map"))
    if keys and kind != "map":
        why = f"must be map if {_KEYS} is non-empty"
        yield (
            required(child(path, _LIST), why)
            if kind is None
            else invalid(child(path, _LIST), kind, why)
        )


def _keyed(schema: Schema, path: str) -> Iterator[FieldError]:
    keys, items = schema.get(_KEYS) or [], schema.get("items")
    where = child(path, "items")
    if not keys:
        yield required(child(path, _KEYS), f"must not be empty if {_LIST} is map")
    if items is None:
        yield required(where, f"must have a schema if {_LIST} is map")
        return
    if not isinstance(items, dict):
        yield invalid(where, items, f"must only have a single schema if {_LIST} is map")
        return
    if items.get("type") != "object":
        why = f"must be object if parent array's {_LIST} is map"
        yield invalid(child(where, "type"), items.get("type") or "", why)
        return
    yield from _key_fields(keys, items, path)


def _key_fields(keys: list[str], items: Schema, path: str) -> Iterator[FieldError]:
    properties, where = items.get("properties") or {}, child(path, "items")
    for at, name in enumerate(keys):
        if name not in properties:
            why = "entries must all be names of item properties"
            yield invalid(child(path, _KEYS), keys, why)
        elif properties[name].get("type") in ("array", "object"):
            place = child(key(child(where, "properties"), name), "type")
            why = f"must be a scalar type if parent array's {_LIST} is map"
            yield invalid(place, items["type"], why)
        if name in keys[:at]:
            yield invalid(child(path, _KEYS), keys, "must not contain duplicate entries")


def _items_of_list(schema: Schema, path: str) -> Iterator[FieldError]:
    """Items that are told apart must have what tells them apart."""
    items, kind = schema.get("items"), schema.get(_LIST)
    if not isinstance(items, dict) or kind not in ("set", "map"):
        return
    where = child(path, "items")
    if items.get("nullable"):
        yield forbidden(child(where, "nullable"), f"cannot be nullable when {_LIST} is {kind}")
    for name in (schema.get(_KEYS) or ()) if kind == "map" else ():
        field = (items.get("properties") or {}).get(name)
        if field is None:
            continue
        place = key(child(where, "properties"), name)
        if name not in (items.get("required") or ()) and field.get("default") is None:
            why = f"{_A_KEY} must have a default or be a required property"
            yield required(child(place, "default"), why)
        if field.get("nullable"):
            yield forbidden(child(place, "nullable"), f"{_A_KEY} cannot be nullable")
