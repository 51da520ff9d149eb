# SPDX-License-Identifier: Apache-2.0
"""Which pods of a Job are to be made, and which are too many. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trellis.embedded.controllers.job.facts import (
    failures_of,
    ignored_of,
    index_of,
    indexes_of,
)
from trellis.embedded.controllers.job.failures import Record, finished_at, match, pause, recorded
from trellis.embedded.controllers.ranking import by_worth

if TYPE_CHECKING:
    from trellis.embedded.controllers.job.facts import Facts, State
    from trellis.embedded.controllers.kinds import Job, Pod

MOST_AT_ONCE = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Birth:
    """A pod that is to be made, with the failures of those before it under its index."""

    index: int | None = None
    failures: int | None = None
    ignored: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Moves:
    create: tuple[Birth, ...] = ()
    drop: tuple[Pod, ...] = ()
    """Pods that are not needed: they go without being counted."""
    after: float | None = None
    """Seconds after which it is to be looked at again."""


def manage(state: State, facts: Facts) -> Moves:
    job = state.job
    active = len(facts.active)
    want = 0 if job.spec.suspend else _wanted(job, facts)
    surplus = _surplus(job, facts, active if job.spec.suspend else max(0, active - want))
    if surplus or job.spec.suspend:
        return Moves(drop=surplus[:MOST_AT_ONCE])
    terminating = facts.terminating if job.spec.pod_replacement_policy == "Failed" else 0
    missing = min(want - terminating - active, MOST_AT_ONCE)
    if missing <= 0:
        return Moves()
    if job.spec.backoff_limit_per_index is not None:
        return _each_by_itself(state, facts, missing)
    wait = pause(
        recorded(state.record, facts.new_succeeded, facts.new_failed), state.backoff, state.now
    )
    if wait > 0:
        return Moves(after=wait)
    if job.spec.indexed:
        return Moves(create=tuple(Birth(index=one) for one in _pending(state, facts, missing)))
    return Moves(create=(Birth(),) * missing)


def _wanted(job: Job, facts: Facts) -> int:
    """How many are to be active."""
    spec = job.spec
    if spec.completions is None:
        return len(facts.active) if facts.succeeded else spec.parallelism
    return max(0, min(spec.completions - facts.succeeded, spec.parallelism))


def _surplus(job: Job, facts: Facts, at_least: int) -> tuple[Pod, ...]:
    gone: list[Pod] = []
    left = by_worth(facts.active)
    if job.spec.indexed:
        seen: set[int] = set()
        kept: list[Pod] = []
        # The most worthy of each index stays.
        for pod in reversed(left):
            index = index_of(pod)
            fits = 0 <= index < (job.spec.completions or 0) and index not in seen
            (kept if fits else gone).append(pod)
            seen.add(index)
        left = kept[::-1]
    return (*gone, *left[: max(0, at_least - len(gone))])


def _pending(state: State, facts: Facts, count: int) -> list[int]:
    """The first indexes for which nothing runs and nothing is decided."""
    taken = facts.done | indexes_of(facts.active) | (facts.given_up or frozenset())
    if state.job.spec.pod_replacement_policy == "Failed":
        taken |= indexes_of(pod for pod in state.pods if pod.terminating)
    free = (one for one in range(state.job.spec.completions or 0) if one not in taken)
    return [one for one, _ in zip(free, range(count), strict=False)]


def _each_by_itself(state: State, facts: Facts, missing: int) -> Moves:
    """Each index has a limit and a pause of its own."""
    births: list[Birth] = []
    waits: list[float] = []
    for index in _pending(state, facts, missing):
        before = facts.delayed.get(index)
        wait = _index_pause(state, before)
        if wait > 0:
            waits.append(wait)
        else:
            births.append(_birth(state.job, index, before))
    return Moves(create=tuple(births), after=None if births else min(waits, default=None))


def _index_pause(state: State, before: Pod | None) -> float:
    if before is None:
        return 0.0
    failures = failures_of(before) + ignored_of(before) + 1
    return pause(Record(failures, finished_at(before)), state.backoff, state.now)


def _birth(job: Job, index: int, before: Pod | None) -> Birth:
    counted = before is not None and match(job, before).counted
    ignored = before is not None and not counted
    return Birth(
        index=index,
        failures=failures_of(before) + counted,
        ignored=ignored_of(before) + ignored,
    )
