# SPDX-License-Identifier: Apache-2.0
"""Whether a Job is over, and how: what was found before, then failures, then success. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trellis.embedded.controllers import conditions
from trellis.embedded.controllers.job import indexes
from trellis.embedded.controllers.job.failures import has_failed, match, restarts

if TYPE_CHECKING:
    from trellis.embedded.controllers.job.facts import Facts, State
    from trellis.embedded.controllers.kinds import Json

FAILURE, FAILED = "FailureTarget", "Failed"
SUCCESS, COMPLETE = "SuccessCriteriaMet", "Complete"


@dataclass(frozen=True, slots=True)
class Ending:
    """`interim` is said before the pods are accounted for, `final` afterwards."""

    interim: str
    reason: str
    message: str

    @property
    def final(self) -> str:
        return COMPLETE if self.interim == SUCCESS else FAILED

    @property
    def failed(self) -> bool:
        return self.interim == FAILURE


COMPLETED = Ending(SUCCESS, "CompletionsReached", "Reached expected number of succeeded pods")


def is_finished(status: Json) -> bool:
    found = status.get("conditions") or ()
    return any(conditions.is_true(found, kind) for kind in (COMPLETE, FAILED))


def ending(state: State, facts: Facts) -> Ending | None:
    """None: it goes on. That all completions are there is found out later."""
    return (
        _said_before(state.job.status)
        or _by_policy(state)
        or _by_limits(state, facts)
        or _by_indexes(state, facts)
        or _by_success_policy(state, facts)
    )


def _said_before(status: Json) -> Ending | None:
    for kind in (SUCCESS, FAILURE):
        found = conditions.find(status.get("conditions") or (), kind)
        if found is not None and found["status"] == "True":
            return Ending(kind, found.get("reason", ""), found.get("message", ""))
    return None


def _by_policy(state: State) -> Ending | None:
    for pod in state.pods:
        if has_failed(pod, state.job) and (matched := match(state.job, pod)).action == "FailJob":
            return Ending(FAILURE, "PodFailurePolicy", matched.message)
    return None


def _by_limits(state: State, facts: Facts) -> Ending | None:
    spec = state.job.spec
    again = 0
    if (spec.template.get("spec") or {}).get("restartPolicy") == "OnFailure":
        again = restarts(state.pods)
    if facts.failed > spec.backoff_limit or again >= max(1, spec.backoff_limit):
        return Ending(
            FAILURE, "BackoffLimitExceeded", "Job has reached the specified backoff limit"
        )
    left = seconds_left(state)
    if left is not None and left <= 0:
        return Ending(FAILURE, "DeadlineExceeded", "Job was active longer than specified deadline")
    return None


def seconds_left(state: State) -> float | None:
    """Until its deadline; None: it has none, or does not run."""
    spec, began = state.job.spec, state.job.status.get("startTime")
    if spec.active_deadline_seconds is None or spec.suspend:
        return None
    if began is None:
        return float(spec.active_deadline_seconds)
    return spec.active_deadline_seconds - (state.now - conditions.read(began)).total_seconds()


def _by_indexes(state: State, facts: Facts) -> Ending | None:
    spec, lost = state.job.spec, facts.given_up
    if not lost:
        return None
    if spec.max_failed_indexes is not None and len(lost) > spec.max_failed_indexes:
        message = "Job has exceeded the specified maximal number of failed indexes"
        return Ending(FAILURE, "MaxFailedIndexesExceeded", message)
    if len(lost) + len(facts.done) >= (spec.completions or 0):
        return Ending(FAILURE, "FailedIndexes", "Job has failed indexes")
    return None


def _by_success_policy(state: State, facts: Facts) -> Ending | None:
    spec = state.job.spec
    for number, rule in enumerate(spec.success_policy.get("rules") or ()):
        if facts.done and _succeeds(rule, facts.done, spec.completions or 0):
            return Ending(SUCCESS, "SuccessPolicy", f"Matched rules at index {number}")
    return None


def _succeeds(rule: Json, done: frozenset[int], completions: int) -> bool:
    count = rule.get("succeededCount")
    if "succeededIndexes" not in rule:
        return count is not None and len(done) >= count
    asked = indexes.parse(rule["succeededIndexes"], completions)
    if not asked:
        return False
    there = len(asked & done)
    return there == len(asked) or (count is not None and there >= count)
