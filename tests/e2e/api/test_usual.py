# SPDX-License-Identifier: Apache-2.0
"""That servers make the same pod where a difference of templates is taken for none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.unit.api.usual import SAYS_NOTHING

if TYPE_CHECKING:
    from tests.support.api import Api
    from tests.support.cluster import Cluster

Json = dict[str, Any]


async def made(api: Api, namespace: str, pod_spec: Json) -> Json:
    """The spec of the pod that the server would store."""
    # Without it, the server mounts a token under a name that it draws anew each time.
    spec = pod_spec | {"automountServiceAccountToken": False}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": spec}
    path = f"/api/v1/namespaces/{namespace}/pods?dryRun=All&fieldValidation=Strict"
    found: Json = (await api.do("POST", path, pod))["spec"]
    return found


@pytest.mark.parametrize(("short", "long"), SAYS_NOTHING.values(), ids=SAYS_NOTHING.keys())
async def test_the_server_makes_the_same_pod_of_both(
    cluster: Cluster, namespace: str, short: Json, long: Json
) -> None:
    assert await made(cluster.api, namespace, short) == await made(cluster.api, namespace, long)
