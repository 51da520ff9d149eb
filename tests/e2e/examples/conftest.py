# SPDX-License-Identifier: Apache-2.0
"""What `trellis up` gives, on any kind of cluster: the operator, and four nodes with GPUs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.e2e.embedded.nodes.simulation import simulated
from tests.e2e.workloads.grounds import operated, own_cluster
from tests.e2e.workloads.world import World

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.support.cluster import Cluster


@pytest.fixture(scope="module")
async def place(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Cluster]:
    async with (
        own_cluster(request) as found,
        operated(found, tmp_path_factory.mktemp("operator")),
        simulated(found, "tiny"),
    ):
        yield found


@pytest.fixture
async def world(place: Cluster) -> AsyncIterator[World]:
    found = World(cluster=place, namespace="default")
    yield found
    await found.remove_sets()
