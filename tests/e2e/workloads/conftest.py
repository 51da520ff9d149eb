# SPDX-License-Identifier: Apache-2.0
"""A cluster with simulated nodes and the operator, and a namespace in it for each test."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.e2e.embedded.nodes.simulation import simulated
from tests.e2e.workloads.grounds import operated, own_cluster
from tests.e2e.workloads.world import FLEET, World
from tests.support.namespaces import fresh_namespace

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.support.cluster import Cluster
    from trellis.app.local.operating import Companion


@pytest.fixture(scope="session")
async def ground(request: pytest.FixtureRequest) -> AsyncIterator[Cluster]:
    """A cluster of these tests alone: they cordon nodes."""
    async with own_cluster(request) as found:
        yield found


@pytest.fixture(scope="session")
async def _operator(
    ground: Cluster, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Companion]:
    async with operated(ground, tmp_path_factory.mktemp("operator")) as found:
        yield found


@pytest.fixture(scope="session")
async def _nodes(ground: Cluster) -> AsyncIterator[None]:
    async with simulated(ground, FLEET):
        yield


@pytest.fixture
async def world(ground: Cluster, _operator: Companion, _nodes: None) -> AsyncIterator[World]:
    """In a namespace of its own."""
    async with fresh_namespace(ground.api) as namespace:
        found = World(cluster=ground, namespace=namespace)
        try:
            yield found
        finally:
            await found.uncordon()
            await found.remove_sets()
