# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest

from tests.conformance.builders import config_map
from tests.conformance.kinds import widget
from tests.unit.embedded.fields.desk import CONFIG_MAPS, PODS, Desk, Object, custom, native, widgets
from trellis.embedded.copying import copied
from trellis.embedded.fields import (
    Manager,
    from_scale,
    manager_name,
    problem,
    same_but_for_times,
    to_scale,
    updated,
    validate_entries,
)
from trellis.embedded.fields.differences import compared
from trellis.embedded.fields.resets import resets
from trellis.embedded.fields.shapes import shape_of
from trellis.embedded.patches import merge_patch

GIVEN = {
    "manager": "m5",
    "operation": "Update",
    "apiVersion": "v1",
    "fieldsType": "FieldsV1",
    "fieldsV1": {"f:data": {"f:a": {}}},
}


def _started(**data: str) -> Desk:
    desk = Desk(CONFIG_MAPS)
    desk.write(config_map("a", data or {"a": "1"}), "m0")
    return desk


def _patch(desk: Desk, patch: Object, who: str) -> None:
    assert desk.live is not None
    desk.write(merge_patch(desk.live, patch), who)


def test_who_changes_a_field_takes_it_from_its_owner() -> None:
    desk = _started(a="1", b="1")
    _patch(desk, {"data": {"a": "2", "c": "1"}}, "m1")
    assert desk.owners == {
        "m0": {"f:data": {".": {}, "f:b": {}}},
        "m1": {"f:data": {"f:a": {}, "f:c": {}}},
    }


def test_who_removes_a_field_owns_nothing_by_it() -> None:
    desk = _started(a="1", b="1")
    _patch(desk, {"data": {"b": None}}, "m1")
    assert desk.owners == {"m0": {"f:data": {".": {}, "f:a": {}}}}


def test_a_write_that_changes_nothing_leaves_the_entries_and_their_times() -> None:
    desk = _started()
    before = copied(desk.entries)
    _patch(desk, {"data": {"a": "1"}}, "m1")
    assert desk.entries == before


def test_a_time_is_of_the_last_change_by_its_manager() -> None:
    desk = _started()
    first = desk.entries[0]["time"]
    _patch(desk, {"data": {"b": "1"}}, "m1")
    assert [entry["time"] == first for entry in desk.entries] == [True, False]
    _patch(desk, {"data": {"a": "2"}}, "m0")
    assert [entry["manager"] for entry in desk.entries] == ["m1", "m0"]
    assert all(entry["time"] > first for entry in desk.entries)


@pytest.mark.parametrize("said", [[], [{}], [{"manager": ""}]], ids=str)
def test_an_empty_list_resets_the_entries_and_updates_note_none_after(said: Any) -> None:
    desk = _started()
    assert desk.live is not None
    desk.live = copied(desk.live)
    new = {**desk.live, "metadata": {**desk.live["metadata"], "managedFields": said}}
    desk.write(new, "m1")
    assert "managedFields" not in desk.live["metadata"]
    _patch(desk, {"data": {"b": "1"}}, "m2")
    assert desk.entries == []


@pytest.mark.parametrize("said", [None, "left out"])
def test_entries_that_a_write_leaves_out_stay(said: Any) -> None:
    desk = _started()
    assert desk.live is not None
    metadata = {"name": "a", **({"managedFields": None} if said is None else {})}
    desk.write({**desk.live, "metadata": metadata, "data": {"a": "1", "b": "1"}}, "m1")
    assert list(desk.owners) == ["m0", "m1"]


def test_entries_given_on_creation_keep_only_what_is_not_there() -> None:
    desk = Desk(CONFIG_MAPS)
    more = {**GIVEN, "manager": "m6", "fieldsV1": {"f:data": {"f:b": {}}}}
    desk.write(config_map("a", managedFields=[GIVEN, more]), "m0")
    assert desk.owners == {
        "m6": {"f:data": {"f:b": {}}},
        "m0": {"f:data": {".": {}, "f:a": {}}},
    }


@pytest.mark.parametrize("said", [[{}], [{**GIVEN, "operation": "Guess"}]], ids=str)
def test_entries_given_on_creation_that_are_none_are_ignored(said: Any) -> None:
    desk = Desk(CONFIG_MAPS)
    desk.write(config_map("a", managedFields=said), "m0")
    assert list(desk.owners) == ["m0"]


def test_entries_given_through_a_subresource_are_ignored() -> None:
    desk = Desk(PODS)
    desk.write({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": {}}, "m0")
    live = desk.write(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "a", "labels": {"a": "1"}, "managedFields": [GIVEN]},
            "status": {"phase": "Running"},
        },
        "m1",
        "status",
    )
    assert "m5" not in str(live["metadata"].get("managedFields"))


def test_one_manager_is_told_apart_by_subresource() -> None:
    desk = Desk(widgets())
    live = desk.write(widget("w"), "m1")
    desk.write({**live, "status": {"phase": "A"}}, "m1", "status")
    assert list(desk.owners) == ["m1", "m1/status"]
    assert desk.owners["m1/status"] == {"f:status": {".": {}, "f:phase": {}}}


def test_what_a_write_cannot_set_is_not_owned() -> None:
    desk = Desk(widgets())
    desk.write({**widget("w"), "status": {"phase": "A"}}, "m1")
    assert "f:status" not in desk.owners["m1"]


def test_a_struct_of_go_is_there_before_anyone_sets_a_field_of_it() -> None:
    """So whoever sets one owns the field, not the struct: the status of a pod, a strategy."""
    desk = Desk(native("apps", "Deployment", "status"))
    labels = {"matchLabels": {"a": "b"}}
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c"}]}}
    spec = {"selector": labels, "template": template, "strategy": {"type": "Recreate"}}
    body = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "a"}}
    live = desk.write({**body, "spec": spec}, "m1")
    assert desk.owners["m1"] == {
        "f:spec": {
            "f:selector": {},
            "f:strategy": {"f:type": {}},
            "f:template": {
                "f:metadata": {"f:labels": {".": {}, "f:a": {}}},
                "f:spec": {"f:containers": {'k:{"name":"c"}': {".": {}, "f:name": {}}}},
            },
        }
    }
    desk.write({**live, "status": {"replicas": 1}}, "m2", "status")
    assert desk.owners["m2/status"] == {"f:status": {"f:replicas": {}}}


def test_items_that_are_there_twice_are_owned_together() -> None:
    desk = Desk(PODS)
    body = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}}
    twice = [{"name": "A", "value": "1"}, {"name": "A", "value": "2"}]
    container = {"name": "c", "env": twice}
    live = desk.write({**body, "spec": {"containers": [container]}}, "m1")

    def owned(who: str) -> Any:
        return desk.owners[who]["f:spec"]["f:containers"]['k:{"name":"c"}']["f:env"]

    assert owned("m1") == {".": {}, 'k:{"name":"A"}': {}}
    more = {**container, "env": [twice[0], {"name": "A", "value": "3"}]}
    live = desk.write({**live, "spec": {"containers": [more]}}, "m2")
    assert owned("m2") == {'k:{"name":"A"}': {}}
    single = {**container, "env": [twice[0]]}
    desk.write({**live, "spec": {"containers": [single]}}, "m3")
    assert owned("m3") == {'k:{"name":"A"}': {".": {}, "f:name": {}, "f:value": {}}}
    assert "m2" not in desk.owners


def test_items_that_nothing_tells_apart_leave_no_entries() -> None:
    desk = Desk(
        custom(
            {
                "type": "object",
                "properties": {
                    "l": {
                        "type": "array",
                        "items": {"type": "object", "properties": {"k": {"type": "string"}}},
                        "x-kubernetes-list-type": "map",
                        "x-kubernetes-list-map-keys": ["k"],
                    }
                },
            }
        )
    )
    body = {"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "x"}}
    desk.write({**body, "spec": {"l": [{}]}}, "m1")
    assert desk.entries == []


def test_true_is_not_one_where_anything_may_stand() -> None:
    free = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    shape = shape_of(custom(free).schema)
    found = compared(shape, {"spec": {"a": {"b": [1]}}}, {"spec": {"a": {"b": [True]}}})
    assert found.modified == {"f:spec": {"f:a": {"f:b": {}}}}


@pytest.mark.parametrize(
    ("old", "new", "removed", "modified", "added"),
    [
        ({"a": 1}, {"a": {"b": 1}}, {}, {"f:a": {}}, {"f:a": {"f:b": {}}}),
        ({"a": {"b": 1}}, {"a": 1}, {"f:a": {"f:b": {}}}, {"f:a": {}}, {}),
        ({"a": {"b": 1}}, {"a": None}, {"f:a": {"f:b": {}}}, {}, {}),
        ({"a": {}}, {"a": None}, {}, {"f:a": {}}, {}),
        ({"a": [1]}, {"a": [2]}, {}, {"f:a": {}}, {}),
        ({"a": [1]}, {"a": {"b": {}}}, {}, {"f:a": {}}, {"f:a": {"f:b": {}}}),
        ({}, {"a": {"b": {"c": 1}}}, {}, {}, {"f:a": {".": {}, "f:b": {".": {}, "f:c": {}}}}),
    ],
    ids=str,
)
def test_values_that_change_their_type_are_compared_as_both(
    old: Object, new: Object, removed: Object, modified: Object, added: Object
) -> None:
    free = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    found = compared(shape_of(custom(free).schema), {"spec": old}, {"spec": new})
    wanted = [{"f:spec": each} if each else {} for each in (removed, modified, added)]
    assert [found.removed, found.modified, found.added] == wanted


def test_an_owner_in_a_version_that_a_custom_kind_never_had_clears_the_entries() -> None:
    desk = Desk(widgets())
    live = desk.write(widget("w"), "m1")
    desk.entries[0]["apiVersion"] = "none/v1"
    desk.write({**copied(live), "spec": {"size": 4}}, "m2")
    assert desk.entries == []


def test_fields_that_another_version_does_not_know_clear_the_entries_of_its_owners() -> None:
    text = {"type": "string"}
    old, new = (
        custom({"type": "object", "properties": dict.fromkeys(names, text)})
        for names in ("ab", "bc")
    )
    versions = {"example.com/v0": old.schema, "example.com/v1": new.schema}
    body = {"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "x"}}
    desk = Desk(old)
    live = desk.write({**body, "spec": {"b": "1"}}, "m1")
    desk.entries[0]["apiVersion"] = "example.com/v0"
    manager = Manager(
        name="m2", operation="Update", api_version="example.com/v1", time="t", versions=versions
    )
    for spec, owners in (({"b": "2"}, 1), ({"b": "1"}, 1), ({"b": "1", "c": "1"}, 0)):
        changed: Object = {**copied(live), "spec": spec}
        updated(changed, live, new, manager)
        assert len(changed["metadata"].get("managedFields", ())) >= owners
        assert ("managedFields" in changed["metadata"]) == bool(owners)


@pytest.mark.parametrize(
    ("entries", "said"),
    [
        (None, ""),
        ([GIVEN], ""),
        ([{**GIVEN, "operation": "Guess"}], "operation must be `Apply` or `Update`"),
        ([{**GIVEN, "apiVersion": ""}], "apiVersion must not be empty"),
        ([{**GIVEN, "fieldsType": ""}], "missing fieldsType in managed fields entry 0"),
        ([GIVEN, {**GIVEN, "fieldsType": "F"}], 'invalid fieldsType "F" in managed fields entry 1'),
        ([{**GIVEN, "fieldsV1": {"data": {}}}], "error decoding set: data"),
    ],
    ids=str,
)
def test_entries_that_someone_changed_are_checked(entries: Any, said: str) -> None:
    assert problem(entries) == said


@pytest.mark.parametrize(
    ("agent", "name"),
    [
        ("kubectl/v1.36.3 (linux/amd64) kubernetes/abc", "kubectl"),
        ("curl", "curl"),
        ("/v1", ""),
        ("my agent/1", "my agent"),
        ("a\tb\x7f/1", "ab"),
        ("a" * 140 + "/1", "a" * 128),
        ("ü" * 70, "ü" * 64),
    ],
)
def test_a_program_is_named_by_the_start_of_its_user_agent(agent: str, name: str) -> None:
    assert manager_name(agent) == name


def test_only_times_that_differ_are_no_difference() -> None:
    old = _started().live
    assert old is not None
    new = copied(old)
    new["metadata"]["managedFields"][0]["time"] = "2027-01-01T00:00:00Z"
    assert same_but_for_times(new, old)
    for other in (
        {**new, "data": {"a": "2"}},
        {**new, "more": 1},
        {**new, "metadata": {**new["metadata"], "labels": {}}},
        {**new, "metadata": {**new["metadata"], "uid": "2"}},
        {**new, "metadata": {**new["metadata"], "managedFields": []}},
    ):
        assert not same_but_for_times(other, old)


REPLICAS = ("spec", "replicas")


def test_who_scales_takes_the_replicas_without_a_time() -> None:
    parent = [
        {**GIVEN, "time": "t", "fieldsV1": {"f:spec": {"f:replicas": {}, "f:size": {}}}},
        {**GIVEN, "manager": "m6", "time": "t", "fieldsV1": {"f:spec": {"f:a": {}}}},
    ]
    scale = to_scale(parent, REPLICAS)
    assert [(entry["manager"], entry["apiVersion"]) for entry in scale] == [
        ("m5", "autoscaling/v1")
    ]
    new = {"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "a"}}
    served = native("autoscaling", "Scale")
    old = {**new, "spec": {"replicas": 1}, "metadata": {"managedFields": scale}}
    changed: Object = {**new, "spec": {"replicas": 2}}
    manager = Manager(
        name="m1", operation="Update", api_version="autoscaling/v1", time="t2", subresource="scale"
    )
    updated(changed, old, served, manager)
    after = from_scale(changed["metadata"]["managedFields"], parent, REPLICAS, "v1")
    assert [(e["manager"], e.get("time"), e["fieldsV1"]) for e in after] == [
        ("m1", None, {"f:spec": {"f:replicas": {}}}),
        ("m5", "t", {"f:spec": {"f:size": {}}}),
        ("m6", "t", {"f:spec": {"f:a": {}}}),
    ]
    assert after[0]["subresource"] == "scale"


def test_an_applier_whose_replicas_nobody_took_keeps_its_entry() -> None:
    parent = [{**GIVEN, "operation": "Apply", "fieldsV1": {"f:spec": {"f:replicas": {}}}}]
    assert from_scale(to_scale(parent, REPLICAS), parent, REPLICAS, "v1") == parent


@pytest.mark.parametrize(
    ("group", "kind", "subresource", "paths"),
    [
        ("", "Pod", "", {"f:status": {}}),
        ("apps", "Deployment", "status", {"f:spec": {}, "f:metadata": {"f:labels": {}}}),
        ("", "Node", "status", {"f:spec": {}}),
        ("resource.k8s.io", "ResourceClaim", "status", {"f:metadata": {}, "f:spec": {}}),
        ("", "Namespace", "finalize", {"f:status": {}}),
        ("", "Pod", "resize", {}),
    ],
)
def test_kinds_say_what_a_write_does_not_change(
    group: str, kind: str, subresource: str, paths: Object
) -> None:
    assert resets(native(group, kind, "status"), subresource) == paths


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({}, ""),
        ({"manager": "m" * 129}, "manager: Too long: may not be more than 128 bytes"),
        (
            {"manager": "ü\t"},
            'manager: Invalid value: "ü\\t": invalid character U+0009 (at position 2)',
        ),
        ({"operation": "X"}, 'operation: Invalid value: "X": must be `Apply` or `Update`'),
        ({"fieldsType": "X"}, 'fieldsType: Invalid value: "X": must be `FieldsV1`'),
        ({"subresource": "s" * 257}, "subresource: Too long: may not be more than 256 bytes"),
    ],
    ids=str,
)
def test_entries_are_validated_with_the_rest_of_the_metadata(change: Object, said: str) -> None:
    found = [str(error) for error in validate_entries([GIVEN, {**GIVEN, **change}])]
    assert found == ([f"metadata.managedFields[1].{said}"] if said else [])
