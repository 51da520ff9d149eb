# SPDX-License-Identifier: Apache-2.0
"""Making what there is into what is wanted, with a bounded number of writes at a time.

It never touches an object that belongs to somebody else, and decides nothing on a cache that lacks
its own last write. A refusal that would meet every object alike ends a phase at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import msgspec

from trellis.api.meta import Object
from trellis.instruments.logs import logger
from trellis.kube.errors import AlreadyExists, Conflict, NamespaceTerminating, NotFound
from trellis.runtime.barrier import CacheBehind
from trellis.runtime.converged import (
    FUTILE,
    OF_ONE_OBJECT,
    OVERTAKEN,
    WRITTEN,
    Converged,
    NameConflict,
    Result,
    Step,
    Tally,
)
from trellis.runtime.going import NamespaceGoes
from trellis.runtime.parallel import in_parallel
from trellis.runtime.plan import Comparison, Edit, Wanted, body, plan
from trellis.runtime.writes import Replaced, Stored

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from trellis.api.meta import Metadata
    from trellis.runtime.cache import Cache
    from trellis.runtime.difference import Json
    from trellis.runtime.going import Going
    from trellis.runtime.writes import Propagation, Writes

    Relabel = Callable[[Metadata, Mapping[str, str]], Mapping[str, str]]

T = TypeVar("T", bound=Object)

PARALLEL = 32
_MOST_FUTILE = 4096

_log = logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Children(Generic[T]):
    """A kind of object that an owner has: where it is read, how two are compared, how it goes."""

    cache: Cache[T]
    compare: Comparison
    propagation: Propagation = "Background"
    part: str = ""
    """Of an owner whose parts are looked after one by one: in whose name its objects are written.

    Parts do not wait for the writes of each other. See `part_of`."""
    relabel: Relabel | None = None
    """Which labels an object is given that lost those it is read by; those wanted, unless said."""


class Converger:
    def __init__(self, writes: Writes, going: Going, parallel: int = PARALLEL) -> None:
        self._writes = writes
        self._going = going
        self._parallel = parallel
        self._futile = _Futile()

    async def converge(
        self, owner: Object, children: Children[T], have: Iterable[T], want: Iterable[Wanted]
    ) -> Converged:
        """Raises when something is to be tried again; what is under way by then is finished."""
        writer = children.part or owner.metadata.uid
        if not self._writes.barrier.is_open(writer, children.cache):
            raise CacheBehind(f"{children.cache.label} lack our last write")
        planned = plan(owner, have, want, children.compare)
        family = self._family(owner, children)
        conflicts = [NameConflict.held_by(found.metadata) for found in planned.foreign]
        tally = Tally(blocked=list(planned.blocked), conflicts=conflicts)
        # Deletions first: what is to be replaced must not be there twice, even for a moment.
        await self._phase(tally, [family.delete(found) for found in planned.delete])
        await self._phase(tally, [family.patch(edit) for edit in self._sent(tally, planned.edit)])
        await self._phase(tally, [family.create(one) for one in planned.create])
        converged = tally.converged()
        if converged.wrote:
            _log.info("converged", resource=children.cache.resource.plural, **converged.counts())
        return converged

    async def edit(
        self, owner: Object, children: Children[T], edits: Iterable[Edit[T]]
    ) -> Converged:
        """Changes objects that may belong to others, as when a gate is lifted from their pods.

        It goes before whatever makes more of them. Raises when something is to be tried again; an
        object that is gone is passed over.
        """
        writer = children.part or owner.metadata.uid
        if not self._writes.barrier.is_open(writer, children.cache):
            raise CacheBehind(f"{children.cache.label} lack our last write")
        family = self._family(owner, children)
        tally = Tally(blocked=[], conflicts=[])
        steps = [family.patch(edit) for edit in self._sent(tally, edits)]
        await self._phase(tally, steps, finishes=True)
        return tally.converged()

    async def call_back(
        self, owner: Object, children: Children[T], lost: Iterable[Wanted]
    ) -> Converged:
        """Labels again those of them that the owner has and that lost what they are read by.

        For what is wanted no more, and not in the cache: what is wanted is met when it is made.
        """
        family = self._family(owner, children)
        tally = Tally(blocked=[], conflicts=[])
        await self._phase(tally, [family.call_back(one) for one in lost])
        return tally.converged()

    def _family(self, owner: Object, children: Children[T]) -> _Family[T]:
        return _Family(self._writes, self._going, owner, children, self._futile)

    def _sent(self, tally: Tally, edits: Iterable[Edit[T]]) -> Iterator[Edit[T]]:
        """Those that are not known to change nothing."""
        for edit in edits:
            if edit in self._futile:
                tally.futile.append(edit.have.metadata.name)
            else:
                yield edit

    async def _phase(self, tally: Tally, steps: list[Step], *, finishes: bool = False) -> None:
        acts = [step.act for step in steps]
        results = await in_parallel(acts, self._parallel, _goes_on, finishes=finishes)
        tally.add(steps, results)
        if tally.trouble is not None:
            raise tally.trouble


class _Family(Generic[T]):
    """One owner's objects of one kind, and the writes to them."""

    def __init__(
        self,
        writes: Writes,
        going: Going,
        owner: Object,
        children: Children[T],
        futile: _Futile,
    ) -> None:
        self._writes = writes
        self._going = going
        self._owner = owner
        self._writer = children.part or owner.metadata.uid
        self._cache = children.cache
        self._propagation = children.propagation
        self._relabel = children.relabel
        self._futile = futile

    def delete(self, found: T) -> Step:
        async def act() -> Result:
            await self._writes.delete(self._writer, self._cache, found.metadata, self._propagation)
            return WRITTEN

        return Step("delete", found.metadata.name, act)

    def patch(self, edit: Edit[T]) -> Step:
        async def act() -> Result:
            known = edit.have.metadata
            try:
                stored = await self._writes.patch(self._writer, self._cache, known, edit.patch)
            except (NotFound, Replaced):
                self._writes.barrier.deleted(self._writer, self._cache, known.key, known.uid)
                return OVERTAKEN
            if stored.resource_version == known.resource_version:
                self._futile.add(edit)
                return FUTILE
            return WRITTEN

        return Step("patch", edit.have.metadata.name, act)

    def create(self, one: Wanted) -> Step:
        key = one.metadata.key

        async def act() -> Result:
            owner = self._owner.metadata
            if self._going.takes_along(key.namespace, owner.creation_timestamp):
                raise NamespaceGoes(f"namespace {key.namespace} is being deleted")
            try:
                await self._writes.create(self._writer, self._cache, key, body(one))
            except NamespaceTerminating as error:
                self._going.note(key.namespace, owner.creation_timestamp)
                raise NamespaceGoes(str(error)) from error
            except AlreadyExists:
                met = await self._met(one)
                if met is None:
                    # Gone by now, or going out of our sight: nobody would tell us.
                    raise
                return met
            return WRITTEN

        return Step("create", key.name, act)

    def call_back(self, one: Wanted) -> Step:
        async def act() -> Result:
            holder = await self._writes.read(self._cache, one.metadata.key)
            if holder is None:
                return OVERTAKEN
            called = await self._called_back(one, holder)
            if called is None and self._is_ours(holder) and not holder.deleting:
                # It has lost nothing: the cache is behind.
                barrier = self._writes.barrier
                barrier.wrote(self._writer, self._cache, holder.resource_version)
                raise CacheBehind(f"{self._cache.label} lack {holder.key}, which is there")
            return called or OVERTAKEN

        return Step("patch", one.metadata.name, act)

    def _is_ours(self, holder: Metadata) -> bool:
        controller = holder.controller
        return controller is not None and controller.uid == self._owner.metadata.uid

    async def _called_back(self, one: Wanted, holder: Metadata) -> Result | None:
        """Labels again what is ours and lost the labels by which we read it: nobody sees it else.

        None: it is not that.
        """
        covered = self._cache.scope.covers(holder.labels)
        if not self._is_ours(holder) or holder.deleting or covered:
            return None
        wanted = msgspec.json.decode(body(one), type=Stored).metadata.labels
        given = wanted if self._relabel is None else self._relabel(holder, wanted)
        labels = {"metadata": {"labels": dict(given)}}
        try:
            await self._writes.patch(self._writer, self._cache, holder, labels)
        except (NotFound, Replaced):
            return OVERTAKEN
        return WRITTEN

    async def _met(self, one: Wanted) -> Result | None:
        """What it means that an object of that name is there already. None: that it is going."""
        holder = await self._writes.read(self._cache, one.metadata.key)
        if holder is None:
            return None
        return await self._called_back(one, holder) or self._held_by(holder)

    def _held_by(self, holder: Metadata) -> Result | None:
        ours, barrier = self._is_ours(holder), self._writes.barrier
        if not ours and not holder.deleting and not self._is_of_a_predecessor(holder):
            return NameConflict.held_by(holder)
        # The cache is behind, or another instance was faster.
        barrier.wrote(self._writer, self._cache, holder.resource_version)
        if ours and not holder.deleting:
            return OVERTAKEN
        if not barrier.is_open(self._writer, self._cache):
            raise CacheBehind(f"{self._cache.label} lack {holder.key}, which is going")
        return None

    def _is_of_a_predecessor(self, holder: Metadata) -> bool:
        """Whether it belongs to an owner of the same name, of before, with whom it goes."""
        controller, owner = holder.controller, self._owner
        named = (owner.resource.kind, owner.metadata.name)
        return controller is not None and (controller.kind, controller.name) == named


class _Futile:
    """The last patch of an object that changed nothing: it is not sent again.

    So ends the quarrel with a server that writes a value in its own way, such as `1000m` as `1`.
    """

    def __init__(self) -> None:
        self._patches: dict[str, Json] = {}

    def __contains__(self, edit: Edit[Any]) -> bool:
        return self._patches.get(edit.have.metadata.uid) == edit.patch

    def add(self, edit: Edit[Any]) -> None:
        if len(self._patches) >= _MOST_FUTILE:
            self._patches.clear()
        self._patches[edit.have.metadata.uid] = edit.patch
        # Values may be anybody's secret; where they are is enough to find the mistake.
        fields = sorted(_leaves(edit.patch))
        _log.warning("patch changed nothing", object=str(edit.have.metadata.key), fields=fields)


def _leaves(patch: Json, above: str = "") -> Iterator[str]:
    for name, value in patch.items():
        path = f"{above}.{name}" if above else name
        if isinstance(value, dict):
            yield from _leaves(value, path)
        else:
            yield path


def _goes_on(error: Exception) -> bool:
    return isinstance(error, (*OF_ONE_OBJECT, AlreadyExists, Conflict))
