# SPDX-License-Identifier: Apache-2.0
"""The shell: one pod after another is decided on, and what was decided is written meanwhile."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from trellis.embedded.scheduling.act import Actor, Overtaken
from trellis.embedded.scheduling.decide import Bind, Decider, Refuse
from trellis.embedded.scheduling.keeping import Caches, Keeper
from trellis.embedded.scheduling.pods import DEFAULT_SCHEDULER
from trellis.embedded.scheduling.world import World
from trellis.instruments.logs import logger
from trellis.kube.errors import KubeError
from trellis.runtime.informer import Informer
from trellis.runtime.recorder import Recorder

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from trellis.embedded.scheduling.wishes import Wish
    from trellis.kube.client import Client
    from trellis.runtime.env import Env

_log = logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """`name`: the pods with this `schedulerName` are its own, and no others."""

    name: str = DEFAULT_SCHEDULER
    instance: str = "embedded"
    writes: int = 64
    """How many decisions may be under way to the cluster at once."""


async def schedule(client: Client, env: Env, settings: Settings | None = None) -> None:
    """Schedules until it is cancelled. Two of the same name must not run at once."""
    scheduler = Scheduler(client, env, settings or Settings())
    await scheduler.run()


class Scheduler:
    def __init__(self, client: Client, env: Env, settings: Settings) -> None:
        self._clock = env.clock
        self._rng = env.rng
        self._settings = settings
        self._caches = Caches()
        self._informers = [
            Informer(cache, client, env.meter, f"{settings.name}: {cache.label}")
            for cache in self._caches.all()
        ]
        instance = f"{settings.name}-{settings.instance}"
        self._recorder = Recorder(client, env.meter, reporter=settings.name, instance=instance)
        self._actor = Actor(client, self._recorder, settings.name)
        self._decider = Decider(World())
        self._world = self._decider.world
        self._keeper = Keeper(self._decider, settings.name, self._wake)
        self._pending = self._keeper.pending
        self._news = asyncio.Event()
        self._places = asyncio.Semaphore(settings.writes)

    async def run(self) -> None:
        async with asyncio.TaskGroup() as tasks:
            for informer in self._informers:
                tasks.create_task(informer.run())
            tasks.create_task(self._recorder.run())
            for cache in self._caches.all():
                await cache.until_synced()
            self._keeper.listen(self._caches)
            self._decider.start = self._rng.randrange(max(1, len(self._world.rooms())))
            await self._work(tasks)

    async def _work(self, tasks: asyncio.TaskGroup) -> None:
        while True:
            await self._places.acquire()
            wish = self._pending.take(self._clock.monotonic())
            if wish is None:
                self._places.release()
                if not self._keeper.catch_up():
                    await self._idle()
                continue
            follows = self._decide(wish)
            if follows is None:
                self._places.release()
            else:
                tasks.create_task(self._write(follows), name=f"{wish.key}")
            # Others have their turn, however many pods wait.
            await self._clock.sleep(0)

    def _wake(self) -> None:
        self._news.set()

    async def _idle(self) -> None:
        """Until something changes, or one that failed is to be tried again."""
        self._news.clear()
        due = self._pending.next_due()
        alarm = asyncio.create_task(self._ring(due)) if due is not None else None
        try:
            await self._news.wait()
        finally:
            if alarm is not None:
                alarm.cancel()

    async def _ring(self, due: float) -> None:
        await self._clock.sleep(due - self._clock.monotonic())
        self._news.set()

    def _decide(self, wish: Wish) -> Coroutine[None, None, None] | None:
        """What is to be written. From here on the world is as if it were."""
        # A binding of which nobody knows whether it was made is made again.
        if self._world.node_of(wish.uid):
            self._keeper.freed(self._world.displace(wish.uid))
        decision = self._decider.decide(wish)
        if isinstance(decision, Bind):
            return self._assume(wish, decision)
        self._pending.park(wish.uid, self._clock.monotonic())
        return self._heed(wish, decision) if isinstance(decision, Refuse) else None

    def _assume(self, wish: Wish, decision: Bind) -> Coroutine[None, None, None]:
        self._world.place(wish, decision.node)
        for claim, allocation in decision.allocations:
            self._world.claims.promise(claim, allocation)
        return self._bind(wish, decision)

    def _heed(self, wish: Wish, decision: Refuse) -> Coroutine[None, None, None] | None:
        if decision.preemption is not None:
            self._world.nominate(wish, decision.preemption.node)
        elif not decision.keeps_nomination:
            self._keeper.freed(self._world.nominate_no_more(wish.uid))
        if decision.is_only_told and self._actor.says_already(wish, decision):
            return None
        return self._refuse(wish, decision)

    async def _write(self, follows: Coroutine[None, None, None]) -> None:
        try:
            await follows
        finally:
            self._places.release()

    async def _bind(self, wish: Wish, decision: Bind) -> None:
        try:
            for claim in await self._actor.claim(wish, decision):
                self._world.claims.put(claim)
            await self._actor.bind(wish, decision.node)
        except (KubeError, Overtaken) as error:
            _log.info("pod not bound", pod=str(wish.key), node=decision.node, error=str(error))
            unclear = isinstance(error, KubeError) and error.may_have_happened
            if not unclear or await self._is_unbound(wish, decision):
                self._keeper.freed(self._world.displace(wish.uid))
            self._pending.fail(wish.uid, self._clock.monotonic())
            self._news.set()
        else:
            self._pending.forget(wish.uid)
        finally:
            for claim, _ in decision.allocations:
                self._world.claims.settle(claim)
                self._keeper.claim_changed(claim)

    async def _is_unbound(self, wish: Wish, decision: Bind) -> bool:
        """Whether it is sure that the pod has no node. Claims are taken as they are found."""
        try:
            for claim, _ in decision.allocations:
                found = await self._actor.reread(claim)
                if found is not None:
                    self._world.claims.put(found)
            pod = await self._actor.current(wish)
        except KubeError:
            return False
        return pod is None or not pod.spec.node_name

    async def _refuse(self, wish: Wish, decision: Refuse) -> None:
        try:
            if not self._actor.says_already(wish, decision):
                await self._actor.refuse(wish, decision)
            if decision.preemption is not None:
                for victim in decision.preemption.victims:
                    await self._actor.dismiss(victim, wish, decision.preemption.node)
            if decision.freed is not None:
                self._world.claims.put(await self._actor.free(decision.freed))
                self._keeper.claim_changed(decision.freed)
        except KubeError as error:
            _log.info("refusal not told", pod=str(wish.key), error=str(error))
            self._pending.fail(wish.uid, self._clock.monotonic())
            self._news.set()
