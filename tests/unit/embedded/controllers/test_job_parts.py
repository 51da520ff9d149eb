# SPDX-License-Identifier: Apache-2.0
"""Lists of indexes, failure policies, and the pause after a failure."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.embedded.controllers.builders import NOW, a_job, exited, job_pod
from trellis.embedded.controllers.job import indexes
from trellis.embedded.controllers.job.failures import Match, Record, match, pause, recorded

TEXTS = {"": [], "0": [0], "0,1": [0, 1], "0-2": [0, 1, 2], "0,2-4,6,7": [0, 2, 3, 4, 6, 7]}


@pytest.mark.parametrize(("text", "expected"), TEXTS.items(), ids=TEXTS)
def test_indexes_are_written_as_the_real_controller_writes_them(
    text: str, expected: list[int]
) -> None:
    assert indexes.to_text(expected) == text
    assert indexes.parse(text, 100) == frozenset(expected)


@given(st.frozensets(st.integers(0, 60)))
def test_what_is_written_is_read_back(some: frozenset[int]) -> None:
    assert indexes.parse(indexes.to_text(some), 100) == some


@given(st.text(max_size=20))
def test_no_text_breaks_the_reader(text: str) -> None:
    assert all(0 <= index < 10 for index in indexes.parse(text, 10))


def test_indexes_beyond_the_completions_do_not_count() -> None:
    assert indexes.parse("0-9", 2) == frozenset({0, 1})


def rule(action: str, **how: Any) -> dict[str, Any]:
    return {"action": action, **how}


def codes(operator: str, *values: int, **more: str) -> dict[str, Any]:
    return {"onExitCodes": {"operator": operator, "values": list(values), **more}}


DISRUPTED = {"onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}
POLICIES: dict[str, tuple[list[dict[str, Any]], str]] = {
    "no rule": ([], "Count"),
    "a code that is listed": ([rule("FailJob", **codes("In", 1, 42))], "FailJob"),
    "a code that is not listed": ([rule("FailJob", **codes("In", 1))], "Count"),
    "a code other than those": ([rule("Ignore", **codes("NotIn", 1))], "Ignore"),
    "another container": ([rule("Ignore", **codes("In", 42, containerName="b"))], "Count"),
    "the first rule that fits": (
        [rule("FailIndex", **codes("In", 42)), rule("Ignore", **DISRUPTED)],
        "FailIndex",
    ),
    "a condition": ([rule("Ignore", **DISRUPTED)], "Ignore"),
}


@pytest.mark.parametrize(("rules", "expected"), POLICIES.values(), ids=POLICIES)
def test_the_policy_decides_by(rules: list[dict[str, Any]], expected: str) -> None:
    job = a_job(podFailurePolicy={"rules": rules})
    disrupted = [{"type": "DisruptionTarget", "status": "True"}]
    pod = job_pod("p", "Failed", status=exited(42), conditions=disrupted)
    assert match(job, pod).action == expected


def test_a_rule_says_why_it_fails_the_job() -> None:
    job = a_job(podFailurePolicy={"rules": [rule("FailJob", **codes("In", 42))]})
    assert match(job, job_pod("p", "Failed", status=exited(42))) == Match(
        "FailJob",
        "Container app for pod ns/p failed with exit code 42 matching FailJob rule at index 0",
    )


PAUSES = {
    "none without failures": (Record(), 0.0),
    "the base after the first": (Record(1, NOW), 10.0),
    "doubled with each": (Record(3, NOW), 40.0),
    "ten minutes at most": (Record(90, NOW), 600.0),
}


@pytest.mark.parametrize(("record", "seconds"), PAUSES.values(), ids=PAUSES)
def test_the_pause_after_failures_is(record: Record, seconds: float) -> None:
    assert pause(record, 10.0, NOW) == seconds


def test_a_success_ends_the_count_of_failures_before_it() -> None:
    early, late = (job_pod(f"p{age}", "Failed", status=exited(1, age)) for age in (30, 5))
    succeeded = job_pod("s", "Succeeded", status=exited(0, 10))
    record = recorded(Record(4, NOW), [succeeded], [early, late])
    assert record.failures == 1
    assert recorded(Record(4, NOW), [succeeded], []) == Record()
