# SPDX-License-Identifier: Apache-2.0
"""How the ended pods of a Job are accounted for, so that none is counted twice or never. Pure.

First their uids are noted in the status, then they lose the finalizer that kept them, then the
counters take them over and the uids are forgotten. It may be cut off anywhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from trellis.embedded.controllers import conditions
from trellis.embedded.controllers.job import indexes
from trellis.embedded.controllers.job.ending import COMPLETE
from trellis.embedded.controllers.job.facts import index_of
from trellis.embedded.controllers.job.failures import has_failed, match

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from trellis.embedded.controllers.job.ending import Ending
    from trellis.embedded.controllers.job.facts import Facts, State
    from trellis.embedded.controllers.kinds import Json, Pod

MOST_UNCOUNTED = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """How many there are once the moves are made."""

    active: int
    ready: int
    terminating: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    noted: Json
    """The status before the finalizers go."""
    release: tuple[Pod, ...]
    settled: Json
    """The status afterwards."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlook:
    """What was decided so far. `status` has the conditions and times of this moment."""

    status: Json
    counts: Counts
    ending: Ending | None = None
    dropped: tuple[Pod, ...] = ()


def account(state: State, facts: Facts, outlook: Outlook) -> Account:
    ready = _releasable(state, facts, outlook)
    release = ready[:MOST_UNCOUNTED]
    status = _counters(outlook.status, facts, outlook.counts, indexed=state.job.spec.indexed)
    status = _counted(status, {pod.metadata.uid for pod in state.tracked})
    noted = _noted(state, status, outlook.ending, release)
    noted = _with_interim(noted, outlook.ending, state.now)
    kept = {pod.metadata.uid for pod in state.tracked} - {pod.metadata.uid for pod in release}
    settled = _counted(noted, kept)
    over = len(ready) == len(release) and not settled["uncountedTerminatedPods"]
    if outlook.ending and over and not outlook.counts.terminating:
        settled = _finished(settled, outlook.ending, state.now)
    return Account(noted=noted, release=tuple(release), settled=settled)


def ensure(status: Json, kind: str, wanted: tuple[str, str, str], now: datetime) -> Json:
    """The status with a condition: status, reason, message. From nothing to False is nothing."""
    known = status.get("conditions") or []
    found = conditions.find(known, kind)
    held, reason, message = wanted
    if found is None and held == "False":
        return status
    if found and (found["status"], found.get("reason"), found.get("message")) == wanted:
        return status
    time = conditions.written(now)
    new = {
        "type": kind,
        "status": held,
        "lastProbeTime": time,
        "lastTransitionTime": time,
        "reason": reason,
        "message": message,
    }
    rest = [new if one is found else one for one in known]
    return {**status, "conditions": rest if found else [*rest, new]}


def _releasable(state: State, facts: Facts, outlook: Outlook) -> list[Pod]:
    dropped = {pod.metadata.uid for pod in outlook.dropped}
    everything = state.job.metadata.deleting or outlook.ending is not None
    found = [
        pod
        for pod in state.tracked
        if pod.metadata.uid not in dropped
        and (everything or pod.status.phase == "Succeeded" or _is_spent(state, facts, pod))
    ]
    return sorted(found, key=index_of) if state.job.spec.indexed else found


def _is_spent(state: State, facts: Facts, pod: Pod) -> bool:
    return has_failed(pod, state.job) and facts.delayed.get(index_of(pod)) is not pod


def _counters(status: Json, facts: Facts, counts: Counts, *, indexed: bool) -> Json:
    new = {**status, "ready": counts.ready, "terminating": counts.terminating}
    new.setdefault("uncountedTerminatedPods", {})
    _put(new, "active", counts.active)
    if indexed:
        _put(new, "succeeded", len(facts.done))
        _put(new, "completedIndexes", indexes.to_text(facts.done))
        if facts.given_up is not None:
            new["failedIndexes"] = indexes.to_text(facts.given_up)
    return new


def _counted(status: Json, tracked: Iterable[str]) -> Json:
    """Uids of pods without a finalizer are counted, and forgotten."""
    still = set(tracked)
    new, uncounted = dict(status), dict[str, Any]()
    for name, uids in (status["uncountedTerminatedPods"] or {}).items():
        kept = [uid for uid in uids if uid in still]
        _put(new, name, status.get(name, 0) + len(uids) - len(kept))
        _put(uncounted, name, kept)
    return {**new, "uncountedTerminatedPods": uncounted}


def _noted(state: State, status: Json, ending: Ending | None, release: Iterable[Pod]) -> Json:
    job = state.job
    noted = {name: list(uids) for name, uids in status["uncountedTerminatedPods"].items()}
    succeeded, failed = (noted.get(name, []) for name in ("succeeded", "failed"))
    for pod in release:
        uid = pod.metadata.uid
        if pod.status.phase == "Succeeded" and uid not in failed:
            # Of an index it is known by itself that it is done.
            if not job.spec.indexed and uid not in succeeded:
                succeeded.append(uid)
        elif has_failed(pod, job) or (ending is not None and ending.failed):
            valid = not job.spec.indexed or 0 <= index_of(pod) < (job.spec.completions or 0)
            if uid not in failed and valid and match(job, pod).counted:
                failed.append(uid)
    uncounted: Json = {}
    _put(uncounted, "succeeded", succeeded)
    _put(uncounted, "failed", failed)
    return {**status, "uncountedTerminatedPods": uncounted}


def _with_interim(status: Json, ending: Ending | None, now: datetime) -> Json:
    if ending is None:
        return status
    return ensure(status, ending.interim, ("True", ending.reason, ending.message), now)


def _finished(status: Json, ending: Ending, now: datetime) -> Json:
    done = ensure(status, ending.final, ("True", ending.reason, ending.message), now)
    if ending.final == COMPLETE:
        done = {**done, "completionTime": conditions.written(now)}
    return done


def _put(holder: Json, name: str, value: object) -> None:
    """Nothing is written of what is zero or empty."""
    if value:
        holder[name] = value
    else:
        holder.pop(name, None)
