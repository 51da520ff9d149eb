# SPDX-License-Identifier: Apache-2.0
"""The embedded server in virtual time, with the scheduler behind a wire that can be cut."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tests.support.virtual import VirtualClock, dice
from tests.unit.embedded.scheduling.stage import Stage
from trellis.api.meta import Resource
from trellis.embedded.core.cluster import ADMIN, Cluster, Settings
from trellis.embedded.scheduling.run import schedule
from trellis.kube.client import Client
from trellis.runtime.env import Env

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from contextlib import AbstractAsyncContextManager

    from trellis.kube.transport import Request, Response, Stream, Transport

NAMESPACES = Resource("", "v1", "Namespace", "namespaces", namespaced=False)
ACCOUNTS = Resource("", "v1", "ServiceAccount", "serviceaccounts")


@dataclass(slots=True)
class Wire:
    """`before` and `after` see every request of the scheduler and may raise in its place."""

    inner: Transport
    before: Callable[[Request], None] = lambda _: None
    after: Callable[[Request], None] = lambda _: None
    requests: list[Request] = field(default_factory=list)

    async def request(self, request: Request) -> Response:
        self.before(request)
        self.requests.append(request)
        response = await self.inner.request(request)
        self.after(request)
        return response

    def stream(self, request: Request) -> AbstractAsyncContextManager[Stream]:
        return self.inner.stream(request)

    async def close(self) -> None:
        await self.inner.close()

    def writes(self, *ends: str) -> list[str]:
        """The writes so far, those to events aside; of paths with such an end, if any is given."""
        return [
            f"{one.method} {one.path}"
            for one in self.requests
            if one.method != "GET" and "/events" not in one.path and one.path.endswith(ends or "")
        ]


@dataclass(slots=True)
class Theatre:
    stage: Stage
    wire: Wire
    seed: int
    _task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        client = Client(self.wire, VirtualClock(), dice(self.seed))
        env = Env(clock=VirtualClock(), rng=dice(self.seed))
        self._task = asyncio.create_task(schedule(client, env))

    async def stop(self) -> None:
        """As if its process were killed."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])
            if not self._task.cancelled():
                self._task.result()


@asynccontextmanager
async def theatre(seed: int = 1, *, started: bool = True) -> AsyncIterator[Theatre]:
    clock = VirtualClock()
    cluster = Cluster(Settings(clock=clock, rng=dice(seed), tokens={"admin": ADMIN}))
    await cluster.start()
    client = Client(cluster.transport("admin"), clock, dice(seed))
    await client.of(NAMESPACES, dict).create({"metadata": {"name": "story"}})
    await client.of(ACCOUNTS, dict, "story").create({"metadata": {"name": "default"}})
    stage = Stage(client=client, namespace="story", scheduler="default-scheduler", prefix="n-")
    found = Theatre(stage, Wire(cluster.transport("admin")), seed)
    try:
        if started:
            await found.start()
        yield found
    finally:
        await found.stop()
        await cluster.close()
