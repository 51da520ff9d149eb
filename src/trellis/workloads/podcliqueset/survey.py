# SPDX-License-Identifier: Apache-2.0
"""How the replicas of a set are: a count over what there is, made of dictionary lookups. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from trellis.api.annotation import APPLIED
from trellis.api.labels import POD_TEMPLATE_HASH
from trellis.workloads.holders import conflict
from trellis.workloads.members import carries, current_hashes, is_behind, knows_its_template
from trellis.workloads.podcliqueset.hearing import Hearing
from trellis.workloads.podcliqueset.owning import is_of
from trellis.workloads.updates import SetReplicaFacts
from trellis.workloads.updates.progress import (
    Counts,
    group_progress_of,
    is_under_way,
    progress_of,
    span_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from trellis.api.grove.podclique import PodClique
    from trellis.api.grove.scalinggroup import PodCliqueScalingGroup
    from trellis.api.grove.updates import CliqueProgress, GroupProgress
    from trellis.api.meta import Key, Object
    from trellis.api.scheduler.podgang import PodGang
    from trellis.runtime.converged import NameConflict
    from trellis.workloads.podcliqueset.layout import (
        CliqueSlot,
        GroupSlot,
        Layout,
        ReplicaSlots,
    )
    from trellis.workloads.trouble import Trouble

MOST_COMPLAINTS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Sight:
    """Where the survey looks. `replicas`: how many of a scaling group are worth looking for."""

    clique: Callable[[Key], PodClique | None]
    group: Callable[[Key], PodCliqueScalingGroup | None]
    gang: Callable[[Key], PodGang | None]
    replicas: Callable[[PodCliqueScalingGroup], int]


@dataclass(slots=True)
class Survey:
    """`wanted` are PodCliques and scaling groups; `behind` of them are missing or still bear an
    older template. `waits_for` says what the first unavailable replica lacks."""

    available: int = 0
    updated: int = 0
    wanted: int = 0
    behind: int = 0
    first_behind: str = ""
    waits_for: str = ""
    pods_wanted: bool = False
    """Whether anything is asked for at all: what is scaled to zero everywhere is well."""
    group_replicas: dict[str, int] = field(default_factory=dict)
    """How many replicas each scaling group has now, by its full name."""
    conflicts: list[NameConflict] = field(default_factory=list)
    """Gangs that cannot be made, because others have their names."""
    complaints: list[Trouble] = field(default_factory=list)
    """Of the first that lack pods or are being updated, and go on when somebody does something."""
    replicas: list[SetReplicaFacts] = field(default_factory=list)
    """How far each replica is with the templates of now."""
    handed: set[int] = field(default_factory=set)
    """The replicas of which every PodClique bears the templates of now."""
    counts: Counts = field(default_factory=Counts)

    @property
    def outdated(self) -> bool:
        """Whether anything has an older template still, or may have."""
        return any(one.outdated for one in self.replicas)


def survey(layout: Layout, sight: Sight) -> Survey:
    look = _Look(layout, sight)
    for replica in layout.replicas:
        look.at(replica)
    look.seen.counts = look.counts.told()
    return look.seen


@dataclass(slots=True)
class _Counting:
    """How many cliques and scaling groups of the set have reached its templates, and of all."""

    cliques: int = 0
    cliques_reached: int = 0
    groups: int = 0
    groups_reached: int = 0

    def told(self) -> Counts:
        return Counts(
            cliques_updated=self.cliques_reached,
            cliques=self.cliques,
            groups_updated=self.groups_reached,
            groups=self.groups,
        )


@dataclass(slots=True)
class _Versions:
    """Of one replica: what of it has the templates of now. `holding` hold their minima."""

    outdated: bool = False
    complete: bool = True
    handed: bool = True
    begun: bool = False
    holding: int = 0
    waits_for: str = ""
    hearing: Hearing = field(default_factory=Hearing)

    def facts(self, index: int) -> SetReplicaFacts:
        return SetReplicaFacts(
            index=index,
            outdated=self.outdated,
            complete=self.complete,
            available=self.holding,
            begun=self.begun,
            waits_for="; ".join(filter(None, (self.waits_for, self.hearing.follows))),
            hindrance=self.hearing.hindrance,
        )


@dataclass(slots=True)
class _Members:
    """Of one scaling group. `heard`: one of them complains. `missing`: one is yet to be made.

    `outdated`: one of them has pods of an older template.
    """

    heard: bool = False
    missing: bool = False
    outdated: bool = False


class _Look:
    """One pass over a set. What is `_available`, `_updated`, `_starts` and `_versions` is about the
    replica being looked at: it starts where it has any pods."""

    def __init__(self, layout: Layout, sight: Sight) -> None:
        self.seen = Survey()
        self.counts = _Counting()
        self._versions = _Versions()
        self._layout = layout
        self._sight = sight
        self._uid = layout.outline.set.metadata.uid
        self._hash = layout.outline.generation_hash
        self._available = self._updated = True
        self._starts = False

    def at(self, replica: ReplicaSlots) -> None:
        self._available = self._updated = True
        self._starts = False
        versions = self._versions = _Versions()
        for clique in replica.cliques:
            self._clique(clique)
        for group in replica.groups:
            self._group(group)
        if self._starts:
            self._gang(replica.gang)
        self.seen.available += self._available
        # What is rolled back in the middle has reached these templates before, and not all of it
        # is there again.
        self.seen.updated += self._available and self._updated and not versions.outdated
        self.seen.replicas.append(versions.facts(replica.index))
        if versions.handed:
            self.seen.handed.add(replica.index)

    def _clique(self, slot: CliqueSlot) -> None:
        found = self._sight.clique(slot.key)
        self.counts.cliques += 1
        if found is None or not is_of(found, self._uid):
            self._lacks(slot.key, f"PodClique {slot.key.name}")
            return
        reached = self._reached(found, progress_of(found.status))
        self.counts.cliques_reached += reached and not is_behind(found)
        told = self._version(found, slot) and knows_its_template(found)
        updating = told and is_under_way(found.status)
        current = self._carries(found, slot.mark)
        needed = min(slot.least, found.spec.replicas)
        if not needed:
            self._updated &= current
            self._versions.holding += 1
            return
        status = found.status
        self._wants_pods()
        lacking = status.ready_replicas < needed
        self._hear(found, lacking=told and lacking, updating=updating)
        if updating:
            self._versions.hearing.follow(found)
        if lacking:
            what = f"PodClique {slot.key.name} ({status.ready_replicas} of {needed} pods ready)"
            self._waits(what)
        else:
            self._versions.holding += 1
        self._updated &= current and status.updated_replicas >= needed and _is_current(found)

    def _group(self, slot: GroupSlot) -> None:
        found = self._sight.group(slot.key)
        self.counts.groups += 1
        if found is None or not is_of(found, self._uid):
            self._lacks(slot.key, f"PodCliqueScalingGroup {slot.key.name}")
            return
        reached = self._reached(found, group_progress_of(found.status))
        current = self._carries(found, slot.mark)
        replicas = self._sight.replicas(found)
        self.seen.group_replicas[slot.key.name] = replicas
        members = self._members(slot, found, replicas)
        self.counts.groups_reached += reached and not members.outdated
        updating = self._is_updating(found)
        # What it has from its members, they have said themselves.
        self._hear(found, updating=updating and not members.heard, lacking=members.missing)
        if updating:
            self._versions.hearing.follow(found)
        for gang in self._layout.scaled_gangs(slot, replicas):
            self._gang(gang)
        needed = min(slot.least, found.spec.replicas)
        if not needed:
            self._updated &= current
            self._versions.holding += 1
            return
        status = found.status
        self._wants_pods()
        if status.available_replicas < needed:
            ready = f"{status.available_replicas} of {needed} replicas available"
            self._waits(f"PodCliqueScalingGroup {slot.key.name} ({ready})")
        else:
            self._versions.holding += 1
        self._updated &= (
            current
            and status.updated_replicas >= needed
            and status.current_pod_clique_set_generation_hash == self._hash
        )

    def _members(self, slot: GroupSlot, group: PodCliqueScalingGroup, replicas: int) -> _Members:
        """Whether those that the group makes are there. How they are, it says itself."""
        seen = _Members()
        clique, uid = self._sight.clique, group.metadata.uid
        for members in self._layout.members(slot, replicas):
            for member in members:
                found = clique(member.key)
                if found is None or not is_of(found, uid):
                    self._behind(member.key)
                    self._versions.handed = False
                    seen.missing = True
                    continue
                seen.outdated |= is_behind(found)
                told = self._version(found, member) and knows_its_template(found)
                updating = told and is_under_way(found.status)
                self._carries(found, member.mark)
                lacking = found.status.ready_replicas < min(member.least, found.spec.replicas)
                seen.heard |= self._hear(found, lacking=told and lacking, updating=updating)
        return seen

    def _is_updating(self, group: PodCliqueScalingGroup) -> bool:
        told = group_progress_of(group.status)
        span = span_of(told)
        is_open = span is not None and span.is_open
        return is_open and told is not None and told.pod_clique_set_generation_hash == self._hash

    def _hear(
        self, child: PodClique | PodCliqueScalingGroup, *, updating: bool, lacking: bool = False
    ) -> bool:
        """Whether it complains of what concerns the set."""
        found = self._versions.hearing.complaint(child, updating=updating, lacking=lacking)
        if found is not None and len(self.seen.complaints) < MOST_COMPLAINTS:
            self.seen.complaints.append(found)
        return found is not None

    def _gang(self, key: Key) -> None:
        """Whether it can be made. How it is, it says itself."""
        found = self._sight.gang(key)
        if found is None or is_of(found, self._uid):
            return
        if (held := conflict(found, self._layout.outline.set)) is not None:
            self.seen.conflicts.append(held)

    def _version(self, found: PodClique, slot: CliqueSlot) -> bool:
        """Notes whether it has the template of now, and so have its pods. Returns the former."""
        versions = self._versions
        carried = carries(found, slot.template, slot.template_hash)
        if carried:
            versions.begun = True
            versions.outdated |= is_behind(found)
        else:
            versions.outdated = True
            versions.handed = False
        return carried

    def _reached(
        self,
        found: PodClique | PodCliqueScalingGroup,
        progress: CliqueProgress | GroupProgress | None,
    ) -> bool:
        """Whether it says that it has ended its update to the templates of now.

        What is rolled back in the middle has reached them once, and is not there again yet.
        """
        told = span_of(progress)
        reached = found.status.current_pod_clique_set_generation_hash == self._hash
        reached &= told is None or not told.is_open
        self._versions.complete &= reached
        return reached

    def _wants_pods(self) -> None:
        self.seen.pods_wanted = self._starts = True

    def _carries(self, found: Object, mark: str) -> bool:
        """Whether it says what the set does now."""
        if found.metadata.annotations.get(APPLIED) == mark:
            self.seen.wanted += 1
            return True
        self._behind(found.metadata.key)
        return False

    def _lacks(self, key: Key, what: str) -> None:
        self._wants_pods()
        self._updated = False
        self._versions.complete = self._versions.handed = False
        self._behind(key)
        self._waits(what)

    def _behind(self, key: Key) -> None:
        self.seen.wanted += 1
        self.seen.behind += 1
        self.seen.first_behind = self.seen.first_behind or key.name

    def _waits(self, what: str) -> None:
        self._available = False
        self._versions.waits_for = self._versions.waits_for or what
        self.seen.waits_for = self.seen.waits_for or what


def _is_current(found: PodClique) -> bool:
    """Whether all its pods are of its current template."""
    reached = found.status.current_pod_template_hash
    wanted = found.metadata.labels.get(POD_TEMPLATE_HASH)
    return reached == wanted or reached in current_hashes(found)
