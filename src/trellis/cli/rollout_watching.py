# SPDX-License-Identifier: Apache-2.0
"""A set and its parts, read once or followed until its rollout is over.

What is said at the end is read in one go, the set first: watches of three kinds may be apart, and
PodCliques are written before the set that speaks of them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NoReturn, TypeVar

from trellis.api.grove.podclique import PodClique
from trellis.api.grove.podcliqueset import PodCliqueSet
from trellis.api.grove.scalinggroup import PodCliqueScalingGroup
from trellis.api.labels import managed, selector
from trellis.api.meta import Key, Object, Resource
from trellis.instruments.metrics import Meter
from trellis.kube.client import Client
from trellis.kube.errors import Forbidden, KubeError, NotFound
from trellis.kube.verbs import Selection
from trellis.runtime.cache import Cache, Scope
from trellis.runtime.informer import Informer
from trellis.runtime.racing import first, raised
from trellis.views.rollout import Report, Sight, report

T = TypeVar("T", bound=Object)


class NoSuchSet(Exception):
    """There is no set of that name to look at."""

    def __init__(self, key: Key) -> None:
        super().__init__(
            f"there is no PodCliqueSet {key.name!r} in namespace {key.namespace!r};"
            " name another namespace with -n"
        )


class NotToBeWatched(KubeError):
    """The server will not let us follow what it has let us read."""

    def __init__(self, resource: Resource, error: Forbidden) -> None:
        # Where a server sends no initial events, it is a list that was refused.
        super().__init__(
            f"{error}; grant list and watch on {resource.full_name}, or use --watch=false"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Rollout:
    """The rollout of one set. `uid`: of that set, once it has been seen."""

    client: Client
    key: Key
    uid: str = ""

    async def seen(self) -> Rollout:
        """The same for the set that is there now; raises NoSuchSet if there is none."""
        found = await self._read()
        if found is None:
            raise NoSuchSet(self.key)
        return replace(self, uid=found.metadata.uid)

    async def now(self) -> Report:
        return report(
            Sight(
                name=self.key.name,
                set=await self._read(),
                cliques=await self._parts(PodClique),
                groups=await self._parts(PodCliqueScalingGroup),
                uid=self.uid,
            )
        )

    async def until_over(self, tell: Callable[[str], None]) -> Report:
        """`tell` hears how it goes, whenever anything has changed.

        Raises NotToBeWatched where that needs a right that we do not have.
        """
        found = await self.now()
        if found.is_over:
            return found
        tell(found.text)
        watched = _Watched(self)
        return await first(watched.until_over(tell), watched.run())

    def cache(self, kind: type[T], selection: Selection | None = None) -> Cache[T]:
        scope = Scope(namespace=self.key.namespace, selection=selection or self._selection)
        return Cache(kind.resource, kind, scope=scope)

    @property
    def _selection(self) -> Selection:
        return Selection(labels=selector(managed(self.key.name)))

    async def _read(self) -> PodCliqueSet | None:
        sets = self.client.of(PodCliqueSet.resource, PodCliqueSet, self.key.namespace)
        try:
            return await sets.get(self.key.name)
        except NotFound as error:
            if error.unserved:
                raise
            return None

    async def _parts(self, kind: type[T]) -> list[T]:
        parts = self.client.of(kind.resource, kind, self.key.namespace)
        return (await parts.list(self._selection)).objects


class _Follower(Informer[T]):
    """An informer that a refusal ends. Operators sit one out, because somebody may grant the right
    later; whoever waits for a command is to hear of it now."""

    def __init__(self, cache: Cache[T], client: Client, meter: Meter) -> None:
        super().__init__(cache, client, meter)
        self._refusal: asyncio.Future[Exception] = asyncio.get_running_loop().create_future()

    async def run(self) -> None:
        await first(super().run(), raised(self._refusal))

    def _on_trouble(self, error: KubeError) -> None:
        if not isinstance(error, Forbidden):
            super()._on_trouble(error)
        elif not self._refusal.done():
            self._refusal.set_result(NotToBeWatched(self.cache.resource, error))


class _Watched:
    """All of it, as watches last told."""

    def __init__(self, rollout: Rollout) -> None:
        self._rollout = rollout
        self._news = asyncio.Event()
        named = Selection(fields=f"metadata.name={rollout.key.name}")
        self._sets = rollout.cache(PodCliqueSet, named)
        self._cliques = rollout.cache(PodClique)
        self._groups = rollout.cache(PodCliqueScalingGroup)

    async def run(self) -> NoReturn:
        """Keeps the caches; only a refusal or a mistake of ours ends it."""
        caches: tuple[Cache[Any], ...] = (self._sets, self._cliques, self._groups)
        await first(*map(self._follow, caches))
        raise RuntimeError("a watch has ended")

    async def until_over(self, tell: Callable[[str], None]) -> Report:
        for cache in (self._sets, self._cliques, self._groups):
            await cache.until_synced()
        while True:
            found = self._told()
            if found.is_over:
                found = await self._rollout.now()
                if found.is_over:
                    return found
            tell(found.text)
            await self._news.wait()
            self._news.clear()

    async def _follow(self, cache: Cache[Any]) -> None:
        cache.on_progress(self._news.set)
        await _Follower(cache, self._rollout.client, Meter()).run()

    def _told(self) -> Report:
        return report(
            Sight(
                name=self._rollout.key.name,
                set=self._sets.get(self._rollout.key),
                cliques=tuple(self._cliques),
                groups=tuple(self._groups),
                uid=self._rollout.uid,
            )
        )
