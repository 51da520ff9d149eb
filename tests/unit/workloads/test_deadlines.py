# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from datetime import timedelta

import pytest

from tests.support.virtual import START
from tests.unit.workloads.sets import a_set
from trellis.workloads.deadlines import deadline, termination_delay, told

FOUR_HOURS = timedelta(hours=4)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        pytest.param("10s", timedelta(seconds=10), id="what the set says"),
        pytest.param("1h30m", timedelta(minutes=90), id="as Go writes it"),
        pytest.param("", FOUR_HOURS, id="nothing: the default"),
        pytest.param("soon", FOUR_HOURS, id="nonsense: the default"),
    ],
)
def test_a_set_has_a_delay(written: str, expected: timedelta) -> None:
    assert termination_delay(a_set(terminationDelay=written)) == expected


def test_a_deadline_is_an_absolute_time() -> None:
    assert deadline(START, a_set(terminationDelay="90s")) == START + timedelta(seconds=90)
    assert told(START) == "2026-01-01T00:00:00Z"
