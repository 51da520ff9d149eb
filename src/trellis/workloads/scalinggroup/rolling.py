# SPDX-License-Identifier: Apache-2.0
"""How far a scaling group is with the templates of its set, and what is renewed next. Pure.

It is told by PodCliques and pods themselves: statuses lag behind what has just been released.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from trellis.api.reasons import updates
from trellis.workloads.members import (
    Terms,
    carries,
    current_templates,
    is_behind,
    is_released,
    ready_before,
)
from trellis.workloads.outline import min_available
from trellis.workloads.priorities import unmakeable
from trellis.workloads.recycled import is_up_since
from trellis.workloads.updates import GroupState, MemberFacts, Outlook, ReplicaFacts, Why, outlook
from trellis.workloads.updates.progress import (
    group_progress_of,
    is_under_way,
    selected,
    span_of,
)
from trellis.workloads.updates.reading import budget, rolls, strategy_of
from trellis.workloads.updates.releases import release

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from datetime import datetime
    from typing import TypeAlias

    from trellis.api.grove.template import CliqueTemplate
    from trellis.workloads.scalinggroup.state import Replica, Seat, State
    from trellis.workloads.updates import PodFacts

    Pods: TypeAlias = Callable[[Seat], tuple[PodFacts, ...]]
    """The pods that are listed for a PodClique that is there."""

_NOTHING_NEW = Outlook(
    ended=True, why=Why(updates.UPDATE_COMPLETED, "All replicas have the current template")
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rolling:
    """`outdated`: some PodClique or pod is. `handed`: every PodClique bears the templates of now.

    `its_turn`: the replica of the set that the group is in is being updated. `chosen`: the
    replicas that are being replaced and were available before. `release`: the mark for those that
    are to be renewed now.
    """

    outlook: Outlook
    outdated: bool
    handed: bool
    its_turn: bool
    release: str = ""
    chosen: tuple[int, ...] = ()
    unfinished: frozenset[int] = frozenset()
    """Replicas of which some PodClique says that its update has not ended."""
    up: frozenset[int] = frozenset()
    """Replicas that are new by their pods, with as many Ready as there were before."""
    by_hand: bool = False
    ready: Mapping[str, int] = field(default_factory=dict)
    """By the name of a PodClique, how many of its pods are Ready."""

    def terms(self, index: int) -> Terms:
        """On which the PodCliques of that replica get their templates."""
        step = self.outlook.step
        mark = self.release if step is not None and index in step.indices else ""
        return Terms(
            held=index in self.outlook.held,
            release=mark,
            unfinished=index in self.unfinished,
            by_hand=self.by_hand,
            ready=self.ready,
        )

    def touches(self, index: int) -> bool:
        """Whether anything is to be done for that replica that its PodCliques do not show."""
        step = self.outlook.step
        return index in self.outlook.held or (step is not None and index in step.indices)


def rolling(state: State, pods: Pods, now: datetime) -> Rolling:
    behind = [_is_behind(seat, state) for seat in state.seats if seat.live is not None]
    handed = len(behind) == len(state.seats) and all(
        _carries(seat, state) for seat in state.seats if seat.live is not None
    )
    its_turn = state.place.replica in selected(state.owner.status)
    span = span_of(group_progress_of(state.group.status))
    if not any(behind) and (span is None or not span.is_open):
        return Rolling(
            outlook=_NOTHING_NEW,
            outdated=False,
            handed=handed,
            its_turn=its_turn,
            by_hand=not rolls(state.owner),
        )
    facts = tuple(_replica(one, state, pods) for one in state.replicas)
    mark = release(state.owner, state.place.outline, state.place.config)
    was_up = frozenset(_were_up(state, facts))
    found = outlook(
        GroupState(
            now=now,
            strategy=strategy_of(state.owner),
            minimum=min(state.place.config.min_available, len(state.replicas)),
            at_start=len(was_up),
            were_up=was_up,
            started=span.started if span is not None else None,
            budget=budget(state.owner, state.place.config.rolling_update),
            its_turn=its_turn,
            replicas=facts,
            obstacle=unmakeable(state.owner, _templates(state), state.missing_classes),
        )
    )
    return Rolling(
        outlook=found,
        outdated=any(_has_outdated(one) for one in facts),
        handed=handed,
        its_turn=its_turn,
        release=mark if rolls(state.owner) else "",
        chosen=tuple(index for index in found.active if index in was_up),
        unfinished=frozenset(one.index for one in state.replicas if _is_unfinished(one)),
        up=frozenset(_are_up(state, facts)),
        by_hand=not rolls(state.owner),
        ready={one.clique: _ready(one) for known in facts for one in known.members},
    )


def _templates(state: State) -> Iterator[CliqueTemplate]:
    cliques = state.place.outline.cliques
    return (cliques[name] for name in state.place.config.clique_names)


def _ready(member: MemberFacts) -> int:
    return sum(pod.lives and not pod.failed and pod.ready for pod in member.pods)


def _is_unfinished(replica: Replica) -> bool:
    return any(seat.live is not None and is_under_way(seat.live.status) for seat in replica.seats)


def _is_behind(seat: Seat, state: State) -> bool:
    return not _carries(seat, state) or (seat.live is not None and is_behind(seat.live))


def _carries(seat: Seat, state: State) -> bool:
    template = seat.member.template
    wanted = state.place.outline.template_hashes[template.name]
    return seat.live is None or carries(seat.live, template, wanted)


def _has_outdated(replica: ReplicaFacts) -> bool:
    return any(not one.carries or one.has_outdated_pods for one in replica.members)


def _replica(replica: Replica, state: State, pods: Pods) -> ReplicaFacts:
    members = tuple(_member(seat, replica, state, pods) for seat in replica.seats)
    return ReplicaFacts(index=replica.index, members=members)


def _member(seat: Seat, replica: Replica, state: State, pods: Pods) -> MemberFacts:
    live = seat.live
    if live is None:
        return MemberFacts(clique=seat.member.name, needed=min_available(seat.member.template))
    mark = release(state.owner, state.place.outline, state.place.config)
    recycled = replica.recycled.get(seat.member.name)
    return MemberFacts(
        clique=seat.member.name,
        needed=min(min_available(seat.member.template), live.spec.replicas),
        carries=_carries(seat, state),
        released=is_released(live, mark),
        pods=pods(seat),
        current=current_templates(live),
        was_available=is_up_since(live.status.first_available_time, recycled),
    )


def _were_up(state: State, facts: tuple[ReplicaFacts, ...]) -> Iterator[int]:
    """The replicas that were available when they were released, or are and were not yet."""
    for replica, known in zip(state.replicas, facts, strict=True):
        pairs = zip(replica.seats, known.members, strict=True)
        if all(_was_up(seat, member) for seat, member in pairs):
            yield replica.index


def _are_up(state: State, facts: tuple[ReplicaFacts, ...]) -> Iterator[int]:
    for replica, known in zip(state.replicas, facts, strict=True):
        pairs = zip(replica.seats, known.members, strict=True)
        if not _has_outdated(known) and all(_is_up(seat, member) for seat, member in pairs):
            yield replica.index


def _is_up(seat: Seat, member: MemberFacts) -> bool:
    """Whether its PodClique has nothing to wait for any more before it says that it is done."""
    if seat.live is None:
        return False
    wanted = min(max(member.needed, ready_before(seat.live)), seat.live.spec.replicas)
    return _ready(member) >= wanted


def _was_up(seat: Seat, member: MemberFacts) -> bool:
    if seat.live is None:
        return False
    if member.released or is_under_way(seat.live.status):
        # Also what was released for a change that a newer one has overtaken.
        return ready_before(seat.live) >= member.needed
    return _ready(member) >= member.needed
