# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from trellis.api.conditions import Motion
from trellis.api.reasons import objects
from trellis.kube.errors import Failure, Forbidden, Invalid, Refused, Unreachable
from trellis.runtime.converged import Converged, NameConflict, Refusal
from trellis.workloads.trouble import Trouble, Written, last_errors, trouble

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def refused(kind: type[Refused], message: str) -> Converged:
    error = kind("POST pods", Failure(code=403, message=message))
    return Converged(refused=(Refusal("create", "a", error),))


CONFLICT = Converged(conflicts=(NameConflict("a", "Job b"),))


@pytest.mark.parametrize(
    ("written", "reason", "motion", "is_raised"),
    [
        (Unreachable("gone"), "Retrying", Motion.MOVING, True),
        (refused(Forbidden, "no"), "Forbidden", Motion.STUCK, True),
        (refused(Forbidden, "exceeded quota: q"), "QuotaRefused", Motion.STUCK, True),
        (refused(Forbidden, "status unknown for quota: q"), "QuotaRefused", Motion.STUCK, True),
        (refused(Invalid, "bad"), "Refused", Motion.STUCK, True),
        (CONFLICT, "NameConflict", Motion.STUCK, False),
    ],
    ids=[
        "no answer",
        "forbidden",
        "quota",
        "a quota that nobody counts yet",
        "invalid",
        "name taken",
    ],
)
def test_what_went_wrong_has_a_word_and_is_tried_again_where_that_may_help(
    written: Written, reason: str, motion: Motion, is_raised: bool
) -> None:
    found = trouble([Converged(created=("x",)), written])

    assert found is not None
    assert (found.reason.token, found.motion) == (reason, motion)
    assert (found.error is not None) is is_raised


def test_what_somebody_must_act_on_is_told_before_what_may_pass() -> None:
    found = trouble([Unreachable("gone"), CONFLICT])

    assert found is not None
    assert found.message == "a belongs to Job b and is left alone: remove or rename it"


def test_what_is_only_waited_for_is_no_trouble() -> None:
    assert trouble([Converged(blocked=("a",), deleted=("b",))]) is None


def test_the_same_error_keeps_its_time_and_a_clean_pass_clears_all() -> None:
    one = Trouble(reason=objects.REFUSED, message="a")
    other = Trouble(reason=objects.REFUSED, message="b")

    first = last_errors((), [one, one], NOON)
    second = last_errors(first, [other, one], NOON + timedelta(hours=1))

    assert [(error.description, error.observed_at.hour) for error in first] == [("a", 12)]
    assert [(error.description, error.observed_at.hour) for error in second] == [
        ("b", 13),
        ("a", 12),
    ]
    assert last_errors(second, [], NOON) == ()
