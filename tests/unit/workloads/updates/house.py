# SPDX-License-Identifier: Apache-2.0
"""A whole set in small: controllers that meet only through what is stored, write by write.

Each is a generator that pauses after every write, so that it can be left there for ever: a crash.
The set has a clique of its own, `a`, and a scaling group of `b` and `c`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, NamedTuple

from msgspec import structs

from tests.unit.workloads.updates.builders import NOW
from trellis.api.conditions import Pass, merged
from trellis.api.grove.podclique import PodCliqueStatus
from trellis.api.grove.podcliqueset import PodCliqueSetStatus
from trellis.api.grove.scalinggroup import PodCliqueScalingGroupStatus
from trellis.api.grove.updates import ON_DELETE, ROLLING_RECREATE, UPDATE_IN_PROGRESS
from trellis.workloads.updates import (
    CliqueState,
    GroupState,
    MemberFacts,
    PodFacts,
    ReplicaFacts,
    SetReplicaFacts,
    SetState,
    outlook,
)
from trellis.workloads.updates.progress import (
    CliqueFacts,
    GroupFacts,
    SetFacts,
    clique_status,
    group_status,
    selected,
    set_status,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from trellis.workloads.updates import Outlook

STARTING = timedelta(seconds=4)
ALONE, GROUPED = "a", ("b", "c")


class Place(NamedTuple):
    """Which replica of the set, which clique, and which replica of the group."""

    replica: int
    clique: str
    inner: int = 0


@dataclass
class Clique:
    """A PodClique and its listed pods. `observed`: its status is about the spec that it has."""

    template: str
    pods: dict[int, PodFacts]
    released: str = ""
    ready_before: int = 0
    observed: bool = False
    was_available: bool = False
    status: PodCliqueStatus = field(default_factory=PodCliqueStatus)

    @property
    def current(self) -> frozenset[str]:
        return frozenset({self.template})

    @property
    def outdated(self) -> int:
        return sum(pod.is_outdated(self.current) for pod in self.pods.values())

    @property
    def ready(self) -> int:
        return sum(pod.ready for pod in self.pods.values())

    def patch(self, template: str) -> None:
        if template != self.template:
            self.ready_before = self.ready
            self.template, self.observed = template, False

    def renew(self, indices: tuple[int, ...]) -> None:
        """Other names are listed, and nobody has made their pods yet."""
        for index in indices:
            self.pods[index] = PodFacts(index=index, exists=False)


@dataclass
class House:
    replicas: int = 2
    group_size: int = 2
    now: datetime = NOW
    strategy: str = ROLLING_RECREATE
    versions: dict[str, int] = field(default_factory=lambda: dict.fromkeys("abc", 0))
    number: int = 1
    status: PodCliqueSetStatus = field(default_factory=PodCliqueSetStatus)
    cliques: dict[Place, Clique] = field(default_factory=dict)
    groups: dict[int, PodCliqueScalingGroupStatus] = field(default_factory=dict)
    renewals: int = 0

    @property
    def by_hand(self) -> bool:
        return self.strategy == ON_DELETE

    @property
    def generation(self) -> str:
        return "v1-" + "-".join(self.wanted(name) for name in "abc")

    @property
    def mark(self) -> str:
        return "-".join(self.wanted(name) for name in GROUPED)

    def wanted(self, clique: str) -> str:
        return f"v1-{clique}{self.versions[clique]}"

    def edit(self, clique: str) -> None:
        self.versions[clique] += 1
        self.number += 1

    def switch(self, strategy: str) -> None:
        self.strategy = strategy
        self.number += 1

    def scale(self, replicas: int, group_size: int) -> None:
        self.replicas, self.group_size = replicas, group_size
        self.number += 1
        places = set(self.places())
        self.cliques = {place: one for place, one in self.cliques.items() if place in places}
        self.groups = {index: one for index, one in self.groups.items() if index < replicas}

    def tick(self, seconds: int) -> None:
        """Pods that have been starting for long enough are Ready."""
        self.now += timedelta(seconds=seconds)
        for one in self.cliques.values():
            for index, pod in one.pods.items():
                if pod.exists and not pod.ready and pod.since and self.now - pod.since >= STARTING:
                    one.pods[index] = _ready(pod, self.now)

    def places(self, replica: int | None = None) -> list[Place]:
        """Where PodCliques are to be."""
        every = range(self.replicas) if replica is None else (replica,)
        return [
            *(Place(index, ALONE) for index in every),
            *(
                Place(index, name, inner)
                for index in every
                for inner in range(self.group_size)
                for name in GROUPED
            ),
        ]

    def controllers(self) -> list[Iterator[None]]:
        every = range(self.replicas)
        return [
            self.whole(),
            *(self.shard(index) for index in every),
            *(self.group(index) for index in every),
            *(self.gang(index) for index in every),
            *(self.clique(place) for place in self.places()),
        ]

    def whole(self) -> Iterator[None]:
        """The set: which replica is updated, and what is told."""
        facts = tuple(self._replica(index) for index in range(self.replicas))
        found = outlook(
            SetState(replicas=facts, strategy=self.strategy, selected=selected(self.status))
        )
        may = [one.index for one in facts if self.by_hand or one.index not in found.held]
        told, finding = set_status(
            self.status,
            SetFacts(
                strategy=self.strategy,
                outlook=found,
                generation=self.generation,
                handed=all(self._carries(place) for index in may for place in self.places(index)),
                outdated=any(one.outdated for one in facts),
                updated=sum(not one.outdated and one.complete for one in facts),
            ),
            Pass(self.number, self.now),
        )
        seen = Pass(self.number, self.now)
        conditions = merged(told.conditions, [finding], (UPDATE_IN_PROGRESS,), seen)
        self.status = structs.replace(told, conditions=conditions)
        yield

    def shard(self, replica: int) -> Iterator[None]:
        """PodCliques in no group: one that is there is patched only when its turn has come."""
        place = Place(replica, ALONE)
        one = self.cliques.get(place)
        if one is None:
            self._make(place)
            yield
        elif one.template != self.wanted(ALONE) and self._is_turn(replica):
            one.patch(self.wanted(ALONE))
            yield

    def group(self, replica: int) -> Iterator[None]:
        """PodCliques of the group, then its status."""
        found = self._group_outlook(replica)
        rolled = found.step.indices if found.step else ()
        for place in self.places(replica)[1:]:
            one = self.cliques.get(place)
            if one is None:
                self._make(place)
                yield
            elif self.by_hand and one.template != self.wanted(place.clique):
                one.patch(self.wanted(place.clique))
                yield
            elif place.inner in rolled:
                one.ready_before = one.ready
                one.patch(self.wanted(place.clique))
                one.released = self.mark
                yield
        found = self._group_outlook(replica)
        before = self.groups.get(replica, PodCliqueScalingGroupStatus())
        self.groups[replica], _ = group_status(
            before,
            GroupFacts(
                strategy=self.strategy,
                outlook=found,
                generation=self.generation,
                handed=all(self._carries(place) for place in self.places(replica)[1:]),
                outdated=self._is_group_outdated(replica),
                updated=0,
                members_updated=0,
                members=0,
                released=self._is_turn(replica),
            ),
            self.now,
        )
        yield

    def gang(self, replica: int) -> Iterator[None]:
        """The ledger: one write for a clique, and one for a whole replica of the group."""
        if self.by_hand:
            return
        one = self.cliques.get(Place(replica, ALONE))
        if one is not None and one.template == self.wanted(ALONE):
            step = self._clique_outlook(one, self._is_turn(replica)).step
            if step is not None:
                one.renew(step.indices)
                self.renewals += 1
                yield
        for index in range(self.group_size):
            members = [self.cliques.get(Place(replica, name, index)) for name in GROUPED]
            there = [member for member in members if member is not None]
            released = [member for member in there if member.released == self.mark]
            if len(released) == len(GROUPED) and any(member.outdated for member in released):
                for member in released:
                    member.renew(tuple(member.pods))
                self.renewals += 1
                yield

    def clique(self, place: Place) -> Iterator[None]:
        """Pods that are listed and missing, then the status."""
        one = self.cliques.get(place)
        if one is None:
            return
        for index, pod in one.pods.items():
            if not pod.exists:
                one.pods[index] = PodFacts(
                    index=index, template=one.template, created=self.now, since=self.now
                )
                yield
        carries = one.template == self.wanted(place.clique)
        alone = place.clique == ALONE
        released = self._is_turn(place.replica) if alone else one.released == self.mark
        one.status, _ = clique_status(
            one.status,
            CliqueFacts(
                strategy=self.strategy,
                outlook=self._clique_outlook(one, released),
                template=one.template,
                current=one.current,
                generation=self.generation if carries else "",
                outdated=one.outdated,
                updated=len(one.pods) - one.outdated,
                released=released,
            ),
            self.now,
        )
        one.observed = True
        one.was_available |= one.ready > 0
        yield

    def _make(self, place: Place) -> None:
        pods = {index: PodFacts(index=index, exists=False) for index in range(2)}
        self.cliques[place] = Clique(self.wanted(place.clique), pods)

    def _is_turn(self, replica: int) -> bool:
        return self.by_hand or replica in selected(self.status)

    def _carries(self, place: Place) -> bool:
        one = self.cliques.get(place)
        return one is not None and one.template == self.wanted(place.clique)

    def _is_group_outdated(self, replica: int) -> bool:
        return any(
            one.template != self.wanted(place.clique) or one.outdated > 0
            for place in self.places(replica)[1:]
            if (one := self.cliques.get(place)) is not None
        )

    def _replica(self, replica: int) -> SetReplicaFacts:
        there = [(place, self.cliques.get(place)) for place in self.places(replica)]
        known = [(place, one) for place, one in there if one is not None]
        outdated = any(
            one.template != self.wanted(place.clique)
            or not one.observed
            or one.status.updated_replicas < len(one.pods)
            for place, one in known
        )
        group = self.groups.get(replica, PodCliqueScalingGroupStatus())
        alone = self.cliques.get(Place(replica, ALONE))
        reached = [group.current_pod_clique_set_generation_hash]
        reached += [alone.status.current_pod_clique_set_generation_hash] if alone else [""]
        return SetReplicaFacts(
            index=replica,
            outdated=outdated,
            complete=all(value == self.generation for value in reached),
            available=sum(one.ready > 0 for _, one in known),
            begun=any(one.template == self.wanted(place.clique) for place, one in known),
        )

    def _group_outlook(self, replica: int) -> Outlook:
        return outlook(
            GroupState(
                now=self.now,
                strategy=self.strategy,
                minimum=min(1, self.group_size),
                at_start=sum(self._was_up(replica, inner) for inner in range(self.group_size)),
                its_turn=self._is_turn(replica),
                replicas=tuple(
                    ReplicaFacts(
                        index=index,
                        members=tuple(
                            self._member(Place(replica, name, index)) for name in GROUPED
                        ),
                    )
                    for index in range(self.group_size)
                ),
            )
        )

    def _was_up(self, replica: int, inner: int) -> bool:
        """Whether it was available when it was rolled, or is and was not rolled yet."""
        members = [self.cliques.get(Place(replica, name, inner)) for name in GROUPED]
        return all(
            one is not None and (one.ready_before if one.released == self.mark else one.ready)
            for one in members
        )

    def _member(self, place: Place) -> MemberFacts:
        one = self.cliques.get(place)
        if one is None:
            return MemberFacts(clique=place.clique, needed=1)
        return MemberFacts(
            clique=place.clique,
            needed=1,
            carries=one.template == self.wanted(place.clique),
            released=one.released == self.mark,
            pods=tuple(one.pods.values()),
            current=one.current,
            was_available=one.was_available,
        )

    def _clique_outlook(self, one: Clique, its_turn: bool) -> Outlook:
        return outlook(
            CliqueState(
                now=self.now,
                strategy=self.strategy,
                minimum=1,
                at_start=one.ready_before,
                its_turn=its_turn,
                pods=tuple(one.pods.values()),
                current=one.current,
            )
        )


def _ready(pod: PodFacts, now: datetime) -> PodFacts:
    return PodFacts(
        index=pod.index,
        template=pod.template,
        created=pod.created,
        since=now,
        ready=True,
        was_ready=True,
    )
