# SPDX-License-Identifier: Apache-2.0
"""Custom kinds that many probes share, installed once per run.

A probe that changes a CustomResourceDefinition makes its own.
"""

from __future__ import annotations

import asyncio
from typing import Any

from tests.conformance.probe import ProbeBroken
from tests.support.api import Api, Request

GROUP = "conformance.trellis.dev"
WIDGETS = f"{GROUP}/v1"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_PATIENCE_SECONDS = 30.0

WIDGET_SPEC: dict[str, Any] = {
    "type": "object",
    "required": ["size"],
    "properties": {
        "size": {"type": "integer", "minimum": 0, "maximum": 100},
        "color": {"type": "string", "enum": ["red", "green", "blue"], "default": "red"},
        "code": {"type": "string", "pattern": "^[a-z]+$", "maxLength": 8},
        "note": {"type": "string", "nullable": True},
        "port": {"x-kubernetes-int-or-string": True},
        "replicas": {"type": "integer", "format": "int32", "default": 1},
        "frozen": {
            "type": "string",
            "x-kubernetes-validations": [
                {"rule": "self == oldSelf", "message": "frozen is frozen"}
            ],
        },
        "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
        "labels": {"type": "object", "additionalProperties": {"type": "string"}},
        "tags": {
            "type": "array",
            "items": {"type": "string"},
            "x-kubernetes-list-type": "set",
        },
        "steps": {"type": "array", "items": {"type": "string"}},
        "items": {
            "type": "array",
            "maxItems": 5,
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["k"],
            "items": {
                "type": "object",
                "required": ["k"],
                "properties": {
                    "k": {"type": "string"},
                    "v": {"type": "string"},
                    "mode": {"type": "string", "default": "auto"},
                },
            },
        },
    },
    "x-kubernetes-validations": [
        {"rule": "self.size <= 50 || self.color != 'red'", "message": "too big to be red"},
        {
            "rule": "!has(self.code) || self.code.size() <= self.size",
            "messageExpression": "'code ' + self.code + ' is longer than size'",
            "reason": "FieldValueForbidden",
        },
    ],
}
STATUS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "phase": {"type": "string"},
        "replicas": {"type": "integer"},
        "selector": {"type": "string"},
        "conditions": {
            "type": "array",
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["type"],
            "items": {
                "type": "object",
                "required": ["type", "status"],
                "properties": {
                    "type": {"type": "string"},
                    "status": {"type": "string"},
                    "reason": {"type": "string"},
                },
            },
        },
    },
}


def definition(
    group: str, plural: str, kind: str, version: dict[str, Any], scope: str = "Namespaced"
) -> dict[str, Any]:
    """A CustomResourceDefinition with one version. `version` adds to or overrides a plain one."""
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "scope": scope,
            "names": {"plural": plural, "singular": kind.lower(), "kind": kind},
            "versions": [{"name": "v1", "served": True, "storage": True, **version}],
        },
    }


def schema(**properties: Any) -> dict[str, Any]:
    return {"openAPIV3Schema": {"type": "object", "properties": properties}}


def widget(name: str, spec: dict[str, Any] | None = None, **metadata: Any) -> dict[str, Any]:
    """With status and scale subresources, defaults, rules, every kind of list, and columns."""
    return _object("Widget", name, {"size": 3} if spec is None else spec, metadata)


def gadget(name: str, spec: dict[str, Any] | None = None, **metadata: Any) -> dict[str, Any]:
    """Without a status subresource; keeps fields it does not know."""
    return _object("Gadget", name, {"a": 1} if spec is None else spec, metadata)


def beacon(name: str, spec: dict[str, Any] | None = None, **metadata: Any) -> dict[str, Any]:
    """Cluster-scoped: its name must hold the probe's id."""
    return _object("Beacon", name, {} if spec is None else spec, metadata)


def shared() -> list[dict[str, Any]]:
    widgets = definition(
        GROUP,
        "widgets",
        "Widget",
        {
            "schema": schema(spec=WIDGET_SPEC, status=STATUS),
            "subresources": {
                "status": {},
                "scale": {
                    "specReplicasPath": ".spec.replicas",
                    "statusReplicasPath": ".status.replicas",
                    "labelSelectorPath": ".status.selector",
                },
            },
            "selectableFields": [{"jsonPath": ".spec.color"}],
            "additionalPrinterColumns": [
                {"name": "Size", "type": "integer", "jsonPath": ".spec.size"},
                {"name": "Color", "type": "string", "jsonPath": ".spec.color", "priority": 1},
                {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
            ],
        },
    )
    widgets["spec"]["names"] |= {"shortNames": ["wdg"], "categories": ["probes"]}
    free = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    gadgets = definition(GROUP, "gadgets", "Gadget", {"schema": schema(spec=free, status=free)})
    beacons = definition(
        GROUP,
        "beacons",
        "Beacon",
        {"schema": schema(spec=free), "subresources": {"status": {}}},
        scope="Cluster",
    )
    return [widgets, gadgets, beacons]


async def install(api: Api) -> None:
    """Creates the shared kinds and waits until the server serves them."""
    for crd in shared():
        answer = await api.send(Request(method="POST", path=DEFINITIONS, body=crd))
        if answer.status not in {201, 409}:
            raise ProbeBroken(f"{crd['metadata']['name']}: {answer.content.decode()}")
    async with asyncio.timeout(_PATIENCE_SECONDS):
        for crd in shared():
            path = f"/apis/{WIDGETS}/{crd['spec']['names']['plural']}"
            while (await api.send(Request(method="GET", path=path))).status != 200:
                await asyncio.sleep(0.05)


def _object(kind: str, name: str, spec: dict[str, Any], metadata: dict[str, Any]) -> dict[str, Any]:
    return {
        "apiVersion": WIDGETS,
        "kind": kind,
        "metadata": {"name": name, **metadata},
        "spec": spec,
    }
