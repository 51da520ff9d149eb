# SPDX-License-Identifier: Apache-2.0
"""What is done for a Job, by what it asks for and what its pods are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.unit.embedded.controllers.builders import NOW, a_job, ago, exited, job_pod
from trellis.embedded.controllers.job.deciding import Plan, decide
from trellis.embedded.controllers.job.facts import State
from trellis.embedded.controllers.job.failures import NO_FAILURES, Record

if TYPE_CHECKING:
    from trellis.embedded.controllers.kinds import Job, Pod

INDEXED: dict[str, Any] = {"completionMode": "Indexed"}
PER_INDEX: dict[str, Any] = {**INDEXED, "backoffLimitPerIndex": 1, "backoffLimit": 100}


def decided(job: Job, *pods: Pod, record: Record = NO_FAILURES) -> Plan:
    return decide(State(job=job, pods=pods, now=NOW, record=record))


def names(pods: tuple[Pod, ...]) -> list[str]:
    return [pod.metadata.name for pod in pods]


def kinds(status: dict[str, Any]) -> list[tuple[str, str]]:
    return [(one["type"], one["reason"]) for one in status.get("conditions", ())]


RUNNING = [job_pod(f"p{index}", "Running", index=index) for index in range(3)]
CREATIONS: dict[str, tuple[Job, list[Pod], int]] = {
    "one for a plain job": (a_job(), [], 1),
    "none when it runs": (a_job(), [job_pod("p", "Running")], 0),
    "as many as the parallelism": (a_job(completions=5, parallelism=2), [], 2),
    "no more than are left to complete": (
        a_job({"succeeded": 4}, completions=5, parallelism=3),
        [],
        1,
    ),
    "another for one that succeeded": (
        a_job(completions=3, parallelism=2),
        [job_pod("s", "Succeeded"), job_pod("r", "Running")],
        1,
    ),
    "none while it is suspended": (a_job(suspend=True), [], 0),
    "none when it is being deleted": (a_job(deleting=True), [], 0),
    "none when all that is left is to wait": (
        a_job({"succeeded": 1}, completions=None, parallelism=2),
        [job_pod("r", "Running")],
        0,
    ),
    "none at once for one that was just deleted": (
        a_job(backoffLimit=6),
        [job_pod("p", "Running", deleting=True, metadata={"creationTimestamp": ago(600)})],
        0,
    ),
    "none while it terminates, if only failed ones are replaced": (
        a_job(podReplacementPolicy="Failed"),
        [job_pod("p", "Running", deleting=True)],
        0,
    ),
}


@pytest.mark.parametrize(("job", "pods", "count"), CREATIONS.values(), ids=CREATIONS)
def test_pods_to_be_made(job: Job, pods: list[Pod], count: int) -> None:
    assert len(decided(job, *pods).create) == count


INDEXES: dict[str, tuple[Job, list[Pod], list[int]]] = {
    "all at first": (a_job(completions=3, parallelism=3, **INDEXED), [], [0, 1, 2]),
    "those without a pod": (
        a_job(completions=3, parallelism=3, **INDEXED),
        [RUNNING[1]],
        [0, 2],
    ),
    "not those that are done": (
        a_job({"completedIndexes": "0"}, completions=2, parallelism=2, **INDEXED),
        [],
        [1],
    ),
    "not those that failed for good": (
        a_job({"failedIndexes": "0"}, completions=3, parallelism=3, **PER_INDEX),
        [],
        [1, 2],
    ),
}


@pytest.mark.parametrize(("job", "pods", "expected"), INDEXES.values(), ids=INDEXES)
def test_indexes_that_get_a_pod(job: Job, pods: list[Pod], expected: list[int]) -> None:
    assert [birth.index for birth in decided(job, *pods).create] == expected


def test_a_failed_pod_is_replaced_after_a_pause() -> None:
    failed = job_pod("p", "Failed", status=exited(1, seconds_ago=4))
    plan = decided(a_job(), failed)
    assert (plan.create, plan.after, names(plan.account.release)) == ((), 6.0, ["p"])
    assert decided(a_job(), record=Record(1, NOW)).after == 10.0
    old = job_pod("p", "Failed", status=exited(1, seconds_ago=11))
    assert len(decided(a_job(), old).create) == 1


def test_each_index_has_a_pause_and_a_count_of_its_own() -> None:
    job = a_job(completions=2, parallelism=2, **PER_INDEX)
    failed = job_pod("p", "Failed", index=0, failures=0, status=exited(1, seconds_ago=1))
    plan = decided(job, failed)
    assert [birth.index for birth in plan.create] == [1]
    assert plan.account.release == ()
    ripe = job_pod("p", "Failed", index=0, failures=0, status=exited(1, seconds_ago=11))
    birth = decided(job, ripe, RUNNING[1]).create[0]
    assert (birth.index, birth.failures) == (0, 1)


def test_an_index_that_fails_too_often_is_given_up() -> None:
    job = a_job(completions=2, parallelism=2, **PER_INDEX)
    failed = job_pod("p", "Failed", index=0, failures=1, status=exited(1))
    plan = decided(job, failed, RUNNING[1])
    assert plan.account.settled["failedIndexes"] == "0"
    assert kinds(plan.account.settled) == []
    done = job_pod("s", "Succeeded", index=1)
    last = decided(job, failed, done).account.settled
    assert kinds(last) == [("FailureTarget", "FailedIndexes"), ("Failed", "FailedIndexes")]


FAIL = {"rules": [{"action": "FailJob", "onExitCodes": {"operator": "In", "values": [42]}}]}
FAILED = job_pod("f", "Failed", status=exited(42))
ENDINGS: dict[str, tuple[Job, list[Pod], str, str]] = {
    "complete": (a_job(), [job_pod("s", "Succeeded")], "Complete", "CompletionsReached"),
    "failed by its limit": (a_job(backoffLimit=0), [FAILED], "Failed", "BackoffLimitExceeded"),
    "failed by restarts": (
        a_job(backoffLimit=2, restartPolicy="OnFailure"),
        [job_pod("r", "Running", status={"containerStatuses": [{"restartCount": 2}]})],
        "FailureTarget",
        "BackoffLimitExceeded",
    ),
    "failed by a rule": (a_job(podFailurePolicy=FAIL), [FAILED], "Failed", "PodFailurePolicy"),
    "failed by its deadline": (
        a_job({"startTime": ago(5)}, activeDeadlineSeconds=5),
        [],
        "Failed",
        "DeadlineExceeded",
    ),
    "complete by its leader": (
        a_job(
            completions=2,
            parallelism=2,
            successPolicy={"rules": [{"succeededIndexes": "0"}]},
            **INDEXED,
        ),
        [job_pod("s", "Succeeded", index=0)],
        "Complete",
        "SuccessPolicy",
    ),
    "failed by too many indexes": (
        a_job(
            {"failedIndexes": "0,1"},
            completions=4,
            parallelism=4,
            maxFailedIndexes=1,
            **PER_INDEX,
        ),
        [],
        "Failed",
        "MaxFailedIndexesExceeded",
    ),
}


@pytest.mark.parametrize(("job", "pods", "kind", "reason"), ENDINGS.values(), ids=ENDINGS)
def test_a_job_is_in_the_end(job: Job, pods: list[Pod], kind: str, reason: str) -> None:
    settled = decided(job, *pods).account.settled
    assert kinds(settled)[-1] == (kind, reason)
    assert ("completionTime" in settled) is (kind == "Complete")


def test_pods_are_noted_before_and_counted_after_their_finalizer_goes() -> None:
    job = a_job(completions=3, parallelism=1)
    account = decided(job, job_pod("s", "Succeeded")).account
    assert account.noted["uncountedTerminatedPods"] == {"succeeded": ["uid-s"]}
    assert "succeeded" not in account.noted
    assert account.settled["uncountedTerminatedPods"] == {}
    assert account.settled["succeeded"] == 1


def test_a_pod_that_was_noted_before_a_crash_is_counted_once() -> None:
    status = {"uncountedTerminatedPods": {"failed": ["uid-p"]}}
    for tracked in (True, False):
        pod = job_pod("p", "Failed", tracked=tracked, status=exited(1))
        assert decided(a_job(status), pod).account.settled["failed"] == 1
    assert decided(a_job(status)).account.settled["failed"] == 1


def test_a_pod_that_the_policy_ignores_is_not_counted() -> None:
    rules = [{"action": "Ignore", "onExitCodes": {"operator": "In", "values": [42]}}]
    plan = decided(a_job(backoffLimit=0, podFailurePolicy={"rules": rules}), FAILED)
    assert names(plan.account.release) == ["f"]
    assert "failed" not in plan.account.settled
    assert kinds(plan.account.settled) == []


def test_a_job_that_is_over_kills_what_runs_and_waits_until_it_is_gone() -> None:
    job = a_job(completions=2, parallelism=2, backoffLimit=0)
    plan = decided(job, FAILED, job_pod("r", "Running"))
    assert names(plan.kill) == ["r"]
    assert kinds(plan.account.settled) == [("FailureTarget", "BackoffLimitExceeded")]
    assert plan.account.settled["terminating"] == 1
    assert plan.account.settled["failed"] == 2


def test_a_suspended_job_drops_its_pods_uncounted_and_forgets_its_start() -> None:
    job = a_job({"startTime": ago(60), "active": 1}, suspend=True)
    plan = decided(job, job_pod("r", "Running", ready=5))
    settled = plan.account.settled
    assert (names(plan.drop), plan.account.release) == (["r"], ())
    assert kinds(settled) == [("Suspended", "JobSuspended")]
    assert not {"startTime", "active", "failed"} & set(settled)
    assert (settled["ready"], settled["terminating"]) == (0, 1)


def test_a_resumed_job_starts_anew() -> None:
    suspended = {"type": "Suspended", "status": "True", "reason": "JobSuspended", "message": ""}
    settled = decided(a_job({"conditions": [suspended]})).account.settled
    assert kinds(settled) == [("Suspended", "JobResumed")]
    assert settled["startTime"] == ago(0)


def test_surplus_pods_go_in_the_order_of_their_worth() -> None:
    pods = [
        job_pod("ready", "Running", ready=5, spec={"nodeName": "n"}),
        job_pod("unbound", "Pending"),
        job_pod("started", "Running", spec={"nodeName": "n"}),
    ]
    assert names(decided(a_job(completions=5, parallelism=1), *pods).drop) == [
        "unbound",
        "started",
    ]


def test_of_two_pods_of_one_index_the_better_stays() -> None:
    job = a_job(completions=1, parallelism=1, **INDEXED)
    twin = job_pod("twin", "Pending", index=0)
    better = job_pod("better", "Running", index=0, spec={"nodeName": "n"})
    assert names(decided(job, twin, better).drop) == ["twin"]


def test_a_deadline_is_looked_at_again_when_it_is_due() -> None:
    job = a_job({"startTime": ago(2)}, activeDeadlineSeconds=5)
    assert decided(job, job_pod("r", "Running")).after == 3.0


def test_a_job_that_is_settled_is_written_nothing() -> None:
    status = {
        "active": 1,
        "ready": 0,
        "terminating": 0,
        "startTime": ago(9),
        "uncountedTerminatedPods": {},
    }
    plan = decided(a_job(status), job_pod("r", "Running"))
    assert plan.account.noted == plan.account.settled == status


def test_no_more_pods_are_accounted_for_at_once_than_the_status_can_hold() -> None:
    job = a_job(completions=600, parallelism=600)
    pods = [job_pod(f"p{number}", "Succeeded") for number in range(600)]
    account = decided(job, *pods).account
    assert len(account.release) == account.settled["succeeded"] == 500
    assert kinds(account.settled) == [("SuccessCriteriaMet", "CompletionsReached")]


def test_a_pod_that_was_released_already_is_not_counted_again() -> None:
    """The cache still shows its finalizer, and by now that it was deleted."""
    job = a_job({"succeeded": 1}, completions=2)
    pod = job_pod("p", "Running", deleting=True)
    state = State(job=job, pods=(pod,), now=NOW, released=frozenset({"uid-p"}))
    assert "failed" not in decide(state).account.settled
