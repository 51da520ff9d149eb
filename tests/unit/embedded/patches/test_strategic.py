# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conformance.builders import IMAGE
from tests.conformance.probes import patch_strategic
from tests.unit.embedded.fields.desk import Object, golden
from trellis.embedded.copying import copied
from trellis.embedded.patches import not_restorable, refused_result, strategic
from trellis.embedded.refusals import Refusal
from trellis.embedded.schema.node import native_of

DEPLOYMENT = native_of("apps", "v1", "Deployment")
CONFIG_MAP = native_of("", "v1", "ConfigMap")
POD = native_of("", "v1", "Pod")
_APP, _DELETE, _IMAGE = patch_strategic._app, patch_strategic._delete, IMAGE
# The patches of the probes, which their titles have the answers of.
POD_SPECS: dict[str, list[Object]] = {
    "containers are merged by name, and a new one comes first": [
        _APP(image="new"),
        {"containers": [{"name": "new", "image": _IMAGE}]},
    ],
    "lists inside of a container are merged by their own keys": [
        _APP(env=[{"name": "A", "value": "9"}, {"name": "C", "value": "3"}]),
        _APP(ports=[{"containerPort": 80, "name": "old"}]),
    ],
    "lists without a key, and lists of scalars, are replaced": [
        _APP(command=["c"]),
        {"tolerations": [{"key": "b", "operator": "Exists"}]},
    ],
    "an item without its key is 500": [
        {"containers": [{"image": "new"}]},
        _APP(env=[{"value": "9"}]),
    ],
    "$patch: delete removes an item by its key, or a whole map": [
        {"containers": [_DELETE(name="side")]},
        _APP(env=[_DELETE(name="A")]),
        {"nodeSelector": {"$patch": "delete"}},
        {"containers": [_DELETE(name="missing")]},
        {"containers": [_DELETE()]},
    ],
    "$patch: replace puts a list or a map in the place of the old one": [
        {"containers": [{"$patch": "replace"}, {"name": "only", "image": _IMAGE}]},
        {"nodeSelector": {"$patch": "replace", "c": "3"}},
        _APP(env=[{"$patch": "replace"}]),
    ],
    "null removes a key of a map, or a whole list": [
        {"nodeSelector": {"a": None}},
        {"tolerations": None},
        _APP(command=None),
    ],
    "$setElementOrder puts items in order, and must name all that the patch has": [
        {"$setElementOrder/containers": [{"name": "side"}, {"name": "app"}]},
        {
            "$setElementOrder/containers": [{"name": "app"}, {"name": "new"}, {"name": "side"}],
            "containers": [{"name": "new", "image": _IMAGE}],
        },
        {"$setElementOrder/containers": [{"name": "app"}], **_APP(image="new")},
        {"$setElementOrder/containers": [{"name": "side"}], **_APP(image="new")},
    ],
}


def _deployment() -> Object:
    made = copied(patch_strategic.START)
    for port in made["spec"]["template"]["spec"]["containers"][0]["ports"]:  # type: ignore[index]
        port["protocol"] = "TCP"
    return {"metadata": {"name": "a"}, **made}


def _shown(new: Object) -> Any:
    """Lists that are empty are not written."""
    shown = patch_strategic._pod_spec(new)
    for each in (shown, *shown["containers"]):
        for name in [name for name, held in each.items() if held in ([], {})]:
            del each[name]
    return shown


@pytest.mark.parametrize(
    ("title", "at"), [(title, at) for title, specs in POD_SPECS.items() for at in range(len(specs))]
)
def test_a_deployment_becomes_what_it_became_on_the_server(title: str, at: int) -> None:
    seen = golden("patch_strategic", title)[at]
    patch = {"spec": {"template": {"spec": POD_SPECS[title][at]}}}
    before = copied(patch)
    if seen["status"] == 200:
        assert _shown(strategic(_deployment(), patch, DEPLOYMENT)) == seen["body"]
    else:
        with pytest.raises(Refusal) as raised:
            strategic(_deployment(), patch, DEPLOYMENT)
        assert raised.value.status == seen["body"]
    assert patch == before


STRATEGY = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}}
METADATA = {"name": "a", "finalizers": ["example.com/a", "example.com/b"]}


@pytest.mark.parametrize(
    ("patch", "finalizers"),
    [
        ({"finalizers": ["example.com/c"]}, ["c", "a", "b"]),
        ({"finalizers": ["example.com/a"]}, ["a", "b"]),
        ({"$deleteFromPrimitiveList/finalizers": ["example.com/a"]}, ["b"]),
        ({"$deleteFromPrimitiveList/finalizers": ["example.com/missing"]}, ["a", "b"]),
        ({"$deleteFromPrimitiveList/finalizers": None}, []),
        ({"$deleteFromPrimitiveList/finalizers": "no list"}, ["a", "b"]),
        ({"$deleteFromPrimitiveList/none": ["x"]}, ["a", "b"]),
        ({"$setElementOrder/finalizers": ["example.com/b", "example.com/a"]}, ["b", "a"]),
        ({"finalizers": None}, []),
    ],
    ids=str,
)
def test_finalizers_are_merged_as_a_set(patch: Object, finalizers: list[str]) -> None:
    new = strategic({"metadata": METADATA}, {"metadata": patch}, CONFIG_MAP)["metadata"]
    assert new.get("finalizers", []) == [f"example.com/{name}" for name in finalizers]


@pytest.mark.parametrize(
    ("patch", "strategy"),
    [
        ({"$retainKeys": ["type"], "type": "Recreate"}, {"type": "Recreate"}),
        ({"type": "Recreate"}, {**STRATEGY, "type": "Recreate"}),
        ({"type": "Recreate", "rollingUpdate": None}, {"type": "Recreate"}),
        ({"$patch": "replace", "type": "R"}, {"type": "R"}),
        ({"$patch": "delete"}, {}),
        ({"$retainKeys": ["type"], "rollingUpdate": None, "type": "R"}, {"type": "R"}),
    ],
    ids=str,
)
def test_a_map_is_merged_replaced_or_cut_to_the_keys_it_retains(
    patch: Object, strategy: Object
) -> None:
    old = {"spec": {"strategy": STRATEGY}}
    assert strategic(old, {"spec": {"strategy": patch}}, DEPLOYMENT) == {
        "spec": {"strategy": strategy}
    }


@pytest.mark.parametrize(
    ("patch", "code", "said"),
    [
        ({"data": {"$patch": "frob"}}, 500, "unknown patch type: frob in map: map[$patch:frob]"),
        ({"data": {"$patch": 1}}, 500, "unknown patch type: %!s(int64=1) in map: map[$patch:1]"),
        ({"data": {"$retainKeys": "b"}}, 400, "invalid patch format of retainKeys"),
        ({"data": {"$retainKeys": [], "b": "1"}}, 400, "invalid patch format of retainKeys"),
        ({"$deleteFromPrimitiveList": []}, 400, "invalid patch format of primitive list"),
        ({"$setElementOrder": []}, 400, "invalid patch format of setElementOrder list"),
        (
            {"$setElementOrder/none": ["x"]},
            500,
            'unable to find api field in struct ConfigMap for the json field "none"',
        ),
        (
            {"$setElementOrder/data": {}},
            500,
            "expected a []interface {}, but received a map[string]interface {}",
        ),
        (
            {"$setElementOrder/data": []},
            500,
            "expected a []interface {}, but received a map[string]interface {}",
        ),
        (
            {"metadata": {"ownerReferences": [{"uid": "1", "$patch": "merge"}]}},
            500,
            "merging lists cannot yet be specified in the patch",
        ),
        (
            {"metadata": {"finalizers": [{"a": 1}]}},
            500,
            "list element types are not identical: [[x] [map[a:1]]]",
        ),
        (
            {"metadata": {"finalizers": [["x"]], "$patch": "replace"}, "data": {"$patch": "no"}},
            500,
            "unknown patch type: no in map: map[$patch:no]",
        ),
    ],
    ids=str,
)
def test_what_makes_no_sense_is_refused_in_the_words_of_the_server(
    patch: Object, code: int, said: str
) -> None:
    owners = [{"uid": "1", "name": "o"}]
    old = {"metadata": {"finalizers": ["x"], "ownerReferences": owners}, "data": {"a": "1"}}
    with pytest.raises(Refusal) as raised:
        strategic(old, patch, CONFIG_MAP)
    assert (raised.value.code, raised.value.message) == (code, said)


def test_lists_of_lists_are_rejected() -> None:
    with pytest.raises(Refusal) as raised:
        strategic(
            {"metadata": {"finalizers": []}}, {"metadata": {"finalizers": [["x"]]}}, CONFIG_MAP
        )
    assert raised.value.code == 422


def test_what_is_new_comes_without_nulls_and_directives() -> None:
    patch = {"spec": {"affinity": {"a": None, "b": {"$patch": "replace"}, "c": [{"d": None}]}}}
    assert strategic({}, patch, POD) == {"spec": {"affinity": {"c": [{}]}}}
    assert strategic({"spec": 1}, {"spec": {"$patch": "delete"}}, POD) == {}


def test_an_item_that_is_there_twice_is_deleted_twice_and_merged_once() -> None:
    def pod(*names: str) -> Object:
        return {"spec": {"containers": [{"name": name} for name in names]}}

    gone = {"spec": {"containers": [{"name": "a", "$patch": "delete"}]}}
    assert strategic(pod("a", "b", "a"), gone, POD) == pod("b")
    merged = strategic(
        pod("a", "b", "a"), {"spec": {"containers": [{"name": "a", "image": "i"}]}}, POD
    )
    images = [container.get("image") for container in merged["spec"]["containers"]]
    assert images.count("i") == 1


def test_a_new_item_takes_the_place_of_a_deleted_one_among_those_the_order_leaves_out() -> None:
    """As Go has it, which deletes in place: seen on the library itself."""
    old = {"spec": {"containers": [{"name": name} for name in "dba"]}}
    patch = {
        "spec": {
            "$setElementOrder/containers": [{"name": name} for name in "cbd"],
            "containers": [{"name": "b", "$patch": "delete"}, {"name": "c"}],
        }
    }
    new = strategic(old, patch, POD)["spec"]["containers"]
    assert [container["name"] for container in new] == ["a", "c", "d"]


@pytest.mark.parametrize(
    ("node", "value", "said"),
    [
        (DEPLOYMENT, {"spec": {"template": {"spec": {"containers": {}}}}}, "slice from map"),
        (DEPLOYMENT, {"spec": {"template": {"spec": {"nodeSelector": []}}}}, "map from slice"),
        (DEPLOYMENT, {"spec": {"template": {"spec": {"containers": "app"}}}}, "slice from string"),
        (DEPLOYMENT, {"spec": []}, "cannot restore struct from: slice"),
        (CONFIG_MAP, {"data": "text"}, "cannot restore map from string"),
        (CONFIG_MAP, {"data": {"a": 1}}, "cannot convert int64 to string"),
        (CONFIG_MAP, {"data": {"a": True}}, "unrecognized type: string"),
        (CONFIG_MAP, {"immutable": "x"}, "unrecognized type: bool"),
        (CONFIG_MAP, {"binaryData": {"a": 1}}, "cannot restore slice from int64"),
        (DEPLOYMENT, {"spec": {"replicas": 1.5}}, "cannot convert float64 to int32"),
        (DEPLOYMENT, {"spec": {"replicas": "1"}}, "unrecognized type: int32"),
        (DEPLOYMENT, {"spec": {"replicas": 1.0, "paused": None}}, ""),
    ],
    ids=str,
)
def test_results_that_cannot_be_read_are_told_in_the_words_of_the_converter(
    node: Any, value: Object, said: str
) -> None:
    found = not_restorable(node, value)
    assert found.endswith(said)
    assert bool(found) == bool(said)


def test_a_result_that_is_refused_shows_the_patch_or_the_object() -> None:
    title = "a list where a map belongs is 422, and so is a map where a list belongs"
    patch = {"spec": {"template": {"spec": {"containers": {"name": "app"}}}}}
    why = ["cannot restore slice from map"]
    refusal = refused_result("strategic", patch, why, strict=False)
    assert refusal.status == golden("patch_strategic", title)[0]["body"]
    strict = refused_result("merge", '{"a":1}', ['unknown field "a"', 'duplicate field "b"'])
    assert strict.message == (
        ' "" is invalid: patch: Invalid value: "{\\"a\\":1}": strict decoding error: '
        'unknown field "a", duplicate field "b"'
    )


def _name(item: Any) -> Any:
    return item["name"]


_pods = st.fixed_dictionaries(
    {
        "metadata": st.fixed_dictionaries(
            {}, optional={"finalizers": st.lists(st.sampled_from("xyz"), unique=True)}
        ),
        "spec": st.fixed_dictionaries(
            {},
            optional={
                "containers": st.lists(
                    st.fixed_dictionaries(
                        {"name": st.sampled_from("abc")},
                        optional={
                            "command": st.lists(st.sampled_from("xy")),
                            "env": st.lists(
                                st.fixed_dictionaries({"name": st.sampled_from("AB")}),
                                unique_by=str,
                            ),
                        },
                    ),
                    unique_by=_name,
                ),
                "nodeSelector": st.dictionaries(st.sampled_from("pq"), st.sampled_from("12")),
                "tolerations": st.lists(st.fixed_dictionaries({"key": st.sampled_from("ab")})),
            },
        ),
    }
)


@settings(deadline=None)
@given(_pods)
def test_an_object_merged_with_itself_is_itself(pod: Object) -> None:
    assert strategic(pod, pod, POD) == pod
    assert strategic(pod, {}, POD) == pod
    assert strategic({}, pod, POD) == pod


@settings(deadline=None)
@given(_pods, _pods)
def test_a_merge_done_twice_is_as_good_as_once(old: Object, patch: Object) -> None:
    once = strategic(old, patch, POD)
    assert strategic(once, patch, POD) == once
