# SPDX-License-Identifier: Apache-2.0
"""The crash driver, on a small program that is right and on one that is not."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.virtual import VirtualClock, dice, run
from tests.unit.embedded.core.clusters import TOKEN, fresh_cluster
from trellis.api.meta import Metadata, Object, Resource
from trellis.embedded.simulation.crashing import died, everywhere, lived
from trellis.kube.client import Client
from trellis.kube.errors import AlreadyExists

if TYPE_CHECKING:
    from tests.unit.embedded.core.clusters import Admin
    from trellis.kube.transport import Transport

MAPS = Resource("", "v1", "ConfigMap", "configmaps")
WANTED = ("a", "b", "c")


class Map(Object, frozen=True, kw_only=True):
    metadata: Metadata


def client_on(transport: Transport) -> Client:
    return Client(transport, VirtualClock(), dice(1))


async def careful(transport: Transport) -> None:
    """Names say what was made, so that a second try finds it."""
    maps = client_on(transport).of(MAPS, Map, "default")
    for name in WANTED:
        try:
            await maps.create({"metadata": {"name": name}, "data": {"done": "yes"}})
        except AlreadyExists:
            continue
    await asyncio.Event().wait()


async def careless(transport: Transport) -> None:
    """A crash after a create is forgotten, and the next run makes another."""
    maps = client_on(transport).of(MAPS, Map, "default")
    listed = await maps.list()
    for _ in range(len(WANTED) - len(listed.objects)):
        await maps.create({"metadata": {"generateName": "x-"}, "data": {"done": "yes"}})
    await maps.create({"metadata": {"generateName": "receipt-"}, "data": {"done": "yes"}})
    await asyncio.Event().wait()


def made(admin: Admin) -> list[str]:
    return [record.name for record in admin.cluster.store.shelf("", "configmaps").list("default")]


async def ends(program: Any, count: int) -> tuple[list[str], list[list[str]]]:
    """What there is after a life without a crash, and after each crash there could be."""

    async def settled_on(admin: Admin) -> None:
        while len(made(admin)) < count:
            await asyncio.sleep(0.1)
        # Whoever makes too many has the time to.
        await asyncio.sleep(5)

    admin = await fresh_cluster()
    calls = await lived(program, admin.cluster.transport(TOKEN), lambda: settled_on(admin))
    expected, seen = made(admin), []
    for point in everywhere(calls):
        admin = await fresh_cluster()
        transport = admin.cluster.transport(TOKEN)

        async def settled(admin: Admin = admin) -> None:
            await settled_on(admin)

        assert await died(program, transport, settled, point)
        seen.append(made(admin))
    return expected, seen


def test_a_program_that_names_what_it_makes_ends_the_same_wherever_it_dies() -> None:
    expected, seen = run(ends(careful, len(WANTED)))
    assert expected == list(WANTED)
    assert seen == [list(WANTED)] * (2 * len(WANTED))


def test_a_program_that_counts_what_it_made_is_found_out() -> None:
    expected, seen = run(ends(careless, len(WANTED) + 1))
    assert any(len(each) != len(expected) for each in seen)


@pytest.mark.parametrize("seed", range(5))
def test_an_order_that_is_drawn_is_the_same_for_the_same_seed(seed: int) -> None:
    async def order() -> list[int]:
        went: list[int] = []

        async def step(number: int) -> None:
            for _ in range(3):
                await asyncio.sleep(0)
                went.append(number)

        await asyncio.gather(*(step(number) for number in range(5)))
        return went

    assert run(order(), dice(seed)) == run(order(), dice(seed))
    assert run(order(), dice(seed)) != run(order())
