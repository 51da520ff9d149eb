# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: E501 - sentences of the server are quoted whole
from __future__ import annotations

from typing import Any

import pytest

from tests.unit.embedded.definitions.builders import (
    TEXT,
    WHOLE,
    about,
    established,
    fields,
    serving,
    thing,
    version,
)
from trellis.embedded.copying import copied
from trellis.embedded.definitions.fields import selectors
from trellis.embedded.definitions.jsonpath import InvalidJsonPath, parsed
from trellis.embedded.definitions.scale import get_scale, put_scale
from trellis.embedded.definitions.served import served_versions
from trellis.embedded.definitions.status import terminating
from trellis.embedded.refusals import Refusal

STATUS: dict[str, Any] = {"status": {}}
PATHS = {
    "specReplicasPath": ".spec.replicas",
    "statusReplicasPath": ".status.n",
    "labelSelectorPath": ".status.selector",
}
RULED = fields(a=WHOLE | {"minimum": 1}, b=TEXT) | {
    "x-kubernetes-validations": [{"rule": "!has(self.a) || self.a < 10", "message": "a is big"}]
}


def stored(served: Any, obj: dict[str, Any]) -> dict[str, Any]:
    new = copied(obj)
    served.strategy.default(new)
    served.strategy.prepare_create(new, about())
    return new


@pytest.mark.parametrize(
    ("with_status", "change", "generation"),
    [
        pytest.param(True, {}, 1, id="nothing changed"),
        pytest.param(True, {"spec": {"a": 2}}, 2, id="the spec"),
        pytest.param(True, {"status": {"n": 2}}, 1, id="a status that has its own way"),
        pytest.param(False, {"status": {"n": 2}}, 2, id="a status that has none"),
        pytest.param(True, {"metadata": {"name": "x", "labels": {"a": "b"}}}, 1, id="labels"),
    ],
)
def test_the_generation_counts_what_is_wanted(
    with_status: bool, change: dict[str, Any], generation: int
) -> None:
    served = serving(version(spec=RULED, subresources=STATUS if with_status else {}))
    old = stored(served, thing({"a": 1}))
    new = copied(old) | change
    served.strategy.prepare_update(new, old, about())
    assert new["metadata"]["generation"] == generation


def test_a_status_is_dropped_at_creation_and_its_defaults_are_filled_in() -> None:
    defaulted = version(subresources=STATUS)
    defaulted["schema"]["openAPIV3Schema"]["properties"]["status"] |= {"default": {"n": 7}}
    assert stored(serving(defaulted), thing(status={"n": 1}))["status"] == {"n": 7}


def test_a_write_of_the_status_takes_only_the_status_and_its_managers() -> None:
    served = serving(version(spec=RULED, subresources=STATUS))
    old = stored(served, thing({"a": 1}))
    new = thing({"a": 5}, status={"n": 3})
    new["metadata"] |= {"labels": {"a": "b"}, "managedFields": [{"manager": "m"}]}
    served.strategy.prepare_update(new, old, about("status"))
    assert new == old | {
        "status": {"n": 3},
        "metadata": old["metadata"] | {"managedFields": [{"manager": "m"}]},
    }


@pytest.mark.parametrize(
    ("before", "nullable", "after"),
    [
        pytest.param({}, False, {}, id="where none was: no change"),
        pytest.param({}, True, {"status": None}, id="where null is a value"),
        pytest.param({"status": {"n": 1}}, False, {"status": None}, id="where one was"),
    ],
)
def test_a_status_of_null_is_kept_where_it_says_something(
    before: dict[str, Any], nullable: bool, after: dict[str, Any]
) -> None:
    told = version(subresources=STATUS)
    told["schema"]["openAPIV3Schema"]["properties"]["status"] |= {"nullable": nullable}
    served = serving(told)
    old = stored(served, thing()) | before
    new = thing(status=None)
    served.strategy.prepare_update(new, old, about("status"))
    assert {name: value for name, value in new.items() if name == "status"} == after


def errors(served: Any, new: Any, old: Any = None, subresource: str = "") -> list[str]:
    where = about(subresource)
    if old is None:
        found = served.strategy.validate_create(new, where)
    else:
        found = served.strategy.validate_update(new, old, where)
    return sorted(map(str, found))


def test_rules_are_run_beside_errors_of_values_but_not_beside_others() -> None:
    served = serving(version(spec=RULED))
    assert errors(served, thing({"a": 20})) == ["spec: Invalid value: a is big"]
    assert errors(served, thing({"a": "x"})) == [
        "<nil>: Invalid value: null: some validation rules were not checked because the object was "
        "invalid; correct the existing errors to complete validation",
        'spec.a: Invalid value: "string": spec.a in body must be of type integer: "string"',
    ]


def test_what_is_tolerated_becomes_a_warning_of_that_write() -> None:
    served = serving(version(spec=RULED))
    old = stored(served, thing({"a": 20}))
    new = copied(old)
    new["metadata"]["labels"] = {"a": "b"}
    assert errors(served, new, old) == []
    assert served.strategy.warnings(new, old) == ["spec: Invalid value: a is big"]
    assert served.strategy.warnings(new, old) == []


def test_an_object_of_another_kind_is_refused_for_that_alone() -> None:
    served = serving()
    assert errors(served, thing(kind="Zap")) == ['kind: Invalid value: "Zap": must be Thing']
    assert errors(served, thing(apiVersion="v9")) == [
        'apiVersion: Invalid value: "v9": must be example.com/v1'
    ]


def test_a_list_that_had_duplicates_may_keep_having_them() -> None:
    tags = {"type": "array", "items": TEXT, "x-kubernetes-list-type": "set"}
    served = serving(version(spec=fields(tags=tags)))
    new, old = thing({"tags": ["a", "a", "b"]}), thing({"tags": ["a", "a"]})
    assert errors(served, new, old) == []
    assert errors(served, new, thing()) == ['spec.tags[1]: Duplicate value: "a"']


def test_finalizers_that_say_nobodys_domain_are_warned_of() -> None:
    new = thing()
    new["metadata"]["finalizers"] = ["plain", "example.com/good", "dotted.name", "orphan"]
    said = [each.split(": ")[1] for each in serving().strategy.warnings(new, None)]
    assert said == ['"dotted.name"', '"plain"']
    assert serving().strategy.warnings(new, new) == []


def test_nothing_is_made_while_the_definition_goes() -> None:
    definition = established()
    definition["status"] = terminating(definition, "now", waiting=True)
    (served,) = served_versions(definition)
    with pytest.raises(Refusal, match="create not allowed while custom resource definition is"):
        served.strategy.prepare_create(thing(), about())


SCALED = version(spec=fields(replicas=WHOLE), subresources={"scale": PATHS})


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"spec": {"replicas": -1}}, [".spec.replicas: Invalid value: -1: should be a non-negative integer"]),
        ({"spec": {"replicas": 1 << 31}}, [".spec.replicas: Invalid value: 2147483648: should be less than or equal to 2147483647"]),
        ({"spec": []}, [".spec.replicas: Invalid value: 0: .spec.replicas accessor error: [] is of the type []interface {}, expected map[string]interface{}", 'spec: Invalid value: "array": spec in body must be of type object: "array"']),
        ({"status": {"n": "many"}}, [".status.n: Invalid value: 0: .status.n accessor error: many is of the type string, expected int64", 'status.n: Invalid value: "string": status.n in body must be of type integer: "string"']),
        ({}, []),
    ],
)  # fmt: skip
def test_fields_that_a_scale_is_made_of_are_checked(
    change: dict[str, Any], said: list[str]
) -> None:
    assert errors(serving(SCALED), thing({"replicas": 1}) | change) == said


def test_a_scale_is_read_and_written() -> None:
    obj = thing({"replicas": 2}, status={"n": 1, "selector": "app=w"})
    assert get_scale(PATHS, obj) == {
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": {"name": "x", "namespace": "default"},
        "spec": {"replicas": 2},
        "status": {"replicas": 1, "selector": "app=w"},
    }
    put_scale(PATHS, obj, {"spec": {"replicas": 5}})
    assert obj["spec"] == {"replicas": 5}
    put_scale(PATHS, obj, {})
    assert obj["spec"] == {"replicas": 0}


def test_a_scale_without_replicas_cannot_be_read() -> None:
    with pytest.raises(Refusal, match=r'the spec replicas field "\.spec\.replicas" does not exist'):
        get_scale(PATHS, thing({}))


def test_selectable_fields_are_found_as_text() -> None:
    spec = fields(text=TEXT, whole=WHOLE, flag={"type": "boolean"})
    paths = [{"jsonPath": f".spec.{name}"} for name in ("text", "whole", "flag")]
    found = selectors(serving(version(spec=spec, selectableFields=paths)))
    obj = thing({"text": "x", "whole": 7, "flag": True})
    assert {name: value(obj) for name, value in found.items()} == {
        "spec.text": "x",
        "spec.whole": "7",
        "spec.flag": "true",
    }
    assert {value(thing()) for value in found.values()} == {""}


OBJECT = {
    "spec": {"list": [{"n": "a", "t": 1}, {"n": "b", "t": 2}], "map": {"a.b": 1}},
    "status": {"conditions": [{"type": "Ready", "status": "True"}]},
}


@pytest.mark.parametrize(
    ("path", "values"),
    [
        (".spec.list[*].n", ["a", "b"]),
        (".spec.list[1].n", ["b"]),
        (".spec.list[-1].n", ["b"]),
        (".spec.list[0:1].n", ["a"]),
        (".spec.map.a\\.b", [1]),
        (".spec.map['a.b']", [1]),
        ('.status.conditions[?(@.type=="Ready")].status', ["True"]),
        (".spec.list[?(@.t>1)].n", ["b"]),
        (".spec.list[?(@.none)].n", []),
        ("..n", ["a", "b"]),
        (".spec.map.*", [1]),
        (".none.deeper[0]", []),
        (".spec.list.n", []),
    ],
)
def test_a_json_path_finds_what_it_leads_to(path: str, values: list[Any]) -> None:
    assert parsed(path).find(OBJECT) == values


@pytest.mark.parametrize("path", [".a[", ".a[]", ".a..[0]"])
def test_a_json_path_that_is_none_is_refused(path: str) -> None:
    with pytest.raises(InvalidJsonPath):
        parsed(path)
