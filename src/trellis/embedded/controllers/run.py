# SPDX-License-Identifier: Apache-2.0
"""Runs the controllers, all or some, on one client until told to stop. There is no election."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from trellis.api.meta import Key
from trellis.embedded.controllers.accounts import root_certificates, service_accounts
from trellis.embedded.controllers.apps.daemonset import daemon_set_controller
from trellis.embedded.controllers.apps.deployment import deployment_controller
from trellis.embedded.controllers.apps.replicaset import replica_set_controller
from trellis.embedded.controllers.budgets import budget_controller
from trellis.embedded.controllers.claims import claim_controller, pod_claim_controller
from trellis.embedded.controllers.collecting.census import Census
from trellis.embedded.controllers.collecting.collector import Collector
from trellis.embedded.controllers.collecting.namespaces import namespace_controller
from trellis.embedded.controllers.identities import acting
from trellis.embedded.controllers.job.reconciler import job_controller
from trellis.embedded.controllers.means import Means, Options
from trellis.embedded.controllers.nodes import node_controller, pod_collector
from trellis.embedded.controllers.pen import Pen
from trellis.embedded.controllers.policies import policy_controller, role_controller
from trellis.runtime.barrier import Barrier
from trellis.runtime.informer import Informer
from trellis.runtime.io import IO
from trellis.runtime.loop import Loop
from trellis.runtime.recorder import Recorder
from trellis.runtime.writes import Writes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from trellis.kube.client import Client
    from trellis.runtime.cache import Cache
    from trellis.runtime.controller import Controller
    from trellis.runtime.env import Env

MANAGER = "kube-controller-manager"
"""What the field manager of the client should be: so the real ones sign."""
COLLECTOR = "garbage-collector"
NAMESPACE = "namespace"

_MAKERS: dict[str, Callable[[Means], Controller[Any]]] = {
    NAMESPACE: namespace_controller,
    "serviceaccount": service_accounts,
    "root-ca": root_certificates,
    "job": job_controller,
    "replicaset": replica_set_controller,
    "deployment": deployment_controller,
    "daemonset": daemon_set_controller,
    "disruption": budget_controller,
    "resourceclaim-pod": pod_claim_controller,
    "resourceclaim": claim_controller,
    "node-lifecycle": node_controller,
    "podgc": pod_collector,
    "clusterrole-aggregation": role_controller,
    "policy-status": policy_controller,
}
ALL = (COLLECTOR, *_MAKERS)


class UnknownController(ValueError):
    """A controller was asked for that does not exist."""


async def controllers(
    client: Client,
    env: Env,
    stop: asyncio.Event,
    options: Options | None = None,
    which: Sequence[str] = ALL,
) -> None:
    """Runs those until `stop` is set. Raises what broke, if something does."""
    unknown = [name for name in which if name not in ALL]
    if unknown:
        raise UnknownController(f"{unknown[0]!r} is not known; choose from {', '.join(ALL)}")
    await _Run(client, env, options or Options()).run(which, stop)


class _Run:
    def __init__(self, client: Client, env: Env, options: Options) -> None:
        self._client = client
        self._env = env
        self._barrier = Barrier()
        self._census = Census(client)
        self._means = Means(
            client=client,
            env=env,
            pen=Pen(client, self._writes(client)),
            recorder=self._speaking(client, MANAGER),
            census=self._census,
            options=options,
        )

    async def run(self, which: Sequence[str], stop: asyncio.Event) -> None:
        chosen = {name: make for name, make in _MAKERS.items() if name in which}
        means = {name: self._means_of(name) for name in chosen}
        made = {name: make(means[name]) for name, make in chosen.items()}
        async with asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(Informer(cache, self._client, self._env.meter, label).run())
                for label, cache in self._caches(made.values())
            ]
            loops = {name: self._loop(means[name], one) for name, one in made.items()}
            tasks += [group.create_task(one.recorder.run()) for one in means.values()]
            if COLLECTOR in which or NAMESPACE in made:
                tasks.append(group.create_task(self._census.run()))
            if COLLECTOR in which:
                client = acting(self._client, COLLECTOR)
                collector = Collector(client, self._census, self._env)
                tasks.append(group.create_task(collector.run()))
            if NAMESPACE in made:
                self._census.on_gone(partial(_wake, self._means, loops[NAMESPACE]))
            tasks += [group.create_task(_work(made[name], loop)) for name, loop in loops.items()]
            await stop.wait()
            for task in tasks:
                task.cancel()

    def _writes(self, client: Client) -> Writes:
        return Writes(client, self._barrier, self._env.meter, lambda: True)

    def _means_of(self, name: str) -> Means:
        client = acting(self._client, name)
        return replace(
            self._means,
            client=client,
            pen=Pen(client, self._writes(client)),
            recorder=self._speaking(client, f"{name}-controller"),
        )

    def _speaking(self, client: Client, name: str) -> Recorder:
        return Recorder(client, self._env.meter, reporter=name, instance=MANAGER)

    def _loop(self, means: Means, made: Controller[Any]) -> Loop:
        return Loop(made, IO(self._writes(means.client), means.recorder), self._env)

    def _caches(self, made: Iterable[Controller[Any]]) -> list[tuple[str, Cache[Any]]]:
        """Every cache once, under the name of what uses it."""
        found = [self._census.definitions, *(cache for each in made for cache in each.caches)]
        return [(f"kube {cache.label}", cache) for cache in dict.fromkeys(found)]


async def _work(controller: Controller[Any], loop: Loop) -> None:
    for cache in controller.caches:
        await cache.until_synced()
    loop.wake()
    await loop.run()


def _wake(means: Means, sweeper: Loop, namespace: str) -> None:
    """Something in a namespace is gone: if it is to go, that may have been the last."""
    found = means.namespaces.get(Key("", namespace))
    if found is not None and found.metadata.deleting:
        sweeper.queue.add(Key("", namespace))
