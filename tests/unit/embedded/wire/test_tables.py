# SPDX-License-Identifier: Apache-2.0
"""Tables and metadata alone, for built-in and custom kinds."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from tests.unit.embedded.wire.builders import Noon, ask, customs, golden, natives, of_kind
from trellis.embedded.refusals import Refusal
from trellis.embedded.store.changes import Event
from trellis.embedded.store.records import Record, record_of
from trellis.embedded.wire import tables
from trellis.embedded.wire.media import Form
from trellis.embedded.wire.tables import Tables

if TYPE_CHECKING:
    from trellis.embedded.served import Served

Object = dict[str, Any]
FORM = Form(kind="Table")
RECORDED = golden("tables")
WIDGETS = customs()[0]
TABLES = Tables(Noon())


def made(name: str = "a", **fields: Any) -> Object:
    metadata = {
        "name": name,
        "namespace": "probe-<id>",
        "creationTimestamp": "2026-01-01T11:59:30Z",
        "resourceVersion": "7",
    }
    return {"metadata": metadata, **fields}


def cells(served: Served, obj: Object) -> list[Any]:
    rows = TABLES.of(served, [obj], ask(), FORM, {})["rows"]
    return list(rows[0]["cells"])


TEMPLATE: Object = {"spec": {"containers": [{"name": "c", "image": "registry.example/c:1"}]}}
SELECTED: Object = {"matchLabels": {"a": "b"}}
# As the probes made them, with what the server and its controllers added.
AS_RECORDED: dict[str, tuple[str, str, Object]] = {
    "secrets as a table": ("", "Secret", {"type": "Opaque", "data": {"a": "YQ==", "b": "YQ=="}}),
    "a headless service as a table": (
        "",
        "Service",
        {
            "spec": {
                "type": "ClusterIP",
                "clusterIP": "None",
                "clusterIPs": ["None"],
                "ports": [{"port": 80, "protocol": "TCP"}, {"port": 53, "protocol": "UDP"}],
            }
        },
    ),
    "an external service as a table": (
        "",
        "Service",
        {"spec": {"type": "ExternalName", "externalName": "example.com"}},
    ),
    "a deployment without replicas as a table": (
        "apps",
        "Deployment",
        {"spec": {"replicas": 0, "selector": SELECTED, "template": TEMPLATE}},
    ),
    "leases as a table": ("coordination.k8s.io", "Lease", {"spec": {"holderIdentity": "me"}}),
    "resource claims as a table": ("resource.k8s.io", "ResourceClaim", {"spec": {}}),
    "network policies as a table": (
        "networking.k8s.io",
        "NetworkPolicy",
        {"spec": {"podSelector": SELECTED}},
    ),
    "events as a table": (
        "",
        "Event",
        {
            "involvedObject": {"kind": "Pod", "name": "a"},
            "reason": "Why",
            "message": "because",
            "type": "Normal",
            "count": 2,
            "source": {"component": "me"},
        },
    ),
}


@pytest.mark.parametrize("title", AS_RECORDED)
def test_a_table_is_as_recorded(title: str) -> None:
    group, kind, fields = AS_RECORDED[title]
    served = of_kind(group, kind)
    body = RECORDED[title][0]["body"]
    found = TABLES.of(served, [made(**fields)], ask(), FORM, {"resourceVersion": "<rv:list>"})
    assert list(found["columnDefinitions"]) == body["columnDefinitions"]
    shown = ["<age>" if cell == "30s" else cell for cell in found["rows"][0]["cells"]]
    assert shown == body["rows"][0]["cells"]
    assert {name: found[name] for name in ("kind", "apiVersion", "metadata")} == {
        name: body[name] for name in ("kind", "apiVersion", "metadata")
    }


def test_every_built_in_kind_that_can_be_listed_has_as_many_cells_as_columns() -> None:
    for served in natives():
        if "list" in served.verbs and served.kind != "IPAddress":
            assert len(cells(served, made())) == len(tables.columns(served)), served.plural


def test_custom_kinds_show_their_columns() -> None:
    body = RECORDED["custom resources with columns as a table"][0]["body"]
    obj = made(spec={"size": 3, "color": "red"})
    found = TABLES.of(WIDGETS, [obj], ask(), FORM, {})
    assert list(found["columnDefinitions"]) == body["columnDefinitions"]
    assert found["rows"][0]["cells"] == ["a", 3, "red", "30s"]


def test_a_custom_kind_without_columns_shows_its_age() -> None:
    title = "a kind without columns shows its name and its age"
    plain = replace(WIDGETS, columns=())
    assert list(tables.columns(plain)) == golden("cr_columns_scale")[title][0]["body"]
    assert cells(plain, made()) == ["a", "30s"]


FULL = {
    "text": "t",
    "whole": 7,
    "number": 1.5,
    "flag": False,
    "at": "2030-01-01T00:00:00Z",
    "list": [{"n": "a"}, {"n": "b"}],
    "map": {"k": "v", "a.b": "w"},
}
COLUMNS = [
    "columns show values of their types, and null where a path finds nothing",
    "a value of another type than its column's is shown as far as it can be",
    "columns of lists and maps show JSON, and of many matches the first",
    "a column's priority, format and description are told",
    "columns may show metadata and the kind",
]


@pytest.mark.parametrize("title", COLUMNS)
def test_cells_of_columns_are_as_recorded(title: str) -> None:
    body = golden("cr_columns_scale")[title][0]["body"]
    prefix = "Custom resource definition column (in JSONPath format): "
    paths = {"Wide": ".spec.text"}
    columns = tuple(
        {
            **column,
            "jsonPath": paths.get(column["name"], column["description"].removeprefix(prefix)),
        }
        for column in body["columns"][1:]
    )
    served = replace(WIDGETS, columns=columns)
    full = made("full", spec=FULL, kind="Thing")
    full["metadata"] |= {"labels": {"tier": "gold"}, "generation": 1}
    none = made("none", spec={}, kind="Thing")
    none["metadata"] |= {"generation": 1}
    assert [cells(served, full), cells(served, none)] == body["rows"]
    assert [{**each, "description": ""} for each in tables.columns(served)] == [
        {**each, "description": ""} for each in body["columns"]
    ]


def test_dates_of_columns_are_ages_or_invalid() -> None:
    column = {"name": "At", "type": "date", "jsonPath": ".spec.at"}
    served = replace(WIDGETS, columns=(column,))
    moments = ("2026-01-01T11:00:00Z", "2030-01-01T00:00:00Z", "soon", 5)
    shown = [cells(served, made(spec={"at": at}))[1] for at in moments]
    assert shown == ["60m", "<invalid>", "<invalid>", None]


@pytest.mark.parametrize(
    ("include", "shown"),
    [
        ("None", None),
        ("Metadata", "PartialObjectMetadata"),
        ("", "PartialObjectMetadata"),
        ("Object", "ConfigMap"),
    ],
)
def test_a_row_holds_what_was_asked_for(include: str, shown: str | None) -> None:
    obj = {"kind": "ConfigMap", **made()}
    asked = ask(query={"includeObject": include})
    row = TABLES.of(of_kind("", "ConfigMap"), [obj], asked, FORM, {})["rows"][0]
    assert (row["object"] and row["object"]["kind"]) == shown


def test_another_include_object_is_400_as_recorded() -> None:
    with pytest.raises(Refusal) as refused:
        tables.included(ask(query={"includeObject": "Some"}))
    body = RECORDED["includeObject=Some: is 400"][0]["body"]
    assert refused.value.message == body["message"]


def test_nothing_has_no_rows_and_of_kinds_without_a_printer_none() -> None:
    for kind, rows in (("Secret", []), ("LimitRange", None)):
        assert TABLES.of(of_kind("", kind), [], ask(), FORM, {})["rows"] == rows


def test_an_object_alone_lends_the_table_its_version() -> None:
    found = TABLES.of(
        of_kind("", "Secret"), [made()], ask(), Form(kind="Table", version="v1beta1"), {}
    )
    assert found["metadata"] == {"resourceVersion": "7"}
    assert found["apiVersion"] == "meta.k8s.io/v1beta1"
    assert found["rows"][0]["object"]["apiVersion"] == "meta.k8s.io/v1beta1"


def test_a_watch_tells_the_columns_once() -> None:
    served = of_kind("", "Secret")

    def read(_: Served, record: Record) -> Object:
        found: Object = json.loads(record.data)
        return found

    told = TABLES.watcher(served, ask(), FORM, read)
    record = record_of({"apiVersion": "v1", "kind": "Secret", **made()}, 7, {}, 7)
    lines = [json.loads(told(Event("ADDED", record))) for _ in range(2)]
    assert lines[0]["object"]["columnDefinitions"]
    assert lines[1]["object"]["columnDefinitions"] is None


def test_a_bookmark_is_a_row_without_columns() -> None:
    shown = {"kind": "Secret", "metadata": {"resourceVersion": "9"}}
    found = TABLES.bookmark(of_kind("", "Secret"), shown, ask(), FORM)
    assert found["columnDefinitions"] is None
    assert found["rows"][0]["cells"] == ["", "", 0, "<unknown>"]


def test_metadata_alone_of_the_wrong_number_is_406_as_recorded() -> None:
    title = "a list is no PartialObjectMetadata, and an object no list of it: 406"
    messages = [seen["body"]["message"] for seen in RECORDED[title]]
    secrets = of_kind("", "Secret")
    assert tables.is_list(secrets).message == messages[0]
    assert tables.is_no_list(secrets).message == messages[1]
    assert "*unstructured.UnstructuredList" in tables.is_list(WIDGETS).message


def test_metadata_alone_of_a_list() -> None:
    found = tables.partial_list([made()], {"resourceVersion": "9"})
    assert found["kind"] == "PartialObjectMetadataList"
    assert found["items"][0]["kind"] == "PartialObjectMetadata"
    assert found["items"][0]["metadata"]["name"] == "a"
