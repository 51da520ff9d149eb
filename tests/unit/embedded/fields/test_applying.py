# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from typing import Any

import pytest

from tests.conformance.builders import config_map, pod
from tests.conformance.kinds import widget
from tests.unit.embedded.fields.desk import CONFIG_MAPS, PODS, Desk, Object, custom, golden, widgets
from trellis.embedded.copying import copied
from trellis.embedded.fields import Manager, applied
from trellis.embedded.fields.clientside import ANNOTATION
from trellis.embedded.refusals import Refusal


def _refused(desk: Desk, configuration: Object, who: str = "m2") -> Refusal:
    with pytest.raises(Refusal) as raised:
        desk.apply(configuration, who)
    return raised.value


def test_an_applied_object_that_is_new_owns_what_it_names() -> None:
    desk = Desk(CONFIG_MAPS)
    live = desk.apply(config_map("a", {"a": "1"}, labels={"l": "1"}), "m1")
    assert live["data"] == {"a": "1"}
    assert desk.owners == {"m1!": {"f:data": {"f:a": {}}, "f:metadata": {"f:labels": {"f:l": {}}}}}


def test_applying_changes_neither_what_is_live_nor_the_configuration() -> None:
    desk = Desk(widgets())
    desk.apply(widget("w", {"size": 1, "items": [{"k": "a"}]}), "m1")
    live, configuration = desk.live, widget("w", {"size": 1, "items": [{"k": "b"}]})
    before = copied((live, configuration))
    new = applied(live, configuration, desk.served, desk.manager("m1", "Apply"))
    new["spec"]["items"][0]["k"] = "changed"
    new["metadata"]["managedFields"].clear()
    assert (live, configuration) == before


def test_the_same_again_changes_nothing_not_even_a_time() -> None:
    desk = Desk(widgets())
    first = desk.apply(widget("w", {"size": 1, "tags": ["a"]}), "m1")
    assert desk.apply(widget("w", {"size": 1, "tags": ["a"]}), "m1") == first


def test_who_applies_what_another_did_shares_it_and_has_no_time() -> None:
    desk = Desk(CONFIG_MAPS)
    desk.apply(config_map("a"), "m1")
    desk.apply(config_map("a"), "m2")
    assert [(entry["manager"], "time" in entry) for entry in desk.entries] == [
        ("m2", False),
        ("m1", True),
    ]


CONFLICTS: dict[str, tuple[list[tuple[str, Object]], Object, str]] = {
    "one": (
        [("m1", {"a": "1"})],
        {"a": "2"},
        'Apply failed with 1 conflict: conflict with "m1": .data.a',
    ),
    "two of one manager": (
        [("m1", {"a": "1", "b": "1"})],
        {"a": "2", "b": "2"},
        'Apply failed with 2 conflicts: conflicts with "m1":\n- .data.a\n- .data.b',
    ),
    "of two managers": (
        [("m3", {"a": "1"}), ("m1", {"b": "1"})],
        {"a": "2", "b": "2"},
        'Apply failed with 2 conflicts: conflicts with "m1":\n- .data.b\n'
        'conflicts with "m3":\n- .data.a',
    ),
}


@pytest.mark.parametrize("title", CONFLICTS)
def test_conflicts_are_told_by_manager_and_field(title: str) -> None:
    steps, data, message = CONFLICTS[title]
    desk = Desk(CONFIG_MAPS)
    for who, before in steps:
        desk.apply(config_map("a", before), who)
    refusal = _refused(desk, config_map("a", data))
    assert (refusal.code, refusal.reason, refusal.message) == (409, "Conflict", message)
    assert refusal.details is not None
    assert [cause["reason"] for cause in refusal.details["causes"]] == [
        "FieldManagerConflict"
    ] * len(data)


def test_a_conflict_with_an_updater_names_the_version_and_the_subresource() -> None:
    desk = Desk(widgets())
    desk.write(widget("w"), "upd")
    desk.write({**desk.live, "status": {"phase": "A"}}, "upd", "status")  # type: ignore[dict-item]
    one = _refused(desk, widget("w", {"size": 9}))
    version = "conformance.trellis.dev/v1"
    assert one.message.endswith(f'conflict with "upd" using {version}: .spec.size')
    with pytest.raises(Refusal, match=f'"upd" with subresource "status" using {version}'):
        desk.apply({**widget("w"), "status": {"phase": "B"}}, "m1", subresource="status")


def test_force_takes_fields_and_who_has_none_left_is_not_listed() -> None:
    desk = Desk(CONFIG_MAPS)
    desk.apply(config_map("a", {"a": "1"}), "m1")
    desk.apply(config_map("a", {"a": "2"}), "m2", force=True)
    assert desk.owners == {"m2!": {"f:data": {"f:a": {}}}}


def test_what_its_last_owner_drops_goes_and_what_another_owns_stays() -> None:
    desk = Desk(CONFIG_MAPS)
    desk.apply(config_map("a", {"a": "1", "b": "1"}), "m1")
    desk.write({**desk.live, "data": {"a": "1", "b": "1", "c": "1"}}, "upd")  # type: ignore[dict-item]
    desk.apply(config_map("a", {"b": "1"}), "m2")
    assert desk.apply(config_map("a", {}), "m1")["data"] == {"b": "1", "c": "1"}


def test_an_object_that_nobody_kept_track_of_belongs_to_before_first_apply() -> None:
    desk = Desk(CONFIG_MAPS)
    desk.write(config_map("a", {"a": "1", "b": "1"}), "m0")
    assert desk.live is not None
    del desk.live["metadata"]["managedFields"]
    refusal = _refused(desk, config_map("a", {"a": "2"}))
    assert refusal.message.endswith('conflict with "before-first-apply" using v1: .data.a')
    desk.apply(config_map("a", {"a": "2"}), "m1", force=True)
    assert desk.owners == {
        "m1!": {"f:data": {"f:a": {}}},
        "before-first-apply": {"f:data": {".": {}, "f:b": {}}},
    }


def test_a_status_is_applied_through_its_subresource_only() -> None:
    desk = Desk(widgets())
    desk.apply({**widget("w", {"size": 1}), "status": {"phase": "A"}}, "m1")
    desk.apply({**widget("w", {"size": 9}), "status": {"phase": "B"}}, "m1", subresource="status")
    assert desk.owners == {
        "m1!": {"f:spec": {"f:size": {}}},
        "m1/status!": {"f:status": {"f:phase": {}}},
    }


REFUSALS: dict[str, tuple[Object, str]] = {
    "an apply of a field that does not exist is refused": (
        {**config_map("a"), "extra": {"b": 1}},
        "apply_refusals",
    ),
    "an apply of a value of the wrong type is refused": (
        {**config_map("a"), "data": {"a": 1}},
        "apply_refusals",
    ),
    "an apply of a list where a map belongs is refused": (
        {**config_map("a"), "data": ["a"]},
        "apply_refusals",
    ),
    "an apply with managed fields in it is refused": (
        config_map("a", managedFields=[{"manager": "m"}]),
        "apply_refusals",
    ),
    "an apply with empty managed fields in it is refused": (
        config_map("a", managedFields=[]),
        "apply_refusals",
    ),
    "an apply of another kind than the path's is refused": (
        {**config_map("a"), "kind": "Secret"},
        "apply_refusals",
    ),
    "an apply of another version than the path's is refused": (
        {**config_map("a"), "apiVersion": "apps/v1"},
        "apply_refusals",
    ),
    "an apply without apiVersion is refused": (
        {"kind": "ConfigMap", "metadata": {"name": "a"}},
        "apply_refusals",
    ),
    "an apply without kind is refused": (
        {"apiVersion": "v1", "metadata": {"name": "a"}},
        "apply_refusals",
    ),
    "an apply of nothing is refused": ({}, "apply_refusals"),
}
WIDGET_REFUSALS: dict[str, Object] = {
    "a custom resource's unknown field in an apply is refused": {"size": 1, "odd": 1},
    "a custom resource's value of the wrong type in an apply is refused": {"size": "big"},
    "a custom resource's list key twice in an apply is refused": {
        "items": [{"k": "a"}, {"k": "a"}]
    },
    "a custom resource's set with an item twice in an apply is refused": {"tags": ["a", "a"]},
    "a custom resource's list item without its key in an apply is refused": {"items": [{"v": "x"}]},
}


@pytest.mark.parametrize("title", REFUSALS)
def test_what_cannot_be_applied_is_refused_in_the_words_of_the_server(title: str) -> None:
    configuration, area = REFUSALS[title]
    assert _refused(Desk(CONFIG_MAPS), configuration).status == golden(area, title)[0]["body"]


@pytest.mark.parametrize("title", WIDGET_REFUSALS)
def test_what_a_custom_kind_has_no_place_for_is_refused(title: str) -> None:
    refusal = _refused(Desk(widgets()), widget("w", WIDGET_REFUSALS[title]))
    assert refusal.status == golden("apply_refusals", title)[0]["body"]


def test_items_that_are_the_same_after_defaults_of_their_keys_are_refused() -> None:
    title = "a list key twice in an apply is refused, after defaults of the key"
    seen = golden("apply_refusals", title)
    ports = [{"containerPort": 80}, {"containerPort": 80, "protocol": "TCP"}]
    for at, containers in enumerate(
        ([{"name": "app"}, {"name": "app"}], [{"name": "app", "ports": ports}])
    ):
        refusal = _refused(Desk(PODS), pod("a", {"containers": containers}))
        assert refusal.status == seen[at]["body"]


def test_several_problems_of_a_configuration_are_listed() -> None:
    refusal = _refused(
        Desk(widgets()), widget("w", {"size": "big", "color": 1, "steps": [None, 2]})
    )
    assert refusal.message.partition("): ")[2] == (
        "errors:\n"
        "  .spec.size: expected numeric (int or float), got string\n"
        "  .spec.color: expected string, got &value.valueUnstructured{Value:1}\n"
        "  .spec.steps[1]: expected string, got &value.valueUnstructured{Value:2}"
    )


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ({"l": {"a": 1}}, ".spec.l: expected list, got &{map[a:1]}"),
        ({"l": [None]}, ".spec.l: element 0: associative list with keys may not have a null"),
        ({"l": ["x"]}, ".spec.l: element 0: associative list with keys may not have non-map"),
        ({"s": [{"a": 1}]}, "associative list without keys has an element that's a map type"),
        ({"s": [[1]]}, "not supported: associative list with lists as elements"),
        ({"s": [None]}, "associative list without keys has an element that's an explicit null"),
        ({"b": "x"}, ".spec.b: expected boolean, got &{x}"),
        ({"t": {"a": [True, None, 1.5]}}, ".spec.t: expected any scalar, got &{map[a:[true <nil>"),
        ({"f": [1]}, ".spec.f: expected map, got &{[1]}"),
    ],
    ids=str,
)
def test_each_kind_of_value_says_what_it_expected(spec: Object, said: str) -> None:
    text = {"type": "string"}
    keyed = {
        "type": "array",
        "items": {"type": "object", "properties": {"k": text}},
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["k"],
    }
    kind = custom(
        {
            "type": "object",
            "properties": {
                "l": keyed,
                "s": {"type": "array", "items": text, "x-kubernetes-list-type": "set"},
                "b": {"type": "boolean"},
                "t": {"type": "string", "format": "date-time"},
                "f": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
            },
        }
    )
    thing = {"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "x"}}
    assert said in _refused(Desk(kind), {**thing, "spec": spec}).message


def test_null_in_a_configuration_owns_the_field_and_keeps_a_map_that_is_there() -> None:
    desk = Desk(widgets())
    desk.apply(widget("w", {"size": 1, "labels": {"a": "1"}, "note": "n"}), "m1")
    live = desk.apply(widget("w", {"note": None, "labels": None}), "m2", force=True)
    assert (live["spec"]["note"], live["spec"]["labels"]) == (None, {"a": "1"})
    assert desk.owners["m2!"] == {"f:spec": {"f:labels": {}, "f:note": {}}}


def test_an_applier_in_another_version_is_the_same_one() -> None:
    desk = Desk(custom({"type": "object", "properties": {"a": {"type": "string"}}}))
    thing = {"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "x"}}
    desk.apply({**thing, "spec": {"a": "1"}}, "m1")
    desk.entries[0]["apiVersion"] = "example.com/v0"
    desk.apply({**thing, "spec": {"a": "2"}}, "m1")
    assert [entry["apiVersion"] for entry in desk.entries] == ["example.com/v1"]


def test_an_owner_in_a_version_that_a_custom_kind_never_had_stops_an_apply() -> None:
    desk = Desk(widgets())
    desk.apply(widget("w", {"size": 1}), "m1")
    desk.entries[0]["apiVersion"] = "none/v1"
    assert _refused(desk, widget("w", {"size": 1})).code == 500


def test_what_became_one_piece_is_owned_as_one_piece() -> None:
    def kind(**more: Any) -> Any:
        text = {"type": "string"}
        inner = {"type": "object", "properties": {"a": text, "b": text}, **more}
        listed = {"type": "array", "items": text}
        if not more:
            listed["x-kubernetes-list-type"] = "set"
        return custom({"type": "object", "properties": {"o": inner, "l": listed}})

    thing = {"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "x"}}
    desk = Desk(kind())
    desk.apply({**thing, "spec": {"o": {"a": "1"}, "l": ["x"]}}, "m1")
    desk.served = kind(**{"x-kubernetes-map-type": "atomic"})
    with pytest.raises(Refusal, match=r"conflict with \"m1\": .spec.o"):
        desk.apply({**thing, "spec": {"o": {"b": "1"}}}, "m2")
    desk.apply({**thing, "spec": {"o": {"a": "1"}, "l": ["x"]}}, "m3")
    assert desk.owners["m1!"] == {"f:spec": {"f:l": {}, "f:o": {}}}


def test_kubectl_takes_over_what_it_applied_on_its_own_side() -> None:
    before = config_map("a", {"a": "1", "b": "1"})
    desk = Desk(CONFIG_MAPS)
    noted = {ANNOTATION: json.dumps(before)}
    desk.write(
        config_map("a", {"a": "1", "b": "1"}, annotations=noted), "kubectl-client-side-apply"
    )
    changed = config_map("a", {"a": "2", "b": "1"})
    assert _refused(desk, changed, "other").code == 409
    live = desk.apply(changed, "kubectl")
    assert live["data"] == {"a": "2", "b": "1"}
    assert json.loads(live["metadata"]["annotations"][ANNOTATION]) == changed


def test_kubectl_is_still_in_conflict_about_what_others_changed_since() -> None:
    desk = Desk(CONFIG_MAPS)
    noted = {ANNOTATION: json.dumps(config_map("a", {"a": "1", "b": "1"}))}
    desk.write(config_map("a", {"a": "1", "b": "1"}, annotations=noted), "csa")
    desk.write({**desk.live, "data": {"a": "1", "b": "2"}}, "upd")  # type: ignore[dict-item]
    refusal = _refused(desk, config_map("a", {"a": "3", "b": "3"}), "kubectl")
    assert refusal.message.endswith('1 conflict: conflict with "upd" using v1: .data.b')


@pytest.mark.parametrize("noted", ["", "{", "[]", json.dumps({"apiVersion": "v9"}), '{"data": 1}'])
def test_an_annotation_that_makes_no_sense_allows_kubectl_nothing(noted: str) -> None:
    desk = Desk(CONFIG_MAPS)
    desk.write(config_map("a", annotations={ANNOTATION: noted}), "csa")
    assert _refused(desk, config_map("a", {"a": "2"}), "kubectl").code == 409


def test_a_nameless_manager_is_unknown() -> None:
    desk = Desk(CONFIG_MAPS)
    nobody = Manager(name="", operation="Apply", api_version="v1", time="t")
    live = applied(None, config_map("a"), desk.served, nobody)
    assert live["metadata"]["managedFields"][0]["manager"] == "unknown"
