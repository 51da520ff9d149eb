# SPDX-License-Identifier: Apache-2.0
"""What people read of a set: counts, gangs, conditions, errors and events. Pure.

The generation counts as observed only when all that is made for the set bears its template: who
reads that first, and then the PodCliques, must not find older ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from msgspec import structs

from trellis.api.conditions import STALLED, SUMMARY, Motion, Pass, Verdict, find, merged, summary
from trellis.api.grove.updates import UPDATE_IN_PROGRESS
from trellis.api.labels import managed, selector
from trellis.api.reasons import objects, updates
from trellis.runtime.notes import Note
from trellis.workloads.complaints import complaint
from trellis.workloads.pacing import Haste
from trellis.workloads.trouble import Trouble, last_errors
from trellis.workloads.updates import SetState, outlook
from trellis.workloads.updates.progress import (
    SetFacts,
    meanwhile,
    notes,
    selected,
    set_status,
    span_of,
    step,
)
from trellis.workloads.updates.reading import rolls, strategy_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trellis.api.grove.podcliqueset import PodCliqueSet, PodCliqueSetStatus
    from trellis.api.reasons import Reason
    from trellis.workloads.outline import Outline
    from trellis.workloads.podcliqueset.gangs import Gangs
    from trellis.workloads.podcliqueset.survey import Survey
    from trellis.workloads.updates import Outlook

_OWNED = (*SUMMARY, UPDATE_IN_PROGRESS)
_MOST_ERRORS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """All that the status is told from. `remains`: PodCliques of the set that are still there.

    `unserved`: a Service or autoscaler that is not as the template says, if the rest is.
    """

    set: PodCliqueSet
    outline: Outline
    seen: Survey
    gangs: Gangs
    troubles: tuple[Trouble, ...] = ()
    missing_classes: tuple[str, ...] = ()
    unserved: str = ""
    remains: int = 0

    @property
    def available(self) -> bool:
        return self.seen.available == self.outline.replicas

    @property
    def complete(self) -> bool:
        """Whether all that is to be made is there, with the current template."""
        return not (self.seen.behind or self.unserved)


@dataclass(frozen=True, slots=True)
class Told:
    """The next status, and the events that are told with it."""

    status: PodCliqueSetStatus
    notes: tuple[Note, ...]
    haste: Haste = Haste.SOON


def told(state: State, seen: Pass) -> Told:
    present, update = state.set.status, update_of(state)
    troubles = (*state.troubles, *_without_priority(state), *_of_children(state, update))
    verdict = _verdict(state, troubles, update)
    versioned, finding = set_status(present, _facts(state, update), seen)
    findings = (*summary(verdict), finding)
    status = structs.replace(
        versioned,
        observed_generation=seen.generation if state.complete else present.observed_generation,
        conditions=merged(present.conditions, findings, _OWNED, seen),
        last_errors=last_errors(present.last_errors, troubles[:_MOST_ERRORS], seen.now),
        replicas=state.outline.replicas,
        available_replicas=state.seen.available,
        hpa_pod_selector=selector(managed(state.outline.name)),
        pod_gang_statuses=state.gangs.told,
    )
    said = (
        *_notes(state.set, verdict),
        *notes(present.update_progress, status.update_progress, update),
    )
    return Told(status, said, _haste(present, status, rolls=rolls(state.set)))


def refused(found: PodCliqueSet, why: Trouble, seen: Pass) -> Told:
    """Of a set for which nothing is done. What is known of its children is left as it was."""
    present = found.status
    verdict = Verdict(ready=False, motion=why.motion, reason=why.reason, message=why.message)
    status = structs.replace(
        present,
        conditions=merged(present.conditions, summary(verdict), SUMMARY, seen),
        last_errors=last_errors(present.last_errors, (why,), seen.now),
    )
    return Told(status, tuple(_notes(found, verdict)))


def update_of(state: State) -> Outlook:
    """Which replica is to be updated now, and how far all of it is."""
    present, strategy = selected(state.set.status), strategy_of(state.set)
    return outlook(
        SetState(replicas=tuple(state.seen.replicas), strategy=strategy, selected=present)
    )


def _facts(state: State, update: Outlook) -> SetFacts:
    seen, rolling = state.seen, rolls(state.set)
    asked = (one.index for one in seen.replicas if not rolling or one.index not in update.held)
    return SetFacts(
        strategy=strategy_of(state.set),
        outlook=update,
        generation=state.outline.generation_hash,
        handed=all(index in seen.handed for index in asked),
        outdated=seen.outdated,
        updated=seen.updated,
        counts=seen.counts,
    )


def _haste(before: PodCliqueSetStatus, after: PodCliqueSetStatus, *, rolls: bool) -> Haste:
    """The replicas of the set wait for their turns."""
    then, now = span_of(before.update_progress), span_of(after.update_progress)
    if then != now or selected(before) != selected(after):
        return step(then, now, rolls=rolls)
    if now is not None and now.is_open and _seen(before) != _seen(after):
        # Whoever watches an update waits to read that the operator knows of the latest change.
        return Haste.NEXT_STEP
    return meanwhile(before, after, now)


def _seen(status: PodCliqueSetStatus) -> int:
    """The generation that the operator has seen, though not all of it may be handed on yet."""
    told = find(status.conditions, UPDATE_IN_PROGRESS)
    return told.observed_generation if told is not None else 0


def _without_priority(state: State) -> Iterator[Trouble]:
    """What runs needs its class no more; what is yet to be made does."""
    if state.missing_classes and not state.available:
        message = f"there is no PriorityClass {', '.join(state.missing_classes)}"
        yield Trouble(reason=objects.PRIORITY_CLASS_MISSING, message=message)


def _of_children(state: State, update: Outlook) -> Iterator[Trouble]:
    """What keeps replicas from being made or becoming available, or an update from going on, where
    a PodClique, scaling group or PodGang says so and the set does not know it by itself."""
    if state.available and state.complete and update.ended:
        return
    known = {one.reason for one in (*state.troubles, *_without_priority(state))}
    gangs = () if state.available else state.gangs.stalled
    for found in (*state.seen.complaints, *map(complaint, gangs)):
        if found is not None and found.reason not in known:
            yield found


def _verdict(state: State, troubles: tuple[Trouble, ...], update: Outlook) -> Verdict:
    well = state.available and state.complete
    if troubles:
        worst = min(troubles, key=lambda one: one.motion is not Motion.STUCK)
        more = f" (and {len(troubles) - 1} more)" if len(troubles) > 1 else ""
        # What is only tried again does not make unwell what is well, nor does an update that cannot
        # go on: what it has not replaced serves.
        ready = well and worst.motion is Motion.MOVING
        if worst not in state.troubles:
            ready = well if update.ended else state.available
        return Verdict(
            ready=ready,
            motion=worst.motion,
            reason=worst.reason,
            message=f"{worst.message}{more}",
        )
    if not update.ended:
        reason = updates.UPDATE_IN_PROGRESS
        text = f"{update.why.text}; {_counted(state)}"
        return Verdict(ready=state.available, motion=Motion.MOVING, reason=reason, message=text)
    if not state.complete:
        seen = state.seen
        made = f"{seen.wanted - seen.behind} of {seen.wanted} PodCliques and scaling groups"
        lacking = seen.first_behind or state.unserved
        message = f"{made} are as the template says; waiting for {lacking}"
        return _under_way(objects.CREATING_CHILDREN, message)
    if not state.available:
        message = f"{_counted(state)}; waiting for {state.seen.waits_for}"
        return _under_way(objects.REPLICAS_UNAVAILABLE, message)
    return _well(state)


def _well(state: State) -> Verdict:
    if state.seen.pods_wanted:
        reason, message = objects.ALL_REPLICAS_AVAILABLE, _counted(state)
    else:
        reason, message = objects.SCALED_TO_ZERO, "no pods are wanted"
        if not state.outline.replicas and state.remains:
            going = f"no replicas are wanted; {state.remains} PodCliques are going"
            return Verdict(ready=True, motion=Motion.MOVING, reason=reason, message=going)
    return Verdict(ready=True, motion=Motion.SETTLED, reason=reason, message=message)


def _under_way(reason: Reason, message: str) -> Verdict:
    return Verdict(ready=False, motion=Motion.MOVING, reason=reason, message=message)


def _counted(state: State) -> str:
    available = f"{state.seen.available} of {state.outline.replicas} replicas are available"
    return f"{available}; {state.gangs}"


def _notes(found: PodCliqueSet, verdict: Verdict) -> Iterator[Note]:
    """An event when nothing goes on any more, for another reason than before."""
    if verdict.motion is not Motion.STUCK:
        return
    stalled = find(found.status.conditions, STALLED)
    if stalled is None or stalled.reason != verdict.reason.token:
        yield Note(verdict.reason.token, verdict.message, "Warning")
