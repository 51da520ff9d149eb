# SPDX-License-Identifier: Apache-2.0
"""What is the case with a Job: its pods counted in every way that matters. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from trellis.embedded.controllers.job import indexes
from trellis.embedded.controllers.job.failures import NO_FAILURES, finished_at, has_failed, match

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from trellis.embedded.controllers.job.failures import Record
    from trellis.embedded.controllers.kinds import Job, Pod

FINALIZER = "batch.kubernetes.io/job-tracking"
INDEX = "batch.kubernetes.io/job-completion-index"
FAILURES = "batch.kubernetes.io/job-index-failure-count"
IGNORED = "batch.kubernetes.io/job-index-ignored-failure-count"
NO_INDEX = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """All that a decision may look at."""

    job: Job
    pods: tuple[Pod, ...]
    now: datetime
    record: Record = NO_FAILURES
    backoff: float = 10.0
    released: frozenset[str] = frozenset()
    """Uids of pods whose finalizer is gone already, though the pods here may still show it."""

    @property
    def tracked(self) -> tuple[Pod, ...]:
        """Those that have not been accounted for to the end."""
        return tuple(
            pod
            for pod in self.pods
            if FINALIZER in pod.metadata.finalizers and pod.metadata.uid not in self.released
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    active: tuple[Pod, ...]
    terminating: int
    new_succeeded: tuple[Pod, ...]
    new_failed: tuple[Pod, ...]
    succeeded: int
    failed: int
    done: frozenset[int] = frozenset()
    """Indexes that succeeded, those of this moment included."""
    given_up: frozenset[int] | None = None
    """Indexes that failed for good, where each index has a limit of its own."""
    delayed: dict[int, Pod] = field(default_factory=dict)
    """The last failed pod of each index: it stays until its successor knows of its failures."""

    @property
    def ready(self) -> int:
        return sum(pod.ready for pod in self.active)


def gather(state: State) -> Facts:
    job = state.job
    uncounted = job.status.get("uncountedTerminatedPods") or {}
    counted = {name: frozenset(uncounted.get(name) or ()) for name in ("succeeded", "failed")}
    valid = [pod for pod in state.tracked if _is_valid(job, pod)]
    succeeded = tuple(
        pod
        for pod in valid
        if pod.status.phase == "Succeeded" and pod.metadata.uid not in counted["succeeded"]
    )
    failed = tuple(
        pod for pod in valid if has_failed(pod, job) and pod.metadata.uid not in counted["failed"]
    )
    hurts = sum(match(job, pod).counted for pod in failed)
    facts = Facts(
        active=tuple(pod for pod in state.pods if pod.active),
        terminating=sum(pod.terminating for pod in state.pods),
        new_succeeded=succeeded,
        new_failed=failed,
        succeeded=job.status.get("succeeded", 0) + len(succeeded) + len(counted["succeeded"]),
        failed=job.status.get("failed", 0) + hurts + len(counted["failed"]),
    )
    return _by_index(state, facts) if job.spec.indexed else facts


def index_of(pod: Pod) -> int:
    text = pod.metadata.annotations.get(INDEX, "")
    return int(text) if text.isascii() and text.isdecimal() else NO_INDEX


def failures_of(pod: Pod | None) -> int:
    return _number(pod, FAILURES)


def ignored_of(pod: Pod | None) -> int:
    return _number(pod, IGNORED)


def indexes_of(pods: Iterable[Pod]) -> frozenset[int]:
    return frozenset(index_of(pod) for pod in pods) - {NO_INDEX}


def _number(pod: Pod | None, name: str) -> int:
    text = pod.metadata.annotations.get(name, "") if pod else ""
    return int(text) if text.isascii() and text.isdecimal() else 0


def _is_valid(job: Job, pod: Pod) -> bool:
    return not job.spec.indexed or 0 <= index_of(pod) < (job.spec.completions or 0)


def _by_index(state: State, facts: Facts) -> Facts:
    job, completions = state.job, state.job.spec.completions or 0
    valid = [pod for pod in state.tracked if _is_valid(job, pod)]
    before = indexes.parse(job.status.get("completedIndexes", ""), completions)
    done = before | indexes_of(pod for pod in valid if pod.status.phase == "Succeeded")
    given_up: frozenset[int] | None = None
    delayed: dict[int, Pod] = {}
    if job.spec.backoff_limit_per_index is not None:
        known = indexes.parse(job.status.get("failedIndexes", ""), completions)
        given_up = known | indexes_of(pod for pod in valid if _gives_up(job, pod))
        delayed = _delayed(job, valid, done | given_up | indexes_of(facts.active))
    return Facts(
        active=facts.active,
        terminating=facts.terminating,
        new_succeeded=facts.new_succeeded,
        new_failed=facts.new_failed,
        succeeded=len(done),
        failed=facts.failed,
        done=done,
        given_up=given_up,
        delayed=delayed,
    )


def _gives_up(job: Job, pod: Pod) -> bool:
    """Whether the index of that pod gets no other."""
    if not has_failed(pod, job):
        return False
    matched = match(job, pod)
    if matched.action == "FailIndex":
        return True
    return matched.counted and failures_of(pod) >= (job.spec.backoff_limit_per_index or 0)


def _delayed(job: Job, pods: Iterable[Pod], settled: frozenset[int]) -> dict[int, Pod]:
    found: dict[int, Pod] = {}
    for pod in pods:
        index = index_of(pod)
        if has_failed(pod, job) and index not in settled:
            known = found.get(index)
            if known is None or _later(pod, known):
                found[index] = pod
    return found


def _later(pod: Pod, known: Pod) -> bool:
    def rank(one: Pod) -> tuple[int, datetime]:
        return failures_of(one) + ignored_of(one), finished_at(one)

    return rank(pod) >= rank(known)
