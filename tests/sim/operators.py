# SPDX-License-Identifier: Apache-2.0
"""The operator: real controllers in a real process of the runtime, which dies and comes back."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from tests.sim.ending import ended
from tests.sim.ground import INSTALLATION, OPERATOR_TOKEN
from tests.sim.swift import Uncounted
from tests.sim.wire import Habits, Trouble, Wire
from tests.support.virtual import dice
from trellis.api.config.types import OperatorConfiguration
from trellis.embedded.simulation.loop import VirtualClock
from trellis.kube.client import Client
from trellis.runtime.election import LeaseName
from trellis.runtime.env import Env
from trellis.runtime.process import Group, Process, Settings
from trellis.runtime.writes import LeadershipLost
from trellis.workloads.caches import Caches
from trellis.workloads.means import Means

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from tests.sim.chronicle import Chronicle
    from tests.sim.story import Fault, Story
    from trellis.embedded.core.cluster import Cluster
    from trellis.kube.transport import Request
    from trellis.runtime.controller import Controller

    Makes = Callable[[Means, Caches], Sequence[Controller[Any]]]

WAITER = "example.com/trellis:sim"
LEASE = "grove-operator-leader-election"


class SkewedClock(VirtualClock):
    """Tells the wrong time of day, and may jump. How long something takes, it tells right."""

    def __init__(self, seconds: float = 0.0) -> None:
        self.skew = seconds

    def now(self) -> datetime:
        return super().now() + timedelta(seconds=self.skew)


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What every instance lives in."""

    cluster: Cluster
    chronicle: Chronicle
    makes: Makes
    asked: Callable[[str, Request, int], None]
    struck: Callable[[Fault], None]
    complain: Callable[[str, str], None]
    note: Callable[[str], None]


class Operator:
    """One instance, over all its lives."""

    def __init__(self, number: int, story: Story, around: Surroundings) -> None:
        self.who = f"operator-{number}"
        self._number = number
        self._story = story
        self._around = around
        self._rng = dice(story.seed * 31 + number)
        skew = story.skews[number] if number < len(story.skews) else 0.0
        self.clock = SkewedClock(skew)
        planned = {(one.where, one.at): one for one in story.faults if one.instance == number}
        self.trouble = Trouble(around.struck, planned)
        self._stop: asyncio.Event | None = None
        self._wire: Wire | None = None
        self.lives = 0

    async def run(self) -> None:
        """For ever: whoever watches over it starts it again."""
        while True:
            pause = await self._live()
            self._around.note(f"{self.who} is down for {pause:g} s")
            await asyncio.sleep(pause)

    def kill(self, fault: Fault) -> None:
        """Where it happens to be."""
        if self._wire is not None and not self._wire.died.is_set():
            self._wire.dies(fault)

    def restart(self) -> None:
        """Killed at once and started again at once."""
        if self._wire is not None:
            self._wire.died.set()

    def bounce(self) -> None:
        """Asks it to end in good order; it is started again at once."""
        if self._stop is not None:
            self._stop.set()

    def lose_history(self) -> None:
        """What its watches would hear next they never will: they are told to read anew."""
        if self._wire is not None:
            self._wire.history_lost_at = asyncio.get_running_loop().time()
            self._forget()

    async def _live(self) -> float:
        self.lives += 1
        self._around.note(f"{self.who} starts")
        wire = self._wire = Wire(
            inner=self._around.cluster.transport(OPERATOR_TOKEN),
            who=self.who,
            trouble=self.trouble,
            habits=Habits(self._rng, self._story.news_delay, lag=self._rng.random() * 3),
            asked=self._around.asked,
            version_ago=self._around.chronicle.version_ago,
            forget=self._forget,
        )
        self._stop = asyncio.Event()
        running = asyncio.ensure_future(self._process(wire).run(self._stop))
        dying = asyncio.ensure_future(wire.died.wait())
        try:
            await asyncio.wait([running, dying], return_when=asyncio.FIRST_COMPLETED)
        finally:
            killed = dying.done()
            wire.died.set()
            await ended(dying, self._around.complain, self.who)
            await ended(running, self._around.complain, self.who)
        self._judge(running, killed=killed)
        return wire.death

    def _forget(self) -> None:
        store = self._around.cluster.store
        store.compact(store.version)

    def _judge(self, running: asyncio.Future[None], *, killed: bool) -> None:
        if not running.done() or running.cancelled():
            return
        # It may have ended by itself in the very moment in which it was killed.
        error = running.exception()
        if error is not None and not killed and not isinstance(error, LeadershipLost):
            self._around.complain("broke", f"{self.who}: {type(error).__name__}: {error}")

    def _process(self, wire: Wire) -> Process:
        rng = dice(self._rng.getrandbits(64))
        env = Env(clock=self.clock, rng=rng, meter=Uncounted())
        client = Client(wire, env.clock, env.rng)
        means = Means(configuration=OperatorConfiguration(), env=env, waiter_image=WAITER)
        made = tuple(self._around.makes(means, Caches()))
        lease = None
        if self._story.lease:
            identity = f"{self.who}-{self.lives}"
            lease = LeaseName(namespace=INSTALLATION.namespace, name=LEASE, identity=identity)
        settings = Settings(reporter="trellis.dev/operator", instance=self.who, whole_process=False)
        return Process(client, [Group(controllers=made, lease=lease)], env, settings)
