# SPDX-License-Identifier: Apache-2.0
"""A list of controllers run as one process: caches first, then election, then work; and back.

It runs until it is told to stop, or until something of ours breaks, which is raised: then the
process should end, and be started again by whoever started it.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from trellis.instruments.logs import logger
from trellis.runtime.barrier import Barrier
from trellis.runtime.collector import spared
from trellis.runtime.election import Election, LeaseName, Timing
from trellis.runtime.health import Readiness
from trellis.runtime.informer import Informer
from trellis.runtime.io import IO
from trellis.runtime.loop import Loop
from trellis.runtime.recorder import Recorder
from trellis.runtime.stopping import unless
from trellis.runtime.watchdog import Watchdog
from trellis.runtime.writes import Writes, count_writes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from trellis.kube.client import Client
    from trellis.runtime.cache import Cache
    from trellis.runtime.controller import Controller
    from trellis.runtime.env import Env
    from trellis.runtime.health import Check

FLUSH_SECONDS = 2.0
OPTIONAL_SECONDS = 5.0
# What was read longer ago, others may have changed who led until now.
FRESH_SECONDS = 5.0
FRESHENING_SECONDS = 15.0

_log = logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Controllers that work while their lease is held; without one, always."""

    controllers: tuple[Controller[Any], ...]
    lease: LeaseName | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """`reporter` and `instance` sign the events; `drain` seconds are given to runs at the end."""

    reporter: str
    instance: str
    timing: Timing = field(default_factory=Timing)
    checks: Mapping[str, Check] = field(default_factory=dict)
    """What else must be well for it to be ready."""
    reads: tuple[Cache[Any], ...] = ()
    """What others in the process read, besides the controllers."""
    drain: float = 20.0
    whole_process: bool = True
    """Whether nobody else runs in this Python: its collector and its loop are then looked after."""


class Process:
    def __init__(
        self, client: Client, groups: Sequence[Group], env: Env, settings: Settings
    ) -> None:
        self._client = client
        self._groups = groups
        self._env = env
        self._settings = settings
        self._recorder = Recorder(
            client, env.meter, reporter=settings.reporter, instance=settings.instance
        )
        self._informers = [
            Informer(cache, client, env.meter, label)
            for cache, label in _labelled(_caches(groups, settings.reads))
        ]
        count_writes(env.meter, [each.cache.resource for each in self._informers])
        self._stop: asyncio.Event | None = None
        self.readiness = Readiness()
        self.readiness.add("caches", self._unread)
        self.readiness.add("process", self._stopping)
        for name, check in settings.checks.items():
            self.readiness.add(name, check)

    async def run(self, stop: asyncio.Event) -> None:
        """Ends well some time after `stop` is set. Raises what broke, if something does."""
        self._stop = stop
        try:
            await self._supervise(stop)
        except BaseExceptionGroup as group:
            raise _first(group) from None

    async def _supervise(self, stop: asyncio.Event) -> None:
        """What runs in the background must not end; if it does, everything does."""
        async with asyncio.TaskGroup() as tasks:
            background = [tasks.create_task(informer.run()) for informer in self._informers]
            background.append(tasks.create_task(self._recorder.run()))
            if self._settings.whole_process:
                self._env.meter.watch_process()
                background.append(tasks.create_task(Watchdog(self._env).run()))
            try:
                await self._start_and_stop(stop)
            finally:
                for task in background:
                    task.cancel()

    async def _start_and_stop(self, stop: asyncio.Event) -> None:
        with spared(tune=self._settings.whole_process):
            synced = await unless(stop, self._until_synced())
        if synced:
            _log.info("caches are filled", objects=sum(len(each.cache) for each in self._informers))
            async with asyncio.TaskGroup() as tasks:
                for group in self._groups:
                    tasks.create_task(self._serve(group, stop))
        await self._flush()

    async def _until_synced(self) -> None:
        required = [each for each in self._informers if not each.cache.scope.optional]
        optional = [each for each in self._informers if each.cache.scope.optional]
        for each in required:
            await each.cache.until_synced()
        # A server that cannot say whether it has them holds nobody up for long.
        with suppress(TimeoutError):
            async with asyncio.timeout(OPTIONAL_SECONDS):
                await asyncio.gather(*(each.until_answered() for each in optional))

    async def _serve(self, group: Group, stop: asyncio.Event) -> None:
        """One group from its election to the release of its lease."""
        if group.lease is None:
            await self._work(group, None, stop)
            return
        election = Election(self._client, group.lease, self._env, self._settings.timing)
        try:
            if await unless(stop, election.win()):
                await self._work(group, election, stop)
        finally:
            # All that writes has ended by now, however it did.
            if election.may_hold():
                await election.release()

    async def _work(self, group: Group, election: Election | None, stop: asyncio.Event) -> None:
        may_write = election.leading if election else _always
        writes = Writes(self._client, Barrier(), self._env.meter, may_write)
        io = IO(writes, self._recorder)
        loops = [Loop(controller, io, self._env) for controller in group.controllers]
        async with asyncio.TaskGroup() as tasks:
            running: list[asyncio.Task[None]] = []
            if election is not None:
                running.append(tasks.create_task(election.keep()))
                await unless(stop, self._freshen())
            running += [tasks.create_task(loop.run()) for loop in loops]
            for loop in loops:
                loop.wake()
            await stop.wait()
            await self._drain(loops)
            for task in running:
                task.cancel()

    async def _freshen(self) -> None:
        """Reads again what was read while somebody else led.

        Our own writes are waited for, but those of the one before us are not: on a watch that has
        gone silent meanwhile, we would do again what has been done.
        """
        old = [each for each in self._informers if each.since_begun() > FRESH_SECONDS]
        try:
            async with asyncio.timeout(FRESHENING_SECONDS):
                await asyncio.gather(*(each.read_again() for each in old))
        except TimeoutError:
            # A watch that was silent is found out soon, and a list may fail for ever.
            _log.warning("not all was read again", after=FRESHENING_SECONDS)

    async def _drain(self, loops: Sequence[Loop]) -> None:
        """Runs that have begun may end; none begins."""
        for loop in loops:
            loop.queue.close()
        try:
            async with asyncio.timeout(self._settings.drain):
                for loop in loops:
                    await loop.queue.drained()
        except TimeoutError:
            late = sum(loop.queue.agenda.active for loop in loops)
            _log.warning("runs cut off", runs=late, after=self._settings.drain)

    async def _flush(self) -> None:
        try:
            async with asyncio.timeout(FLUSH_SECONDS):
                await self._recorder.flush()
        except TimeoutError:
            _log.warning("events left unsent", after=FLUSH_SECONDS)

    def _stopping(self) -> str | None:
        return "is stopping" if self._stop is not None and self._stop.is_set() else None

    def _unread(self) -> str | None:
        required = (each for each in self._informers if not each.cache.scope.optional)
        reasons = [why for each in required if (why := each.why_not_synced()) is not None]
        return "; ".join(reasons) or None


def _caches(groups: Sequence[Group], reads: Sequence[Cache[Any]]) -> list[Cache[Any]]:
    """Every cache once, in the order in which they are first named."""
    controllers = [controller for group in groups for controller in group.controllers]
    return list(dict.fromkeys([*(cache for each in controllers for cache in each.caches), *reads]))


def _labelled(caches: Sequence[Cache[Any]]) -> Iterator[tuple[Cache[Any], str]]:
    """Where two watch the same, the later ones are numbered: no two may share a series."""
    known: Counter[str] = Counter()
    for cache in caches:
        known[cache.label] += 1
        number = known[cache.label]
        yield cache, cache.label if number == 1 else f"{cache.label}#{number}"


def _always() -> bool:
    return True


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """What broke first: the others broke with it."""
    first = group.exceptions[0]
    return _first(first) if isinstance(first, BaseExceptionGroup) else first
