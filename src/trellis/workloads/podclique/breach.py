# SPDX-License-Identifier: Apache-2.0
"""Whether a PodClique holds its minimum, since when it does not, and until when it may not. Pure.

Pods that are still starting count as well: what has not been up yet is not broken. Whether anything
is made anew is for the gang controller to decide, by the condition and the times written here.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from trellis.api.conditions import Finding, Status, find
from trellis.api.grove.podclique import MIN_AVAILABLE_BREACHED, SCHEDULED
from trellis.api.meta import to_seconds
from trellis.api.reasons import cliques
from trellis.workloads.deadlines import deadline, told
from trellis.workloads.pausing import NONE, Pause, pause
from trellis.workloads.recycled import is_up_since, recycled_at

if TYPE_CHECKING:
    from datetime import datetime

    from trellis.workloads.podclique.census import Census
    from trellis.workloads.podclique.state import State


def scheduled(state: State, counted: Census) -> Finding:
    enough = counted.scheduled >= state.needed
    return Finding(
        type=SCHEDULED,
        status=Status.of(enough),
        reason=cliques.SUFFICIENT_SCHEDULED_PODS if enough else cliques.INSUFFICIENT_SCHEDULED_PODS,
        message=f"{counted.scheduled} pods have a node, {state.needed} are needed",
    )


def breached(state: State, counted: Census, now: datetime) -> Finding:
    """`state.clique` still has the status before this run, and with it since when it is so."""
    well = counted.scheduled - counted.broken
    if well >= state.needed:
        return Finding(
            type=MIN_AVAILABLE_BREACHED,
            status=Status.FALSE,
            reason=cliques.SUFFICIENT_READY_PODS,
            message=f"{well} pods are ready or starting, {state.needed} are needed",
        )
    unplaced = counted.scheduled < state.needed
    lack = (
        f"{counted.scheduled} pods have a node"
        if unplaced
        else f"{counted.broken} of {counted.scheduled} pods have crashed or run and are not ready"
    )
    return Finding(
        type=MIN_AVAILABLE_BREACHED,
        status=Status.TRUE,
        reason=cliques.SCHEDULED_BELOW_MIN_AVAILABLE
        if unplaced
        else cliques.INSUFFICIENT_READY_PODS,
        message=f"{lack}, {state.needed} are needed; {_consequence(state, counted, now)}",
    )


def first_available(state: State, counted: Census, now: datetime) -> datetime | None:
    """When it first held its minimum since it was made, or last made anew as a gang.

    A time from before that goes: the gang, which knows when it was, may be deleted by anybody. What
    was scaled to none is left out of its gang, and starts anew when it is wanted again: that there
    is no room for it yet must not cost the others their pods.
    """
    known, recycled = state.clique.status.first_available_time, _recycled(state)
    if not state.needed:
        return None
    if is_up_since(known, recycled):
        return known
    if counted.ready < state.needed:
        return None
    if recycled is None:
        return to_seconds(now)
    # Times are cut to seconds, and what is up again within the same one is up all the same.
    return to_seconds(max(now, recycled + timedelta(seconds=1)))


def broken_since(state: State, now: datetime) -> datetime:
    """When the breach began that there is now."""
    present = find(state.clique.status.conditions, MIN_AVAILABLE_BREACHED)
    if present is None or present.status != Status.TRUE.value:
        return to_seconds(now)
    since = present.last_transition_time or to_seconds(now)
    return _pause(state).counts_from(since)


def is_planned(state: State) -> bool:
    """Whether an update takes it down itself."""
    return _pause(state).lasts


def was_up(state: State, counted: Census, now: datetime) -> bool:
    return is_up_since(first_available(state, counted, now), _recycled(state))


def was_ever_up(state: State) -> bool:
    """What was made anew had been up before, or fell with what had."""
    return state.clique.status.first_available_time is not None or _recycled(state) is not None


def _consequence(state: State, counted: Census, now: datetime) -> str:
    if not was_up(state, counted, now):
        return "it has not been up yet, so nothing is made anew for that"
    if is_planned(state):
        return "it is being updated, so nothing is made anew for that"
    until = told(deadline(broken_since(state, now), state.owner))
    place = state.member.place if state.member is not None else None
    if place is None or place.group is None:
        return f"unless it recovers, it is made anew with its gang at {until}"
    # Whether its group can spare it is the gang's to judge, by all replicas of the group.
    return (
        f"unless it recovers, it is made anew with its replica at {until} if scaling group "
        f"{place.group.full_name} has its minimum then, else when PodGang {place.gang} says"
    )


def _pause(state: State) -> Pause:
    if state.member is None:
        return NONE
    return pause(state.owner, state.outline, state.member, state.clique)


def _recycled(state: State) -> datetime | None:
    return recycled_at(state.gang, state.name) if state.gang is not None else None
