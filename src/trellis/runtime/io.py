# SPDX-License-Identifier: Apache-2.0
"""The only door from a reconciler to the cluster: it reads caches, and what it does is here."""

from __future__ import annotations

from contextlib import suppress
from copy import copy
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from trellis.api.meta import Key, Object
from trellis.kube.errors import NotFound
from trellis.runtime import status as own
from trellis.runtime.awaited import Awaited
from trellis.runtime.converge import PARALLEL, Children, Converger
from trellis.runtime.keep import Keeper
from trellis.runtime.parallel import in_parallel
from trellis.runtime.plan import by_fields
from trellis.runtime.writes import Replaced

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from trellis.api.meta import Metadata, Value
    from trellis.runtime.awaited import Waiter
    from trellis.runtime.cache import Cache
    from trellis.runtime.converged import Converged
    from trellis.runtime.notes import Note
    from trellis.runtime.plan import Comparison, Edit, Wanted
    from trellis.runtime.recorder import Recorder
    from trellis.runtime.status import WithStatus
    from trellis.runtime.writes import Writes

T = TypeVar("T", bound=Object)

_BY_FIELDS = by_fields()


class IO:
    def __init__(self, writes: Writes, recorder: Recorder) -> None:
        self._writes = writes
        self._recorder = recorder
        self._converger = Converger(writes, recorder.going)
        self._keeper = Keeper(writes)
        self._awaited = Awaited()
        self._behalf: tuple[Waiter, Callable[[], None]] | None = None
        self.barrier = writes.barrier

    def on_behalf_of(self, waiter: Waiter, wake: Callable[[], None]) -> IO:
        """The same for one run, which is woken when a name is free that it could not use."""
        found = copy(self)
        found._behalf = waiter, wake
        return found

    @property
    def is_busy(self) -> bool:
        """Whether so much is on its way to the API that what can wait had better."""
        return self._writes.is_busy

    @property
    def answer_seconds(self) -> float:
        """After how long the API has answered of late. News of what it did comes as late."""
        return self._writes.answer_seconds

    async def converge(
        self, owner: Object, children: Children[T], have: Iterable[T], want: Iterable[Wanted]
    ) -> Converged:
        """Makes the objects that the owner has into those that are wanted.

        Where runs for a part of the owner write in the name of that part, `children` says which.
        """
        converged = await self._converger.converge(owner, children, have, want)
        if self._behalf is not None:
            waiter, wake = self._behalf
            namespace = owner.metadata.namespace
            names = [Key(namespace, conflict.name) for conflict in converged.conflicts]
            self._awaited.wait(waiter, children.cache, names, wake)
        return converged

    async def call_back(
        self, owner: Object, children: Children[T], lost: Iterable[Wanted]
    ) -> Converged:
        """Labels what the owner has under these names so that the cache shows it again."""
        return await self._converger.call_back(owner, children, lost)

    async def read(self, cache: Cache[T], keys: Iterable[Key]) -> list[T]:
        """Those that there are, as the server has them now: for what is not done on hearsay."""
        acts = [partial(self._writes.read_whole, cache, key) for key in keys]
        found = await in_parallel(acts, PARALLEL, goes_on=lambda _: False)
        for one in found:
            if isinstance(one, Exception):
                raise one
        return [one for one in found if isinstance(one, cache.kind)]

    async def stored(self, cache: Cache[Any], key: Key) -> Metadata | None:
        """The metadata of an object as the server has it now."""
        return await self._writes.read(cache, key)

    async def out_of_sight(self, cache: Cache[Any], namespace: str, labels: str) -> list[Metadata]:
        """What that selector finds and lacks the labels that the cache reads objects by."""
        found = await self._writes.read_all(cache, namespace, labels)
        return [one for one in found if not cache.scope.covers(one.labels)]

    async def relabel(self, cache: Cache[Any], found: Metadata, labels: Mapping[str, str]) -> None:
        """Gives an object labels. One that is gone by now needs none."""
        with suppress(NotFound, Replaced):
            patch = {"metadata": {"labels": dict(labels)}}
            await self._writes.patch(found.uid, cache, found, patch)

    async def edit(
        self, owner: Object, children: Children[T], edits: Iterable[Edit[T]]
    ) -> Converged:
        """Changes objects that the owner has a say in without controlling them."""
        return await self._converger.edit(owner, children, edits)

    async def keep(
        self,
        cache: Cache[T],
        key: Key,
        want: Wanted | None,
        compare: Comparison = _BY_FIELDS,
    ) -> T | None:
        """Keeps an object that nobody owns: returns it once it is as wanted, else None."""
        return await self._keeper.keep(cache, key, want, compare)

    async def write_status(
        self, cache: Cache[Any], found: WithStatus, status: Value, notes: Iterable[Note] = ()
    ) -> None:
        """The last thing a run does: one write, or none if nothing differs; then the events."""
        await own.write_status(self._writes, cache, found, status)
        for note in notes:
            self._recorder.record(cache.resource, found.metadata, note)

    async def add_finalizer(self, cache: Cache[T], found: T, finalizer: str) -> T:
        return await own.add_finalizer(self._writes, cache, found, finalizer)

    async def remove_finalizer(self, cache: Cache[T], found: T, finalizer: str) -> T:
        return await own.remove_finalizer(self._writes, cache, found, finalizer)

    def record(self, cache: Cache[T], found: T, note: Note) -> None:
        """For what no status write goes with."""
        self._recorder.record(cache.resource, found.metadata, note)

    async def settle(self, uid: str) -> None:
        """Reads again what a write of unknown fate to the objects of that owner left in doubt."""
        await self._writes.settle(uid)
