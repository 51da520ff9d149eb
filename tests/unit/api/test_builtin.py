# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from trellis.api.schema.builtin import Recursive, UnknownDefinition, data, structural

if TYPE_CHECKING:
    from collections.abc import Iterator

EMBEDDABLE = [
    "io.k8s.api.core.v1.PodTemplateSpec",
    "io.k8s.api.core.v1.ServiceSpec",
    "io.k8s.api.batch.v1.JobTemplateSpec",
    "io.k8s.api.resource.v1.ResourceClaimTemplateSpec",
    "io.k8s.api.autoscaling.v2.HorizontalPodAutoscalerSpec",
]


def parts(schema: Any) -> Iterator[dict[str, Any]]:
    """Every schema inside a schema, itself included."""
    yield schema
    inner = [schema["items"]] if "items" in schema else []
    inner += [schema["additionalProperties"]] if "additionalProperties" in schema else []
    inner += list(schema.get("properties", {}).values())
    for one in inner:
        yield from parts(one)


@pytest.mark.parametrize("name", EMBEDDABLE)
def test_a_structural_schema_has_a_type_everywhere_and_no_reference(name: str) -> None:
    for part in parts(structural(name)):
        assert "type" in part or part.get("x-kubernetes-int-or-string"), part
        assert not {"$ref", "allOf", "description"} & part.keys()


@pytest.mark.parametrize("name", EMBEDDABLE)
def test_only_keys_of_list_maps_have_defaults(name: str) -> None:
    for part in parts(structural(name)):
        keys = part.get("x-kubernetes-list-map-keys", [])
        item = part.get("items", {})
        for field, schema in item.get("properties", {}).items():
            assert "default" not in schema or field in keys
        for key in keys:
            assert key in item.get("required", []) or "default" in item["properties"][key]


def test_a_container_port_may_come_without_its_protocol() -> None:
    ports = structural("io.k8s.api.core.v1.Container")["properties"]["ports"]
    assert ports["items"]["properties"]["protocol"]["default"] == "TCP"
    assert ports["items"]["required"] == ["containerPort"]


def test_quantities_and_ports_may_be_numbers_or_strings() -> None:
    container = structural("io.k8s.api.core.v1.Container")["properties"]
    limit = container["resources"]["properties"]["limits"]["additionalProperties"]
    assert limit["x-kubernetes-int-or-string"] is True
    assert "pattern" in limit
    port = container["readinessProbe"]["properties"]["httpGet"]["properties"]["port"]
    assert port["x-kubernetes-int-or-string"] is True
    assert "pattern" not in port


def test_a_schema_may_be_changed_without_harm_to_the_next() -> None:
    structural("io.k8s.api.core.v1.Container")["properties"].clear()
    structural("io.k8s.apimachinery.pkg.api.resource.Quantity").clear()
    assert structural("io.k8s.api.core.v1.Container")["properties"]
    assert structural("io.k8s.apimachinery.pkg.api.resource.Quantity")


def test_what_contains_itself_or_is_not_there_is_refused() -> None:
    with pytest.raises(Recursive, match="JSONSchemaProps"):
        structural("io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps")
    with pytest.raises(UnknownDefinition, match=r"io\.k8s\.Nothing"):
        structural("io.k8s.Nothing")


def test_the_data_says_which_release_it_is_of() -> None:
    assert data()["kubernetes"].startswith("1.")
