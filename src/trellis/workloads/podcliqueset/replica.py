# SPDX-License-Identifier: Apache-2.0
"""The shell for one replica of a set: its Service, PodCliques, scaling groups and autoscalers.

A replica that is no longer asked for wants nothing, so that all of it goes. It tells of troubles on
the board; what the set's status says of them is not its business.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, TypeVar

from trellis.api.meta import Key, Object
from trellis.kube.errors import KubeError
from trellis.runtime.converge import Children
from trellis.runtime.outcome import DONE
from trellis.workloads.members import Terms
from trellis.workloads.podcliqueset import kinds
from trellis.workloads.podcliqueset.ending import ending
from trellis.workloads.podcliqueset.predecessor import waiting_for_the_collector
from trellis.workloads.podcliqueset.shards import BY_REPLICA, Shard
from trellis.workloads.podcliqueset.strays import Strays
from trellis.workloads.pods import is_up
from trellis.workloads.updates.progress import selected
from trellis.workloads.updates.reading import rolls

if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterable

    from trellis.api.grove.podcliqueset import PodCliqueSet
    from trellis.runtime.converged import Converged
    from trellis.runtime.io import IO
    from trellis.runtime.outcome import Outcome
    from trellis.workloads.caches import Caches
    from trellis.workloads.outline import Outline
    from trellis.workloads.outlines import Outlines
    from trellis.workloads.podcliqueset.board import Board
    from trellis.workloads.podcliqueset.kinds import Kind
    from trellis.workloads.podcliqueset.whole import Excess
    from trellis.workloads.trouble import Written

T = TypeVar("T", bound=Object)


class ReplicaReconciler:
    def __init__(self, caches: Caches, outlines: Outlines, board: Board, excess: Excess) -> None:
        self._caches = caches
        self._excess = excess
        self._outlines = outlines
        self._board = board
        # Pods ask for each other's names from their first breath to their last: the Service comes
        # before them and goes after them.
        self._stages: tuple[tuple[Kind[Any], ...], ...] = (
            (kinds.services(caches),),
            (kinds.cliques(caches), kinds.groups(caches), kinds.scalers(caches)),
        )
        for kind in (kind for stage in self._stages for kind in stage):
            kind.cache.add_index(BY_REPLICA)
        self._strays = Strays(caches, (caches.services, caches.autoscalers))

    def identity(self, key: Key) -> str | None:
        shard = Shard.of(key)
        found = self._caches.sets.get(shard.set)
        return None if found is None else shard.writer(found.metadata.uid)

    async def reconcile(self, key: Key, io: IO) -> Outcome:
        shard = Shard.of(key)
        found = self._caches.sets.get(shard.set)
        if found is None or found.metadata.deleting:
            # The cluster's collector takes what it had.
            return DONE
        if self._excess(found) is not None:
            # The set says so itself.
            return DONE
        await self._strays.call_back(io)
        task = _Task(io, found, self._outlines.of(found), shard, self._caches)
        outcomes: list[tuple[Kind[Any], Written]] = []
        if task.ends:
            outcomes += await self._call_back(task)
        for stage in self._stages[:: -1 if task.ends else 1]:
            written = await _all(task.converge(kind) for kind in stage)
            outcomes += zip(stage, written, strict=True)
        return self._tell(task, outcomes)

    async def _call_back(self, task: _Task) -> list[tuple[Kind[Any], Written]]:
        """What lost its label must be found before the rest goes: nothing would remind us of it."""
        kinds = [kind for stage in self._stages for kind in stage]
        if not any(task.filed(kind) for kind in kinds):
            return []
        labelled = [kind for kind in kinds if kind.cache.scope.selection.labels]
        written = await _all(task.call_back(kind) for kind in labelled)
        for one in written:
            if isinstance(one, KubeError):
                raise one
        return list(zip(labelled, written, strict=True))

    def _tell(self, task: _Task, outcomes: list[tuple[Kind[Any], Written]]) -> Outcome:
        for kind, written in outcomes:
            for note in kind.notes(written):
                task.io.record(self._caches.sets, task.set, note)
        told = (kind.trouble(written) for kind, written in outcomes)
        self._board.report(task.set, task.shard.index, tuple(one for one in told if one))
        return ending(written for _, written in outcomes)


class _Task:
    """One run for one shard."""

    def __init__(
        self, io: IO, found: PodCliqueSet, outline: Outline, shard: Shard, caches: Caches
    ) -> None:
        self.io = io
        self._caches = caches
        self.set = found
        self.shard = shard
        self._outline = outline
        self._writer = shard.writer(found.metadata.uid)

    @property
    def ends(self) -> bool:
        """Whether nothing is wanted of it."""
        return self.shard.index is None or self.shard.index >= self._outline.replicas

    def filed(self, kind: Kind[T]) -> tuple[T, ...]:
        return kind.cache.find(BY_REPLICA, self._writer)

    async def converge(self, kind: Kind[T]) -> Written:
        """What fails for one kind is not to keep another from being made."""
        have, want = self._scope(kind)
        try:
            written = await self.io.converge(self.set, self._children(kind), have, want)
            return waiting_for_the_collector(written, self.set)
        except KubeError as error:
            return error

    async def call_back(self, kind: Kind[T]) -> Converged:
        have, known = kind.cache.get, self._known(kind)
        lost = [one for one in known if have(one.metadata.key) is None]
        return await self.io.call_back(self.set, self._children(kind), lost)

    def _children(self, kind: Kind[T]) -> Children[T]:
        return Children(cache=kind.cache, compare=kind.compare, part=self._writer)

    def _known(self, kind: Kind[T]) -> list[T]:
        """What a replica of that index is made of, whether it is asked for or not."""
        index = self.shard.index
        if index is None:
            return []
        return list(
            kind.wants(self._outline, index, kinds.Around(kind.cache.get, self._terms(index)))
        )

    def _scope(self, kind: Kind[T]) -> tuple[list[T], list[T]]:
        """What there is for this shard, and what there is to be."""
        filed = self.filed(kind)
        want = self._known(kind)
        have = {found.metadata.key: found for found in filed}
        for one in want:
            # What others made under a name of ours is in the way.
            if (found := kind.cache.get(one.metadata.key)) is not None:
                have.setdefault(found.metadata.key, found)
        return list(have.values()), [] if self.ends else want

    def _terms(self, index: int) -> Terms:
        """Templates are handed to one replica after the other, where updates roll."""
        by_hand = not rolls(self.set)
        held = not by_hand and index not in selected(self.set.status)
        rolled = not by_hand and not held
        return Terms(held=held, by_hand=by_hand, ready=self._ready(index) if rolled else {})

    def _ready(self, index: int) -> dict[str, int]:
        """How many pods of its PodCliques are Ready."""
        cliques = (
            self._caches.cliques.get(Key(self.set.metadata.namespace, member.name))
            for member in self._outline.alone(index)
        )
        return {
            one.metadata.name: sum(map(is_up, self._caches.pods.owned(one.metadata.uid)))
            for one in cliques
            if one is not None
        }


async def _all(acts: Iterable[Coroutine[Any, Any, Written]]) -> list[Written]:
    """Waits for all of them, however one of them ends: no write outlives the run it belongs to."""
    results = await asyncio.gather(*acts, return_exceptions=True)
    written: list[Written] = []
    for result in results:
        # Troubles with the API come back as values: what is raised ends the run.
        if isinstance(result, BaseException) and not isinstance(result, KubeError):
            raise result
        written.append(result)
    return written
