# SPDX-License-Identifier: Apache-2.0
"""What the definition of a custom kind may say: names, versions, and schemas of every kind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.conformance.kinds import DEFINITIONS, schema
from tests.conformance.own import own_definition, remover
from tests.conformance.probe import Probe, probe
from tests.conformance.schemas import SET, TEXT, keyed_by, list_of, object_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conformance.probe import Body

KEYED = keyed_by("k")


def _list(items: dict[str, Any], **more: Any) -> dict[str, Any]:
    return object_of(many=list_of(items, **more))


def _asks(make: Callable[[Probe], dict[str, Any]]) -> Body:
    async def ask(p: Probe) -> None:
        crd = make(p)
        p.cleanup.push_async_callback(remover(p, crd))
        await p.see("POST", DEFINITIONS, crd, pick=lambda body: body["spec"])

    return ask


def _schema_case(spec: dict[str, Any]) -> Body:
    return _asks(lambda p: own_definition(p, spec))


# What the schema of `spec` holds, by what the server makes of it.
SCHEMAS: dict[str, dict[str, Any]] = {
    "a field without a type is refused": object_of(a={}),
    "a type that does not exist is refused": object_of(a={"type": "text"}),
    "a list without items is refused": object_of(a={"type": "array"}),
    "a list with several items schemas is refused": object_of(a={"type": "array", "items": [TEXT]}),
    "a reference to another schema is refused": object_of(
        a={"type": "object", "$ref": "#/definitions/b"}
    ),
    "unique items are refused": _list(TEXT, uniqueItems=True),
    "properties and additional properties together are refused": {
        **object_of(a=TEXT),
        "additionalProperties": TEXT,
    },
    "additional properties that are false are accepted": {
        "type": "object",
        "additionalProperties": False,
    },
    "a type inside allOf is refused": object_of(
        a={"type": "string", "allOf": [{"type": "string"}]}
    ),
    "a field that only anyOf names is accepted": {
        **object_of(a=TEXT),
        "anyOf": [{"properties": {"b": {"minLength": 1}}}],
    },
    "a default inside anyOf is refused": object_of(
        a={"type": "string", "anyOf": [{"default": "x"}]}
    ),
    "preserving unknown fields cannot be false": object_of(
        a={"type": "object", "x-kubernetes-preserve-unknown-fields": False}
    ),
    "int-or-string with a type is accepted": object_of(
        a={"type": "string", "x-kubernetes-int-or-string": True}
    ),
    "an embedded resource without fields is refused": object_of(
        a={"type": "object", "x-kubernetes-embedded-resource": True}
    ),
    "an embedded resource that is no object is refused": object_of(
        a={"type": "string", "x-kubernetes-embedded-resource": True}
    ),
    "a keyed list without keys is refused": _list(
        object_of(k=TEXT), **{"x-kubernetes-list-type": "map"}
    ),
    "a keyed list whose key is neither required nor defaulted is refused": _list(
        object_of(k=TEXT), **KEYED
    ),
    "a keyed list whose key is not a field is refused": _list(
        {**object_of(a=TEXT), "required": ["k"]}, **KEYED
    ),
    "a keyed list whose key is a list is refused": _list(
        {**object_of(k={"type": "array", "items": TEXT}), "required": ["k"]}, **KEYED
    ),
    "a keyed list of strings is refused": _list(TEXT, **KEYED),
    "keys on a list that is a set are refused": _list(
        TEXT, **{**KEYED, "x-kubernetes-list-type": "set"}
    ),
    "a set of objects that are not atomic is refused": _list(object_of(a=TEXT), **SET),
    "a list type that does not exist is refused": _list(TEXT, **{"x-kubernetes-list-type": "bag"}),
    "a list type on an object is refused": object_of(
        a={"type": "object", "x-kubernetes-list-type": "atomic"}
    ),
    "a map type on a list is refused": _list(TEXT, **{"x-kubernetes-map-type": "atomic"}),
    "a default of the wrong type is refused": object_of(a={"type": "string", "default": 3}),
    "a default that its own schema forbids is refused": object_of(
        a={"type": "integer", "maximum": 5, "default": 7}
    ),
    "a default with a field the schema does not have is refused": object_of(
        a={**object_of(b=TEXT), "default": {"c": "x"}}
    ),
    "a null default of a field that is not nullable is accepted and not kept": object_of(
        a={"type": "string", "default": None}
    ),
    "a default that lacks a required field is refused": object_of(
        a={**object_of(b=TEXT), "required": ["b"], "default": {}}
    ),
    "a pattern that is no regular expression is refused": object_of(
        a={"type": "string", "pattern": "("}
    ),
    "a minimum above the maximum is accepted": object_of(
        a={"type": "integer", "minimum": 5, "maximum": 1}
    ),
    "an unknown format is accepted with a warning": object_of(
        a={"type": "string", "format": "poem"}
    ),
    "several faults of a schema are all named": object_of(
        a={}, b={"type": "array"}, c={"type": "string", "default": 3}
    ),
}

for _title, _spec in SCHEMAS.items():
    probe(_title)(_schema_case(_spec))


def _changed(change: Callable[[Probe, dict[str, Any]], None]) -> Body:
    def make(p: Probe) -> dict[str, Any]:
        crd = own_definition(p, {"type": "object"})
        change(p, crd)
        return crd

    return _asks(make)


def _in_spec(**fields: Any) -> Body:
    return _changed(lambda _, crd: crd["spec"].update(fields))


def _in_names(**fields: Any) -> Body:
    return _changed(lambda _, crd: crd["spec"]["names"].update(fields))


def _with_root(root: dict[str, Any]) -> Body:
    return _asks(lambda p: own_definition(p, schema={"openAPIV3Schema": root}))


def _versions(*versions: dict[str, Any]) -> Body:
    plain = {"served": True, "storage": False, "schema": schema()}
    return _in_spec(versions=[{**plain, **version} for version in versions])


def _named(name: Callable[[Probe], str]) -> Body:
    return _changed(lambda p, crd: crd["metadata"].update(name=name(p)))


def _in_group(group: Callable[[Probe], str], **annotations: str) -> Body:
    def change(p: Probe, crd: dict[str, Any]) -> None:
        crd["spec"]["group"] = group(p)
        crd["metadata"] = {"name": f"things.{group(p)}", "annotations": annotations}

    return _changed(change)


# What else a definition holds, by what the server makes of it.
DEFINED: dict[str, Body] = {
    "a name that is not plural and group is refused": _named(lambda p: f"thing.{p.id}.example.com"),
    "a group without a dot is refused": _in_group(lambda p: p.id),
    "a group of the project needs its approval": _in_group(lambda p: f"{p.id}.k8s.io"),
    "no versions at all are refused": _in_spec(versions=[]),
    "two storage versions are refused": _versions(
        {"name": "v1", "storage": True}, {"name": "v2", "storage": True}
    ),
    "no storage version is refused": _versions({"name": "v1"}),
    "the same version twice is refused": _versions({"name": "v1", "storage": True}, {"name": "v1"}),
    "a version that is no label is refused": _versions({"name": "V_1", "storage": True}),
    "a version without a schema is refused": _versions(
        {"name": "v1", "storage": True, "schema": None}
    ),
    "a deprecation warning on a version that is not deprecated is refused": _versions(
        {"name": "v1", "storage": True, "deprecationWarning": "old"}
    ),
    "a scope that does not exist is refused": _in_spec(scope="Galactic"),
    "no scope is refused": _in_spec(scope=""),
    "preserving unknown fields everywhere is refused": _in_spec(preserveUnknownFields=True),
    "a webhook conversion without a webhook is refused": _in_spec(
        conversion={"strategy": "Webhook"}
    ),
    "a kind that is no name is refused": _in_names(kind="thing kind"),
    "a singular that is no name is refused": _in_names(singular="Thing!"),
    "a short name that is no name is refused": _in_names(shortNames=["T"]),
    "a category that is no name is refused": _in_names(categories=["All"]),
    "a kind that is also its list's kind is refused": _in_names(listKind="Thing"),
    "no names are refused": _in_spec(names={}),
    "a root that is no object is refused": _with_root({"type": "string"}),
    "a root without a type is refused": _with_root({"properties": {}}),
    "a root that restricts labels is refused": _with_root(
        object_of(metadata=object_of(labels={"type": "object"}))
    ),
    "a root that restricts the name is accepted": _with_root(
        object_of(metadata=object_of(name={"type": "string", "maxLength": 3}))
    ),
    "a root that defaults the kind is refused": _with_root(
        object_of(kind={"type": "string", "default": "Thing"})
    ),
}

for _title, _body in DEFINED.items():
    probe(_title)(_body)
