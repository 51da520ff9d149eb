# SPDX-License-Identifier: Apache-2.0
"""What people and others read of a gang: its phase, its conditions, its events. Pure.

Messages hold no counts that move while pods stream in: each would be a write. They name the first
PodClique that is waited for, and that one says why.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from msgspec import structs

from trellis.api.conditions import (
    SUMMARY,
    Finding,
    Motion,
    Status,
    Verdict,
    find,
    is_true,
    merged,
    summary,
)
from trellis.api.reasons import cliques, gangs, pending
from trellis.api.scheduler.podgang import (
    DISRUPTION_TARGET,
    INITIALIZED,
    PENDING,
    RUNNING,
    SCHEDULED,
    STARTING,
    UNHEALTHY,
)
from trellis.runtime.notes import Note
from trellis.workloads.deadlines import told
from trellis.workloads.podgang.muster import all_exist, all_ready, all_scheduled

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from trellis.api.conditions import Condition, Pass
    from trellis.api.reasons import Reason
    from trellis.api.scheduler.podgang import PodGang, PodGangStatus
    from trellis.workloads.podgang.muster import Muster
    from trellis.workloads.podgang.recycle import Threat
    from trellis.workloads.trouble import Trouble

_OWNED = (*SUMMARY, INITIALIZED, SCHEDULED, UNHEALTHY, DISRUPTION_TARGET)


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How a gang is after a pass. `waits_for` is the base gang that is not scheduled yet.

    `problem` keeps it from being scheduled at all; `refusal` is why gates could not be lifted;
    `is_renewed` while pods from before it was made anew are still there.
    """

    musters: Sequence[Muster]
    threats: Sequence[Threat] = ()
    waits_for: str = ""
    problem: str = ""
    refusal: Trouble | None = None
    is_renewed: bool = False

    @property
    def is_let_go(self) -> bool:
        """Whether all its pods are there and none is held back by us."""
        return all(each.is_whole and not each.gated for each in self.musters)

    @property
    def is_scheduled(self) -> bool:
        return all_scheduled(self.musters)

    @property
    def is_running(self) -> bool:
        return self.is_scheduled and all_ready(self.musters)

    @property
    def phase(self) -> str:
        if self.is_running:
            return RUNNING
        return STARTING if self.is_scheduled else PENDING


def status(gang: PodGang, standing: Standing, seen: Pass) -> PodGangStatus:
    present = gang.status
    findings = tuple(_findings(present.conditions, standing))
    return structs.replace(
        present,
        phase=standing.phase,
        conditions=merged(present.conditions, findings, _OWNED, seen),
        observed_generation=seen.generation,
    )


def notes(gang: PodGang, standing: Standing) -> Iterator[Note]:
    """Events for what a person should look at, told once."""
    present = gang.status.conditions
    if standing.threats and not _says(present, UNHEALTHY, gangs.GANG_BROKEN, _threat(standing)):
        yield Note(gangs.GANG_BROKEN.token, _threat(standing), "Warning")
    failed = gangs.KAI_BACKEND_MAPPING_FAILED
    if standing.problem and not _says(present, SCHEDULED, failed, standing.problem):
        yield Note(failed.token, standing.problem, "Warning")


def is_new(gang: PodGang, standing: Standing) -> bool:
    """Whether nothing was told of it yet, and nothing is to be but that its pods are coming.

    What waits for others, be it a base gang or the scheduler, is news.
    """
    coming = not (standing.is_let_go or standing.waits_for)
    calm = not (standing.problem or standing.refusal or standing.threats)
    return coming and calm and find(gang.status.conditions, SCHEDULED) is None


def is_on_its_way(standing: Standing) -> bool:
    """Whether it does not run yet, and nothing is known that keeps it from it."""
    return not (standing.is_running or standing.problem or standing.refusal or standing.threats)


def has_just_been_scheduled(gang: PodGang, standing: Standing) -> bool:
    return standing.is_scheduled and not is_true(gang.status.conditions, SCHEDULED)


def _findings(present: tuple[Condition, ...], standing: Standing) -> Iterator[Finding]:
    yield from summary(_verdict(present, standing))
    yield _initialized(present, standing)
    if standing.is_scheduled:
        yield _finding(SCHEDULED, True, gangs.ALL_MINIMA_SCHEDULED)
    else:
        yield _finding(SCHEDULED, False, *_obstacle(present, standing))
    if standing.threats:
        yield _finding(UNHEALTHY, True, gangs.GANG_BROKEN, _threat(standing))
    else:
        yield _finding(UNHEALTHY, False, _soundness(present, standing))
    if standing.is_renewed:
        yield _finding(DISRUPTION_TARGET, True, gangs.TERMINATION_DELAY_EXPIRED)
    else:
        yield _finding(DISRUPTION_TARGET, False, gangs.NOT_DISRUPTED)


def _verdict(present: tuple[Condition, ...], standing: Standing) -> Verdict:
    if (refusal := standing.refusal) is not None:
        return Verdict(
            ready=standing.is_running,
            motion=refusal.motion,
            reason=refusal.reason,
            message=refusal.message,
        )
    if standing.is_running:
        return Verdict(ready=True, motion=Motion.SETTLED, reason=gangs.ALL_MINIMA_READY)
    if standing.problem:
        reason, message = _obstacle(present, standing)
        return Verdict(ready=False, motion=Motion.STUCK, reason=reason, message=message)
    if standing.threats:
        reason, message = gangs.GANG_BROKEN, _threat(standing)
    elif standing.is_scheduled:
        lacking = next(each.clique for each in standing.musters if each.ready < each.minimum)
        reason, message = gangs.GANG_STARTING, f"PodClique {lacking} has not its minimum ready"
    else:
        reason, message = _obstacle(present, standing)
    return Verdict(ready=False, motion=Motion.MOVING, reason=reason, message=message)


def _initialized(present: tuple[Condition, ...], standing: Standing) -> Finding:
    """As Grove has it: once all pods have been made it stays so, whatever becomes of them."""
    if is_true(present, INITIALIZED) or all_exist(standing.musters):
        return _finding(INITIALIZED, True, gangs.POD_GANG_PODS_CREATED)
    return _finding(INITIALIZED, False, gangs.POD_GANG_PODS_CREATION_PENDING)


def _obstacle(present: tuple[Condition, ...], standing: Standing) -> tuple[Reason, str]:
    """Why it is not scheduled."""
    if standing.problem:
        return gangs.KAI_BACKEND_MAPPING_FAILED, standing.problem
    if not (is_true(present, INITIALIZED) or all_exist(standing.musters)):
        lacking = next(each.clique for each in standing.musters if not each.is_whole)
        return (
            gangs.POD_GANG_PODS_CREATION_PENDING,
            f"not all pods of PodClique {lacking} are there",
        )
    if standing.waits_for:
        message = f"PodGang {standing.waits_for} comes first, and not all of its minima have nodes"
        return pending.WAITING_FOR_GANG, message
    lacking = next(each.clique for each in standing.musters if each.scheduled < each.minimum)
    return cliques.INSUFFICIENT_SCHEDULED_PODS, f"PodClique {lacking} has not its minimum on nodes"


def _soundness(present: tuple[Condition, ...], standing: Standing) -> Reason:
    known = find(present, UNHEALTHY)
    was_well = known is not None and known.reason == gangs.GANG_HEALTHY.token
    return gangs.GANG_HEALTHY if standing.is_running or was_well else cliques.NEVER_AVAILABLE


def _threat(standing: Standing) -> str:
    """The threat that comes true first."""
    threat = min(standing.threats, key=lambda each: each.deadline)
    what = (
        "the whole replica of the set is"
        if threat.is_whole
        else f"replica {threat.index} of {threat.group} is"
    )
    also = f", and scaling group {threat.lacking} does" if threat.lacking else ""
    return (
        f"PodClique {threat.clique} lacks its minimum{also} since {told(threat.since)}; "
        f"unless it recovers, {what} made anew at {told(threat.deadline)}"
    )


def _says(present: tuple[Condition, ...], type_: str, reason: Reason, message: str) -> bool:
    found = find(present, type_)
    return found is not None and (found.reason, found.message) == (reason.token, message)


def _finding(type_: str, fact: bool, reason: Reason, message: str = "") -> Finding:
    return Finding(type=type_, status=Status.of(fact), reason=reason, message=message)
