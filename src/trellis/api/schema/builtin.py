# SPDX-License-Identifier: Apache-2.0
"""The structural schemas of Kubernetes' own kinds, as a CustomResourceDefinition may embed them.

`kubernetes.json` beside this file is data from a real API server (`make gen` refreshes it).
"""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from typing import Any

from trellis.api.schema.openapi import REFERENCE

DATA = "kubernetes.json"
Schema = dict[str, Any]

_ANY_OBJECT: Schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
_QUANTITY = (
    r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))"
    r"(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$"
)
_INT_OR_STRING: Schema = {
    "anyOf": [{"type": "integer"}, {"type": "string"}],
    "x-kubernetes-int-or-string": True,
}
# What the server describes loosely and a structural schema must spell out.
_SPECIAL: dict[str, Schema] = {
    "io.k8s.apimachinery.pkg.api.resource.Quantity": {**_INT_OR_STRING, "pattern": _QUANTITY},
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": _INT_OR_STRING,
    "io.k8s.apimachinery.pkg.runtime.RawExtension": _ANY_OBJECT,
    "io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1": _ANY_OBJECT,
}
# Keywords with a meaning in a structural schema. Patch strategies and unions have none.
_KEPT = (
    "type",
    "format",
    "enum",
    "required",
    "pattern",
    "minimum",
    "maximum",
    "nullable",
    "x-kubernetes-list-type",
    "x-kubernetes-list-map-keys",
    "x-kubernetes-map-type",
)


class UnknownDefinition(KeyError):
    """No definition of that name in the data."""


class Recursive(ValueError):
    """A definition that contains itself has no structural schema."""


@cache
def data() -> dict[str, Any]:
    """The data file: the release it was taken from, and its definitions."""
    text = resources.files(__package__).joinpath(DATA).read_text()
    loaded: dict[str, Any] = json.loads(text)
    return loaded


def structural(name: str) -> Schema:
    """The schema of a definition such as `io.k8s.api.core.v1.PodTemplateSpec`, references resolved.

    Defaults are left out, because a template must come back as it was written; only keys of
    list maps keep theirs, without which the server would not accept such a list.
    """
    return _resolve(name, ())


def _resolve(name: str, within: tuple[str, ...]) -> Schema:
    if name in _SPECIAL:
        return dict(_SPECIAL[name])
    if name in within:
        raise Recursive(f"{name} contains itself")
    definitions = data()["definitions"]
    if name not in definitions:
        raise UnknownDefinition(name)
    return _structural(definitions[name], (*within, name))


def _structural(schema: Schema, within: tuple[str, ...], keys: tuple[str, ...] = ()) -> Schema:
    """`keys` are the list-map keys of the list this is an item of."""
    referred = _referred(schema)
    if referred:
        return _with_key_defaults(_resolve(referred, within), keys, referred)
    result = {keyword: schema[keyword] for keyword in _KEPT if keyword in schema}
    if "properties" in schema:
        result["properties"] = {
            name: _structural(inner, within) for name, inner in schema["properties"].items()
        }
    if "items" in schema:
        map_keys = tuple(schema.get("x-kubernetes-list-map-keys", ()))
        result["items"] = _structural(schema["items"], within, map_keys)
    extra = schema.get("additionalProperties")
    if extra:
        result["additionalProperties"] = _structural(extra, within)
    if (
        result.get("type") == "object"
        and not {"properties", "additionalProperties"} & result.keys()
    ):
        result["x-kubernetes-preserve-unknown-fields"] = True
    return result


def _with_key_defaults(item: Schema, keys: tuple[str, ...], name: str) -> Schema:
    required = item.get("required", ())
    declared = data()["definitions"][name].get("properties", {}) if keys else {}
    for key in keys:
        if key not in required and "default" in declared.get(key, {}):
            item["properties"][key] = item["properties"][key] | {
                "default": declared[key]["default"]
            }
    return item


def _referred(schema: Schema) -> str | None:
    """The definition a schema refers to, alone or as the only part of `allOf`."""
    parts = schema.get("allOf", ())
    reference = schema.get("$ref") or (parts[0].get("$ref") if len(parts) == 1 else None)
    return str(reference).removeprefix(REFERENCE) if reference else None
