# SPDX-License-Identifier: Apache-2.0
"""Reads how the replica of a set is that a gang belongs to, as far as that gang may act on it.

A base gang looks at all of the replica, a scaled one at its own scaling group. Nearly always
nothing is broken, and then nothing is read but that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trellis.api.meta import Key
from trellis.workloads.caches import BY_BASE_GANG
from trellis.workloads.deadlines import termination_delay
from trellis.workloads.excess import group_replicas
from trellis.workloads.ledger import all_listed_names, is_ours
from trellis.workloads.pausing import pause
from trellis.workloads.podgang.recycle import (
    NOTHING,
    Decision,
    GroupHealth,
    Health,
    ReplicaHealth,
    Unit,
    decide,
    health,
    is_breached,
)
from trellis.workloads.pods import is_well
from trellis.workloads.recycled import EVERY_CLIQUE, recycled_at, stamps

if TYPE_CHECKING:
    from datetime import datetime

    from trellis.api.grove.podclique import PodClique
    from trellis.api.grove.template import ScalingGroupTemplate
    from trellis.api.scheduler.podgang import PodGang
    from trellis.workloads.caches import Caches
    from trellis.workloads.outline import Member
    from trellis.workloads.podgang.observing import Observer
    from trellis.workloads.podgang.state import State


class Ailing:
    def __init__(self, caches: Caches, observer: Observer, most: int) -> None:
        """`most`: how many replicas a scaling group may have at all."""
        self._most = most
        self._caches = caches
        self._observer = observer

    def decision(self, state: State, now: datetime) -> Decision:
        """What of that gang is to be made anew, now or later."""
        if state.gang is None or not self._is_anything_breached(state):
            return NOTHING
        return decide(self._replica(state), termination_delay(state.set), now)

    def _is_anything_breached(self, state: State) -> bool:
        if any(is_breached(part.clique) for part in state.parts):
            return True
        if state.is_scaled:
            return False
        scaled = self._caches.cliques.find(BY_BASE_GANG, str(state.key))
        return any(is_breached(clique) for clique in scaled)

    def _replica(self, state: State) -> ReplicaHealth:
        if state.place.group is not None:
            return ReplicaHealth(groups=(self._group(state, state.place.group),))
        alone = state.outline.alone(state.place.replica)
        found = [self._health(state, member) for member in alone]
        return ReplicaHealth(
            alone=tuple(each for each in found if each is not None),
            groups=tuple(self._group(state, group) for group in state.outline.groups.values()),
            is_complete=None not in found,
        )

    def _group(self, state: State, group: ScalingGroupTemplate) -> GroupHealth:
        outline, replica = state.outline, state.place.replica
        name = outline.group_name(replica, group)
        found = self._caches.groups.get(Key(state.key.namespace, name))
        wanted = self._observer.live(state)[group.name]
        if found is not None:
            wanted = min(wanted, group_replicas(self._caches, found, self._most))
        return GroupHealth(
            name=name,
            minimum=min(group.min_available, wanted),
            units=tuple(self._unit(state, group, index) for index in range(wanted)),
        )

    def _unit(self, state: State, group: ScalingGroupTemplate, index: int) -> Unit:
        members = state.outline.grouped(state.place.replica, group, index)
        found = [self._health(state, member) for member in members]
        present = tuple(each for each in found if each is not None)
        return Unit(index=index, members=present, is_complete=None not in found)

    def _health(self, state: State, member: Member) -> Health | None:
        name, gang = member.name, member.place.gang
        clique = self._observer.clique(state.set, name)
        if clique is None:
            return None
        own = state.gang if gang == state.key.name else self._observer.gang(state.set, gang)
        paused = pause(state.set, state.outline, member, clique)
        found = health(clique, _recycled(state, name, own), paused)
        # What is stored may be from before a restart: nothing that is well by now falls for it.
        if found.broken_since is not None and self._has_recovered(clique, own):
            return Health(clique=name)
        return found

    def _has_recovered(self, clique: PodClique, own: PodGang | None) -> bool:
        pods = self._caches.pods.owned(clique.metadata.uid)
        if own is not None and is_ours(own):
            named = set(all_listed_names(own).get(clique.metadata.name, ()))
            pods = tuple(pod for pod in pods if pod.metadata.name in named)
        return sum(is_well(pod) for pod in pods) >= clique.spec.needed


def _recycled(state: State, clique: str, own: PodGang | None) -> datetime | None:
    """When it last was, or is about to be because its base gang was."""
    base = state.base if state.is_scaled else state.gang
    times = [recycled_at(own, clique) if own is not None else None, _of_all(base)]
    return max((each for each in times if each is not None), default=None)


def _of_all(gang: PodGang | None) -> datetime | None:
    return stamps(gang).get(EVERY_CLIQUE) if gang is not None else None
