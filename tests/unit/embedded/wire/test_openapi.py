# SPDX-License-Identifier: Apache-2.0
"""OpenAPI documents, against what the real server said."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from tests.conformance.kinds import GROUP, WIDGETS, definition, schema
from tests.unit.embedded.wire.builders import custom, customs, golden
from trellis.embedded.wire.openapi import Documents

RECORDED = golden("openapi")
CUSTOM = f"apis/{WIDGETS}"
SCHEMAS = "dev.trellis.conformance.v1"


def document(path: str, documents: Documents | None = None) -> dict[str, Any]:
    found = (documents or Documents(customs())).document(path)
    assert found is not None
    read: dict[str, Any] = json.loads(found.data)
    return read


def recorded(title: str) -> Any:
    return RECORDED[title][0]["body"]


DEPLOYMENT = "/apis/apps/v1/namespaces/{namespace}/deployments/{name}"
WIDGET = f"/apis/{WIDGETS}/namespaces/{{namespace}}/widgets"
OPERATIONS = {
    "PATCH of a built-in kind takes fieldValidation and names the kind": (
        "apis/apps/v1",
        DEPLOYMENT,
        "patch",
    ),
    "DELETE of a built-in kind takes DeleteOptions": ("apis/apps/v1", DEPLOYMENT, "delete"),
    "PATCH of a custom kind takes no strategic merge": (CUSTOM, f"{WIDGET}/{{name}}", "patch"),
    "POST of a custom kind takes the kind as a body": (CUSTOM, WIDGET, "post"),
}
COMPONENTS = {
    "the schema of a built-in kind has its defaults, and refers to other schemas": (
        "apis/coordination.k8s.io/v1",
        "io.k8s.api.coordination.v1.Lease",
    ),
    "the schema of a custom kind is that of its definition, with metadata and defaults": (
        CUSTOM,
        f"{SCHEMAS}.Widget",
    ),
    "the schema of a custom kind that keeps unknown fields says so": (CUSTOM, f"{SCHEMAS}.Gadget"),
    "the list of a custom kind has a schema too": (CUSTOM, f"{SCHEMAS}.WidgetList"),
}


@pytest.mark.parametrize("title", OPERATIONS)
def test_an_operation_is_as_recorded(title: str) -> None:
    path, name, method = OPERATIONS[title]
    assert document(path)["paths"][name][method] == recorded(title)


@pytest.mark.parametrize("title", COMPONENTS)
def test_a_schema_is_as_recorded(title: str) -> None:
    path, name = COMPONENTS[title]
    assert document(path)["components"]["schemas"][name] == recorded(title)


def test_the_document_of_a_custom_group_holds_what_was_recorded() -> None:
    found = document(CUSTOM)
    shown = {
        "paths": sorted(found["paths"]),
        "schemas": sorted(found["components"]["schemas"]),
        "info": found["info"],
    }
    assert shown == recorded("the document of a custom group holds nothing of other groups")


def test_the_index_names_every_document_with_its_hash() -> None:
    documents = Documents(customs())
    paths = json.loads(documents.index())["paths"]
    built_in = recorded("the index names every built-in group, and the paths outside of groups")
    # The probe leaves out names with a dot, other than groups of Kubernetes.
    assert sorted(paths) == sorted([*built_in, CUSTOM, ".well-known/openid-configuration"])
    for path, entry in paths.items():
        found = documents.document(path)
        assert found is not None
        assert entry["serverRelativeURL"] == f"/openapi/v3/{path}?hash={found.hash}"
        assert len(found.hash) == 128


def test_the_model_of_custom_groups_is_not_served() -> None:
    documents = Documents([])
    assert documents.document("apis/zzgroup.example.com/vzz") is None
    assert b"zzgroup" not in documents.index()
    assert documents.document(f"apis/{GROUP}/v1") is None


def test_kubectl_finds_the_patch_of_every_custom_kind() -> None:
    """It looks for the operation whose kind it is, and whether that takes fieldValidation."""
    for served in customs():
        kind = {"group": served.group, "version": served.version, "kind": served.kind}
        taken = [
            {each["name"] for each in operations["patch"]["parameters"]}
            for operations in document(CUSTOM)["paths"].values()
            if operations.get("patch", {}).get("x-kubernetes-group-version-kind") == kind
        ]
        assert taken
        assert all("fieldValidation" in names for names in taken)


def test_what_a_definition_leaves_out_is_not_in_its_document() -> None:
    crd = definition("a-b.example.com", "things", "Thing", {"schema": schema()}, "Cluster")
    found = document("apis/a-b.example.com/v1", Documents([custom(crd)]))
    assert sorted(found["paths"]) == [
        "/apis/a-b.example.com/v1/things",
        "/apis/a-b.example.com/v1/things/{name}",
    ]
    assert "io.k8s.api.autoscaling.v1.Scale" not in found["components"]["schemas"]
    assert "com.example.a-b.v1.Thing" in found["components"]["schemas"]
    listed = found["paths"]["/apis/a-b.example.com/v1/things"]["get"]
    assert listed["operationId"] == "listABExampleComV1Thing"


def test_shorthands_of_a_schema_are_spelt_out() -> None:
    inner = {
        "type": "object",
        "x-kubernetes-embedded-resource": True,
        "x-kubernetes-preserve-unknown-fields": True,
    }
    port = {"x-kubernetes-int-or-string": True}
    spec = {
        "type": "object",
        "properties": {"inner": inner, "ports": {"type": "array", "items": port}},
    }
    crd = definition("x.example.com", "things", "Thing", {"schema": schema(spec=spec)})
    found = document("apis/x.example.com/v1", Documents([custom(crd)]))
    fields = found["components"]["schemas"]["com.example.x.v1.Thing"]["properties"]["spec"][
        "properties"
    ]
    assert fields["ports"]["items"]["anyOf"] == [{"type": "integer"}, {"type": "string"}]
    assert fields["inner"]["required"] == ["kind", "apiVersion"]
    assert fields["inner"]["properties"]["metadata"]["allOf"][0]["$ref"].endswith("ObjectMeta")
    assert "properties" not in inner


def test_the_hash_follows_the_schema() -> None:
    widget = customs()[0]
    other = replace(widget, selectable=())
    first, second = (Documents([each]).document(CUSTOM) for each in (widget, other))
    assert first is not None
    assert second is not None
    assert first.hash != second.hash
