# SPDX-License-Identifier: Apache-2.0
"""Scaling: autoscalers, KEDA and `kubectl scale` find what they need where Grove has it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.e2e.api.served import create, manifest, place

if TYPE_CHECKING:
    from tests.support.cluster import Cluster

SCALED = [
    ("grove-everything", "pcs", "app.kubernetes.io/part-of=everything"),
    ("grove-podclique", "pclq", "grove.io/podclique=everything-0-router"),
    ("grove-scalinggroup", "pcsg", "grove.io/podcliquescalinggroup=everything-0-prefill"),
]


@pytest.mark.parametrize(("name", "short", "selector"), SCALED, ids=[row[1] for row in SCALED])
async def test_the_scale_subresource_reads_and_writes_replicas(
    defined: Cluster, namespace: str, name: str, short: str, selector: str
) -> None:
    body = manifest(name)
    body["metadata"].pop("finalizers", None)
    await create(defined.api, namespace, body)
    path = f"{place(body['kind'], namespace)}/{body['metadata']['name']}"
    await defined.api.do("PATCH", f"{path}/status", {"status": body["status"]}, patch="merge")
    scale = await defined.api.do("GET", f"{path}/scale")
    assert scale["spec"] == ({"replicas": n} if (n := body["spec"]["replicas"]) else {})
    assert scale["status"] == {"replicas": body["status"]["replicas"], "selector": selector}
    await defined.kubectl("scale", short, body["metadata"]["name"], "-n", namespace, "--replicas=7")
    assert (await defined.api.do("GET", path))["spec"]["replicas"] == 7
    # Idle is a state that users ask for, below any minimum.
    await defined.api.do("PATCH", f"{path}/scale", {"spec": {"replicas": 0}}, patch="merge")
    assert (await defined.api.do("GET", path))["spec"]["replicas"] == 0
