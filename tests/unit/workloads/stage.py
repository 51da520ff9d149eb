# SPDX-License-Identifier: Apache-2.0
"""Where workload controllers are watched at work: an API server in this process, in virtual time.

Our kinds are defined from their types. Whoever tests plays everybody else: the user, the other
controllers, the scheduler, and through `Kubelets` the nodes.
"""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

from tests.support.virtual import VirtualClock, dice
from tests.unit.embedded.core.clusters import TOKEN, fresh_cluster
from trellis.api.config.types import OperatorConfiguration
from trellis.api.core.pod import Pod
from trellis.api.grove.podclique import PodClique
from trellis.api.grove.podcliqueset import PodCliqueSet
from trellis.api.grove.scalinggroup import PodCliqueScalingGroup
from trellis.api.meta import Object, Resource
from trellis.api.scheduler.podgang import PodGang
from trellis.api.schema.crd import definition
from trellis.api.schema.kinds import KINDS
from trellis.embedded.controllers.run import COLLECTOR, MANAGER, controllers
from trellis.kube.client import Client
from trellis.kube.errors import NotFound
from trellis.kube.verbs import Deletion, merge_patch
from trellis.runtime.controller import Controller
from trellis.runtime.env import Env
from trellis.runtime.process import Group, Process, Settings
from trellis.workloads.caches import Caches
from trellis.workloads.means import Means

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping, Sequence

    from tests.unit.embedded.core.clusters import Admin
    from trellis.embedded.simulation.crashing import Program
    from trellis.kube.collection import Collection
    from trellis.kube.transport import Request, Response, Stream, Transport

    Makes = Callable[[Means, Caches], Controller[Any] | Sequence[Controller[Any]]]

Body = dict[str, Any]
Kind = type[Object] | Resource

NAMESPACE = "default"
WAITER = "example.com/trellis:test"
# Kubernetes' own types, and rules: tested elsewhere, and dear to read in every test.
_FOREIGN = ("podSpec", "templateSpec", "metrics")
_RULES = "x-kubernetes-validations"
_OPAQUE = {"x-kubernetes-preserve-unknown-fields": True}
_NEEDED = (PodCliqueSet, PodCliqueScalingGroup, PodClique, PodGang)
_EVENTS = Resource("events.k8s.io", "v1", "Event", "events")


@dataclass
class Watched:
    """The transport of the operators. `before` and `after` may raise in place of the server.

    `until`: what a change must wait for, by how the path of its object ends; `heard`: the same for
    what a watch tells.
    """

    inner: Transport
    before: Callable[[Request], None] = lambda _: None
    after: Callable[[Request], None] = lambda _: None
    until: dict[str, asyncio.Event] = field(default_factory=dict)
    heard: dict[str, asyncio.Event] = field(default_factory=dict)
    requests: list[Request] = field(default_factory=list)

    async def request(self, request: Request) -> Response:
        self.requests.append(request)
        self.before(request)
        for path, passed in self.until.items():
            if request.method == "PATCH" and request.path.endswith(path):
                await passed.wait()
        response = await self.inner.request(request)
        self.after(request)
        return response

    @asynccontextmanager
    async def stream(self, request: Request) -> AsyncIterator[Stream]:
        async with self.inner.stream(request) as stream:
            yield _Held(stream, request.path, self.heard)

    async def close(self) -> None:
        await self.inner.close()


@dataclass
class _Held:
    """A stream that tells nothing while something is to be waited for."""

    inner: Stream
    path: str
    heard: dict[str, asyncio.Event]

    @property
    def status(self) -> int:
        return self.inner.status

    @property
    def headers(self) -> Mapping[str, str]:
        return self.inner.headers

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self.inner:
            for path, passed in self.heard.items():
                if self.path.endswith(path):
                    await passed.wait()
            yield chunk


@dataclass
class Stage:
    """`client` is the hand of whoever tests; `watched` is how the operators ask."""

    admin: Admin
    client: Client
    watched: Watched
    configuration: OperatorConfiguration = field(default_factory=OperatorConfiguration)

    def of(self, kind: Kind) -> Collection[Body]:
        resource = kind if isinstance(kind, Resource) else kind.resource
        return self.client.of(resource, dict, NAMESPACE if resource.namespaced else "")

    async def make(self, kind: Kind, body: Body) -> Body:
        resource = kind if isinstance(kind, Resource) else kind.resource
        return await self.of(kind).create(
            {"apiVersion": resource.api_version, "kind": resource.kind, **body}
        )

    async def get(self, kind: Kind, name: str) -> Body:
        """The object, which must be there."""
        return await self.of(kind).get(name)

    async def find(self, kind: Kind, name: str) -> Body | None:
        with suppress(NotFound):
            return await self.of(kind).get(name)
        return None

    async def all(self, kind: Kind) -> list[Body]:
        return list((await self.of(kind).list()).objects)

    async def names(self, kind: Kind) -> list[str]:
        return sorted(one["metadata"]["name"] for one in await self.all(kind))

    async def patch(self, kind: Kind, name: str, patch: Body, *, part: str = "") -> Body:
        """A merge patch, of a subresource such as `status` where one is named."""
        return await self.of(kind).patch(name, merge_patch(patch), subresource=part)

    async def delete(self, kind: Kind, name: str, *, grace: int | None = None) -> None:
        await self.of(kind).delete(name, Deletion(grace_seconds=grace))

    async def conditions(self, kind: Kind, name: str) -> dict[str, tuple[str, str]]:
        """Status and reason of each condition."""
        found = (await self.get(kind, name)).get("status", {}).get("conditions", [])
        return {one["type"]: (one["status"], one["reason"]) for one in found}

    async def message(self, kind: Kind, name: str, condition: str) -> str:
        found = (await self.get(kind, name)).get("status", {}).get("conditions", [])
        return next((str(one["message"]) for one in found if one["type"] == condition), "")

    async def events(self, name: str = "") -> list[tuple[str, str]]:
        """Reason and note of each event, of one object or of all."""
        found = await self.all(_EVENTS)
        told = [one for one in found if not name or one["regarding"]["name"] == name]
        return [(one["reason"], one["note"]) for one in told]

    async def bind(self, pod: str, node: str = "node-1") -> None:
        path = f"/api/v1/namespaces/{NAMESPACE}/pods/{pod}/binding"
        target = {"apiVersion": "v1", "kind": "Node", "name": node}
        body = {"metadata": {"name": pod}, "target": target}
        await self.admin.do("POST", path, {"apiVersion": "v1", "kind": "Binding", **body})

    async def refuse(self, pod: str) -> None:
        """As a scheduler would say that there is no room."""
        condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
        body = {"status": {"phase": "Pending", "conditions": [condition]}}
        await self.patch(Pod, pod, body, part="status")

    async def ready(self, pod: str, *, ready: bool = True) -> None:
        """As a kubelet would say that all containers run, and are ready or not."""
        container = {"name": "main", "started": True, "ready": ready}
        await self._tell(pod, "Running", ready, [container])

    async def crash(self, pod: str, code: int = 1) -> None:
        """As a kubelet would say that a container has ended and is to be started again."""
        ended = {"terminated": {"exitCode": code}}
        container = {"name": "main", "started": False, "ready": False, "lastState": ended}
        await self._tell(pod, "Running", False, [container])

    async def end(self, pod: str, phase: str = "Failed") -> None:
        """As a kubelet would say that the pod has ended for good."""
        await self._tell(pod, phase, False, [])

    async def settle(self, seconds: float = 5.0) -> None:
        """Lets that much time pass: all that waits for nothing but others is done by then."""
        await asyncio.sleep(seconds)

    def writes(self) -> list[str]:
        """What operators have written since `forget`, as `POST pods` or `PATCH pods/x/status`."""
        return [
            _shown(one)
            for one in self.watched.requests
            if one.method != "GET" and "/events" not in one.path
        ]

    def forget(self) -> None:
        self.watched.requests.clear()

    @asynccontextmanager
    async def operator(self, *makes: Makes, means: Means | None = None) -> AsyncIterator[None]:
        """A process with these controllers, for the length of a block; settled when it begins."""
        process = self._process(self.watched, makes, means or self.means())
        stop = asyncio.Event()
        running = asyncio.create_task(process.run(stop))
        try:
            await self.settle()
            assert not running.done(), running.exception()
            yield
        finally:
            stop.set()
            await running

    def program(self, *makes: Makes) -> Program:
        """The same for the crash driver: it runs until it is cancelled."""

        async def run(transport: Transport) -> None:
            await self._process(transport, makes, self.means()).run(asyncio.Event())

        return run

    def _process(self, transport: Transport, makes: Sequence[Makes], means: Means) -> Process:
        client = Client(transport, means.env.clock, means.env.rng)
        caches = Caches()
        made = tuple(one for make in makes for one in _all_of(make(means, caches)))
        settings = Settings(reporter="trellis.dev/operator", instance="one", whole_process=False)
        return Process(client, [Group(controllers=made)], means.env, settings)

    def means(self, **more: Any) -> Means:
        env = Env(clock=VirtualClock(), rng=dice(1))
        return Means(configuration=self.configuration, env=env, waiter_image=WAITER, **more)

    @asynccontextmanager
    async def collector(self) -> AsyncIterator[None]:
        """The garbage collector of a cluster, for the length of a block."""
        env = Env(clock=VirtualClock(), rng=dice(2))
        stop = asyncio.Event()
        client = Client(self.admin.cluster.transport(TOKEN), env.clock, env.rng, manager=MANAGER)
        running = asyncio.create_task(controllers(client, env, stop, which=(COLLECTOR,)))
        try:
            yield
        finally:
            stop.set()
            await running

    async def _tell(self, pod: str, phase: str, ready: bool, containers: list[Body]) -> None:
        now = self.client.clock.now().strftime("%Y-%m-%dT%H:%M:%SZ")
        condition = {"type": "Ready", "status": str(ready), "lastTransitionTime": now}
        present = (await self.get(Pod, pod))["status"].get("conditions", [])
        kept = [one for one in present if one["type"] != "Ready"]
        status = {
            "phase": phase,
            "conditions": [*kept, condition],
            "containerStatuses": [
                {"image": "none", "imageID": "none", "restartCount": 0, **one} for one in containers
            ],
        }
        await self.patch(Pod, pod, {"status": status}, part="status")


async def a_stage(seed: int = 1) -> Stage:
    """A cluster that serves our kinds."""
    admin = await fresh_cluster(seed)
    client = Client(admin.cluster.transport(TOKEN), VirtualClock(), dice(seed))
    stage = Stage(admin, client, Watched(admin.cluster.transport(TOKEN)))
    path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    for body in _definitions():
        await admin.do("POST", path, body)
    # The controller that makes one in every namespace is not here.
    accounts = f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts"
    await admin.do("POST", accounts, {"metadata": {"name": "default"}})
    return stage


@cache
def _definitions() -> tuple[Body, ...]:
    return tuple(_lighter(definition(served)) for served in KINDS if served.type in _NEEDED)


def _lighter(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_lighter(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {name: one for name, one in schema.items() if name != _RULES}
    return {name: _OPAQUE if name in _FOREIGN else _lighter(one) for name, one in kept.items()}


def _all_of(made: Controller[Any] | Sequence[Controller[Any]]) -> Sequence[Controller[Any]]:
    return (made,) if isinstance(made, Controller) else made


def _shown(request: Request) -> str:
    named = request.path.partition(f"/namespaces/{NAMESPACE}/")[2]
    return f"{request.method} {named or request.path}"
