# SPDX-License-Identifier: Apache-2.0
"""The schema of one value, ready to be walked: built-in kinds from data, custom ones as given.

A node is built once and read ever after; nothing changes it.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Final

from trellis.api.schema import builtin
from trellis.api.schema.openapi import KINDS, REFERENCE

if TYPE_CHECKING:
    from collections.abc import Callable

Schema = dict[str, Any]


class Unset:
    """There is no default, which is another thing than a default of null."""

    def __repr__(self) -> str:
        return "UNSET"

    def __bool__(self) -> bool:
        return False


UNSET: Final = Unset()

OBJECT_META = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
_APIEXTENSIONS = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1."
# Types of Go that read and write themselves: what JSON holds is not what their fields would say.
SPECIAL: Final = {
    "io.k8s.apimachinery.pkg.api.resource.Quantity": "quantity",
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": "int-or-string",
    "io.k8s.apimachinery.pkg.apis.meta.v1.Time": "time",
    "io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime": "micro-time",
    "io.k8s.apimachinery.pkg.runtime.RawExtension": "raw",
    "io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1": "raw",
    _APIEXTENSIONS + "JSON": "raw",
    _APIEXTENSIONS + "JSONSchemaPropsOrArray": "schema-or-array",
    _APIEXTENSIONS + "JSONSchemaPropsOrBool": "schema-or-bool",
    _APIEXTENSIONS + "JSONSchemaPropsOrStringArray": "schema-or-strings",
}
# What the data says too loosely of these to be walked by: any value, or a schema in a schema.
_OPEN = {"raw", "schema-or-array", "schema-or-bool", "schema-or-strings"}


class Node:
    """Attributes are named as the keywords of the schema are, in Python's way.

    `type` is empty where any type will do. `special` names a type of Go that has a form of its own
    (`quantity`, `time`, `raw` …). `name` is the definition a built-in's node was made from.
    """

    __slots__ = (
        "additional",
        "all_of",
        "any_of",
        "closed",
        "default",
        "embedded_resource",
        "enum",
        "exclusive_maximum",
        "exclusive_minimum",
        "format",
        "int_or_string",
        "items",
        "list_keys",
        "list_type",
        "map_type",
        "max_items",
        "max_length",
        "max_properties",
        "maximum",
        "min_items",
        "min_length",
        "min_properties",
        "minimum",
        "multiple_of",
        "name",
        "negated",
        "nullable",
        "one_of",
        "patch_merge_key",
        "patch_strategy",
        "pattern",
        "plans",
        "preserve_unknown",
        "properties",
        "required",
        "rules",
        "source",
        "special",
        "type",
    )

    def __init__(self, source: Schema, name: str = "") -> None:
        """All that is said in one place; what lies below is set by whoever builds the tree."""
        self.source = source
        """The schema this was made from, for whoever needs a keyword that has no attribute."""
        self.name = name
        self.special = SPECIAL.get(name, "")
        self.type: str = source.get("type", "")
        self.format: str = source.get("format", "")
        self.pattern: str = source.get("pattern", "")
        self.nullable: bool = source.get("nullable", False)
        self.default: Any = source.get("default", UNSET)
        self.enum: tuple[Any, ...] = tuple(source.get("enum") or ())
        self.required: tuple[str, ...] = tuple(source.get("required") or ())
        self.minimum: float | None = source.get("minimum")
        self.maximum: float | None = source.get("maximum")
        self.exclusive_minimum: bool = source.get("exclusiveMinimum", False)
        self.exclusive_maximum: bool = source.get("exclusiveMaximum", False)
        self.multiple_of: float | None = source.get("multipleOf")
        self.min_length: int | None = source.get("minLength")
        self.max_length: int | None = source.get("maxLength")
        self.min_items: int | None = source.get("minItems")
        self.max_items: int | None = source.get("maxItems")
        self.min_properties: int | None = source.get("minProperties")
        self.max_properties: int | None = source.get("maxProperties")
        self.int_or_string: bool = source.get("x-kubernetes-int-or-string", False)
        self.preserve_unknown: bool = source.get("x-kubernetes-preserve-unknown-fields", False)
        self.embedded_resource: bool = source.get("x-kubernetes-embedded-resource", False)
        self.list_type: str = source.get("x-kubernetes-list-type", "")
        self.list_keys: tuple[str, ...] = tuple(source.get("x-kubernetes-list-map-keys") or ())
        self.map_type: str = source.get("x-kubernetes-map-type", "")
        self.patch_strategy: str = source.get("x-kubernetes-patch-strategy", "")
        self.patch_merge_key: str = source.get("x-kubernetes-patch-merge-key", "")
        self.rules: tuple[Schema, ...] = tuple(source.get("x-kubernetes-validations") or ())
        self.properties: dict[str, Node] = {}
        self.items: Node | None = None
        self.additional: Node | None = None
        self.closed = False
        """No other properties than those named are allowed (a server still does not prune them)."""
        self.all_of: tuple[Node, ...] = ()
        self.any_of: tuple[Node, ...] = ()
        self.one_of: tuple[Node, ...] = ()
        self.negated: Node | None = None
        self.plans: dict[str, Any] = {}
        """What others worked out for this node once, under the name of their module."""

    def __repr__(self) -> str:
        return f"Node({self.name or self.type or 'any'})"


@cache
def native(definition: str) -> Node:
    """The node of a built-in type, by the name OpenAPI gives it: `io.k8s.api.core.v1.Pod`."""
    return _Natives().of(definition)


@cache
def native_of(group: str, version: str, kind: str) -> Node:
    """The node of a built-in kind. KeyError where there is none."""
    return native(_kinds()[group, version, kind])


def metadata_node() -> Node:
    """ObjectMeta: every object's metadata, a custom one's too."""
    return native(OBJECT_META)


def structural(schema: Schema) -> Node:
    """The node of a custom kind's schema, as its definition holds it under `openAPIV3Schema`.

    A definition is looked at part by part, many times over, so that each part is made once. It is
    told by identity: a schema must not be changed once it has been given here.
    """
    made = _made.get(id(schema))
    if made is not None and made.source is schema:
        return made
    if len(_made) >= _MOST_MADE:
        _made.clear()
    node = _made[id(schema)] = _built(schema, structural)
    return node


_made: dict[int, Node] = {}
_MOST_MADE = 20_000


def _fresh(schema: Schema) -> Node:
    """Nobody else's, all the way down."""
    return _built(schema, _fresh)


def _built(schema: Schema, inner: Callable[[Schema], Node]) -> Node:
    def optional(part: Any) -> Node | None:
        return inner(part) if isinstance(part, dict) else None

    node = Node(schema)
    properties: Schema = schema.get("properties") or {}
    node.properties.update((name, inner(part)) for name, part in properties.items())
    node.items = optional(schema.get("items"))
    additional = schema.get("additionalProperties")
    node.additional = optional({} if isinstance(additional, bool) else additional)
    node.closed = additional is False
    node.all_of, node.any_of, node.one_of = (
        tuple(map(inner, schema.get(keyword) or ())) for keyword in ("allOf", "anyOf", "oneOf")
    )
    node.negated = optional(schema.get("not"))
    return node


def resource(schema: Schema) -> Node:
    """The same as others see objects of it: with `apiVersion`, `kind` and a full `metadata`.

    So do objects embedded in it, wherever the schema says that one is.
    """
    return _with_object_fields(_fresh(schema))


def _with_object_fields(node: Node, root: bool = True) -> Node:
    for inner in (*node.properties.values(), node.items, node.additional):
        if inner is not None:
            _with_object_fields(inner, root=False)
    if root or node.embedded_resource:
        node.properties["apiVersion"] = Node({"type": "string"})
        node.properties["kind"] = Node({"type": "string"})
        node.properties["metadata"] = metadata_node()
    return node


@cache
def _kinds() -> dict[tuple[str, str, str], str]:
    return {
        (kind["group"], kind["version"], kind["kind"]): name
        for name, schema in builtin.data()["definitions"].items()
        for kind in schema.get(KINDS, ())
    }


class _Natives:
    """Builds the nodes of definitions, which refer to each other and sometimes to themselves."""

    built: dict[str, Node] = {}  # noqa: RUF012 - one for all: definitions never change

    def of(self, name: str) -> Node:
        if name not in self.built:
            schema = builtin.data()["definitions"].get(name)
            if schema is None:
                raise builtin.UnknownDefinition(name)
            node = self.built[name] = _marked(Node(schema, name))
            self._below(node, schema)
        return self.built[name]

    def _field(self, schema: Schema) -> Node:
        """A value inside a definition: spelt out there, or a reference with a few words added."""
        parts = schema.get("allOf", ())
        reference = schema.get("$ref") or (parts[0].get("$ref") if len(parts) == 1 else None)
        if reference is None:
            node = Node(schema)
            self._below(node, schema)
            return node
        shared = self.of(reference.removeprefix(REFERENCE))
        added = {key: value for key, value in schema.items() if key not in {"allOf", "$ref"}}
        return _view(shared, added) if added else shared

    def _below(self, node: Node, schema: Schema) -> None:
        if "items" in schema:
            node.items = self._field(schema["items"])
        if "additionalProperties" in schema:
            node.additional = self._field(schema["additionalProperties"])
        for name, inner in schema.get("properties", {}).items():
            node.properties[name] = self._field(inner)


def _view(shared: Node, added: Schema) -> Node:
    """The shared node with a default or a way to patch of its own, over the same fields below."""
    node = _marked(Node({**shared.source, **added}, shared.name))
    node.properties = shared.properties
    node.items, node.additional = shared.items, shared.additional
    return node


def _marked(node: Node) -> Node:
    """What the data leaves unsaid of types that have a form of their own."""
    node.int_or_string = node.special == "int-or-string"
    node.preserve_unknown = node.special in _OPEN
    return node
