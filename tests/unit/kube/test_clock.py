# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from datetime import timedelta

import pytest

from trellis.instruments.clock import SystemClock


def test_the_time_of_day_knows_its_zone() -> None:
    assert SystemClock().now().utcoffset() == timedelta(0)


def test_durations_are_never_negative() -> None:
    clock = SystemClock()
    assert clock.monotonic() <= clock.monotonic()


@pytest.mark.parametrize("seconds", [0.0, -1.0])
async def test_not_waiting_only_lets_others_run(seconds: float) -> None:
    clock = SystemClock()
    await clock.sleep(seconds)
