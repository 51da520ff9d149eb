# SPDX-License-Identifier: Apache-2.0
"""KAI's Topology kind as KAI defines it: its rules, and nothing that acts on them."""

from __future__ import annotations

from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from tests.support.waiting import eventually

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.support.api import Api

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
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


@asynccontextmanager
async def installed(api: Api) -> AsyncIterator[None]:
    """A cluster in which KAI's kind is served, for the length of a block."""
    await api.do("POST", DEFINITIONS, DEFINITION)
    try:
        await eventually(partial(api.exists, KAI), "KAI's Topology to be served")
        yield
    finally:
        await api.do("DELETE", f"{DEFINITIONS}/{NAME}")
        await eventually(partial(_is_gone, api), "KAI's Topology to be gone")


async def _is_gone(api: Api) -> bool:
    return not await api.exists(f"{DEFINITIONS}/{NAME}")
