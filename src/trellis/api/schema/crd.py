# SPDX-License-Identifier: Apache-2.0
"""From types to CustomResourceDefinitions: structural schemas that the API server enforces."""

from __future__ import annotations

from inspect import cleandoc
from typing import TYPE_CHECKING, Any

from trellis import __version__
from trellis.api.annotation import RELEASE
from trellis.api.schema.builtin import Schema, structural
from trellis.api.schema.kinds import CATEGORIES
from trellis.api.schema.shapes import Kind, fields

if TYPE_CHECKING:
    from collections.abc import Iterable

    from msgspec import Struct

    from trellis.api.schema.kinds import Served
    from trellis.api.schema.marks import Embedded, Mark, Rule
    from trellis.api.schema.shapes import Field, Shape

_SCALARS: dict[Kind, Schema] = {
    Kind.STRING: {"type": "string"},
    Kind.BOOLEAN: {"type": "boolean"},
    Kind.INTEGER: {"type": "integer", "format": "int32"},
    Kind.NUMBER: {"type": "number", "format": "double"},
    Kind.TIME: {"type": "string", "format": "date-time"},
}
_KEYWORDS = {"list_type": "x-kubernetes-list-type", "map_keys": "x-kubernetes-list-map-keys"}
# Facts about a field that are told to its parent or its items, not by itself.
_ELSEWHERE = ("required", "items")


class Undescribed(ValueError):
    """A field of ours without a description, which `kubectl explain` would show empty."""


def definition(served: Served) -> dict[str, Any]:
    """The CustomResourceDefinition of a kind."""
    resource = served.type.resource
    names = {
        "plural": resource.plural,
        "singular": resource.kind.lower(),
        "kind": resource.kind,
        "listKind": f"{resource.kind}List",
        "shortNames": [served.short_name],
        "categories": list(CATEGORIES),
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {
            "name": resource.full_name,
            "annotations": {RELEASE: __version__},
        },
        "spec": {
            "group": resource.group,
            "names": names,
            "scope": "Namespaced" if resource.namespaced else "Cluster",
            "versions": [_version(served)],
        },
    }


def schema(struct: type[Struct]) -> Schema:
    """The structural schema of a struct. Rules about it as a whole are its `validations`."""
    rules: tuple[Rule, ...] = getattr(struct, "validations", ())
    return _object(struct, fields(struct).values()) | _validations(rules)


def _version(served: Served) -> dict[str, Any]:
    whole = _root(served)
    subresources: dict[str, Any] = {"status": {}}
    if served.selector:
        subresources["scale"] = {
            "specReplicasPath": ".spec.replicas",
            "statusReplicasPath": ".status.replicas",
            "labelSelectorPath": served.selector,
        }
    return {
        "name": served.type.resource.version,
        "served": True,
        "storage": True,
        "additionalPrinterColumns": [column.to_schema() for column in served.columns],
        "schema": {"openAPIV3Schema": whole},
        "subresources": subresources,
    }


def _root(served: Served) -> Schema:
    """The schema of the object itself. Its kind and metadata are the API server's own to check."""
    parts = [field for name, field in fields(served.type).items() if name != "metadata"]
    body = _object(served.type, parts)
    own: Schema = {
        "apiVersion": {"type": "string", "description": "The group and version of this kind."},
        "kind": {"type": "string", "description": "The name of this kind."},
        "metadata": {"type": "object"},
    }
    described = {"description": cleandoc(served.type.__doc__ or "")}
    return described | body | {"properties": own | body["properties"]}


def _object(struct: type[Struct], parts: Iterable[Field]) -> Schema:
    properties: Schema = {}
    required = []
    for field in parts:
        if field.mark is None:
            raise Undescribed(f"{struct.__name__}.{field.name} has no description")
        properties[field.name] = _marked(_unmarked(field.shape, field.mark), field.mark)
        if field.required or field.mark.keywords.get("required"):
            required.append(field.name)
    needed = {"required": required} if required else {}
    return {"type": "object"} | needed | {"properties": properties}


def _unmarked(shape: Shape, mark: Mark) -> Schema:
    if shape.struct is not None:
        return schema(shape.struct)
    if shape.embedded is not None:
        return _embedded(shape.embedded)
    if shape.item is None:
        return dict(_SCALARS[shape.kind])
    item = schema(shape.item.struct) if shape.item.struct else dict(_SCALARS[shape.item.kind])
    item |= mark.keywords.get("items", {})
    if shape.kind is Kind.MAP:
        return {"type": "object", "additionalProperties": item}
    return {"type": "array", "items": item}


def _embedded(embedded: Embedded) -> Schema:
    found = structural(embedded.definition)
    for name, length in embedded.longest:
        found["properties"][name] = found["properties"][name] | {"maxLength": length}
    if embedded.listed:
        return {"type": "array", "x-kubernetes-list-type": "atomic", "items": found}
    return found


def _marked(unmarked: Schema, mark: Mark) -> Schema:
    keywords = {
        _KEYWORDS.get(name, name): value
        for name, value in mark.keywords.items()
        if name not in _ELSEWHERE
    }
    rules = unmarked.pop("x-kubernetes-validations", [])
    result = {"description": mark.description} | unmarked | keywords
    rules = rules + _validations(mark.rules).get("x-kubernetes-validations", [])
    return result | ({"x-kubernetes-validations": rules} if rules else {})


def _validations(rules: tuple[Rule, ...]) -> Schema:
    return {"x-kubernetes-validations": [_validation(rule) for rule in rules]} if rules else {}


def _validation(rule: Rule) -> dict[str, str]:
    optional = {"fieldPath": rule.path, "reason": rule.reason}
    stated = {"rule": rule.rule, "message": rule.message}
    return stated | {name: value for name, value in optional.items() if value}
