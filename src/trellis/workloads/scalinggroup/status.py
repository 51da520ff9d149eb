# SPDX-License-Identifier: Apache-2.0
"""What people read of a scaling group: counts, conditions, errors and events. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from msgspec import structs

from trellis.api.conditions import (
    READY,
    STALLED,
    SUMMARY,
    Finding,
    Motion,
    Status,
    Verdict,
    find,
    merged,
    summary,
)
from trellis.api.grove.podclique import MIN_AVAILABLE_BREACHED
from trellis.api.grove.scalinggroup import (
    GANG_TERMINATION_IN_PROGRESS,
    PodCliqueScalingGroupStatus,
)
from trellis.api.grove.updates import UPDATE_IN_PROGRESS
from trellis.api.labels import SCALING_GROUP, managed, selector
from trellis.api.reasons import cliques, events, objects, updates
from trellis.runtime.notes import Note
from trellis.workloads.pacing import Haste
from trellis.workloads.scalinggroup.explaining import explained
from trellis.workloads.scalinggroup.judging import judged
from trellis.workloads.trouble import hindrance, last_errors
from trellis.workloads.updates.progress import (
    GroupFacts,
    group_progress_of,
    group_status,
    meanwhile,
    notes,
    span_of,
    step,
    tells_of,
)
from trellis.workloads.updates.reading import strategy_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from datetime import datetime

    from trellis.api.conditions import Pass
    from trellis.api.grove.scalinggroup import PodCliqueScalingGroup
    from trellis.api.reasons import Reason
    from trellis.runtime.converged import Converged
    from trellis.workloads.scalinggroup.desired import Plan
    from trellis.workloads.scalinggroup.judging import Judged
    from trellis.workloads.scalinggroup.rolling import Rolling
    from trellis.workloads.scalinggroup.state import State
    from trellis.workloads.trouble import Trouble

_OWNED = (*SUMMARY, MIN_AVAILABLE_BREACHED, GANG_TERMINATION_IN_PROGRESS, UPDATE_IN_PROGRESS)
_MOST_NAMED = 5


@dataclass(frozen=True, slots=True)
class Told:
    """The next status, and the events that are told with it."""

    status: PodCliqueScalingGroupStatus
    notes: tuple[Note, ...]
    haste: Haste = Haste.SOON
    again: datetime | None = None
    """When to look again though nobody tells."""


def told(state: State, planned: Plan, rolls: Rolling, found: Trouble | None, seen: Pass) -> Told:
    """`found`: what kept this pass from making what is wanted."""
    group, replicas = state.group, judged(state)
    rolls = replace(rolls, outlook=explained(state, rolls.outlook))
    present = group.status
    complete = found is None and planned.complete and not rolls.outlook.held
    hindered = found or hindrance(rolls.outlook)
    verdict = _verdict(state, replicas, found, rolls)
    versioned, update = group_status(present, _facts(state, rolls, replicas), seen.now)
    findings = (*summary(verdict), _breach(state, replicas), *_recycling(replicas), update)
    status = structs.replace(
        versioned,
        replicas=group.spec.replicas,
        scheduled_replicas=sum(one.scheduled for one in replicas),
        available_replicas=sum(one.available for one in replicas),
        selector=_selector(state),
        observed_generation=seen.generation if complete else present.observed_generation,
        last_errors=last_errors(present.last_errors, [hindered] if hindered else [], seen.now),
        conditions=merged(present.conditions, findings, _OWNED, seen),
    )
    said = (
        *_notes(group, status, verdict, found),
        *notes(group_progress_of(present), status.update_progress, rolls.outlook),
    )
    return Told(status, said, _haste(present, status, rolls), rolls.outlook.again)


def _facts(state: State, rolls: Rolling, replicas: Sequence[Judged]) -> GroupFacts:
    return GroupFacts(
        strategy=strategy_of(state.owner),
        outlook=rolls.outlook,
        generation=state.place.outline.generation_hash,
        handed=rolls.handed,
        outdated=rolls.outdated,
        updated=sum(one.updated for one in replicas),
        members_updated=sum(one.members_current for one in replicas),
        members=len(state.seats),
        counted=all(one.updated for one in replicas if one.index in rolls.up),
        announced=tells_of(state.owner.status, state.place.outline.generation_hash),
        released=rolls.its_turn,
        chosen=rolls.chosen,
    )


def _haste(
    before: PodCliqueScalingGroupStatus, after: PodCliqueScalingGroupStatus, rolls: Rolling
) -> Haste:
    """That it was outdated shows only while it is; and that it no longer is, the set waits for."""
    then, now = span_of(group_progress_of(before)), span_of(after.update_progress)
    reached = (
        before.current_pod_clique_set_generation_hash
        != after.current_pod_clique_set_generation_hash
    )
    if then != now or (reached and rolls.its_turn):
        return step(then, now, rolls=rolls.its_turn)
    return meanwhile(before, after, now)


def renewing(rolls: Rolling) -> Iterator[Note]:
    """The step that an update of it has taken."""
    if rolls.outlook.step is not None:
        yield Note(updates.UPDATE_STEP.token, rolls.outlook.step.why.text)


def written(group: PodCliqueScalingGroup, converged: Converged) -> Iterator[Note]:
    """What was done to its PodCliques, however many: one event for each kind of doing."""
    if converged.created:
        yield Note(events.CLIQUE_CREATED.token, f"made {_counted(converged.created)}")
    if converged.deleted:
        reason = events.GROUP_REPLICA_DELETED.token
        wanted = f"replicas are {group.spec.replicas}"
        yield Note(reason, f"deleted {_counted(converged.deleted)}: {wanted}")


def _verdict(
    state: State, replicas: Sequence[Judged], found: Trouble | None, rolls: Rolling
) -> Verdict:
    if found is not None:
        return _unready(found.motion, found.reason, found.message)
    missing = [seat.member.name for seat in state.seats if seat.live is None]
    if missing:
        message = f"{_counted(missing)} are yet to be made"
        return _unready(Motion.MOVING, objects.CREATING_CHILDREN, message)
    if not replicas:
        return Verdict(ready=True, motion=Motion.SETTLED, reason=objects.SCALED_TO_ZERO)
    if not rolls.outlook.ended:
        return _updating(state, replicas, rolls)
    lacking = [one.index for one in replicas if not one.available]
    if not lacking:
        message = f"all {len(replicas)} replicas are available"
        reason = objects.ALL_REPLICAS_AVAILABLE
        return Verdict(ready=True, motion=Motion.SETTLED, reason=reason, message=message)
    message = f"{len(lacking)} of {len(replicas)} replicas are not available: {_listed(lacking)}"
    unscheduled = any(not one.scheduled for one in replicas)
    reason = (
        cliques.INSUFFICIENT_SCHEDULED_GROUP_REPLICAS
        if unscheduled
        else objects.REPLICAS_UNAVAILABLE
    )
    return _unready(Motion.MOVING, reason, message)


def _updating(state: State, replicas: Sequence[Judged], rolls: Rolling) -> Verdict:
    """What an update has yet to replace, or cannot, serves all the same."""
    enough = sum(one.available for one in replicas) >= _needed(state)
    if (hindered := hindrance(rolls.outlook)) is not None:
        motion, reason, text = hindered.motion, hindered.reason, hindered.message
    else:
        motion, reason, text = Motion.MOVING, updates.UPDATE_IN_PROGRESS, rolls.outlook.why.text
    return Verdict(ready=enough, motion=motion, reason=reason, message=text)


def _unready(motion: Motion, reason: Reason, message: str) -> Verdict:
    return Verdict(ready=False, motion=motion, reason=reason, message=message)


def _breach(state: State, replicas: Sequence[Judged]) -> Finding:
    """None are needed where it is scaled to zero."""
    spec, needed = state.group.spec, _needed(state)
    unwell = [one.index for one in replicas if not one.well]
    breached = len(replicas) - len(unwell) < needed
    down = f" ({_listed(unwell)} are not)" if unwell else ""
    return Finding(
        type=MIN_AVAILABLE_BREACHED,
        status=Status.of(breached),
        reason=cliques.INSUFFICIENT_GROUP_REPLICAS
        if breached
        else cliques.SUFFICIENT_GROUP_REPLICAS,
        message=f"{len(replicas) - len(unwell)} of {spec.replicas} replicas are well{down}, "
        f"{needed} must be",
    )


def _needed(state: State) -> int:
    spec = state.group.spec
    return min(spec.min_available, spec.replicas)


def _recycling(replicas: Iterable[Judged]) -> Iterator[Finding]:
    anew = [one.index for one in replicas if one.recovering]
    if anew:
        yield Finding(
            type=GANG_TERMINATION_IN_PROGRESS,
            status=Status.TRUE,
            reason=cliques.GANG_TERMINATION_IN_PROGRESS,
            message=f"being made anew: {_listed(anew)}",
        )


def _notes(
    group: PodCliqueScalingGroup,
    status: PodCliqueScalingGroupStatus,
    verdict: Verdict,
    found: Trouble | None,
) -> Iterator[Note]:
    before = group.status
    if before.scheduled_replicas and not status.scheduled_replicas and group.spec.replicas:
        lost = cliques.ALL_SCHEDULED_REPLICAS_LOST
        text = f"{before.scheduled_replicas} replicas had nodes, none has now"
        yield Note(lost.token, text, "Warning")
    ready, stalled = find(before.conditions, READY), find(before.conditions, STALLED)
    if found is not None and (ready is None or ready.message != verdict.message):
        yield Note(found.reason.token, found.message, "Warning")
    elif verdict.motion is Motion.STUCK and (
        stalled is None or stalled.reason != verdict.reason.token
    ):
        yield Note(verdict.reason.token, verdict.message, "Warning")


def _selector(state: State) -> str:
    set_name = state.place.outline.name
    return selector(managed(set_name) | {SCALING_GROUP: state.group.metadata.name})


def _counted(names: Sequence[str]) -> str:
    return f"{len(names)} PodCliques ({_listed(names)})"


def _listed(things: Sequence[object]) -> str:
    some = ", ".join(str(one) for one in things[:_MOST_NAMED])
    return some if len(things) <= _MOST_NAMED else f"{some}, …"
