# SPDX-License-Identifier: Apache-2.0
"""The shell: reads, lets others decide, has it done, and says how it went."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING

from trellis.api.annotation import SETTLE_TIME
from trellis.api.conditions import READY, find
from trellis.api.grove.podclique import PodClique
from trellis.api.grove.podcliqueset import PodCliqueSet
from trellis.api.labels import (
    CLIQUE_FINALIZER,
    SCALING_GROUP_REPLICA_INDEX,
    SET_REPLICA_INDEX,
)
from trellis.api.meta import Key
from trellis.api.reasons import objects
from trellis.kube.batch import together
from trellis.runtime.controller import Controller, Wakes, controller_of
from trellis.runtime.outcome import DONE, Again
from trellis.runtime.pace import Pace
from trellis.workloads.caches import BY_GANG, BY_SET
from trellis.workloads.crowds import by_set
from trellis.workloads.departed import LAPSE_SECONDS, Departed
from trellis.workloads.outlines import Outlines
from trellis.workloads.pacing import StatusPacer
from trellis.workloads.podclique.acting import Actor
from trellis.workloads.podclique.census import census
from trellis.workloads.podclique.crews import FEW, Crews
from trellis.workloads.podclique.desired import Plan, plan, sparing, unmade
from trellis.workloads.podclique.neighbours import Neighbours, is_scaled
from trellis.workloads.podclique.state import observe
from trellis.workloads.podclique.status import status
from trellis.workloads.podclique.surroundings import parents_not_ready
from trellis.workloads.podclique.telling import haste, of_changes, of_update
from trellis.workloads.podclique.updating import update_facts
from trellis.workloads.recent import Recent
from trellis.workloads.sharing import woken_by_templates
from trellis.workloads.streams import Streams
from trellis.workloads.updates.progress import MOST_COMPLETED, whose_turn

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from trellis.api.core.priorityclass import PriorityClass
    from trellis.api.core.resourceclaim import ResourceClaim
    from trellis.api.grove.scalinggroup import PodCliqueScalingGroup
    from trellis.api.meta import Object
    from trellis.api.scheduler.podgang import PodGang
    from trellis.runtime.io import IO
    from trellis.runtime.outcome import Outcome
    from trellis.workloads.caches import Caches
    from trellis.workloads.means import Means
    from trellis.workloads.podclique.acting import Done
    from trellis.workloads.podclique.state import State
    from trellis.workloads.updates.progress import CliqueFacts

PACE = Pace(burst=8, seconds=0.25, lull=0.04)
_MOST_REMEMBERED = 4096


def controller(means: Means, caches: Caches) -> Controller[PodClique]:
    """The controller that makes pods."""
    wakes = _Wakes(caches)
    by_owner = controller_of(PodClique.resource)
    reconciler = Reconciler(means, caches)
    return Controller(
        name="podclique",
        cache=caches.cliques,
        reconcile=reconciler.reconcile,
        bells=(reconciler.pacer.bell, reconciler.crews.bell),
        woken_by=(
            Wakes(caches.pods, by_owner),
            Wakes(caches.claims, by_owner),
            Wakes(caches.claims, wakes.by_shared_claim, _spec_matters),
            Wakes(caches.gangs, wakes.by_gang, _gang_matters),
            Wakes(caches.sets, wakes.by_set, _set_matters),
            Wakes(caches.groups, wakes.by_group, _spec_matters),
            Wakes(caches.cliques, Neighbours(caches).after, is_scaled),
            Wakes(caches.priority_classes, wakes.by_priority_class),
            woken_by_templates(caches, wakes.by_set),
        ),
        pace=PACE,
        crowd=reconciler.crowd,
        workers=reconciler.crews.workers,
    )


class Reconciler:
    def __init__(self, means: Means, caches: Caches) -> None:
        self._clock = means.env.clock
        self._most = means.configuration.trellis.limits.clique_replicas
        self._caches = caches
        self._outlines = Outlines()
        self._actor = Actor(means, caches)
        self._departed = Departed(caches.pods, means.env.clock)
        streams = Streams(caches.pods, means.env.clock)
        self.pacer = StatusPacer(caches.cliques, streams, means.env.clock)
        at_a_time = means.configuration.controllers.pod_clique.concurrent_syncs
        self.crowd = by_set(caches.cliques)
        self.crews = Crews(at_a_time, self.crowd)
        self._chosen: Recent[tuple[str, str], tuple[str, ...]] = Recent(_MOST_REMEMBERED)

    async def reconcile(self, key: Key, io: IO) -> Outcome:
        clique = self._caches.cliques.get(key)
        state = None
        if clique is not None and not clique.metadata.deleting:
            state = self._observe(clique)
        planned = plan(state) if state is not None else Plan()
        spared = sparing(planned, self._departed.of(key))
        has_crew = self.crews.takes(key, len(spared.create))
        try:
            if clique is None or state is None:
                return await self._let_go(io, clique)
            done = await self._act(io, state, spared if has_crew else unmade(spared))
        finally:
            self.crews.is_over(key)
        told = await self._tell(io, state, done)
        if spared is planned or isinstance(told, Again):
            return told
        return Again(LAPSE_SECONDS)

    async def _act(self, io: IO, state: State, planned: Plan) -> Done:
        """A few pods, of a small PodClique or in the place of others, do not wait for hundreds."""
        pods = len(planned.create)
        with together(pods, finishes=True) if 0 < pods <= FEW else nullcontext():
            return await self._actor.act(io, state, planned)

    def _observe(self, clique: PodClique) -> State | None:
        return observe(self._caches, self._outlines, clique, self._most)

    async def _let_go(self, io: IO, clique: PodClique | None) -> Outcome:
        """What it has goes with it, by the collector of the cluster: nothing is made any more."""
        if clique is None:
            return DONE
        self._actor.forget(clique.metadata.uid)
        if clique.metadata.deleting:
            await io.remove_finalizer(self._caches.cliques, clique, CLIQUE_FINALIZER)
        return DONE

    async def _tell(self, io: IO, state: State, done: Done) -> Outcome:
        now, counted = self._clock.now(), census(state)
        if counted.ready < state.needed <= counted.scheduled:
            state = replace(state, parents=parents_not_ready(self._caches, state))
        update = self._remembered(state, update_facts(state, counted, done.trouble, now))
        after = status(state, counted, update, done.trouble, now)
        left = await self.pacer.write(
            io,
            state.clique,
            after,
            (*of_changes(state, after, done.failed), *of_update(state, after, update)),
            haste(state, counted, after, done.trouble, now),
        )
        if done.error is not None:
            raise done.error
        again = update.outlook.again
        due = max((again - now).total_seconds(), 0.0) if again is not None else None
        waits = [seconds for seconds in (left, done.again, due) if seconds is not None]
        return Again(min(waits)) if waits else DONE

    def _remembered(self, state: State, update: CliqueFacts) -> CliqueFacts:
        """With all that an update has chosen since its status was last told: some are gone before
        it is told again."""
        of_update = state.clique.metadata.uid, update.template
        if update.outlook.ended:
            self._chosen.forget(of_update)
            return update
        if not update.chosen and of_update not in self._chosen:
            return update
        every = dict.fromkeys((*(self._chosen.get(of_update) or ()), *update.chosen))
        chosen = tuple(every)[-(MOST_COMPLETED + 1) :]
        self._chosen.note(of_update, chosen)
        return replace(update, chosen=chosen)


class _Wakes:
    """Whom a change of something else concerns."""

    def __init__(self, caches: Caches) -> None:
        self._cliques = caches.cliques

    def by_gang(self, found: PodGang) -> Iterator[Key]:
        return _keys(self._cliques.find(BY_GANG, str(found.metadata.key)))

    def by_set(self, found: PodCliqueSet) -> Iterator[Key]:
        return _keys(self._cliques.find(BY_SET, str(found.metadata.key)))

    def by_group(self, found: PodCliqueScalingGroup) -> Iterator[Key]:
        return _keys(self._cliques.owned(found.metadata.uid))

    def by_shared_claim(self, found: ResourceClaim) -> Iterator[Key]:
        """Those whose pods may use it: of all replicas, or of the one that it is for."""
        metadata = found.metadata
        by = metadata.controller
        if by is None or by.kind == PodClique.resource.kind:
            return iter(())
        if by.kind == PodCliqueSet.resource.kind:
            of_owner = self._cliques.find(BY_SET, str(Key(metadata.namespace, by.name)))
        else:
            of_owner = self._cliques.owned(by.uid)
        indices = {
            label: metadata.labels[label]
            for label in (SET_REPLICA_INDEX, SCALING_GROUP_REPLICA_INDEX)
            if label in metadata.labels
        }
        return _keys(one for one in of_owner if indices.items() <= one.metadata.labels.items())

    def by_priority_class(self, _: PriorityClass) -> Iterator[Key]:
        """Those that say they lack one. One that is about to say so looks again when it has."""
        return _keys(one for one in self._cliques if _lacks_priority_class(one))


def _keys(found: Iterable[Object]) -> Iterator[Key]:
    return (one.metadata.key for one in found)


def _lacks_priority_class(clique: PodClique) -> bool:
    ready = find(clique.status.conditions, READY)
    return ready is not None and ready.reason == objects.PRIORITY_CLASS_MISSING.token


def _spec_matters(old: Object, new: Object) -> bool:
    before, now = old.metadata, new.metadata
    return (before.generation, before.deleting) != (now.generation, now.deleting)


def _set_matters(old: PodCliqueSet, new: PodCliqueSet) -> bool:
    """Also that it is a replica's turn to be updated, and how long what is updated must settle."""
    return (
        _spec_matters(old, new)
        or whose_turn(old.status) != whose_turn(new.status)
        or old.metadata.annotations.get(SETTLE_TIME) != new.metadata.annotations.get(SETTLE_TIME)
    )


def _gang_matters(old: PodGang, new: PodGang) -> bool:
    """Its status is told to others."""
    before, now = old.metadata, new.metadata
    return (
        _spec_matters(old, new)
        or before.annotations != now.annotations
        or before.labels != now.labels
        or before.owner_references != now.owner_references
    )
