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
from trellis.embedded.nodes.waiters import shipped
from trellis.instruments.clock import SystemClock
from trellis.kube.access import Surroundings
from trellis.kube.connect import connected, find_access
from trellis.runtime.env import Env

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.support.cluster import Cluster
    from trellis.embedded.nodes.fleet import Fleet
    from trellis.instruments.clock import Clock
    from trellis.kube.access import Access
    from trellis.kube.client import Client


@asynccontextmanager
async def a_client(cluster: Cluster) -> AsyncIterator[Client]:
    clock = SystemClock()
    async with connected(_access(cluster, clock), clock, dice(1)) as client:
        yield client


@asynccontextmanager
async def simulated(
    cluster: Cluster, fleet: str | Fleet, nodes: int | None = None, **settings: Any
) -> AsyncIterator[Simulator]:
    """Nodes that are ready, for the length of a block. They run our waiter, as any others do."""
    async with a_client(cluster) as client:
        env = Env(clock=client.clock, rng=client.rng)
        plans = expand(ready_made(fleet) if isinstance(fleet, str) else fleet, nodes)
        access = _access(cluster, client.clock)
        waiters = shipped(access.server, access.trust, client.rng)
        found = Simulator(client, plans, env, Settings(**{"waiters": waiters, **settings}))
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


def _access(cluster: Cluster, clock: Clock) -> Access:
    return find_access(Surroundings(clock=clock, environ={}), file=cluster.kubeconfig)
