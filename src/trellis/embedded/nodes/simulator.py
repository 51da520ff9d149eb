# SPDX-License-Identifier: Apache-2.0
"""All of it: the nodes of a fleet in one cluster, from their making to their removal."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from trellis.api import durations
from trellis.api.core.resourceclaim import ResourceClaim
from trellis.api.meta import Key
from trellis.embedded.nodes.announcing import Announcer, Progress
from trellis.embedded.nodes.faults import CRASH, OOM
from trellis.embedded.nodes.heart import Heart
from trellis.embedded.nodes.kubelets import Kubelets, Site
from trellis.embedded.nodes.tending import Graces, Tending
from trellis.embedded.nodes.times import Times
from trellis.runtime.cache import Cache
from trellis.runtime.informer import Informer

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from trellis.embedded.nodes.expanding import NodePlan
    from trellis.embedded.nodes.faults import NodeState
    from trellis.embedded.nodes.fleet import Fault
    from trellis.embedded.nodes.waiters import Waiter
    from trellis.kube.client import Client
    from trellis.runtime.env import Env


def _silent(_what: str, _done: int, _all: int) -> None:
    """Nobody looks on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """`heartbeat`: seconds between renewals of a lease; None: nobody looks at leases here."""

    timeline: Sequence[Fault] = ()
    heartbeat: float | None = None
    graces: Graces = field(default_factory=Graces)
    waiters: Mapping[str, Waiter] = field(default_factory=dict)
    tainted: bool = False
    """Whether only pods that tolerate it may run there: for clusters with real nodes."""
    beside_real_nodes: bool = False
    clean_up: bool = True
    progress: Progress = _silent


class Simulator:
    def __init__(
        self, client: Client, plans: Sequence[NodePlan], env: Env, settings: Settings
    ) -> None:
        self._client = client
        self._env = env
        self._settings = settings
        self._times = Times(env.clock)
        self._announcer = Announcer(
            client=client,
            times=self._times,
            plans=tuple(plans),
            tainted=settings.tainted,
            progress=settings.progress,
        )
        self._tending = Tending(self._announcer, env, settings.graces, settings.timeline)
        site = Site(
            times=self._times,
            plans=self._tending.plans,
            state=self._tending.state,
            waiters=settings.waiters,
        )
        self._kubelets = Kubelets(client, env, site)

    def state(self, node: str) -> NodeState:
        """How a node is now, with what no API object shows: Xids, a silent exporter."""
        return self._tending.state(node)

    async def ready(self) -> None:
        """Waits until all nodes are ready, and free for pods."""
        await self._tending.settled()

    async def run(self, stop: asyncio.Event) -> None:
        """Until it is told to stop; then, if so set, everything it made is removed."""
        await self._announcer.look(beside_real_nodes=self._settings.beside_real_nodes)
        try:
            await self._serve(stop)
        except BaseExceptionGroup as group:
            raise _first(group) from None
        finally:
            if self._settings.clean_up:
                await asyncio.shield(self._announcer.remove())

    async def _serve(self, stop: asyncio.Event) -> None:
        caches: list[Cache[Any]] = [self._tending.nodes, self._kubelets.pods]
        if self._announcer.claims is not None:
            claims = self._kubelets.claims = Cache(self._announcer.claims, ResourceClaim)
            caches.append(claims)
        async with asyncio.TaskGroup() as tasks:
            background = [
                tasks.create_task(Informer(cache, self._client, self._env.meter).run())
                for cache in caches
            ]
            try:
                background.append(tasks.create_task(self._live(caches)))
                await stop.wait()
            finally:
                for task in background:
                    task.cancel()

    async def _live(self, caches: list[Cache[Any]]) -> None:
        await self._announcer.put()
        for cache in caches:
            await cache.until_synced()
        self._tending.look()
        heart = Heart(
            announcer=self._announcer,
            clock=self._env.clock,
            state=self._tending.state,
            period=self._settings.heartbeat,
        )
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._kubelets.run())
            tasks.create_task(self._tending.run(self._kubelets))
            tasks.create_task(self._strike())
            await self._tending.settled()
            tasks.create_task(heart.run())

    async def _strike(self) -> None:
        """The faults of the timeline that are about pods, in their order."""
        faults = [fault for fault in self._settings.timeline if fault.pod]
        for fault in sorted(faults, key=lambda one: durations.parse(one.at)):
            due = self._times.start + durations.to_seconds(fault.at)
            await self._env.clock.sleep(due - self._times.now())
            key = Key(*fault.pod.split("/", 1))
            self._kubelets.strike(key, fault.container, OOM if fault.oom else CRASH)


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """What broke first: the others broke with it."""
    first = group.exceptions[0]
    return _first(first) if isinstance(first, BaseExceptionGroup) else first
