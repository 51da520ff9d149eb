# SPDX-License-Identifier: Apache-2.0
"""What an update is decided by: how pods, PodCliques and replicas are. Pure.

Whether anything is outdated is read from the pods and PodCliques themselves, never from a status:
what a crash kept from being written there is found again by looking.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime

    from trellis.workloads.updates.decisions import Why

GRACE = timedelta(seconds=10)
"""For how long what was Ready and is not counts as something that may recover by itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PodFacts:
    """The pod of one listed index; without `exists`, that it is yet to be made.

    `template` is the hash that its label says, if any. `roomless`: the scheduler has found no node
    for it. `since` is when its readiness last changed,
    and `was_ready` that it has been Ready at any time: where nobody can tell, say True, which costs
    the grace at most.
    """

    index: int
    name: str = ""
    template: str = ""
    exists: bool = True
    created: datetime | None = None
    ready: bool = False
    was_ready: bool = False
    since: datetime | None = None
    pending: bool = False
    roomless: bool = False
    leaving: bool = False
    failed: bool = False
    succeeded: bool = False

    @property
    def lives(self) -> bool:
        """Whether it holds its index. What is missing or leaving comes anew without our doing."""
        return self.exists and not self.leaving

    def is_outdated(self, current: frozenset[str]) -> bool:
        return self.lives and self.template not in current


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberFacts:
    """One PodClique of a replica of a scaling group, there or yet to be made.

    `carries`: its spec is that of the set's template now. `released`: it is marked, for that
    template, as one whose pods are to be renewed. `current`: the hashes of pods that have its own
    spec, whichever that is. `was_available`: it has held its minimum since it was made.
    """

    clique: str
    needed: int
    carries: bool = True
    released: bool = False
    pods: tuple[PodFacts, ...] = ()
    current: frozenset[str] = frozenset()
    was_available: bool = True

    @property
    def has_outdated_pods(self) -> bool:
        return any(pod.is_outdated(self.current) for pod in self.pods)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicaFacts:
    """One replica of a scaling group."""

    index: int
    members: tuple[MemberFacts, ...]

    @property
    def is_outdated(self) -> bool:
        """Whether it is yet to be rolled. One whose pods are about to be renewed is not: all its
        members are released then, also those that have nothing new."""
        if not all(one.carries for one in self.members):
            return True
        released = all(one.released for one in self.members)
        return not released and any(one.has_outdated_pods for one in self.members)

    @property
    def is_about_to_go(self) -> bool:
        """Whether it has been released while its old pods are still listed."""
        return not self.is_outdated and any(one.has_outdated_pods for one in self.members)


@dataclass(frozen=True, slots=True, kw_only=True)
class SetReplicaFacts:
    """One replica of a set. `outdated`: a PodClique or pod of it has an older template.

    `complete`: its cliques and groups have ended their updates. `available`: how many of them hold
    their minima. `begun`: part of it has the new template already. `waits_for` says what it lacks,
    and `hindrance` what somebody must do something about.
    """

    index: int
    outdated: bool
    complete: bool
    available: int = 0
    begun: bool = False
    waits_for: str = ""
    hindrance: Why | None = None
