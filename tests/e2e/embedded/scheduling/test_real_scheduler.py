# SPDX-License-Identifier: Apache-2.0
"""The same stories for the real kube-scheduler and for ours, side by side on the real server."""

from __future__ import annotations

import asyncio
import json
import secrets
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.nodes import refuse_real_nodes
from tests.support.virtual import dice
from tests.unit.embedded.scheduling.stage import Stage
from tests.unit.embedded.scheduling.stories import ENDINGS, STORIES
from trellis.embedded.scheduling.run import Settings, schedule
from trellis.instruments.clock import SystemClock
from trellis.kube.access import Surroundings
from trellis.kube.connect import connected, find_access
from trellis.runtime.env import Env

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from tests.support.cluster import Cluster
    from trellis.kube.client import Client

REAL, OURS = "default-scheduler", "trellis-scheduler"


@pytest.fixture(name="client")
async def _client(cluster: Cluster) -> AsyncIterator[Client]:
    await refuse_real_nodes(cluster.api)
    access = find_access(Surroundings(clock=SystemClock(), environ={}), file=cluster.kubeconfig)
    async with connected(access, SystemClock(), dice(1)) as client:
        yield client


@asynccontextmanager
async def ours(client: Client) -> AsyncIterator[None]:
    env = Env(clock=client.clock, rng=client.rng)
    task = asyncio.create_task(schedule(client, env, Settings(name=OURS)))
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait([task])
        if not task.cancelled():
            task.result()


async def played(client: Client, namespace: str, story: Any, scheduler: str) -> Any:
    stage = Stage(
        client=client,
        namespace=namespace,
        scheduler=scheduler,
        prefix=f"s{secrets.token_hex(4)}-",
    )
    try:
        return json.loads(json.dumps(await story(stage)))
    finally:
        await stage.clear()


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.__name__)
async def test_ours_ends_a_story_as_the_real_one_does(
    client: Client, namespace: str, story: Callable[[Stage], Awaitable[Any]]
) -> None:
    assert await played(client, namespace, story, REAL) == ENDINGS[story.__name__]
    async with ours(client):
        assert await played(client, namespace, story, OURS) == ENDINGS[story.__name__]
