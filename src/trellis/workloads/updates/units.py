# SPDX-License-Identifier: Apache-2.0
"""How pods, and replicas of scaling groups, count in an update. Pure.

Ready is what the condition says now: restarts of the past say nothing. A pod that has done its work
counts as one that is Ready, for it will never be so again. Kubelets have clocks of their own: what
they say happened long after now is taken for long ago, or an update would wait until then.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from trellis.workloads.updates.choosing import Unit
from trellis.workloads.updates.facts import GRACE

if TYPE_CHECKING:
    from trellis.workloads.updates.facts import MemberFacts, PodFacts, ReplicaFacts
    from trellis.workloads.updates.state import CliqueState, GroupState, RollState

_EVER = datetime.min.replace(tzinfo=UTC)


def pod_units(state: CliqueState) -> tuple[Unit, ...]:
    return tuple(_pod_unit(state, pod) for pod in _by_our_clock(state.pods, state.now))


def replica_units(state: GroupState) -> tuple[Unit, ...]:
    return tuple(_replica_unit(state, _timed(one, state.now)) for one in state.replicas)


def _timed(replica: ReplicaFacts, now: datetime) -> ReplicaFacts:
    members = tuple(replace(one, pods=_by_our_clock(one.pods, now)) for one in replica.members)
    return replace(replica, members=members)


def _by_our_clock(pods: tuple[PodFacts, ...], now: datetime) -> tuple[PodFacts, ...]:
    latest = now + GRACE
    if all(pod.since is None or pod.since <= latest for pod in pods):
        return pods
    return tuple(
        replace(pod, since=_EVER) if pod.since and pod.since > latest else pod for pod in pods
    )


def _pod_unit(state: CliqueState, pod: PodFacts) -> Unit:
    outdated = pod.is_outdated(state.current)
    # What has done its work is not to be waited for, but of an older template nobody needs it.
    broken = _is_of_no_use(pod, state.now) or (outdated and pod.succeeded)
    since = None if broken else _ready_since(pod)
    return Unit(
        index=pod.index,
        outdated=outdated,
        ready=since is not None,
        available=_is_settled(state, since),
        broken=broken,
        stuck=not outdated and _finds_no_room(pod, state.now),
        starting=not outdated and since is None and _has_had_no_time(state, pod),
        missing=not pod.exists,
        born=pod.created.timestamp() if pod.created else 0.0,
        ready_since=since,
        changes_at=_changes_at(state, since, (pod,)),
    )


def _replica_unit(state: GroupState, replica: ReplicaFacts) -> Unit:
    outdated = replica.is_outdated
    since = _replica_ready_since(replica)
    pods = tuple(pod for one in replica.members for pod in one.pods if outdated or pod.roomless)
    return Unit(
        index=replica.index,
        outdated=outdated,
        ready=since is not None,
        available=_is_settled(state, since),
        broken=since is None and any(_is_broken(one, state.now) for one in replica.members),
        stuck=not outdated
        and not replica.is_about_to_go
        and any(_is_stuck(one, state.now) for one in replica.members),
        begun=any(one.released for one in replica.members),
        ready_since=since,
        changes_at=_changes_at(state, since, pods),
    )


def _is_of_no_use(pod: PodFacts, now: datetime) -> bool:
    """Missing, Pending, failed, never Ready, or not Ready for so long that it will hardly be."""
    if not pod.lives or pod.failed or pod.pending:
        return True
    if pod.ready or pod.succeeded:
        return False
    return not pod.was_ready or not _may_recover(pod, now)


def _is_broken(member: MemberFacts, now: datetime) -> bool:
    """Whether it never held its minimum, or lacks it for long.

    A pod that was lost comes back with the spec that its PodClique has: that alone breaks nothing.
    """
    if not member.needed:
        return False
    hopes = sum(
        not pod.lives or _ready_since(pod) is not None or _may_recover(pod, now)
        for pod in member.pods
    )
    return not member.was_available or hopes < member.needed


def _is_stuck(member: MemberFacts, now: datetime) -> bool:
    """Whether it lacks its minimum because pods of it have been waiting for room for long."""
    return sum(not _finds_no_room(pod, now) for pod in member.pods) < member.needed


def _has_had_no_time(state: CliqueState, pod: PodFacts) -> bool:
    """Whether it was made a moment ago, or is about to be: unless something keeps it from that."""
    if not pod.lives:
        return state.refusal is None
    return -GRACE <= state.now - (pod.created or _EVER) < GRACE


def _finds_no_room(pod: PodFacts, now: datetime) -> bool:
    return pod.lives and pod.pending and pod.roomless and not _may_recover(pod, now)


def _may_recover(pod: PodFacts, now: datetime) -> bool:
    return now - _down_since(pod) < GRACE


def _down_since(pod: PodFacts) -> datetime:
    return pod.since or pod.created or _EVER


def _replica_ready_since(replica: ReplicaFacts) -> datetime | None:
    """Since when all its members have held their minima; None while one does not."""
    if replica.is_about_to_go:
        return None
    moments = [_held_since(one) for one in replica.members]
    return None if None in moments else max((each for each in moments if each), default=_EVER)


def _held_since(member: MemberFacts) -> datetime | None:
    if not member.needed:
        return _EVER
    moments = sorted(since for pod in member.pods if (since := _ready_since(pod)) is not None)
    return moments[member.needed - 1] if len(moments) >= member.needed else None


def _ready_since(pod: PodFacts) -> datetime | None:
    """None while it is not."""
    is_ready = pod.lives and not pod.failed and (pod.ready or pod.succeeded)
    return (pod.since or _EVER) if is_ready else None


def _is_settled(state: RollState, since: datetime | None) -> bool:
    settle = state.budget.settle
    return since is not None and (not settle or since + settle <= state.now)


def _changes_at(
    state: RollState, since: datetime | None, pods: tuple[PodFacts, ...]
) -> datetime | None:
    """When it has settled, or when the first of these pods has been down for too long."""
    if since is not None:
        moments = [since + state.budget.settle]
    else:
        down = (pod for pod in pods if pod.lives and _ready_since(pod) is None)
        moments = [_down_since(pod) + GRACE for pod in down]
    return min((moment for moment in moments if moment > state.now), default=None)
