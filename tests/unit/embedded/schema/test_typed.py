# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest

from trellis.embedded.schema.node import native, native_of
from trellis.embedded.schema.scalars import Undecodable
from trellis.embedded.schema.typed import normalised, typed
from trellis.embedded.schema.written import patched_text

POD = native_of("", "v1", "Pod")


def written(spec: Any) -> Any:
    return normalised(native("io.k8s.api.core.v1.PodSpec"), spec)


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        pytest.param({"nodeSelector": {}}, {}, id="an empty map goes"),
        pytest.param({"hostNetwork": False}, {}, id="false goes"),
        pytest.param({"tolerations": []}, {}, id="an empty list goes"),
        pytest.param({"nodeName": ""}, {}, id="an empty text goes"),
        pytest.param({"hostUsers": False}, {"hostUsers": False}, id="false behind a pointer stays"),
        pytest.param({"priority": 0}, {"priority": 0}, id="zero behind a pointer stays"),
        pytest.param({"affinity": {}}, {"affinity": {}}, id="an empty struct stays"),
        pytest.param({"affinity": None}, {}, id="a null goes"),
    ],
)
def test_what_go_leaves_out_is_left_out(given: Any, kept: Any) -> None:
    assert written({"containers": [{"name": "a"}], **given}) == {
        "containers": [{"name": "a", "resources": {}}],
        **kept,
    }


def test_what_go_writes_is_written_though_it_was_not_given() -> None:
    assert written({}) == {"containers": None}
    assert normalised(POD, {}) == {"metadata": {}, "spec": {"containers": None}, "status": {}}
    condition = native("io.k8s.api.core.v1.PodCondition")
    assert normalised(condition, {}) == {
        "type": "",
        "status": "",
        "lastProbeTime": None,
        "lastTransitionTime": None,
    }


def test_nulls_in_maps_and_lists_are_what_go_has_without_a_value() -> None:
    config_map = native_of("", "v1", "ConfigMap")
    assert normalised(config_map, {"data": {"a": None}})["data"] == {"a": ""}
    assert written({"containers": [None]})["containers"] == [{"name": "", "resources": {}}]


def test_quantities_of_resources_are_kept_to_thousandths() -> None:
    resources = native("io.k8s.api.core.v1.ResourceRequirements")
    given = {"limits": {"cpu": "0.5", "memory": "1024Mi", "example.com/a": "1u"}}
    assert normalised(resources, given) == {
        "limits": {"cpu": "500m", "memory": "1Gi", "example.com/a": "1m"}
    }


def test_unknown_fields_are_dropped_and_named_with_their_path() -> None:
    pod = {
        "metadata": {"nonsense": 2},
        "spec": {"containers": [{"name": "app", "imagee": "b"}], "nonsense": 1},
        "Spec": {},
    }
    value, problems = typed(POD, pod)
    assert problems == [
        'unknown field "metadata.nonsense"',
        'unknown field "spec.containers[0].imagee"',
        'unknown field "spec.nonsense"',
        'unknown field "Spec"',
    ]
    assert value["spec"] == {"containers": [{"name": "app", "resources": {}}]}


def test_a_hundred_unknown_fields_are_named_and_no_more() -> None:
    _, problems = typed(POD, {f"n{number:03}": 1 for number in range(150)})
    assert (len(problems), problems[-1]) == (100, 'unknown field "n099"')


@pytest.mark.parametrize(
    ("pod", "why"),
    [
        (
            {"spec": {"containers": {}}},
            "object into Go struct field PodSpec.spec.containers of type []v1.Container",
        ),
        (
            {"spec": {"containers": [{"command": "x"}]}},
            "string into Go struct field Container.spec.containers.command of type []string",
        ),
        (
            {"spec": {"hostNetwork": "x"}},
            "string into Go struct field PodSpec.spec.hostNetwork of type bool",
        ),
        (
            {"spec": {"terminationGracePeriodSeconds": 1.5}},
            "number 1.5 into Go struct field PodSpec.spec.terminationGracePeriodSeconds "
            "of type int64",
        ),
        (
            {"spec": {"terminationGracePeriodSeconds": "1"}},
            "string into Go struct field PodSpec.spec.terminationGracePeriodSeconds of type int64",
        ),
        (
            {"spec": {"restartPolicy": 1}},
            "number into Go struct field PodSpec.spec.restartPolicy of type v1.RestartPolicy",
        ),
        ({"metadata": []}, "array into Go struct field Pod.metadata of type v1.ObjectMeta"),
        (
            {"metadata": {"labels": {"a": True}}},
            "bool into Go struct field ObjectMeta.metadata.labels of type string",
        ),
        ([], "array into Go value of type v1.Pod"),
    ],
)
def test_a_value_of_another_type_is_refused_in_goes_words(pod: Any, why: str) -> None:
    with pytest.raises(Undecodable) as refused:
        typed(POD, pod)
    assert str(refused.value) == f"json: cannot unmarshal {why}"


def test_what_a_type_refuses_itself_comes_before_other_mistakes() -> None:
    resources = {"limits": {"cpu": "nonsense"}}
    pod = {"spec": {"hostNetwork": 1, "containers": [{"resources": resources}]}}
    with pytest.raises(Undecodable, match="quantities must match"):
        typed(POD, pod)


def test_a_schema_inside_a_schema_is_read_like_one() -> None:
    schema = native("io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps")
    given = {"items": {"type": "string", "title": "", "odd": 1}, "additionalProperties": False}
    assert typed(schema, given) == (
        {"items": {"type": "string"}, "additionalProperties": False},
        [],
    )
    with pytest.raises(Undecodable, match="boolean or JSON schema expected"):
        typed(schema, {"additionalProperties": 1})


@pytest.mark.parametrize("kind", ["Pod", "Service", "ConfigMap", "Node", "PersistentVolumeClaim"])
def test_what_is_in_the_servers_form_stays_as_it_is(kind: str) -> None:
    node = native_of("", "v1", kind)
    once = normalised(node, {"metadata": {"name": "a", "labels": {"a": "b"}}})
    assert normalised(node, once) == once


def test_an_object_is_quoted_in_goes_order() -> None:
    metadata = {"uid": "u", "name": "a", "labels": {"b": "1", "a": "2"}}
    config_map = {"metadata": metadata, "kind": "ConfigMap", "apiVersion": "v1", "zap": 1}
    assert patched_text(config_map, native_of("", "v1", "ConfigMap")) == (
        '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","uid":"u",'
        '"labels":{"a":"2","b":"1"}},"zap":1}'
    )
    custom = config_map | {"apiVersion": "example.com/v1", "kind": "Thing"}
    assert patched_text(custom, None).startswith(
        '{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"labels":{"a":"2","b":"1"},'
    )
