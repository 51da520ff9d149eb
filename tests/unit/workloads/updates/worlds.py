# SPDX-License-Identifier: Apache-2.0
"""Tiny worlds in which the planner is obeyed: pods start, fail and get lost, time goes by.

Each keeps the laws that no step may break, and checks them at every step.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING

from tests.unit.workloads.updates.builders import NOW
from trellis.api.grove.updates import ON_DELETE, ROLLING_RECREATE
from trellis.api.reasons import CATALOGUE
from trellis.workloads.updates import (
    Budget,
    CliqueState,
    GroupState,
    MemberFacts,
    PodFacts,
    ReplicaFacts,
    outlook,
)

if TYPE_CHECKING:
    from datetime import datetime

    from trellis.workloads.updates import Outlook, Step

PENDING_SECONDS = 1
STARTING_SECONDS = 4


def named(template: int) -> str:
    return f"v1-{template}"


@dataclass
class ModelPod:
    """`doomed`: it is not Ready and will never be. `waits`: there is no room for it."""

    template: int
    born: datetime
    since: datetime
    ready: bool = False
    was_ready: bool = False
    doomed: bool = False
    waits: bool = False

    def told(self, index: int, now: datetime) -> PodFacts:
        return PodFacts(
            index=index,
            name=f"pod-{index}",
            template=named(self.template),
            created=self.born,
            ready=self.ready,
            was_ready=self.was_ready,
            since=self.since,
            pending=self.waits or now - self.born < timedelta(seconds=PENDING_SECONDS),
            roomless=self.waits,
        )

    def turn(self, ready: bool, now: datetime) -> None:
        if self.ready != ready:
            self.ready, self.since = ready, now
            self.was_ready |= ready


@dataclass
class World:
    """What both worlds have in common. `good`: the templates whose pods become Ready.

    `room`: for how many pods of a PodClique there is room.
    """

    most: int
    now: datetime = NOW
    strategy: str = ROLLING_RECREATE
    template: int = 0
    good: set[int] = field(default_factory=lambda: {0})
    steps: int = 0
    room: int = 99

    def change(self, *, good: bool) -> None:
        """The template is another one."""
        self.template += 1
        if good:
            self.good.add(self.template)

    def born(self, template: int) -> ModelPod:
        return ModelPod(template, self.now, self.now)

    def live(self, pods: dict[int, ModelPod | None], template: int) -> None:
        """What is missing is made, and what has started by now is Ready if it can be."""
        placed = sum(pod is not None and not pod.waits for pod in pods.values())
        for index, pod in pods.items():
            if pod is not None and self._starts(pod):
                pod.turn(True, self.now)
            elif pod is None or (pod.waits and placed < self.room):
                found = pods[index] = pod or self.born(template)
                found.waits, found.since = placed >= self.room, self.now
                placed += not found.waits

    def _starts(self, pod: ModelPod) -> bool:
        if pod.ready or pod.doomed or pod.waits or pod.template not in self.good:
            return False
        return self.now - pod.since >= timedelta(seconds=STARTING_SECONDS)

    def check(self, step: Step, ready: set[int], down: int) -> None:
        """`ready` are those of the step that were; `down`: how many were not, of all."""
        self.steps += 1
        assert self.strategy == ROLLING_RECREATE
        assert step.indices
        assert set(step.paid) == ready
        assert not step.paid or down + len(step.paid) <= self.most
        assert step.why.text
        assert step.why.reason.token in CATALOGUE


@dataclass
class CliqueWorld(World):
    pods: dict[int, ModelPod | None] = field(default_factory=dict)
    at_start: int = 0

    def scale(self, replicas: int) -> None:
        for index in sorted(self.pods)[replicas:]:
            del self.pods[index]
        for index in range(replicas):
            self.pods.setdefault(index, None)

    def change(self, *, good: bool) -> None:
        """What an unfinished update is to bring back is still to be brought back."""
        ready = sum(pod is not None and pod.ready for pod in self.pods.values())
        self.at_start = ready if self.look().ended else max(self.at_start, ready)
        super().change(good=good)

    def look(self) -> Outlook:
        pods = tuple(
            pod.told(index, self.now) if pod else PodFacts(index=index, exists=False)
            for index, pod in sorted(self.pods.items())
        )
        return outlook(
            CliqueState(
                now=self.now,
                strategy=self.strategy,
                minimum=1,
                at_start=self.at_start,
                budget=Budget(max_unavailable=self.most),
                pods=pods,
                current=frozenset({named(self.template)}),
            )
        )

    def obey(self) -> Outlook:
        """Takes steps until there are none to take just now."""
        while (found := self.look()).step is not None:
            chosen = {index: self.pods[index] for index in found.step.indices}
            ready = {index for index, pod in chosen.items() if pod and pod.ready}
            down = sum(not _is_up(pod) for pod in self.pods.values())
            self.check(found.step, ready, down)
            for index, pod in chosen.items():
                assert pod is not None
                assert pod.template != self.template
                self.pods[index] = None
        return found

    def tick(self, seconds: int) -> Outlook:
        self.now += timedelta(seconds=seconds)
        self.live(self.pods, self.template)
        return self.obey()


def _is_up(pod: ModelPod | None) -> bool:
    """What waits for room is not counted: what is taken down in its stead is, by the test."""
    return pod is not None and (pod.ready or pod.waits)


@dataclass
class ModelMember:
    """A PodClique: the template that it has, and the one that its pods were released for."""

    template: int
    pods: dict[int, ModelPod | None]
    released: int = -1
    was_available: bool = False

    @property
    def has_outdated_pods(self) -> bool:
        return any(pod is not None and pod.template != self.template for pod in self.pods.values())

    @property
    def ready(self) -> int:
        return sum(pod is not None and pod.ready for pod in self.pods.values())

    def told(self, world: World) -> MemberFacts:
        return MemberFacts(
            clique="member",
            needed=1,
            carries=self.template == world.template,
            released=self.released == world.template,
            pods=tuple(
                pod.told(index, world.now) if pod else PodFacts(index=index, exists=False)
                for index, pod in self.pods.items()
            ),
            current=frozenset({named(self.template)}),
            was_available=self.was_available,
        )


@dataclass
class GroupWorld(World):
    """`crashes`: how many times the group's controller ends after the first write of a step."""

    replicas: list[list[ModelMember]] = field(default_factory=list)
    crashes: int = 0

    def scale(self, count: int) -> None:
        del self.replicas[count:]
        while len(self.replicas) < count:
            members = [ModelMember(self.template, {0: None, 1: None}) for _ in range(2)]
            self.replicas.append(members)

    def look(self) -> Outlook:
        replicas = tuple(
            ReplicaFacts(index=index, members=tuple(member.told(self) for member in members))
            for index, members in enumerate(self.replicas)
        )
        return outlook(
            GroupState(
                now=self.now,
                strategy=self.strategy,
                minimum=1,
                budget=Budget(max_unavailable=self.most),
                replicas=replicas,
            )
        )

    def obey(self) -> Outlook:
        """One pass of the group's controller, and one of that of its gangs."""
        found = self.look()
        if self.strategy == ON_DELETE:
            assert found.step is None
            for member in (member for members in self.replicas for member in members):
                member.template = self.template
            return found
        if found.step is not None:
            ready = {index for index in found.step.indices if self._is_ready(index)}
            self.check(found.step, ready, sum(not self._is_up(i) for i in self._indices))
            self._roll(found.step)
        self._renew()
        return found

    def tick(self, seconds: int) -> Outlook:
        self.now += timedelta(seconds=seconds)
        for member in (member for members in self.replicas for member in members):
            self.live(member.pods, member.template)
            member.was_available |= member.ready >= 1
        return self.obey()

    @property
    def _indices(self) -> range:
        return range(len(self.replicas))

    def _is_ready(self, index: int) -> bool:
        return all(member.ready >= 1 for member in self.replicas[index])

    def _is_up(self, index: int) -> bool:
        """Whether it is of use, and will be for a while."""
        members = self.replicas[index]
        goes = all(member.released == self.template == member.template for member in members)
        leaving = goes and any(member.has_outdated_pods for member in members)
        return self._is_ready(index) and not leaving

    def _roll(self, step: Step) -> None:
        for index in step.indices:
            for member in self.replicas[index]:
                member.template = member.released = self.template
                if self.crashes:
                    self.crashes -= 1
                    return

    def _renew(self) -> None:
        """Names of a whole replica change in one write, once all of it is released."""
        for members in self.replicas:
            released = all(member.released == self.template for member in members)
            if released and any(member.has_outdated_pods for member in members):
                for member in members:
                    member.pods = dict.fromkeys(member.pods)
