# SPDX-License-Identifier: Apache-2.0
"""How long ago, in few characters."""

from __future__ import annotations

import pytest

from tests.unit.embedded.wire.builders import NOW
from trellis.embedded.wire.printing.ages import human, since

MINUTE, HOUR, DAY = 60, 3600, 86400
YEAR = 365 * DAY
SHOWN = {
    -5: "<invalid>",
    -1: "0s",
    0: "0s",
    119: "119s",
    2 * MINUTE: "2m",
    2 * MINUTE + 5: "2m5s",
    9 * MINUTE + 59: "9m59s",
    10 * MINUTE + 59: "10m",
    179 * MINUTE: "179m",
    3 * HOUR: "3h",
    7 * HOUR + 5 * MINUTE: "7h5m",
    47 * HOUR: "47h",
    48 * HOUR: "2d",
    3 * DAY + 4 * HOUR: "3d4h",
    8 * DAY + HOUR: "8d",
    YEAR: "365d",
    2 * YEAR: "2y",
    3 * YEAR + 5 * DAY: "3y5d",
    9 * YEAR + 5 * DAY: "9y",
}


@pytest.mark.parametrize("seconds", SHOWN)
def test_a_time_is_shown(seconds: int) -> None:
    assert human(seconds) == SHOWN[seconds]


@pytest.mark.parametrize(
    ("moment", "shown"),
    [
        ("2026-01-01T11:59:00Z", "60s"),
        ("2026-01-01T11:59:00.500000Z", "59s"),
        ("2026-01-01T13:59:00+02:00", "60s"),
        (None, "<unknown>"),
        ("", "<unknown>"),
        ("yesterday", "<invalid>"),
        ("2026-01-01", "<invalid>"),
    ],
)
def test_since(moment: str | None, shown: str) -> None:
    assert since(moment, NOW) == shown
