# SPDX-License-Identifier: Apache-2.0
"""Everything that is to be done for a Job in one run. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trellis.embedded.controllers import conditions
from trellis.embedded.controllers.job.ending import COMPLETED, ending, seconds_left
from trellis.embedded.controllers.job.facts import gather
from trellis.embedded.controllers.job.failures import Record, recorded
from trellis.embedded.controllers.job.managing import Moves, manage
from trellis.embedded.controllers.job.news import SUSPENDED
from trellis.embedded.controllers.job.tracking import Counts, Outlook, account, ensure

if TYPE_CHECKING:
    from trellis.embedded.controllers.job.facts import Facts, State
    from trellis.embedded.controllers.job.managing import Birth
    from trellis.embedded.controllers.job.tracking import Account
    from trellis.embedded.controllers.kinds import Json, Pod


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """In the order in which it is done."""

    create: tuple[Birth, ...]
    drop: tuple[Pod, ...]
    """To be deleted without being counted: they lose the finalizer first."""
    kill: tuple[Pod, ...]
    """To be deleted because it is all over."""
    account: Account
    after: float | None
    record: Record


def decide(state: State) -> Plan:
    facts = gather(state)
    over = ending(state, facts)
    moves = Moves() if over or state.job.metadata.deleting else manage(state, facts)
    kill = facts.active if over else ()
    counts = _counts(facts, moves, kill)
    if over is None and _is_complete(state, facts, counts.active):
        over = COMPLETED
    status = _begun(state)
    if over is None and not state.job.metadata.deleting:
        status = _suspension(state, status)
    outlook = Outlook(status=status, counts=counts, ending=over, dropped=moves.drop)
    waits = [one for one in (moves.after, None if over else seconds_left(state)) if one is not None]
    return Plan(
        create=moves.create,
        drop=moves.drop,
        kill=kill,
        account=account(state, facts, outlook),
        after=min(waits, default=None),
        record=recorded(state.record, facts.new_succeeded, facts.new_failed),
    )


def _counts(facts: Facts, moves: Moves, kill: tuple[Pod, ...]) -> Counts:
    going = (*moves.drop, *kill)
    return Counts(
        active=len(facts.active) + len(moves.create) - len(going),
        ready=facts.ready - sum(pod.ready for pod in going),
        terminating=facts.terminating + len(going),
    )


def _is_complete(state: State, facts: Facts, active: int) -> bool:
    wanted = state.job.spec.completions
    enough = facts.succeeded > 0 if wanted is None else facts.succeeded >= wanted
    return enough and active == 0


def _begun(state: State) -> Json:
    status = dict(state.job.status)
    if "startTime" not in status and not state.job.spec.suspend:
        status["startTime"] = conditions.written(state.now)
    return status


def _suspension(state: State, status: Json) -> Json:
    """A Job that is suspended forgets when it began; resumed, it begins anew."""
    if state.job.spec.suspend:
        new = ensure(status, SUSPENDED, ("True", "JobSuspended", "Job suspended"), state.now)
        if new is not status:
            new.pop("startTime", None)
        return new
    new = ensure(status, SUSPENDED, ("False", "JobResumed", "Job resumed"), state.now)
    return new if new is status else {**new, "startTime": conditions.written(state.now)}
