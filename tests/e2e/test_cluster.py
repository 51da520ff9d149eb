# SPDX-License-Identifier: Apache-2.0
"""What every later story stands on: a namespace, kubectl, a scheduler that binds, safe nodes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.support.nodes import NODES, RealNodes, refuse_real_nodes, simulated_node
from tests.support.waiting import eventually

if TYPE_CHECKING:
    from tests.support.api import Api
    from tests.support.cluster import Cluster

POD = """
apiVersion: v1
kind: Pod
metadata:
  name: trainer
spec:
  containers:
  - name: main
    image: registry.example/trainer:1
    resources:
      limits:
        nvidia.com/gpu: "8"
"""


async def test_kubectl_applies_and_reads_back_in_the_tests_own_namespace(
    cluster: Cluster, namespace: str
) -> None:
    said = await cluster.kubectl("apply", "-n", namespace, "-f", "-", stdin=POD)
    assert said == "pod/trainer created\n"
    again = await cluster.kubectl("apply", "-n", namespace, "-f", "-", stdin=POD)
    assert again == "pod/trainer unchanged\n"
    stored = await cluster.kubectl("get", "pod", "trainer", "-n", namespace, "-o", "json")
    assert json.loads(stored)["spec"]["containers"][0]["resources"]["requests"] == {
        "nvidia.com/gpu": "8"
    }


async def test_the_scheduler_binds_a_pod_to_a_simulated_node(
    cluster: Cluster, namespace: str
) -> None:
    async with simulated_node(cluster.api, f"node-{namespace}"):
        await cluster.kubectl("apply", "-n", namespace, "-f", "-", stdin=POD)
        path = f"/api/v1/namespaces/{namespace}/pods/trainer"

        async def bound() -> str | None:
            node: str | None = (await cluster.api.do("GET", path))["spec"].get("nodeName")
            return node

        assert await eventually(bound, "the pod to be bound") == f"node-{namespace}"
        await cluster.api.do("DELETE", path, {"gracePeriodSeconds": 0})


async def test_a_cluster_with_a_real_node_is_refused_by_tests_that_change_nodes(
    cluster: Cluster, namespace: str
) -> None:
    if not cluster.ours:
        pytest.skip("only a cluster of ours may be given a node that passes for a real one")
    name = f"real-{namespace}"
    await cluster.api.do("POST", NODES, {"metadata": {"name": name}})
    try:
        with pytest.raises(RealNodes, match=name):
            await refuse_real_nodes(cluster.api)
    finally:
        await cluster.api.do("DELETE", f"{NODES}/{name}")


async def test_dynamic_resource_allocation_is_served(api: Api) -> None:
    group = await api.do("GET", "/apis/resource.k8s.io")
    version = group["preferredVersion"]["groupVersion"]
    resources = (await api.do("GET", f"/apis/{version}"))["resources"]
    assert {"resourceclaims", "resourceclaimtemplates", "deviceclasses", "resourceslices"} <= {
        resource["name"] for resource in resources
    }
