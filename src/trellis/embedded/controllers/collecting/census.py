# SPDX-License-Identifier: Apache-2.0
"""Counts every object of every kind: one watch a kind, started and ended with the kind."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from trellis.embedded.controllers.collecting.directory import discover
from trellis.embedded.controllers.collecting.graph import Graph, Place, Thing
from trellis.embedded.controllers.kinds import Definition
from trellis.kube.events import Snapshot
from trellis.runtime.cache import Cache

if TYPE_CHECKING:
    from collections.abc import Callable

    from trellis.api.meta import Resource
    from trellis.embedded.controllers.collecting.directory import Directory
    from trellis.kube.client import Client
    from trellis.kube.events import Delta

# They come in masses, own nothing, and nobody waits for them.
_IGNORED = frozenset({"events", "events.events.k8s.io"})


class Census:
    """`definitions` is filled by whoever fills caches; the rest is read here."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self.definitions: Cache[Definition] = Cache(Definition.resource, Definition)
        self.graph = Graph()
        self.directory: Directory
        self._follows: dict[str, asyncio.Task[None]] = {}
        self._unread: set[str] = set()
        self._all_read = asyncio.Event()
        self._on_look: list[Callable[[str], None]] = []
        self._on_gone: list[Callable[[str], None]] = []

    def on_look(self, callback: Callable[[str], None]) -> None:
        """Called with the uid of an object whose fate may have changed."""
        self._on_look.append(callback)

    def on_gone(self, callback: Callable[[str], None]) -> None:
        """Called with the namespace of an object that is gone."""
        self._on_gone.append(callback)

    async def until_read(self) -> None:
        """Until every kind that was there at the start has been read once."""
        await self._all_read.wait()

    async def run(self) -> None:
        self.directory = await discover(self._client)
        async with asyncio.TaskGroup() as group:
            watched = [
                kind.resource for kind in self.directory if kind.resource.full_name not in _IGNORED
            ]
            self._unread = {resource.full_name for resource in watched}
            for resource in watched:
                self._begin(group, resource)
            self.definitions.subscribe(
                lambda old, new, fresh: self._defined(group, old, new)  # noqa: ARG005
            )
            await asyncio.Event().wait()

    def _defined(
        self, group: asyncio.TaskGroup, old: Definition | None, new: Definition | None
    ) -> None:
        before, after = (one.served if one else None for one in (old, new))
        if before == after and old is not None:
            return
        if before is not None:
            self._end(before)
        if after is not None:
            self._end(after)
            self.directory.add(after)
            self._begin(group, after)

    def _begin(self, group: asyncio.TaskGroup, resource: Resource) -> None:
        name = resource.full_name
        self._follows[name] = group.create_task(self._follow(resource), name=f"census {name}")

    def _end(self, resource: Resource) -> None:
        task = self._follows.pop(resource.full_name, None)
        if task is not None:
            task.cancel()
            self._read(resource)
        self.directory.remove(resource)
        for place in self.graph.of(resource):
            self._look(self.graph.forget(place))

    async def _follow(self, resource: Resource) -> None:
        async with self._client.of(resource, Thing).watch() as watch:
            async for news in watch:
                if isinstance(news, Snapshot):
                    self._replace(resource, news)
                else:
                    self._apply(resource, news)

    def _replace(self, resource: Resource, snapshot: Snapshot[Thing]) -> None:
        heads = [thing.metadata for thing in snapshot.objects]
        there = {Place(resource.full_name, head.namespace, head.name) for head in heads}
        for place in self.graph.of(resource):
            if place not in there:
                self._remove(place)
        for head in heads:
            self._look(self.graph.put(resource, head))
        self._read(resource)

    def _apply(self, resource: Resource, delta: Delta[Thing]) -> None:
        for change in delta.changes:
            if change.object is None:
                self._remove(Place(resource.full_name, change.namespace, change.name))
            else:
                self._look(self.graph.put(resource, change.object.metadata))

    def _remove(self, place: Place) -> None:
        self._look(self.graph.remove(place))
        if place.namespace:
            for callback in self._on_gone:
                callback(place.namespace)

    def _look(self, uids: list[str]) -> None:
        for uid in uids:
            for callback in self._on_look:
                callback(uid)

    def _read(self, resource: Resource) -> None:
        self._unread.discard(resource.full_name)
        if not self._unread:
            self._all_read.set()
