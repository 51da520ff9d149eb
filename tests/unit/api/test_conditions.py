# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from datetime import timedelta

import pytest

from tests.unit.api.builders import NOON
from trellis.api.conditions import (
    READY,
    RECONCILING,
    STALLED,
    SUMMARY,
    Condition,
    Finding,
    Motion,
    Pass,
    Status,
    Verdict,
    find,
    is_true,
    merged,
    summary,
)
from trellis.api.meta import to_builtins
from trellis.api.reasons import cliques, objects, pending

LATER = NOON + timedelta(minutes=5, microseconds=7)
FIRST = Pass(generation=1, now=NOON)
SECOND = Pass(generation=2, now=LATER)
FOREIGN = Condition(
    type="example.com/Audited",
    status="True",
    reason="Audited",
    message="by somebody",
    last_transition_time=NOON,
)
SCHEDULED = Finding(
    type="PodCliqueScheduled",
    status=Status.TRUE,
    reason=cliques.SUFFICIENT_SCHEDULED_PODS,
    message="2 of 2",
)
UNSCHEDULED = Finding(
    type="PodCliqueScheduled",
    status=Status.FALSE,
    reason=cliques.INSUFFICIENT_SCHEDULED_PODS,
    message="1 of 2",
)
OWNED = ("PodCliqueScheduled", "MinAvailableBreached")


def test_a_new_condition_has_the_time_and_generation_of_the_pass() -> None:
    (condition,) = merged((), [SCHEDULED], OWNED, FIRST)
    assert to_builtins(condition) == {
        "type": "PodCliqueScheduled",
        "status": "True",
        "observedGeneration": 1,
        "lastTransitionTime": "2026-03-01T12:00:00Z",
        "reason": "SufficientScheduledPods",
        "message": "2 of 2",
    }


def test_what_others_wrote_survives_where_it_was() -> None:
    conditions = merged((FOREIGN,), [SCHEDULED], OWNED, FIRST)
    assert conditions[0] is FOREIGN
    assert [condition.type for condition in conditions] == [FOREIGN.type, SCHEDULED.type]


def test_the_transition_time_moves_with_the_status_alone() -> None:
    before = merged((), [SCHEDULED], OWNED, FIRST)
    reworded = Finding(
        type=SCHEDULED.type, status=Status.TRUE, reason=SCHEDULED.reason, message="3 of 3"
    )
    (same,) = merged(before, [reworded], OWNED, SECOND)
    assert (same.message, same.observed_generation, same.last_transition_time) == (
        "3 of 3",
        2,
        NOON,
    )
    (moved,) = merged(before, [UNSCHEDULED], OWNED, SECOND)
    assert moved.last_transition_time == NOON + timedelta(minutes=5)
    assert moved.reason == "InsufficientScheduledPods"


def test_a_pass_that_finds_the_same_changes_nothing() -> None:
    before = merged((FOREIGN,), [SCHEDULED], OWNED, FIRST)
    assert merged(before, [SCHEDULED], OWNED, Pass(generation=1, now=LATER)) == before


def test_one_of_ours_that_was_not_found_goes() -> None:
    before = merged((FOREIGN,), [SCHEDULED], OWNED, FIRST)
    assert merged(before, [], OWNED, SECOND) == (FOREIGN,)


def test_a_type_that_is_there_twice_is_kept_once() -> None:
    twice = (FOREIGN, FOREIGN)
    assert merged(twice, [], OWNED, FIRST) == (FOREIGN,)


def test_a_condition_that_has_no_time_yet_gets_one() -> None:
    timeless = Condition(type=SCHEDULED.type, status="True")
    (condition,) = merged((timeless,), [SCHEDULED], OWNED, SECOND)
    assert condition.last_transition_time == NOON + timedelta(minutes=5)


@pytest.mark.parametrize(
    ("verdict", "want"),
    [
        pytest.param(
            Verdict(ready=True, motion=Motion.SETTLED, reason=objects.ALL_REPLICAS_AVAILABLE),
            ("True", "False", "False"),
            id="well and at rest",
        ),
        pytest.param(
            Verdict(ready=True, motion=Motion.MOVING, reason=objects.CREATING_CHILDREN),
            ("True", "True", "False"),
            id="well while it changes",
        ),
        pytest.param(
            Verdict(ready=False, motion=Motion.MOVING, reason=pending.WAITING_FOR_GANG),
            ("False", "True", "False"),
            id="on its way",
        ),
        pytest.param(
            Verdict(ready=False, motion=Motion.STUCK, reason=objects.NAME_CONFLICT),
            ("False", "False", "True"),
            id="stuck until somebody acts",
        ),
    ],
)
def test_a_verdict_becomes_the_three_conditions_that_tools_read(
    verdict: Verdict, want: tuple[str, str, str]
) -> None:
    conditions = merged((), summary(verdict), SUMMARY, FIRST)
    assert tuple(condition.status for condition in conditions) == want
    assert [condition.type for condition in conditions] == [READY, RECONCILING, STALLED]
    assert {condition.reason for condition in conditions} == {verdict.reason.token}


def test_conditions_are_found_by_their_type() -> None:
    conditions = merged((FOREIGN,), [UNSCHEDULED], OWNED, FIRST)
    assert find(conditions, FOREIGN.type) is FOREIGN
    assert find(conditions, "Other") is None
    assert is_true(conditions, FOREIGN.type)
    assert not is_true(conditions, UNSCHEDULED.type)
    assert not is_true(conditions, "Other")
