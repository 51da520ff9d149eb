# SPDX-License-Identifier: Apache-2.0
"""Nodes, pods and devices for tests, from as little as each test cares about."""

from __future__ import annotations

from typing import Any

import msgspec

from trellis.embedded.scheduling.dra import Claim, DeviceClass, Slice
from trellis.embedded.scheduling.nodes import HOSTNAME, ScheduledNode
from trellis.embedded.scheduling.pods import ScheduledPod
from trellis.embedded.scheduling.wishes import Wish, Wishes
from trellis.embedded.scheduling.world import World

DRIVER = "gpu.example.com"


def node(name: str, labels: Any = None, **more: Any) -> ScheduledNode:
    """`more` are amounts of resources, `taints` and `unschedulable`."""
    spec = {key: more.pop(key) for key in ("taints", "unschedulable") if key in more}
    has = {"cpu": "8", "memory": "32Gi", "pods": "110", **more}
    own = {HOSTNAME: name, **(labels or {})}
    body = {
        "metadata": {"name": name, "labels": own},
        "spec": spec,
        "status": {"allocatable": has},
    }
    return msgspec.convert(body, ScheduledNode)


def pod(name: str, requests: Any = None, **spec: Any) -> ScheduledPod:
    """`status` and `labels` are taken out of the spec."""
    status, labels = spec.pop("status", {}), spec.pop("labels", {})
    container = {"resources": {"requests": requests or {}}, **spec.pop("container", {})}
    metadata = {"name": name, "namespace": "ns", "uid": f"uid-{name}", "labels": labels}
    body = {
        "metadata": {**metadata, **spec.pop("metadata", {})},
        "spec": {"containers": [container], **spec},
        "status": status,
    }
    return msgspec.convert(body, ScheduledPod)


def wish(name: str, requests: Any = None, **spec: Any) -> Wish:
    return Wishes().of(pod(name, requests, **spec))


def world(*nodes: ScheduledNode) -> World:
    found = World()
    for one in nodes:
        found.put_node(one)
    return found


def slice_(node_name: str, *devices: dict[str, Any], **more: Any) -> Slice:
    """`more`: `name`, `pool` (its fields), and fields of the spec in place of the node's name."""
    name, pool = more.pop("name", node_name), more.pop("pool", {})
    where = more or {"nodeName": node_name}
    body = {
        "metadata": {"name": name},
        "spec": {
            "driver": DRIVER,
            "pool": {"name": node_name, "generation": 1, "resourceSliceCount": 1, **pool},
            "devices": list(devices),
            **where,
        },
    }
    return msgspec.convert(body, Slice)


def device(name: str, **attributes: str | int) -> dict[str, Any]:
    typed = {
        key: {"int" if isinstance(value, int) else "string": value}
        for key, value in attributes.items()
    }
    return {"name": name, "attributes": typed}


def device_class(name: str = "gpu", *expressions: str, **spec: Any) -> DeviceClass:
    selectors = [{"cel": {"expression": one}} for one in expressions]
    body = {"metadata": {"name": name}, "spec": {"selectors": selectors, **spec}}
    return msgspec.convert(body, DeviceClass)


def exactly(name: str = "gpu", **ask: Any) -> dict[str, Any]:
    return {"name": name, "exactly": {"deviceClassName": "gpu", **ask}}


def selecting(expression: str) -> dict[str, Any]:
    return {"selectors": [{"cel": {"expression": expression}}]}


def claim(name: str, *requests: dict[str, Any], **more: Any) -> Claim:
    """`status`, `version` and `metadata` are taken out; the rest goes beside the requests."""
    status, version = more.pop("status", {}), more.pop("version", "1")
    metadata = {"name": name, "namespace": "ns", "uid": f"uid-{name}", "resourceVersion": version}
    body = {
        "metadata": {**metadata, **more.pop("metadata", {})},
        "spec": {"devices": {"requests": list(requests), **more}},
        "status": status,
    }
    return msgspec.convert(body, Claim)
