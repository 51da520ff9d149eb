# SPDX-License-Identifier: Apache-2.0
"""A cluster with our kind and perhaps KAI's, and an account that the operator runs as."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pytest

from tests.e2e.topology.kai import installed
from tests.e2e.topology.operator import account
from tests.e2e.topology.seen import MANAGED, TOPOLOGIES
from tests.support.api import Request
from tests.support.waiting import eventually
from trellis.api.schema.generate import FOLDER

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tests.e2e.topology.operator import Account
    from tests.support.api import Api
    from tests.support.cluster import Cluster


@pytest.fixture
async def defined(cluster: Cluster) -> AsyncIterator[Cluster]:
    """The cluster with our kind in it and no managed topology, before and after."""
    if not cluster.ours:
        pytest.skip("a cluster of somebody's own may have a grove-topology that matters")
    definition = next(FOLDER.glob("*_clustertopologies.yaml"))
    await cluster.kubectl("apply", "-f", str(definition))
    await eventually(partial(cluster.api.exists, TOPOLOGIES), "our kind to be served")
    await _remove_all(cluster.api)
    yield cluster
    await _remove_all(cluster.api)


@pytest.fixture
async def kai(defined: Cluster) -> AsyncIterator[None]:
    """KAI's kind, as if KAI were installed."""
    async with installed(defined.api):
        yield


@pytest.fixture
async def who(defined: Cluster, namespace: str, tmp_path: Path) -> AsyncIterator[Account]:
    """The operator's service account."""
    async with account(defined, namespace, tmp_path) as found:
        yield found


async def _remove_all(api: Api) -> None:
    await api.send(Request(method="DELETE", path=TOPOLOGIES))

    async def gone() -> bool:
        return not await api.exists(f"{TOPOLOGIES}/{MANAGED}")

    await eventually(gone, "topologies of other tests to be gone")
