# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: E501 - sentences of the server are quoted whole
"""What the real server accepted and refused, from the goldens."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.embedded.definitions.builders import (
    STRATEGY,
    TEXT,
    WHOLE,
    about,
    crd,
    created,
    established,
    fields,
    version,
)
from trellis.embedded.copying import copied

ROOT = "spec.validation.openAPIV3Schema"
A = f"{ROOT}.properties[spec].properties[a]"
LABEL = (
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an "
    "alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', "
    "regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"
)
LIST = "x-kubernetes-list-type"
KEYS = "x-kubernetes-list-map-keys"


def refused(definition: dict[str, Any]) -> list[str]:
    new = copied(definition)
    STRATEGY.prepare_create(new, about())
    return sorted(map(str, STRATEGY.validate_create(new, about())))


def of_field(schema: Any) -> list[str]:
    return refused(crd(version(spec=fields(a=schema))))


def of_root(schema: Any) -> list[str]:
    return refused(crd({**version(), "schema": {"openAPIV3Schema": schema}}))


def listed(**more: Any) -> dict[str, Any]:
    items = fields(k=TEXT) | {"required": ["k"]}
    return {"type": "array", "items": items, **more}


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ({}, [f"{A}.type: Required value: must not be empty for specified object fields"]),
        ({"type": "text"}, [f'{A}.type: Unsupported value: "text": supported values: "array", "boolean", "integer", "number", "object", "string"']),
        ({"type": "array"}, [f"{A}.items: Required value: must be specified"]),
        ({"type": "array", "items": [TEXT]}, [f"{A}.items: Forbidden: items must be a schema object and not an array"]),
        (TEXT | {"pattern": "("}, [f'{A}.pattern: Invalid value: "(": must be a valid regular expression, but isn\'t: error parsing regexp: missing closing ): `(`']),
        (TEXT | {"$ref": "#/a"}, [f"{A}.$ref: Forbidden: $ref is not supported"]),
        (listed(uniqueItems=True), [f"{A}.uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes quadratic"]),
        (TEXT | {"allOf": [{"type": "string"}]}, [f"{A}.allOf[0].type: Forbidden: must be empty to be structural"]),
        (TEXT | {"anyOf": [{"default": "x"}]}, [f"{A}.anyOf[0].default: Forbidden: must be undefined to be structural"]),
        (fields(b=TEXT) | {"additionalProperties": TEXT}, [f"{A}.additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive"]),
        (fields() | {"x-kubernetes-preserve-unknown-fields": False}, [f"{A}.x-kubernetes-preserve-unknown-fields: Invalid value: false: must be true or undefined"]),
        (fields() | {"x-kubernetes-embedded-resource": True}, [f"{A}.properties: Required value: must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields"]),
        (TEXT | {"default": 1}, [f'{A}.default: Invalid value: "integer":  in body must be of type string: "integer"']),
        (WHOLE | {"maximum": 5, "default": 7}, [f"{A}.default: Invalid value: 7:  in body should be less than or equal to 5"]),
        (fields(b=TEXT) | {"required": ["b"], "default": {}}, [f"{A}.default.b: Required value"]),
        (fields(b=TEXT) | {"default": {"c": "x"}}, [f'{A}.default: Invalid value: {{"c":"x"}}: must not have unknown fields']),
        (fields() | {LIST: "set"}, [f'{A}.type: Invalid value: "object": must be array if {LIST} is specified']),
        (listed(**{LIST: "bag"}), [f'{A}.{LIST}: Unsupported value: "bag": supported values: "atomic", "set", "map"']),
        (listed(**{LIST: "set"}), [f"{A}.items.x-kubernetes-map-type: Invalid value: null: must be atomic as item of a list with {LIST}=set"]),
        (listed(**{LIST: "map"}), [f"{A}.{KEYS}: Required value: must not be empty if {LIST} is map"]),
        (listed(**{LIST: "map", KEYS: ["x"]}), [f'{A}.{KEYS}: Invalid value: ["x"]: entries must all be names of item properties']),
        (listed(**{LIST: "set", KEYS: ["k"], "items": TEXT}), [f'{A}.{LIST}: Invalid value: "set": must be map if {KEYS} is non-empty']),
        (listed(**{LIST: "map", KEYS: ["k"], "items": TEXT}), [f'{A}.items.type: Invalid value: "string": must be object if parent array\'s {LIST} is map']),
        (listed(**{LIST: "map", KEYS: ["k"], "items": fields(k=TEXT)}), [f"{A}.items.properties[k].default: Required value: this property is in {KEYS}, so it must have a default or be a required property"]),
        (TEXT | {"x-kubernetes-map-type": "atomic"}, [f'{A}.type: Invalid value: "string": must be object if x-kubernetes-map-type is specified']),
        (TEXT | {"format": "poem"}, []),
        (TEXT | {"x-kubernetes-int-or-string": True}, []),
        ({"x-kubernetes-int-or-string": True, "anyOf": [{"type": "integer"}, {"type": "string"}]}, []),
        ({"type": "object", "additionalProperties": False}, []),
        (WHOLE | {"minimum": 5, "maximum": 1}, []),
        (fields(a=TEXT) | {"anyOf": [{"properties": {"b": {"minLength": 1}}}]}, []),
    ],
)  # fmt: skip
def test_what_a_schema_may_say(schema: Any, said: list[str]) -> None:
    assert of_field(schema) == said


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ({}, [f"{ROOT}.type: Required value: must not be empty at the root"]),
        (TEXT, [f'{ROOT}.type: Invalid value: "string": must be object at the root']),
        (fields(kind=TEXT | {"default": "x"}), [f"{ROOT}.properties[kind].default: Forbidden: must not be set in top-level kind"]),
        (fields(metadata=fields(labels=fields())), [f"{ROOT}.properties[metadata]: Forbidden: must not specify anything other than name and generateName, but metadata is implicitly specified"]),
        (fields(metadata=fields(name=TEXT | {"maxLength": 3})), []),
    ],
)  # fmt: skip
def test_what_a_root_may_say(schema: Any, said: list[str]) -> None:
    assert of_root(schema) == said


SHOWN = (
    '"Deprecated":false,"DeprecationWarning":null,"Schema":null,"Subresources":null,'
    '"AdditionalPrinterColumns":null,"SelectableFields":null}'
)


@pytest.mark.parametrize(
    ("definition", "said"),
    [
        (crd(names={"kind": "Thing", "listKind": "Thing"}), ['spec.names.listKind: Invalid value: "Thing": kind and listKind may not be the same']),
        (crd(names={"shortNames": ["T"]}), [f'spec.names.shortNames[0]: Invalid value: "T": {LABEL}']),
        (crd(scope=""), ["spec.scope: Required value"]),
        (crd(scope="Galactic"), ['spec.scope: Unsupported value: "Galactic": supported values: "Cluster", "Namespaced"']),
        (crd(group="example"), ['spec.group: Invalid value: "example": should be a domain with at least one dot']),
        (crd(preserveUnknownFields=True), ["spec.preserveUnknownFields: Invalid value: true: cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead"]),
        (crd({**version(), "schema": {}}), ["spec.versions[0].schema.openAPIV3Schema: Required value"]),
        (crd(version(deprecationWarning="old")), ['spec.versions[0].deprecationWarning: Invalid value: "old": can only be set for deprecated versions']),
        (crd(version(storage=False)), [f'spec.versions: Invalid value: [{{"Name":"v1","Served":true,"Storage":false,{SHOWN}]: must have exactly one version marked as storage version', "status.storedVersions: Invalid value: null: must have at least one stored version"]),
        (crd(conversion={"strategy": "Webhook"}), ["spec.conversion.conversionReviewVersions: Required value", "spec.conversion.webhookClientConfig: Required value: required when strategy is set to Webhook"]),
        (crd(version(subresources={"scale": {"specReplicasPath": ".replicas", "statusReplicasPath": ".spec.replicas"}})), ['spec.subresources.scale.specReplicasPath: Invalid value: ".replicas": should be a json path under .spec', 'spec.subresources.scale.statusReplicasPath: Invalid value: ".spec.replicas": should be a json path under .status']),
        (crd(version(additionalPrinterColumns=[{"name": "A", "type": "object", "jsonPath": "spec.a"}])), ['spec.additionalPrinterColumns[0].JSONPath: Invalid value: "spec.a": must be a simple json path starting with .', 'spec.additionalPrinterColumns[0].type: Invalid value: "object": must be one of boolean,date,integer,number,string']),
        (crd(version(selectableFields=[{"jsonPath": ".spec.none"}, {"jsonPath": ".spec"}])), ['spec.selectableFields[0].jsonPath: Invalid value: ".spec.none": is an invalid path: does not refer to a valid field', 'spec.selectableFields[1].jsonPath: Invalid value: ".spec": must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.']),
        (crd(group="x.k8s.io"), ['metadata.annotations[api-approved.kubernetes.io]: Required value: protected groups must have approval annotation "api-approved.kubernetes.io", see https://github.com/kubernetes/enhancements/pull/1111']),
        (crd(), []),
    ],
)  # fmt: skip
def test_what_a_definition_may_say(definition: dict[str, Any], said: list[str]) -> None:
    assert refused(definition) == said


def test_a_schema_that_only_one_version_has_is_named_by_that_version() -> None:
    bad = version("v2", spec=fields(a={}))
    path = "spec.versions[1].schema.openAPIV3Schema.properties[spec].properties[a].type"
    assert [error.split(": ")[0] for error in refused(crd(version(), bad))] == [path]


def rule(text: str, **more: Any) -> dict[str, Any]:
    return fields(a=TEXT) | {"x-kubernetes-validations": [{"rule": text, **more}]}


RULE = f"{A}.x-kubernetes-validations[0]"


@pytest.mark.parametrize(
    ("schema", "path", "said"),
    [
        (rule("self.b == 'x'"), f"{RULE}.rule", "undefined field 'b'"),
        (rule("self.a"), f"{RULE}.rule", "cel expression must evaluate to a bool"),
        (rule(" "), f"{RULE}.rule", "rule is not specified"),
        (rule("true", message=" "), f"{RULE}.message", "must be non-empty if specified"),
        (rule("true", message="a\nb"), f"{RULE}.message", "must not contain line breaks"),
        (rule("true\n&& true"), f"{RULE}.message", "message must be specified if rule contains"),
        (rule("true", messageExpression="1"), f"{RULE}.messageExpression", "must evaluate to a string"),
        (rule("true", reason="Because"), f"{RULE}.reason", "Unsupported value"),
        (rule("true", fieldPath=".b"), f"{RULE}.fieldPath", "must be a valid path"),
        (rule("true", optionalOldSelf=True), f"{RULE}.optionalOldSelf", "may not be set if oldSelf is not used"),
        ({"type": "array", "items": rule("self == oldSelf")}, f"{A}.items.x-kubernetes-validations[0].rule", f"oldSelf cannot be used on the uncorrelatable portion of the schema within {A}"),
        (TEXT | {"default": "d", "x-kubernetes-validations": [{"rule": "self != 'd'"}]}, f"{A}.default", "failed rule: self != 'd'"),
        (TEXT | {"anyOf": [rule("true")]}, f"{A}.anyOf[0].x-kubernetes-validations", "must be empty to be structural"),
    ],
)  # fmt: skip
def test_a_rule_that_cannot_be_is_refused(schema: Any, path: str, said: str) -> None:
    found = of_field(schema)
    assert any(error.startswith(f"{path}: ") and said in error for error in found), found


def test_rules_that_may_cost_too_much_are_refused() -> None:
    costly = {
        "type": "array",
        "items": TEXT,
        "x-kubernetes-validations": [{"rule": "self.all(x, self.exists(y, x == y))"}],
    }
    found = of_field(costly)
    assert len(found) == 3
    assert all("exceed" in error for error in found)
    limited = costly | {"maxItems": 5, "items": TEXT | {"maxLength": 5}}
    assert of_field(limited) == []


def test_names_and_scope_are_fixed_once_a_definition_is_established() -> None:
    old, new = established(), established()
    new["spec"]["scope"] = "Cluster"
    new["spec"]["names"] |= {"kind": "Other", "plural": "others"}
    found = sorted(error.path for error in STRATEGY.validate_update(new, old, about()))
    assert found == ["spec.names.kind", "spec.names.plural", "spec.scope"]
    found = sorted(error.path for error in STRATEGY.validate_update(new, created(), about()))
    assert found == ["spec.names.plural"]


def test_a_version_that_was_stored_cannot_go_before_the_status_lets_it() -> None:
    old = established(version(), version("v2"))
    new = established(version("v2", storage=True))
    STRATEGY.prepare_update(new, old, about())
    (error,) = STRATEGY.validate_update(new, old, about())
    assert (error.path, error.value) == ("status.storedVersions[0]", "v1")


def test_formats_that_are_not_known_are_warned_of_once() -> None:
    odd = crd(version(spec=fields(a=TEXT | {"format": "poem"})))
    assert STRATEGY.warnings(odd, None) == ['unrecognized format "poem"']
    assert STRATEGY.warnings(odd, odd) == []
