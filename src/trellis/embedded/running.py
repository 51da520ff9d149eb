# SPDX-License-Identifier: Apache-2.0
"""A whole cluster in this process: the API over TLS, the kube controllers, the scheduler, nodes.

It starts and stops them, and knows no kind. Loopback only, unless told otherwise.
"""

from __future__ import annotations

import errno
import os
import random
import secrets
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import msgspec

from trellis.embedded.asking import MASTERS, User
from trellis.embedded.controllers import run as kube
from trellis.embedded.controllers.means import Options
from trellis.embedded.core.cluster import ADMIN, Cluster, Settings
from trellis.embedded.durable import durable
from trellis.embedded.fleets import Choice, fleet_called, remember
from trellis.embedded.front.server import LOOPBACK, Server
from trellis.embedded.ground import Ground
from trellis.embedded.nodes.expanding import expand
from trellis.embedded.nodes.simulator import Settings as NodeSettings
from trellis.embedded.nodes.simulator import Simulator
from trellis.embedded.nodes.waiters import shipped
from trellis.embedded.parts import Parts
from trellis.embedded.scheduling.run import schedule
from trellis.instruments.clock import SystemClock
from trellis.kube import kubeconfig_writing
from trellis.kube.client import Client
from trellis.kube.tls import Trust
from trellis.runtime.env import Env
from trellis.runtime.stopping import unless

if TYPE_CHECKING:
    import asyncio
    from collections.abc import AsyncIterator
    from pathlib import Path

    from trellis.embedded.keys import Keys
    from trellis.embedded.nodes.announcing import Progress
    from trellis.embedded.nodes.expanding import NodePlan
    from trellis.embedded.nodes.fleet import Fault

CONTROLLERS = "system:kube-controller-manager"
SCHEDULER = "system:kube-scheduler"
NODES = "system:node"
# A token that outlives every session: nobody renews those that `mint` gives away.
_YEAR_SECONDS = 365 * 24 * 3600
_EVERYWHERE = ("0.0.0.0", "::")  # noqa: S104  compared with, not bound to


class CannotListen(Exception):
    """The address that was asked for cannot be had."""


def _silent(_what: str, _done: int, _all: int) -> None:
    """Nobody looks on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a cluster is to be. `fleet` is a ready-made one's name or a path; without, no nodes.

    Without `data` everything is in memory. `seed` 0 leaves the fleet its own.
    """

    fleet: str = ""
    nodes: int | None = None
    seed: int = 0
    host: str = LOOPBACK
    port: int = 0
    exposed: bool = False
    data: Path | None = None
    fsync: bool = False
    controllers: bool = True
    scheduler: bool = True
    progress: Progress = _silent


class Running:
    """A cluster that answers. Made by `running`."""

    def __init__(self, core: Cluster, keys: Keys, server: str, fleet: _Fleet) -> None:
        self.server = server
        self.core = core
        self.authority = keys.bundle
        self.token = keys.token
        self.fresh = not core.store.version
        """Whether nothing of an earlier run was in the data folder."""
        self.note = ""
        """What was mended in the data folder, to be shown to a person."""
        self.nodes = len(fleet.plans)
        self.gpus = sum(len(plan.machine.gpus) for plan in fleet.plans)
        self.parts = Parts()
        self.simulator: Simulator | None = None

    def kubeconfig(self, token: str | None = None, name: str = "trellis") -> str:
        """For the bearer of that token; without one, for the admin."""
        bearer = token or self.token
        return kubeconfig_writing.with_token(name, self.server, self.authority, bearer)

    def mint(self, namespace: str, account: str) -> str:
        """A token of a service account that exists."""
        return self.core.access.mint(namespace, account, seconds=_YEAR_SECONDS)

    def client(self, token: str | None = None, manager: str = "trellis") -> Client:
        """Asks without a socket, as the bearer of that token; without one, as the admin."""
        world = self.core.world
        transport = self.core.transport(token or self.token)
        return Client(transport, world.clock, world.rng, manager=manager)

    async def ready(self) -> None:
        """Waits until all nodes are ready. Raises what broke, if something does."""
        if self.simulator is not None:
            await self.parts.unless_broken(self.simulator.ready())

    async def failure(self) -> Exception:
        """Waits until a part ends without being told to, and returns why."""
        return await self.parts.failure()


@asynccontextmanager
async def running(plan: Plan) -> AsyncIterator[Running]:
    """A cluster for the length of a block. At its end everything is stopped, in order."""
    fleet = _Fleet.of(plan)
    clock = SystemClock()
    # Not the plan's seed: what is drawn must never be what an earlier run on the same data drew.
    rng = random.Random()  # noqa: S311  uids and jitter, no secrets
    ground = Ground.of(plan.data, plan.port, clock.now(), rng)
    found = _Assembled.of(plan, ground, Env(clock=clock, rng=rng), fleet)
    async with AsyncExitStack() as stack:
        stack.push_async_callback(found.running.core.close)
        if plan.data and plan.fleet:
            remember(plan.data, Choice(fleet=plan.fleet, nodes=plan.nodes))
        await found.running.core.start()
        stack.push_async_callback(found.front.stop)
        await found.listen(plan)
        stack.push_async_callback(found.running.parts.stop)
        found.begin(plan, fleet)
        yield found.running


@dataclass(frozen=True, slots=True)
class _Fleet:
    plans: tuple[NodePlan, ...] = ()
    faults: tuple[Fault, ...] = ()

    @classmethod
    def of(cls, plan: Plan) -> _Fleet:
        if not plan.fleet:
            return cls()
        fleet = fleet_called(plan.fleet)
        if plan.seed:
            fleet = msgspec.structs.replace(fleet, seed=plan.seed)
        return cls(expand(fleet, plan.nodes), tuple(fleet.faults))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Assembled:
    """Everything made, and nothing started. `tokens` are those of the parts, by their user."""

    running: Running
    front: Server
    ground: Ground
    env: Env
    tokens: dict[str, str] = field(repr=False)

    @classmethod
    def of(cls, plan: Plan, ground: Ground, env: Env, fleet: _Fleet) -> _Assembled:
        tokens = {user: secrets.token_urlsafe(32) for user in (CONTROLLERS, SCHEDULER, NODES)}
        users = {
            token: User(name=name, groups=(MASTERS, "system:authenticated"))
            for name, token in tokens.items()
        }
        keys, journal = ground.keys, ground.journal
        settings = Settings(
            clock=env.clock,
            rng=env.rng,
            key=keys.signing,
            tokens=users | {keys.token: ADMIN},
            journal=journal,
            address=f"{plan.host}:{ground.port}",
        )
        core = Cluster(settings)
        everywhere = plan.host in _EVERYWHERE
        host = LOOPBACK if everywhere else plan.host
        found = Running(core, keys, f"https://{_bracketed(host)}:{ground.port}", fleet)
        found.note = journal.note if journal else ""
        handle = durable(core.handle, journal) if journal and plan.fsync else core.handle
        front = Server(handle, tls=keys.tls([host], env.clock.now()))
        return cls(running=found, front=front, ground=ground, env=env, tokens=tokens)

    async def listen(self, plan: Plan) -> None:
        try:
            await self.front.start(plan.host, self.ground.port, exposed=plan.exposed)
        except OSError as error:
            raise CannotListen(_said(plan, self.ground.port, error)) from None
        self.ground.settle()

    def begin(self, plan: Plan, fleet: _Fleet) -> None:
        """Starts what works on the API rather than being it."""
        parts = self.running.parts
        if plan.controllers:
            parts.start("the kube controllers", self._controllers)
        if plan.scheduler:
            parts.start("the scheduler", self._scheduler)
        if fleet.plans:
            dice = random.Random(plan.seed)  # noqa: S311  jitter, no secrets
            trust = Trust(where="the cluster's own authority", authority=self.running.authority)
            settings = NodeSettings(
                timeline=fleet.faults,
                waiters=shipped(self.running.server, trust, dice),
                clean_up=False,
                progress=plan.progress,
            )
            env = Env(clock=self.env.clock, rng=dice)
            client = self._client(NODES, "kubelet")
            simulator = Simulator(client, fleet.plans, env, settings)
            self.running.simulator = simulator
            parts.start("the simulated nodes", simulator.run)

    async def _controllers(self, stop: asyncio.Event) -> None:
        core = self.running.core
        options = Options(root_ca=self.running.authority.decode(), catalogue=core.registry)
        client = self._client(CONTROLLERS, kube.MANAGER)
        await kube.controllers(client, self.env, stop, options)

    async def _scheduler(self, stop: asyncio.Event) -> None:
        client = self._client(SCHEDULER, "kube-scheduler")
        await unless(stop, schedule(client, self.env))

    def _client(self, user: str, manager: str) -> Client:
        return self.running.client(self.tokens[user], manager)


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _said(plan: Plan, port: int, error: OSError) -> str:
    where = f"{_bracketed(plan.host)}:{port}"
    if error.errno != errno.EADDRINUSE:
        return f"cannot listen on {where}: {os.strerror(error.errno or 0)}; choose another --port"
    if plan.port or plan.data is None:
        return f"port {port} is in use; stop what listens there, or choose another --port"
    return (
        f"port {port}, which the cluster in {plan.data} has, is in use; stop what listens there,"
        " or give it another with --port (and have its kubeconfigs written anew)"
    )
