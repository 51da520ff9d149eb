# SPDX-License-Identifier: Apache-2.0
"""Simulated nodes on the cluster that tests run against."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from tests.support.virtual import dice
from trellis.embedded.nodes.expanding import expand
from trellis.embedded.nodes.loading import ready_made
from trellis.embedded.nodes.simulator import Settings, Simulator
from trellis.instruments.clock import SystemClock
from trellis.kube.access import Surroundings
from trellis.kube.connect import connected, find_access
from trellis.runtime.env import Env

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.support.cluster import Cluster
    from trellis.kube.client import Client


@asynccontextmanager
async def a_client(cluster: Cluster) -> AsyncIterator[Client]:
    clock = SystemClock()
    access = find_access(Surroundings(clock=clock, environ={}), file=cluster.kubeconfig)
    async with connected(access, clock, dice(1)) as client:
        yield client


@asynccontextmanager
async def simulated(
    cluster: Cluster, fleet: str, nodes: int | None = None, **settings: Any
) -> AsyncIterator[Simulator]:
    """Nodes that are ready, for the length of a block."""
    async with a_client(cluster) as client:
        env = Env(clock=client.clock, rng=client.rng)
        plans = expand(ready_made(fleet), nodes)
        found = Simulator(client, plans, env, Settings(**settings))
        stop = asyncio.Event()
        running = asyncio.create_task(found.run(stop))
        ready = asyncio.create_task(found.ready())
        try:
            await asyncio.wait({running, ready}, return_when=asyncio.FIRST_COMPLETED)
            if running.done():
                await running
            yield found
        finally:
            ready.cancel()
            stop.set()
            await running
