# SPDX-License-Identifier: Apache-2.0
"""The shell: reads, lets others decide, writes. `controller` declares the controller of PodGangs.

A pass that changes the ledger ends there: what follows from it is looked at when it can be read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trellis.api.conditions import Pass
from trellis.kube.errors import Conflict
from trellis.runtime.controller import Controller
from trellis.runtime.converge import Children
from trellis.runtime.outcome import DONE, Again
from trellis.runtime.pace import Pace
from trellis.runtime.plan import Edit, by_name
from trellis.runtime.writes import part_of
from trellis.workloads.caches import BY_BASE_GANG
from trellis.workloads.crowds import by_set_of_members
from trellis.workloads.pacing import ALONE_SECONDS, Haste, StatusPacer
from trellis.workloads.podgang import gate, status, taken
from trellis.workloads.podgang.ailing import Ailing
from trellis.workloads.podgang.backend import backend
from trellis.workloads.podgang.confirming import LOOK_AGAIN_SECONDS, Confirming
from trellis.workloads.podgang.desired import compare, desired
from trellis.workloads.podgang.found import Found
from trellis.workloads.podgang.handing import Handing
from trellis.workloads.podgang.kaiside import KaiSide, is_enabled
from trellis.workloads.podgang.observing import Observer
from trellis.workloads.podgang.plan import plan
from trellis.workloads.podgang.refusing import bearer, refused, said_by_clique, said_by_gang
from trellis.workloads.podgang.status import Standing
from trellis.workloads.podgang.telling import (
    claimed_by_another,
    held_by_another,
    made_anew,
    renewing,
    unwritten,
)
from trellis.workloads.podgang.wakes import Waking
from trellis.workloads.streams import Streams
from trellis.workloads.updates.progress import selected
from trellis.workloads.verdict import verdict

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from trellis.api.core.pod import Pod
    from trellis.api.grove.podcliqueset import PodCliqueSet
    from trellis.api.meta import Key
    from trellis.api.scheduler.podgang import PodGang
    from trellis.runtime.converged import Converged
    from trellis.runtime.io import IO
    from trellis.runtime.outcome import Outcome
    from trellis.workloads.caches import Caches
    from trellis.workloads.means import Means
    from trellis.workloads.podgang.observing import Claim
    from trellis.workloads.podgang.recycle import Decision
    from trellis.workloads.podgang.rolling import Renewals
    from trellis.workloads.podgang.state import State

PACE = Pace(burst=8, seconds=0.5, lull=0.04)
# Somebody else has written the gang; what they wrote is on its way and wakes it sooner.
OVERTAKEN_SECONDS = 1.0


def controller(means: Means, caches: Caches) -> Controller[PodGang]:
    """The one that makes PodGangs, keeps their ledgers, lifts gates and makes gangs anew."""
    kai = KaiSide() if is_enabled(means.configuration.scheduler) else None
    most = means.configuration.trellis.limits.clique_replicas
    observer = Observer(caches, means.env.clock, most)
    reconciler = Reconciler(means, caches, observer, kai)
    return Controller(
        name="podgang",
        cache=caches.gangs,
        reconcile=reconciler.reconcile,
        woken_by=Waking(caches).wakes(kai),
        bells=(reconciler.pacer.bell,),
        identity=observer.identity,
        pace=PACE,
        crowd=by_set_of_members(caches),
        workers=means.configuration.controllers.pod_gang.concurrent_syncs,
    )


class Reconciler:
    def __init__(
        self, means: Means, caches: Caches, observer: Observer, kai: KaiSide | None
    ) -> None:
        self._configuration = means.configuration
        self._clock = means.env.clock
        self._caches = caches
        self._observer = observer
        limits = means.configuration.trellis.limits
        ailing = Ailing(caches, observer, limits.group_replicas)
        self._confirming = Confirming(caches, observer, ailing)
        self._handing = Handing(kai)
        streams = Streams(caches.pods, self._clock)
        self.pacer = StatusPacer(caches.gangs, streams, self._clock, ALONE_SECONDS)

    async def reconcile(self, key: Key, io: IO) -> Outcome:
        claim = self._observer.claim(key)
        if claim is None or claim.set.metadata.deleting:
            return DONE
        for rival in claim.rivals:
            io.record(self._caches.sets, rival, claimed_by_another(key.name, claim.set))
        place = claim.place
        if place is None or not self._observer.is_wanted(claim, place):
            return await self._remove(io, key, claim)
        state = self._observer.state(key, claim, place)
        if state.gang is not None and state.gang.metadata.deleting:
            return DONE
        state = await taken.confirmed(io, self._caches.pods, state)
        now = self._clock.now()
        confirmed = await self._confirming.decision(io, state, now)
        done = await self._follow(io, state, confirmed.decision, now)
        if not confirmed.refuted:
            return done
        return _soonest(LOOK_AGAIN_SECONDS, done.after if isinstance(done, Again) else None)

    async def _follow(self, io: IO, state: State, decision: Decision, now: datetime) -> Outcome:
        """Does what was decided, and all else that there is to do for the gang."""
        planned = plan(state, decision, now)
        handed = backend(state.outline, state.gang, self._configuration, self._handing.here())
        wanted = desired(state, planned, handed)
        if state.gang is None and not state.is_complete:
            # Each of its PodCliques wakes it when it comes.
            return DONE
        gang = state.gang
        if gang is None or wanted is None or compare(gang, wanted):
            done = await self._write(io, state, wanted, (decision, planned.renewals))
            if gang is None or done is not None:
                return done or DONE
        found = Found(
            state=state, gang=gang, plan=planned, decision=decision, backend=handed, now=now
        )
        return await self._tend(io, found)

    async def _remove(self, io: IO, key: Key, claim: Claim) -> Outcome:
        gang = self._caches.gangs.get(key)
        # Pods that another operator made keep the gang that they name for as long as they live.
        if gang is not None and (claim.place or not self._observer.is_named_by_live_pods(key)):
            _raise_refusal(await self._converge(io, key, claim.set, None))
        return DONE

    async def _write(
        self, io: IO, state: State, wanted: PodGang | None, causes: tuple[Decision, Renewals]
    ) -> Outcome | None:
        """Makes the gang, changes it, or removes one that has nothing left in it.

        None: the server keeps the gang as it is, whatever it is sent. There will be nothing new to
        look at then, and what is stored is to be tended.
        """
        try:
            written = await self._converge(io, state.key, state.set, wanted)
        except Conflict:
            return Again(OVERTAKEN_SECONDS)
        await self._tell_refusal(io, state, written)
        _raise_refusal(written)
        told = [note for each in written.conflicts for note in held_by_another(state.set, each)]
        if written.patched:
            told += made_anew(state, causes[0])
            self._tell_renewals(io, state, causes[1])
        for note in told:
            io.record(self._caches.sets, state.set, note)
        return None if written.futile else DONE

    def _tell_renewals(self, io: IO, state: State, renewals: Renewals) -> None:
        """Each step of an update is told of the PodClique that it renews pods of."""
        cliques = {part.name: part.clique for part in state.parts}
        for name, why in renewals.told():
            io.record(self._caches.cliques, cliques[name], renewing(why))

    async def _converge(
        self, io: IO, key: Key, owner: PodCliqueSet, wanted: PodGang | None
    ) -> Converged:
        """Has the gang as it is wanted, or not at all."""
        holder = self._caches.gangs.get(key)
        have = (holder,) if holder is not None else ()
        want = (wanted,) if wanted is not None else ()
        writer = self._observer.identity(key) or part_of(owner.metadata.uid, key.name)
        children = Children(cache=self._caches.gangs, compare=compare, part=writer)
        written = await io.converge(owner, children, have, want)
        if written.refused:
            io.record(self._caches.sets, owner, unwritten(written.refused[0]))
        return written

    async def _tell_refusal(self, io: IO, state: State, written: Converged) -> None:
        found, gang, now = refused("PodGang", written), state.gang, self._clock.now()
        if found is None:
            return
        if gang is not None:
            seen = Pass(gang.metadata.generation, now)
            await io.write_status(self._caches.gangs, gang, said_by_gang(gang, found, seen))
        elif (clique := bearer(state)) is not None:
            seen = Pass(clique.metadata.generation, now)
            said = said_by_clique(clique, found, seen)
            await io.write_status(self._caches.cliques, clique, said)

    async def _tend(self, io: IO, found: Found) -> Outcome:
        """All that follows from what is stored: the gang is handed over, let go, and told of."""
        gang, musters = found.gang, found.musters()
        handed = await self._handing.hand(io, gang, found.backend)
        pods = gate.held_back(musters)
        waits_for = self._waits_for(found.state) if pods else ""
        free = handed.is_done and not waits_for and not verdict(gang).waits
        lifted = await self._lift(io, gang, pods) if free and gate.may_start(musters) else None
        standing = Standing(
            musters=musters,
            threats=found.threats(),
            waits_for=waits_for,
            problem=handed.problem,
            refusal=refused("Pod", lifted),
            is_renewed=found.is_renewed(),
        )
        left = await self._tell(io, found, standing)
        if handed.trouble is not None:
            raise handed.trouble
        _raise_refusal(lifted)
        return _soonest(left, handed.again, found.seconds_left())

    async def _lift(self, io: IO, gang: PodGang, pods: Sequence[Pod]) -> Converged | None:
        """Takes our gate off these pods, if there are any."""
        if not pods:
            return None
        children = Children(cache=self._caches.pods, compare=by_name, part=gang.metadata.uid)
        edits = [Edit(pod, gate.without_gate(pod)) for pod in pods]
        return await io.edit(gang, children, edits)

    def _waits_for(self, state: State) -> str:
        """The base gang of a scaled one, while it is not scheduled."""
        if not state.is_scaled or self._observer.is_base_scheduled(state):
            return ""
        return state.outline.base_gang(state.place.replica)

    async def _tell(self, io: IO, found: Found, standing: Standing) -> float | None:
        """Writes the status when its time has come; else returns after how many seconds."""
        gang = found.gang
        wanted = status.status(gang, standing, Pass(gang.metadata.generation, found.now))
        notes = status.notes(gang, standing)
        return await self.pacer.write(io, gang, wanted, notes, self._haste(found, standing))

    def _haste(self, found: Found, standing: Standing) -> Haste:
        gang = found.gang
        if status.has_just_been_scheduled(gang, standing) and self._has_scaled(found.state):
            return Haste.AT_ONCE
        if status.is_new(gang, standing):
            return Haste.WHEN_MORE_IS_KNOWN
        is_updated = found.state.place.replica in selected(found.state.set.status)
        if is_updated:
            return Haste.WITH_STEPS
        return Haste.AS_IT_GOES if status.is_on_its_way(standing) else Haste.SOON

    def _has_scaled(self, state: State) -> bool:
        """Whether other gangs wait for this one."""
        return bool(self._caches.cliques.find(BY_BASE_GANG, str(state.key)))


def _raise_refusal(written: Converged | None) -> None:
    """So that it is tried again."""
    if written is not None and written.refused:
        raise written.refused[0].error


def _soonest(*seconds: float | None) -> Outcome:
    known = [each for each in seconds if each is not None]
    return Again(min(known)) if known else DONE
