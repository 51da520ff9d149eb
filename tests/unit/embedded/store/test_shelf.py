# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json

import pytest

from tests.unit.embedded.store.builders import an_object, create, keys, remove, update
from trellis.embedded.store.problems import AlreadyThere, Stale, TooOld
from trellis.embedded.store.shelf import ABSENT, Shelf
from trellis.embedded.store.store import Limits, Store


def a_shelf(limits: Limits | None = None) -> Shelf:
    return Store(limits=limits).shelf("", "things")


def test_a_version_is_written_into_the_object_and_its_bytes() -> None:
    shelf = a_shelf()
    create(shelf, "first")
    obj = an_object("a", labels={"app": "web"})
    record = shelf.put(obj, {"spec.nodeName": "n1"}, ABSENT)
    assert (record.version, record.created_version, record.uid) == (2, 2, "uid-a")
    assert obj["metadata"]["resourceVersion"] == "2"
    assert json.loads(record.data) == obj == record.decoded()
    assert (record.labels, record.fields) == ({"app": "web"}, {"spec.nodeName": "n1"})
    assert shelf.get("default", "a") is record


def test_a_replacement_keeps_the_version_of_its_creation() -> None:
    shelf = a_shelf()
    record = update(shelf, create(shelf), data={"a": "2"})
    assert (record.version, record.created_version) == (2, 1)


def test_versions_are_shared_by_all_resources_of_a_store() -> None:
    store = Store()
    one, other = store.shelf("", "things"), store.shelf("apps", "things")
    assert one is store.shelf("", "things")
    assert [create(one).version, create(other).version, store.version] == [1, 2, 2]
    assert [len(shelf) for shelf in store.shelves()] == [1, 1]


def test_an_object_changed_after_it_was_put_leaves_the_record_as_it_was() -> None:
    shelf = a_shelf()
    obj = an_object(labels={"app": "web"})
    fields = {"spec.nodeName": "n1"}
    record = shelf.put(obj, fields, ABSENT)
    obj["metadata"]["labels"]["app"] = "other"
    fields["spec.nodeName"] = "n2"
    assert (record.labels, record.fields) == ({"app": "web"}, {"spec.nodeName": "n1"})


@pytest.mark.parametrize(
    "obj",
    [
        {"apiVersion": "v1", "kind": "Thing", "metadata": {"name": "a"}, "spec": {}},
        {"kind": "Thing", "apiVersion": "v1", "metadata": {"name": "a"}, "spec": {}},
        {"metadata": {"name": "a"}, "spec": {}, "kind": "Thing", "apiVersion": "v1"},
    ],
    ids=["in order", "as Go writes it", "at the end"],
)
def test_api_version_and_kind_come_first_and_can_be_left_out(obj: dict[str, object]) -> None:
    record = a_shelf().put(obj, {}, ABSENT)
    rest = b'"metadata":{"name":"a","resourceVersion":"1"},"spec":{}}'
    assert record.data == b'{"apiVersion":"v1","kind":"Thing",' + rest
    assert record.bare == b"{" + rest


def test_a_name_can_be_taken_once_until_it_is_free_again() -> None:
    shelf = a_shelf()
    record = create(shelf)
    with pytest.raises(AlreadyThere, match="default/a is there already, at version 1") as caught:
        create(shelf)
    assert caught.value.found is record
    remove(shelf, record)
    assert create(shelf).version == 3


def test_a_write_for_another_version_changes_nothing() -> None:
    shelf = a_shelf()
    first = create(shelf)
    second = update(shelf, first)
    with pytest.raises(Stale, match="at version 1, but is at version 2") as caught:
        update(shelf, first)
    assert caught.value.found is second
    with pytest.raises(Stale, match="at version 1, but is at version 2"):
        remove(shelf, first)
    remove(shelf, second)
    with pytest.raises(Stale, match="at version 2, but is gone") as caught:
        update(shelf, second)
    assert caught.value.found is None
    with pytest.raises(Stale, match="gone"):
        remove(shelf, second)
    assert shelf.list() == []


def test_an_object_that_cannot_be_encoded_costs_no_version() -> None:
    store = Store()
    with pytest.raises(TypeError):
        create(store.shelf("", "things"), data=object())
    assert (store.version, store.shelf("", "things").list()) == (0, [])


def test_a_removal_returns_the_last_state_under_its_own_version() -> None:
    shelf = a_shelf()
    stored = create(shelf, data={"a": "1"})
    gone = remove(shelf, stored)
    assert gone.decoded() == an_object(data={"a": "1"}) | {
        "metadata": {**stored.decoded()["metadata"], "resourceVersion": "2"}
    }
    assert (gone.version, gone.created_version) == (2, 1)
    other = create(shelf)
    last = shelf.remove("default", "a", other.version, an_object(data={"last": "words"}))
    assert last.decoded()["data"] == {"last": "words"}


def test_lists_are_sorted_as_the_keys_of_the_real_server_are() -> None:
    shelf = a_shelf()
    for namespace, name in [("b", "x"), ("a", "y"), ("a-b", "z"), ("a", "x"), ("a.b", "q")]:
        create(shelf, name, namespace)
    assert keys(shelf.list()) == ["a-b/z", "a.b/q", "a/x", "a/y", "b/x"]
    assert keys(shelf.list("a")) == ["a/x", "a/y"]
    assert shelf.list("nowhere") == []
    assert sorted(keys(shelf)) == sorted(keys(shelf.list()))


@pytest.mark.parametrize(
    ("namespace", "after", "expected"),
    [
        (None, "a/x", ["a/y", "b/x"]),
        (None, "a/x\0", ["a/y", "b/x"]),
        (None, "a/y", ["b/x"]),
        (None, "a/", ["a/x", "a/y", "b/x"]),
        (None, "b/x", []),
        ("a", "a/x", ["a/y"]),
        ("a", "a-b/z", ["a/x", "a/y"]),
        ("a", "b", []),
    ],
)
def test_a_list_goes_on_after_any_key(
    namespace: str | None, after: str, expected: list[str]
) -> None:
    shelf = a_shelf()
    for place, name in [("b", "x"), ("a", "y"), ("a-b", "z"), ("a", "x")]:
        create(shelf, name, place)
    assert keys(shelf.list(namespace, after=after)) == expected


def test_objects_without_a_namespace_are_sorted_and_paged_by_name() -> None:
    shelf = a_shelf()
    for name in "cab":
        create(shelf, name, "")
    assert keys(shelf.list()) == ["a", "b", "c"]
    assert keys(shelf.list(after="a")) == ["b", "c"]
    assert shelf.get("", "a") is not None


def test_an_earlier_version_is_listed_as_it_was() -> None:
    shelf = a_shelf()
    kept, changed, gone = (create(shelf, name) for name in ("kept", "changed", "gone"))
    update(shelf, update(shelf, changed))
    remove(shelf, gone)
    create(shelf, "late")
    create(shelf, "else", "elsewhere")
    assert shelf.list(at=3) == [changed, gone, kept]
    assert shelf.list("default", at=3, after="default/changed") == [gone, kept]
    assert shelf.list("elsewhere", at=3) == []
    assert keys(shelf.list(at=7)) == ["default/changed", "default/kept", "default/late"]
    assert shelf.list(at=0) == []
    assert shelf.list(at=8) == shelf.list() == shelf.list(at=1000)


def test_a_name_used_again_is_listed_as_what_it_was_then() -> None:
    shelf = a_shelf()
    first = create(shelf, data="first")
    remove(shelf, first)
    create(shelf, data="second")
    assert shelf.list(at=1) == [first]
    assert shelf.list(at=2) == []


def test_what_is_no_longer_remembered_is_refused() -> None:
    store = Store()
    shelf = store.shelf("", "things")
    record = create(shelf)
    update(shelf, record)
    store.compact(2)
    with pytest.raises(TooOld, match=r"too old resource version: 1 \(2\)"):
        shelf.list(at=1)
    assert keys(shelf.list(at=2)) == ["default/a"]


def test_fields_can_be_computed_anew_without_a_change() -> None:
    shelf = a_shelf()
    record = create(shelf, node="n1")
    shelf.reindex(lambda old: {"spec.size": f"of {old.name}"})
    again = shelf.get("default", "a")
    assert again is not None
    assert (again.field("spec.size"), again.field("spec.nodeName")) == ("of a", "")
    assert (again.version, again.data) == (record.version, record.data)


def test_name_and_namespace_are_fields_too() -> None:
    record = create(a_shelf())
    paths = ("metadata.name", "metadata.namespace", "spec.unknown")
    assert [record.field(path) for path in paths] == ["a", "default", ""]
