# SPDX-License-Identifier: Apache-2.0
"""Sees every change of the objects of one kind in a namespace, also of those that come and go."""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.support.api import Request
from tests.support.waiting import eventually

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

    from tests.e2e.workloads.world import World

Json = dict[str, Any]
PATIENCE_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Event:
    """`kind` is ADDED, MODIFIED or DELETED."""

    kind: str
    object: Json

    @property
    def name(self) -> str:
        return str(self.object.get("metadata", {}).get("name", self.object))

    @property
    def uid(self) -> str:
        return str(self.object["metadata"]["uid"])


class Witness:
    """`before` are the objects when it came, `events` all that it has seen since."""

    def __init__(self, world: World, kind: str, before: list[Json]) -> None:
        self.before = before
        self.events: list[Event] = []
        self._world = world
        self._kind = kind

    async def run(self, since: str) -> None:
        query = {"watch": "1", "resourceVersion": since}
        request = Request(method="GET", path=self._world.path(self._kind), query=query)
        async with self._world.api.stream(request) as response:
            async for line in response.content:
                event = json.loads(line)
                self.events.append(Event(event["type"], event["object"]))

    @property
    def seen(self) -> list[str]:
        """Each change as `ADDED name`, `MODIFIED name` or `DELETED name`."""
        return [f"{event.kind} {event.name}" for event in self.events]

    def names(self, what: str = "") -> set[str]:
        """Of all objects that this happened to; left out: that anything did."""
        return {event.name for event in self.events if not what or event.kind == what}

    def states(self) -> Iterator[list[Json]]:
        """All objects there were, at the beginning and after each change."""
        there = {one["metadata"]["uid"]: one for one in self.before}
        yield list(there.values())
        for event in self.events:
            if event.kind == "DELETED":
                there.pop(event.uid, None)
            else:
                there[event.uid] = event.object
            yield list(there.values())

    async def until(self, holds: Callable[[Json], object], what: str) -> Json:
        """Waits until that has held of any object, for however short a time, and returns it.

        A field may be missing.
        """
        looked = 0

        async def look() -> Json:
            nonlocal looked
            while looked < len(self.events):
                found = self.events[looked].object
                looked += 1
                with suppress(KeyError, IndexError):
                    if holds(found):
                        return found
            return {}

        return await eventually(look, f"{self._kind}: {what}", PATIENCE_SECONDS)


@asynccontextmanager
async def watching(world: World, kind: str) -> AsyncIterator[Witness]:
    """From now on, for the length of a block."""
    listing = await world.api.do("GET", world.path(kind))
    witness = Witness(world, kind, listing["items"])
    running = asyncio.create_task(witness.run(listing["metadata"]["resourceVersion"]))
    try:
        yield witness
        assert not running.done(), "the watch has ended"
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
