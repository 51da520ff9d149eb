# SPDX-License-Identifier: Apache-2.0
"""Read-your-own-writes against a cache that lags as it likes: never too many, always enough.

Names are new at every attempt, so that nothing but the barrier keeps a controller from making an
object twice; children vanish, writes get lost on their way back, and the controller restarts.
"""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support import virtual
from tests.support.memory_api import WRITES, MemoryApi
from tests.support.virtual import VirtualClock, dice
from tests.unit.runtime.builders import BALLS, NAMESPACE, Ball, a_box, a_wanted_ball
from trellis.instruments.metrics import Meter
from trellis.kube.client import Client
from trellis.kube.errors import Ambiguous
from trellis.runtime.barrier import Barrier, CacheBehind
from trellis.runtime.cache import Cache
from trellis.runtime.converge import Children, Converger
from trellis.runtime.going import Going
from trellis.runtime.informer import Informer
from trellis.runtime.plan import by_name
from trellis.runtime.writes import Writes

if TYPE_CHECKING:
    from trellis.kube.transport import Request

OWNER = a_box()
MOST = 3


class Lost(Barrier):
    """A barrier that forgets everything, to show that the model would notice."""

    def is_open(self, owner: str, cache: Cache[Any] | None = None) -> bool:
        del owner, cache
        return True


@dataclass
class Life:
    """One start of the controller: memory that a restart loses."""

    barrier: Barrier
    cache: Cache[Ball]
    writes: Writes
    converger: Converger
    feeding: asyncio.Task[None]


@dataclass
class World:
    barrier_kind: type[Barrier]
    api: MemoryApi = field(default_factory=MemoryApi)
    want: int = 0
    allowed: int = 0
    fault: str = ""
    names: int = 0

    def __post_init__(self) -> None:
        self.api.before = self.before
        self.api.after = self.after
        self.life = self.born()

    def born(self) -> Life:
        client = Client(self.api, VirtualClock(), dice(1))
        meter = Meter()
        cache = Cache(BALLS, Ball)
        barrier = self.barrier_kind()
        writes = Writes(client, barrier, meter, lambda: True)
        feeding = asyncio.get_running_loop().create_task(Informer(cache, client, meter).run())
        return Life(barrier, cache, writes, Converger(writes, Going(VirtualClock())), feeding)

    def before(self, request: Request) -> None:
        if request.method in WRITES and self.fault == "never arrives":
            self.fault = ""
            raise Ambiguous(str(request))

    def after(self, request: Request) -> None:
        if request.method in WRITES and self.fault == "answer lost":
            self.fault = ""
            raise Ambiguous(str(request))

    async def reconcile(self) -> None:
        life = self.life
        await life.writes.settle(OWNER.metadata.uid)
        if not life.barrier.is_open(OWNER.metadata.uid):
            return
        have = life.cache.owned(OWNER.metadata.uid)
        live = [ball.metadata.name for ball in have]
        kept = live[: self.want]
        self.names += MOST
        fresh = [f"ball-{self.names + number}" for number in range(self.want - len(kept))]
        want = [a_wanted_ball(name) for name in (*kept, *fresh)]
        children = Children(cache=life.cache, compare=by_name)
        with contextlib.suppress(Ambiguous, CacheBehind):
            await life.converger.converge(OWNER, children, have, want)

    async def step(self, what: str, number: int) -> None:
        match what:
            case "scale":
                self.want = number
                self.allowed = max(self.allowed, number)
            case "reconcile":
                await self.reconcile()
            case "catch up":
                # By so many versions, which may be none.
                await self.api.release(min(self.api.version, self.api.told + number))
                await virtual.settle()
            case "vanish":
                for name in self.api.names("balls")[:1]:
                    await self.api.do("DELETE", path(name))
            case "restart":
                self.life.feeding.cancel()
                self.life = self.born()
                await self.life.cache.until_synced()
            case fault:
                self.fault = fault
        assert len(self.api.all("balls")) <= self.allowed, "made too many"

    async def calm(self) -> None:
        """Nothing goes wrong any more."""
        self.fault = ""
        for _ in range(6):
            await self.api.release()
            await virtual.settle()
            await self.reconcile()


def path(name: str) -> str:
    return f"/apis/toys.dev/v1/namespaces/{NAMESPACE}/balls/{name}"


STEPS = st.lists(
    st.tuples(
        st.sampled_from(
            [
                *("reconcile", "reconcile", "reconcile", "catch up", "catch up", "scale"),
                *("vanish", "restart", "never arrives", "answer lost"),
            ]
        ),
        st.integers(0, MOST),
    ),
    min_size=5,
    max_size=25,
)


async def live_through(steps: list[tuple[str, int]], barrier: type[Barrier] = Barrier) -> World:
    world = World(barrier)
    await world.life.cache.until_synced()
    world.api.hold()
    await world.step("scale", MOST - 1)
    for what, number in steps:
        await world.step(what, number)
    await world.calm()
    return world


@settings(max_examples=50, deadline=None, derandomize=True)
@given(STEPS)
def test_never_too_many_and_in_the_end_enough(steps: list[tuple[str, int]]) -> None:
    world = virtual.run(live_through(steps))
    assert len(world.api.all("balls")) == world.want


@pytest.mark.parametrize(
    "steps",
    [
        pytest.param([("reconcile", 0)] * 3, id="runs on an old cache"),
        pytest.param([("answer lost", 0), *[("reconcile", 0)] * 3], id="an answer that got lost"),
    ],
)
def test_without_a_barrier_the_model_finds_too_many(steps: list[tuple[str, int]]) -> None:
    with pytest.raises(AssertionError, match="made too many"):
        virtual.run(live_through(steps, Lost))


def test_a_child_made_and_deleted_unseen_is_replaced() -> None:
    """Where expectations by uid wait for ever."""
    steps = [("scale", 1), ("reconcile", 0), ("vanish", 0), ("catch up", 3)]
    world = virtual.run(live_through(steps))
    assert len(world.api.all("balls")) == 1
