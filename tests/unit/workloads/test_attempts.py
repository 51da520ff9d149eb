# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from datetime import timedelta

import pytest

from tests.support.virtual import START
from tests.unit.workloads.podclique.builders import a_pod
from trellis.api.annotation import ATTEMPT
from trellis.api.core.pod import FAILED, Pod, PodStatus
from trellis.api.meta import Metadata
from trellis.workloads.attempts import SOON, attempt, failed_at, next_attempt


@pytest.mark.parametrize(
    ("written", "expected"),
    [("", 0), ("0", 0), ("7", 7), ("-1", 0), ("1.5", 0), ("٣", 0), ("9" * 50, 0)],
)
def test_what_is_no_small_number_counts_as_none(written: str, expected: int) -> None:
    assert attempt(a_pod("a", 0, annotations={ATTEMPT: written})) == expected


def test_a_pod_failed_when_it_ceased_to_be_ready() -> None:
    later = START + timedelta(minutes=3)
    assert failed_at(a_pod("a", 0, phase=FAILED, ready=False, since=later)) == later


def test_a_pod_that_never_spoke_failed_when_it_was_made() -> None:
    metadata = Metadata(name="a", creation_timestamp=START)
    assert failed_at(Pod(metadata=metadata, status=PodStatus(phase=FAILED))) == START


@pytest.mark.parametrize(
    ("ran", "expected"),
    [
        pytest.param(timedelta(0), 3, id="failed at once"),
        pytest.param(SOON, 3, id="failed just soon enough"),
        pytest.param(SOON + timedelta(seconds=1), 0, id="ran for a while"),
    ],
)
def test_a_row_of_failures_goes_on_only_if_they_come_soon(ran: timedelta, expected: int) -> None:
    before = a_pod("a", 0, phase=FAILED, ready=False, since=START + ran, annotations={ATTEMPT: "2"})
    assert next_attempt([before]) == expected


def test_of_several_failed_pods_the_longest_row_goes_on() -> None:
    pods = [
        a_pod(name, 0, phase=FAILED, ready=False, annotations={ATTEMPT: row})
        for name, row in (("a", "1"), ("b", "4"), ("c", "0"))
    ]
    assert next_attempt(pods) == 5


def test_what_did_not_fail_begins_no_row() -> None:
    assert next_attempt([a_pod("a", 0, annotations={ATTEMPT: "4"})]) == 0
    assert next_attempt([]) == 0
