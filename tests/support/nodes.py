# SPDX-License-Identifier: Apache-2.0
"""Simulated nodes for tests, and the refusal to touch a cluster that has real ones."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.support.api import Api

NODES = "/api/v1/nodes"
SIMULATED = "trellis.dev/simulated"
# KWOK's own mark on the nodes it plays.
KWOK = "kwok.x-k8s.io/node"
# What `trellis sim nodes` and `trellis up` put on theirs.
SIMULATOR = "sim.trellis.dev/node"
CAPACITY = {"cpu": "64", "memory": "512Gi", "pods": "110", "nvidia.com/gpu": "8"}


class RealNodes(Exception):
    """The cluster has nodes on which somebody's work may run."""


def real_nodes(nodes: list[dict[str, Any]]) -> list[str]:
    """The names of nodes that nobody marked as simulated."""
    return [node["metadata"]["name"] for node in nodes if not _is_simulated(node["metadata"])]


async def refuse_real_nodes(api: Api) -> None:
    """To be called before a test makes, cordons or removes any node."""
    found = real_nodes((await api.do("GET", NODES))["items"])
    if found:
        shown = ", ".join(found[:5]) + (" …" if len(found) > 5 else "")
        raise RealNodes(f"refused: this test changes nodes, and the cluster has real ones: {shown}")


@asynccontextmanager
async def simulated_node(api: Api, name: str) -> AsyncIterator[dict[str, Any]]:
    """A Ready node without a kubelet, for the length of a block."""
    await refuse_real_nodes(api)
    node = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "labels": {"kubernetes.io/hostname": name},
            "annotations": {SIMULATED: "true"},
        },
    }
    await api.do("POST", NODES, node)
    ready = {"type": "Ready", "status": "True", "reason": "Simulated", "message": "no kubelet"}
    status = {"capacity": CAPACITY, "allocatable": CAPACITY, "conditions": [ready]}
    try:
        yield await api.do("PATCH", f"{NODES}/{name}/status", {"status": status}, patch="merge")
    finally:
        await api.do("DELETE", f"{NODES}/{name}")


def _is_simulated(metadata: dict[str, Any]) -> bool:
    annotations, labels = metadata.get("annotations", {}), metadata.get("labels", {})
    return SIMULATED in annotations or KWOK in annotations or SIMULATOR in labels
