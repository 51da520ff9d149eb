# SPDX-License-Identifier: Apache-2.0
"""A controller at work: changes become keys, keys become runs, and every run has one outcome.

A run that raises is tried again, ever later; nobody else waits for it. No two runs of one key ever
overlap, and none begins before the caches have what the last one wrote.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Any

from structlog.contextvars import bound_contextvars

from trellis.instruments.logs import logger
from trellis.kube.errors import KubeError
from trellis.runtime.agenda import Priority
from trellis.runtime.barrier import CacheBehind
from trellis.runtime.controller import Wakes, priority
from trellis.runtime.going import GOING_SECONDS, NamespaceGoes
from trellis.runtime.outcome import Again, FailedForGood, Outcome
from trellis.runtime.queue import WorkQueue
from trellis.runtime.writes import LeadershipLost

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trellis.api.meta import Key, Object
    from trellis.runtime.controller import Controller
    from trellis.runtime.env import Env
    from trellis.runtime.io import IO

OUTCOMES = ("done", "again", "failed_for_good", "error", "held")
# Caches wake what waits for them; this is for the wake that was lost.
HELD_SECONDS = 10.0
SOON_SECONDS = 0.01

_log = logger(__name__)


class Loop:
    def __init__(self, controller: Controller[Any], io: IO, env: Env) -> None:
        self._controller = controller
        self._io = io
        self._env = env
        self.queue: WorkQueue[Key] = WorkQueue(
            env.clock, env.rng, pace=controller.pace, crowd=controller.crowd
        )
        self._count()

    def wake(self) -> None:
        """Looks at everything there is, and from then on at whatever changes."""
        for wakes in self._wakes():
            wakes.cache.subscribe(partial(self._changed, wakes))
        for cache in dict.fromkeys(self._controller.caches):
            cache.on_gap(self._look_at_all)
        for bell in self._controller.bells:
            bell.subscribe(self.queue.add)

    async def run(self) -> None:
        """Works until the queue is closed."""
        async with asyncio.TaskGroup() as group:
            for number in range(self._controller.workers):
                group.create_task(self._work(), name=f"{self._controller.name} {number}")

    def _wakes(self) -> tuple[Wakes[Any], ...]:
        return (Wakes(self._controller.cache, _itself), *self._controller.woken_by)

    def _look_at_all(self) -> None:
        """What a run has just made may be gone again without a word."""
        for wakes in self._wakes():
            for found in wakes.cache:
                for key in wakes.keys(found):
                    self.queue.add(key, Priority.BACKGROUND)

    def _changed(
        self, wakes: Wakes[Any], old: Object | None, new: Object | None, *, fresh: bool
    ) -> None:
        matters = wakes.matters
        if matters is not None and old is not None and new is not None and not matters(old, new):
            return
        # Both, because what an object was is somebody's business as well as what it is.
        told = [key for found in (old, new) if found is not None for key in wakes.keys(found)]
        for key in dict.fromkeys(told):
            self.queue.add(key, priority(old, new, fresh=fresh))

    async def _work(self) -> None:
        while (key := await self.queue.take()) is not None:
            run = f"{self._env.rng.getrandbits(32):08x}"
            with bound_contextvars(
                controller=self._controller.name, object=str(key), reconcile=run
            ):
                began = self._env.clock.monotonic()
                label = await self._turn(key)
            self._seconds.observe(self._env.clock.monotonic() - began)
            self._outcomes.labels(self._controller.name, label).inc()

    async def _turn(self, key: Key) -> str:
        """One run and what follows from it; returns how it is counted."""
        try:
            outcome = await self._run(key)
        except CacheBehind as behind:
            _log.debug("held", why=str(behind))
            self._hold(key, behind.owner or self._uid(key))
            return "held"
        except NamespaceGoes as going:
            _log.debug("again", after=GOING_SECONDS, why=str(going))
            self.queue.succeed(key, GOING_SECONDS)
            return "again"
        except asyncio.CancelledError:
            self.queue.put_back(key, 0.0)
            raise
        except Exception as error:
            self._failed(key, error)
            return "error"
        return self._ended(key, outcome)

    async def _run(self, key: Key) -> Outcome:
        uid = self._uid(key)
        async with asyncio.timeout(self._controller.deadline):
            if uid is not None:
                await self._io.settle(uid)
                if not self._io.barrier.is_open(uid):
                    raise CacheBehind("the caches lack our own last write")
            io = self._io.on_behalf_of((self._controller.name, key), partial(self.queue.add, key))
            return await self._controller.reconcile(key, io)

    def _uid(self, key: Key) -> str | None:
        if self._controller.identity is not None:
            return self._controller.identity(key)
        found = self._controller.cache.get(key)
        return found.metadata.uid if found is not None else None

    def _hold(self, key: Key, uid: str | None) -> None:
        if uid is None or self._io.barrier.is_open(uid):
            # Held by what was written in another name: nobody will wake it, and at once is in vain.
            self.queue.put_back(key, SOON_SECONDS)
        else:
            self.queue.put_back(key, HELD_SECONDS)
            wake = partial(self.queue.add, key)
            self._io.barrier.when_caught_up(uid, (self._controller.name, key), wake)

    def _failed(self, key: Key, error: Exception) -> None:
        after = round(self.queue.fail(key), 3)
        if isinstance(error, TimeoutError):
            _log.error("run given up", seconds=self._controller.deadline, again_after=after)
        elif isinstance(error, KubeError | LeadershipLost):
            # These explain themselves; a traceback would only bury what they say.
            _log.warning("failed", error=str(error), again_after=after)
        else:
            _log.error("failed", exc_info=error, again_after=after)

    def _ended(self, key: Key, outcome: Outcome) -> str:
        match outcome:
            case Again(after):
                _log.debug("again", after=after)
                self.queue.succeed(key, after)
                return "again"
            case FailedForGood(reason):
                _log.warning("failed for good", reason=reason)
                self.queue.succeed(key)
                return "failed_for_good"
        _log.debug("done")
        self.queue.succeed(key)
        return "done"

    def _count(self) -> None:
        name, meter, queue = self._controller.name, self._env.meter, self.queue
        named = {"controller": (name,)}
        self._outcomes = meter.counter(
            "trellis_reconcile_total", "Runs by their outcome.", {**named, "outcome": OUTCOMES}
        )
        self._seconds = meter.histogram(
            "trellis_reconcile_seconds", "How long runs take.", named
        ).labels(name)
        for metric, text, read in (
            ("trellis_queue_waiting", "Keys that wait.", lambda: queue.agenda.waiting),
            ("trellis_queue_active", "Keys at work.", lambda: queue.agenda.active),
            ("trellis_queue_later", "Keys whose time is yet to come.", lambda: queue.agenda.later),
            ("trellis_queue_oldest_seconds", "Since the first began to wait.", queue.oldest),
        ):
            meter.gauge(metric, text, named).labels(name).set_function(read)


def _itself(found: Object) -> Iterable[Key]:
    return (found.metadata.key,)
