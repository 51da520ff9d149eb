# SPDX-License-Identifier: Apache-2.0
"""KAI's Topology kind as KAI defines it: its rules, and nothing that acts on them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.support.definitions import served

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from tests.support.api import Api

KAI = "/apis/kai.scheduler/v1alpha1/topologies"
NAME = "topologies.kai.scheduler"
_LABEL = "([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?"
_LAST = (
    "self.filter(i, i.nodeLabel == 'kubernetes.io/hostname').size() == 0 || "
    "self[self.size() - 1].nodeLabel == 'kubernetes.io/hostname'"
)
_LEVELS = {
    "type": "array",
    "minItems": 1,
    "maxItems": 16,
    "x-kubernetes-list-type": "atomic",
    "x-kubernetes-validations": [
        {"rule": "self == oldSelf", "message": "field is immutable"},
        {
            "rule": "self.all(i, self.filter(j, j.nodeLabel == i.nodeLabel).size() == 1)",
            "message": "must be unique",
        },
        {"rule": _LAST, "message": "the hostname label can only be used at the lowest level"},
    ],
    "items": {
        "type": "object",
        "required": ["nodeLabel"],
        "properties": {
            "nodeLabel": {
                "type": "string",
                "minLength": 1,
                "maxLength": 316,
                "pattern": f"^{_LABEL}(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$",
            }
        },
    },
}
_SPEC = {"type": "object", "required": ["levels"], "properties": {"levels": _LEVELS}}
_SCHEMA = {"type": "object", "required": ["spec"], "properties": {"spec": _SPEC}}
DEFINITION: dict[str, Any] = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": NAME},
    "spec": {
        "group": "kai.scheduler",
        "scope": "Cluster",
        "names": {"plural": "topologies", "singular": "topology", "kind": "Topology"},
        "versions": [
            {
                "name": "v1alpha1",
                "served": True,
                "storage": True,
                "schema": {"openAPIV3Schema": _SCHEMA},
            }
        ],
    },
}


def installed(api: Api) -> AbstractAsyncContextManager[None]:
    """A cluster in which KAI's kind is served, for the length of a block."""
    return served(api, DEFINITION, KAI)
