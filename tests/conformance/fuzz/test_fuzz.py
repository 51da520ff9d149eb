# SPDX-License-Identifier: Apache-2.0
"""The same, drawn from seeds, done to the real server and to the embedded one gives the same."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from tests.conformance.fuzz import kinds
from tests.conformance.fuzz.comparing import Pair
from tests.support.cluster import EMBEDDED
from tests.support.cluster import cluster as new_cluster

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.support.cluster import Cluster

# A sample; `python -m tests.conformance.fuzz` does as many as one likes.
SEEDS = range(1, 41)


@pytest.fixture(scope="module", name="pair")
async def _pair(cluster: Cluster) -> AsyncIterator[Pair]:
    if cluster.lab is None:
        pytest.skip("compares with the real server, which only a lab has for certain")
    async with new_cluster(EMBEDDED) as other:
        await asyncio.gather(kinds.install(cluster.api), kinds.install(other.api))
        yield Pair(cluster.api, other.api)
        if failure := other.failed():
            raise failure


@pytest.mark.parametrize("seed", SEEDS)
async def test_both_servers_end_up_with_the_same(pair: Pair, seed: int) -> None:
    difference = await pair.tried(seed)
    assert difference is None, str(difference)
