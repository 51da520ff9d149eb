# SPDX-License-Identifier: Apache-2.0
"""Definitions for tests of this folder."""

from __future__ import annotations

from typing import Any

from trellis.embedded.definitions.definition import DefinitionStrategy
from trellis.embedded.definitions.served import served_versions
from trellis.embedded.definitions.status import next_status
from trellis.embedded.schema.node import native_of
from trellis.embedded.schema.typed import normalised
from trellis.embedded.served import Circumstances, Served

TEXT: dict[str, Any] = {"type": "string"}
WHOLE: dict[str, Any] = {"type": "integer"}
NOW, LATER = "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"
STRATEGY = DefinitionStrategy()


def fields(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def about(subresource: str = "", name: str = "x") -> Circumstances:
    return Circumstances(
        now=NOW,
        namespace="default",
        name=name,
        subresource=subresource,
        user=None,
        random=None,
        read=None,
    )


def version(name: str = "v1", spec: Any = None, **more: Any) -> dict[str, Any]:
    schema = fields(spec=spec if spec is not None else fields(), status=fields(n=WHOLE))
    return {
        "name": name,
        "served": True,
        "storage": name == "v1",
        "schema": {"openAPIV3Schema": schema},
        **more,
    }


def crd(*versions: Any, group: str = "example.com", **spec: Any) -> dict[str, Any]:
    """As it is after decoding and defaulting."""
    names = {"plural": "things", "kind": "Thing"} | spec.pop("names", {})
    given = {
        "metadata": {"name": f"{names['plural']}.{group}"},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": names,
            "versions": list(versions) or [version()],
            **spec,
        },
    }
    found: dict[str, Any] = normalised(
        native_of("apiextensions.k8s.io", "v1", "CustomResourceDefinition"), given
    )
    STRATEGY.default(found)
    return found


def created(*versions: Any, **spec: Any) -> dict[str, Any]:
    """As it is stored: its status begun."""
    found = crd(*versions, **spec)
    STRATEGY.prepare_create(found, about())
    return found


def established(*versions: Any, **spec: Any) -> dict[str, Any]:
    found = created(*versions, **spec)
    status = next_status(found, [], NOW)
    return found | {"status": status}


def serving(*versions: Any, **spec: Any) -> Served:
    return served_versions(established(*versions, **spec))[0]


def thing(spec: Any = None, **more: Any) -> dict[str, Any]:
    return {
        "apiVersion": "example.com/v1",
        "kind": "Thing",
        "metadata": {"name": "x", "namespace": "default"},
        "spec": spec if spec is not None else {},
        **more,
    }
