# SPDX-License-Identifier: Apache-2.0
"""Sees every change of the objects of one kind in a namespace, also of those that come and go."""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from tests.support.api import Request

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.e2e.workloads.world import World


class Witness:
    """`seen` holds each change as `ADDED name`, `MODIFIED name` or `DELETED name`."""

    def __init__(self, world: World, kind: str) -> None:
        self.seen: list[str] = []
        self._world = world
        self._kind = kind

    async def run(self, since: str) -> None:
        query = {"watch": "1", "resourceVersion": since}
        request = Request(method="GET", path=self._world.path(self._kind), query=query)
        async with self._world.api.stream(request) as response:
            async for line in response.content:
                event = json.loads(line)
                name = event["object"].get("metadata", {}).get("name", line.decode())
                self.seen.append(f"{event['type']} {name}")

    def names(self, what: str = "") -> set[str]:
        """Of all objects that this happened to; left out: that anything did."""
        events = (one.split(" ", 1) for one in self.seen)
        return {name for kind, name in events if not what or kind == what}


@asynccontextmanager
async def watching(world: World, kind: str) -> AsyncIterator[Witness]:
    """From now on, for the length of a block."""
    since = (await world.api.do("GET", world.path(kind)))["metadata"]["resourceVersion"]
    witness = Witness(world, kind)
    running = asyncio.create_task(witness.run(since))
    try:
        yield witness
        assert not running.done(), "the watch has ended"
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
