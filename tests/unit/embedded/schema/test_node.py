# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from tests.unit.embedded.schema.builders import TEXT, fields, spec_of
from trellis.api.schema import builtin
from trellis.embedded import gotypes
from trellis.embedded.schema.node import (
    UNSET,
    metadata_node,
    native,
    native_of,
    resource,
    structural,
)

SCHEMA = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps"


def test_a_built_in_kind_is_found_by_its_group_version_and_kind() -> None:
    assert native_of("apps", "v1", "Deployment") is native("io.k8s.api.apps.v1.Deployment")


def test_a_kind_that_is_not_there_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        native_of("", "v1", "Nonsense")


def test_a_field_keeps_what_is_said_of_it_beside_its_type() -> None:
    containers = native("io.k8s.api.core.v1.PodSpec").properties["containers"]
    assert (containers.list_type, containers.list_keys) == ("map", ("name",))
    assert containers.items is not None
    ports = containers.items.properties["ports"].items
    assert ports is not None
    assert ports.properties["protocol"].default == "TCP"


def test_types_that_read_themselves_are_marked() -> None:
    limits = native("io.k8s.api.core.v1.ResourceRequirements").properties["limits"]
    assert limits.additional is not None
    assert limits.additional.special == "quantity"
    assert metadata_node().properties["creationTimestamp"].special == "time"


def test_a_definition_that_contains_itself_is_one_node() -> None:
    schema = native(SCHEMA)
    assert schema.properties["not"] is schema
    inner = schema.properties["properties"].additional
    assert inner is not None
    assert inner.properties is schema.properties


def test_a_custom_schema_is_taken_as_it_is() -> None:
    node = structural(spec_of(fields(a=TEXT | {"default": None}), status=fields()))
    assert node.properties["spec"].properties["a"].default is None
    assert node.properties["status"].default is UNSET
    assert "metadata" not in node.properties


def test_a_resource_has_metadata_at_its_root_and_where_one_is_embedded() -> None:
    embedded = fields(spec=fields()) | {"x-kubernetes-embedded-resource": True}
    node = resource(spec_of(fields(template=embedded)))
    template = node.properties["spec"].properties["template"]
    assert node.properties["metadata"] is template.properties["metadata"] is metadata_node()


def test_go_declares_exactly_the_fields_that_openapi_does() -> None:
    shown = {
        name: set(schema["properties"])
        for name, schema in builtin.data()["definitions"].items()
        # What /version answers is read by nobody here, and has no protobuf.
        if schema.get("properties") and name != "io.k8s.apimachinery.pkg.version.Info"
    }
    assert {name: set(gotypes.fields(name)) for name in shown} == shown


def test_what_others_see_of_a_kind_leaves_its_own_schema_alone() -> None:
    schema = {
        "type": "object",
        "properties": {"metadata": {"type": "object", "properties": {"name": {"maxLength": 3}}}},
    }
    own = structural(schema)
    assert resource(schema).properties["metadata"] is metadata_node()
    assert own.properties["metadata"].properties["name"].source == {"maxLength": 3}
    assert structural(schema) is own
