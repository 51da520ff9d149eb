# SPDX-License-Identifier: Apache-2.0
"""Our definitions in the cluster of this run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.e2e.api.served import DEFINITIONS, RESOURCES
from tests.support.waiting import eventually
from trellis.api.schema.generate import FOLDER

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.support.cluster import Cluster


@pytest.fixture(scope="session")
async def defined(cluster: Cluster) -> AsyncIterator[Cluster]:
    """The cluster with every definition of `deploy/crds`, served."""
    if not cluster.ours:
        pytest.skip("a cluster of somebody's own may hold sets under Grove's definitions")
    await cluster.kubectl("apply", "-f", str(FOLDER))
    names = {f"{resource.plural}.{resource.group}" for resource in RESOURCES.values()}

    async def known() -> bool:
        return names <= set((await cluster.kubectl("api-resources", "-o", "name")).split())

    await eventually(known, "kubectl to know every kind")
    yield cluster
    for name in sorted(names):
        await cluster.api.do("DELETE", f"{DEFINITIONS}/{name}")
