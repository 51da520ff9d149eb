# SPDX-License-Identifier: Apache-2.0
"""Reads how the replica of a set is that a gang belongs to, as far as that gang may act on it.

A base gang looks at all of the replica, a scaled one at its own scaling group. Nearly always
nothing is broken, and then nothing is read but that.
"""

from __future__ import annotations

from dataclasses import dataclass
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
    from collections.abc import Collection
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

    def decision(self, state: State, now: datetime, well: Collection[str] = ()) -> Decision:
        """What of that gang is to be made anew, now or later.

        `well`: PodCliques that are known to be, whatever the caches say.
        """
        if state.gang is None or not self._is_anything_breached(state):
            return NOTHING
        found = _Replica(self._caches, self._observer, self._most, state, well).health()
        return decide(found, termination_delay(state.set), now)

    def _is_anything_breached(self, state: State) -> bool:
        if any(is_breached(part.clique) for part in state.parts):
            return True
        if state.is_scaled:
            return False
        scaled = self._caches.cliques.find(BY_BASE_GANG, str(state.key))
        return any(is_breached(clique) for clique in scaled)


@dataclass(frozen=True, slots=True)
class _Replica:
    """One replica of a set, as one gang of it looks at it."""

    caches: Caches
    observer: Observer
    most: int
    state: State
    well: Collection[str]

    def health(self) -> ReplicaHealth:
        outline, place = self.state.outline, self.state.place
        if place.group is not None:
            return ReplicaHealth(groups=(self._group(place.group),))
        found = [self._health(member) for member in outline.alone(place.replica)]
        return ReplicaHealth(
            alone=tuple(each for each in found if each is not None),
            groups=tuple(self._group(group) for group in outline.groups.values()),
            is_complete=None not in found,
        )

    def _group(self, group: ScalingGroupTemplate) -> GroupHealth:
        state = self.state
        name = state.outline.group_name(state.place.replica, group)
        found = self.caches.groups.get(Key(state.key.namespace, name))
        wanted = self.observer.live(state)[group.name]
        if found is not None:
            wanted = min(wanted, group_replicas(self.caches, found, self.most))
        return GroupHealth(
            name=name,
            minimum=min(group.min_available, wanted),
            units=tuple(self._unit(group, index) for index in range(wanted)),
        )

    def _unit(self, group: ScalingGroupTemplate, index: int) -> Unit:
        members = self.state.outline.grouped(self.state.place.replica, group, index)
        found = [self._health(member) for member in members]
        present = tuple(each for each in found if each is not None)
        return Unit(index=index, members=present, is_complete=None not in found)

    def _health(self, member: Member) -> Health | None:
        name, gang, state = member.name, member.place.gang, self.state
        clique = self.observer.clique(state.set, name)
        if clique is None:
            return None
        own = state.gang if gang == state.key.name else self.observer.gang(state.set, gang)
        paused = pause(state.set, state.outline, member, clique)
        found = health(clique, _recycled(state, name, own), paused)
        # What is stored may be from before a restart: nothing that is well by now falls for it.
        if found.broken_since is not None and (name in self.well or self._is_well(clique, own)):
            return Health(clique=name)
        return found

    def _is_well(self, clique: PodClique, own: PodGang | None) -> bool:
        pods = self.caches.pods.owned(clique.metadata.uid)
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
