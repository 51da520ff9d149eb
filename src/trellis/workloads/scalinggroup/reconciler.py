# SPDX-License-Identifier: Apache-2.0
"""The shell: reads, lets others decide, writes. `controller` declares the controller."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from trellis.api.annotation import RECYCLED
from trellis.api.conditions import Pass
from trellis.api.labels import SCALING_GROUP_FINALIZER
from trellis.api.meta import Key
from trellis.kube.errors import KubeError
from trellis.runtime.controller import Controller
from trellis.runtime.converge import Children
from trellis.runtime.converged import Converged
from trellis.runtime.outcome import DONE, Again
from trellis.runtime.pace import Pace
from trellis.workloads.classes import missing_in_update
from trellis.workloads.crowds import by_set
from trellis.workloads.excess import counted
from trellis.workloads.members import compare_clique
from trellis.workloads.outlines import Outlines
from trellis.workloads.pacing import ABOVE_SECONDS, StatusPacer
from trellis.workloads.recycled import recycled_at
from trellis.workloads.scalinggroup.desired import excess, lacking, plan
from trellis.workloads.scalinggroup.listed import listed_pods
from trellis.workloads.scalinggroup.rolling import rolling
from trellis.workloads.scalinggroup.roster import Rosters
from trellis.workloads.scalinggroup.state import Replica, Seat, State, place_of
from trellis.workloads.scalinggroup.status import renewing, told, written
from trellis.workloads.scalinggroup.wakes import wakes
from trellis.workloads.sharing import group_claims, keep_claims, known
from trellis.workloads.streams import Streams
from trellis.workloads.trouble import LOOK_AGAIN_SECONDS, trouble

if TYPE_CHECKING:
    from collections.abc import Awaitable, Mapping, Sequence
    from datetime import datetime

    from trellis.api.grove.podclique import PodClique
    from trellis.api.grove.podcliqueset import PodCliqueSet
    from trellis.api.grove.scalinggroup import PodCliqueScalingGroup
    from trellis.runtime.io import IO
    from trellis.runtime.outcome import Outcome
    from trellis.workloads.caches import Caches
    from trellis.workloads.means import Means
    from trellis.workloads.outline import Member
    from trellis.workloads.scalinggroup.desired import Plan
    from trellis.workloads.scalinggroup.rolling import Rolling
    from trellis.workloads.scalinggroup.roster import Roster
    from trellis.workloads.scalinggroup.state import Place
    from trellis.workloads.scalinggroup.status import Told
    from trellis.workloads.trouble import Trouble, Written

_PACE = Pace(burst=8, seconds=0.5, lull=0.04)


def controller(means: Means, caches: Caches) -> Controller[PodCliqueScalingGroup]:
    """The controller that keeps the PodCliques of scaling groups, and tells how these are."""
    reconciler = Reconciler(means, caches)
    return Controller(
        name="podcliquescalinggroup",
        cache=caches.groups,
        reconcile=reconciler.reconcile,
        woken_by=wakes(caches),
        bells=(reconciler.pacer.bell,),
        pace=_PACE,
        crowd=by_set(caches.groups),
        workers=means.configuration.controllers.pod_clique_scaling_group.concurrent_syncs,
    )


class Reconciler:
    def __init__(self, means: Means, caches: Caches) -> None:
        self._clock = means.env.clock
        self._most = means.configuration.trellis.limits.group_replicas
        self._caches = caches
        self._outlines = Outlines()
        self._rosters = Rosters()
        streams = Streams(caches.pods, self._clock)
        self.pacer = StatusPacer(caches.groups, streams, self._clock, ABOVE_SECONDS)
        self._children = Children(cache=caches.cliques, compare=compare_clique)

    async def reconcile(self, key: Key, io: IO) -> Outcome:
        group = self._caches.groups.get(key)
        if group is None:
            return DONE
        if group.metadata.deleting:
            # Grove's: what is made here goes with its owner, and nothing needs to be held up.
            await io.remove_finalizer(self._caches.groups, group, SCALING_GROUP_FINALIZER)
            self._rosters.forget(group.metadata.uid)
            return DONE
        owning = self._caches.set_of(group)
        place = self._place(group, owning)
        if owning is None or place is None:
            return DONE
        roster = self._rosters.of(group.metadata.uid, place)
        state = self._observe(group, owning, roster)
        rolls = rolling(state, partial(listed_pods, self._caches), self._clock.now())
        planned = plan(state, rolls)
        for live in planned.settled:
            roster.settle(live)
        found = excess(state) if state.is_excessive else await self._act(io, state, planned, rolls)
        seen = Pass(group.metadata.generation, self._clock.now())
        return await self._tell(io, group, told(state, planned, rolls, found, seen), found)

    def _place(self, group: PodCliqueScalingGroup, owning: PodCliqueSet | None) -> Place | None:
        """None: the set, or the replica of it that the group is of, is not to be there."""
        if owning is None or owning.metadata.deleting:
            return None
        return place_of(group, self._outlines.of(owning))

    def _observe(self, group: PodCliqueScalingGroup, owning: PodCliqueSet, roster: Roster) -> State:
        cliques, uid = self._caches.cliques, group.metadata.uid
        live = {found.metadata.name: found for found in cliques.owned(uid) if _is_there(found, uid)}
        standing = len(live) // len(roster.place.config.clique_names)
        # What was let in before the limit was lowered goes on.
        most = max(self._most, standing)
        count = counted(group.spec.replicas, most, standing)
        roster.shrink(count)
        replicas = tuple(self._replica(roster, index, live) for index in range(count))
        names = {seat.member.name: seat for one in replicas for seat in one.seats}
        besides = (found for found in cliques.owned(uid) if found.metadata.name not in names)
        absent = (name for name, seat in names.items() if seat.live is None)
        holders = (cliques.get(Key(group.metadata.namespace, name)) for name in absent)
        return State(
            group=group,
            owner=owning,
            place=roster.place,
            replicas=replicas,
            others=(*besides, *filter(None, holders)),
            missing_classes=missing_in_update(self._caches, owning, roster.place.replica),
            most=most,
        )

    def _replica(self, roster: Roster, index: int, live: Mapping[str, PodClique]) -> Replica:
        members = roster.members(index)
        return Replica(
            index=index,
            seats=tuple([_seat(roster, member, live.get(member.name)) for member in members]),
            recycled=self._recycled(roster.place, members),
        )

    def _recycled(self, place: Place, members: Sequence[Member]) -> Mapping[str, datetime]:
        """When which of them were last made anew. They are all in one gang."""
        namespace = place.outline.set.metadata.namespace
        gang = self._caches.gangs.get(Key(namespace, members[0].place.gang))
        if gang is None or RECYCLED not in gang.metadata.annotations:
            return {}
        stamps = {member.name: recycled_at(gang, member.name) for member in members}
        return {name: stamp for name, stamp in stamps.items() if stamp is not None}

    async def _act(self, io: IO, state: State, planned: Plan, rolls: Rolling) -> Trouble | None:
        group, place = state.group, state.place
        claims = group_claims(place.outline, group, place.config, known(self._caches, group))
        shared = await _tried(keep_claims(io, self._caches, group, claims))
        made = await _tried(io.converge(group, self._children, planned.have, planned.want))
        if isinstance(made, Converged):
            for note in (*written(group, made), *(renewing(rolls) if made.patched else ())):
                io.record(self._caches.groups, group, note)
        return trouble((shared, made)) or lacking(claims.unresolved)

    async def _tell(
        self, io: IO, group: PodCliqueScalingGroup, tells: Told, found: Trouble | None
    ) -> Outcome:
        later = await self.pacer.write(io, group, tells.status, tells.notes, tells.haste)
        if found is not None and found.error is not None:
            raise found.error
        # Nobody tells when a name becomes free that belongs to somebody whom no cache shows.
        again = LOOK_AGAIN_SECONDS if found is not None else None
        due = (tells.again - self._clock.now()).total_seconds() if tells.again else None
        times = [seconds for seconds in (later, again, due) if seconds is not None]
        return Again(max(min(times), 0.0)) if times else DONE


def _is_there(found: PodClique, group_uid: str) -> bool:
    controller = found.metadata.controller
    return not found.metadata.deleting and controller is not None and controller.uid == group_uid


def _seat(roster: Roster, member: Member, live: PodClique | None) -> Seat:
    return Seat(member, live, live is not None and roster.is_settled(live))


async def _tried(doing: Awaitable[Converged]) -> Written:
    try:
        return await doing
    except KubeError as error:
        return error
