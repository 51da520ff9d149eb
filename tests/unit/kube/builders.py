# SPDX-License-Identifier: Apache-2.0
"""Short words for what these tests are about."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from tests.support.virtual import VirtualClock, dice
from trellis.api.meta import Resource
from trellis.kube.client import Client
from trellis.kube.transport import Request

if TYPE_CHECKING:
    from trellis.kube.transport import Transport

CONFIG_MAPS = Resource("", "v1", "ConfigMap", "configmaps")
NODES = Resource("", "v1", "Node", "nodes", namespaced=False)


class Meta(msgspec.Struct, frozen=True, rename="camel"):
    name: str
    namespace: str = ""
    resource_version: str = ""


class ConfigMap(msgspec.Struct, frozen=True):
    metadata: Meta
    data: dict[str, str] = {}


def a_config_map(name: str = "a", version: int = 1, **data: str) -> dict[str, Any]:
    metadata = {"name": name, "namespace": "here", "resourceVersion": str(version)}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


def a_request(method: str = "GET", **given: Any) -> Request:
    return Request(method=method, path="/api/v1/things", timeout=30, **given)


def a_client(transport: Transport) -> Client:
    """On the virtual loop's time."""
    return Client(transport, VirtualClock(), dice(0))
