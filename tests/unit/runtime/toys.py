# SPDX-License-Identifier: Apache-2.0
"""The toy controller, written as every controller is: observe, decide, act."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tests.support.virtual import VirtualClock, dice
from tests.unit.runtime.builders import (
    BALLS,
    BOXES,
    NAMESPACE,
    Ball,
    BallSpec,
    Box,
    BoxStatus,
)
from trellis.api.meta import Metadata, owner
from trellis.kube.client import Client
from trellis.kube.errors import Unreachable
from trellis.runtime.cache import Cache
from trellis.runtime.controller import Controller, Wakes, controller_of
from trellis.runtime.converge import Children
from trellis.runtime.election import LeaseName
from trellis.runtime.env import Env
from trellis.runtime.notes import Note
from trellis.runtime.outcome import DONE
from trellis.runtime.plan import by_fields
from trellis.runtime.process import Group, Process, Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractAsyncContextManager
    from typing import Any

    from tests.support.memory_api import MemoryApi
    from trellis.api.meta import Key
    from trellis.kube.transport import Request, Response, Stream, Transport
    from trellis.runtime.io import IO
    from trellis.runtime.outcome import Outcome

BOX_PATH = f"/apis/toys.dev/v1/namespaces/{NAMESPACE}/boxes"
BALL_PATH = f"/apis/toys.dev/v1/namespaces/{NAMESPACE}/balls"


def wanted(box: Box) -> Iterator[Ball]:
    for number in range(box.spec.balls):
        metadata = Metadata(
            name=f"{box.metadata.name}-{number}",
            namespace=box.metadata.namespace,
            owner_references=(owner(box),),
        )
        yield Ball(metadata=metadata, spec=BallSpec(colour=box.spec.colour))


class Toys:
    """Caches and the controller over them; one for each process."""

    def __init__(self, poison: str = "") -> None:
        self.boxes: Cache[Box] = Cache(BOXES, Box)
        self.balls: Cache[Ball] = Cache(BALLS, Ball)
        self.poison = poison
        self.runs: list[Key] = []
        children = Children(cache=self.balls, compare=by_fields("spec"))

        async def reconcile(key: Key, io: IO) -> Outcome:
            self.runs.append(key)
            box = self.boxes.get(key)
            if box is None or box.metadata.deleting:
                return DONE
            if key.name == self.poison:
                raise ValueError("poisonous")
            have = self.balls.owned(box.metadata.uid)
            done = await io.converge(box, children, have, wanted(box))
            notes = [Note("BallsMade", f"{len(done.created)} balls")] if done.created else []
            status = BoxStatus(balls=len(have) + len(done.created) - len(done.deleted))
            await io.write_status(self.boxes, box, status, notes)
            return DONE

        self.controller = Controller(
            name="box",
            cache=self.boxes,
            reconcile=reconcile,
            woken_by=(Wakes(self.balls, controller_of(BOXES)),),
        )


class Gone:
    """The network of a process that was killed: nothing of it gets through any more."""

    def __init__(self, api: Transport) -> None:
        self._api = api
        self.dead = False

    async def request(self, request: Request) -> Response:
        if self.dead:
            raise Unreachable("killed")
        return await self._api.request(request)

    def stream(self, request: Request) -> AbstractAsyncContextManager[Stream]:
        if self.dead:
            raise Unreachable("killed")
        return self._api.stream(request)

    async def close(self) -> None:
        pass


@dataclass
class Instance:
    """One process with the toy controller, running on the loop of the test."""

    api: MemoryApi
    lease: str = ""
    toys: Toys = field(default_factory=Toys)
    change: Callable[[Group], Group] = lambda group: group
    more: list[Group] = field(default_factory=list)

    def start(self, identity: str = "one") -> Instance:
        self.env = Env(clock=VirtualClock(), rng=dice(7))
        self.stop = asyncio.Event()
        self.network = Gone(self.api)
        client = Client(self.network, self.env.clock, self.env.rng)
        group = self.group((self.toys.controller,), self.lease, identity)
        settings = Settings(reporter="trellis.dev/toys", instance=identity, whole_process=False)
        groups = [self.change(group), *self.more]
        self.process = Process(client, groups, self.env, settings)
        self.running = asyncio.create_task(self.process.run(self.stop))
        return self

    def group(self, controllers: tuple[Controller[Any], ...], lease: str, identity: str) -> Group:
        name = LeaseName(namespace="kube-system", name=lease, identity=identity)
        return Group(controllers=controllers, lease=name if lease else None)

    async def end(self) -> None:
        self.stop.set()
        await self.running

    def vanish(self) -> None:
        """As by kill -9."""
        self.network.dead = True
        self.running.cancel()

    def counted(self, outcome: str) -> float | None:
        return self.env.meter.value("trellis_reconcile_total", controller="box", outcome=outcome)


async def put_box(api: MemoryApi, name: str, balls: int, colour: str = "red") -> None:
    spec = {"balls": balls, "colour": colour}
    await api.do("POST", BOX_PATH, {"metadata": {"name": name}, "spec": spec})
