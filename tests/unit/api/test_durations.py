# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trellis.api import durations
from trellis.api.durations import (
    HOUR,
    MILLISECOND,
    MINUTE,
    SECOND,
    DurationTooLong,
    InvalidDuration,
)


@pytest.mark.parametrize(
    ("text", "nanoseconds"),
    [
        ("4h", 4 * HOUR),
        ("1h30m", HOUR + 30 * MINUTE),
        ("1.5s", 1_500 * MILLISECOND),
        (".5s", 500 * MILLISECOND),
        ("1.s", SECOND),
        ("-20ms", -20 * MILLISECOND),
        ("+2us", 2_000),
        ("2\N{MICRO SIGN}s", 2_000),
        ("2\N{GREEK SMALL LETTER MU}s", 2_000),
        ("0", 0),
        ("-0", 0),
        ("0s", 0),
        ("3ns", 3),
        ("0.1ns", 0),
        ("1h1h", 2 * HOUR),
        ("9223372036854775807ns", (1 << 63) - 1),
        ("0.999999999999999999999h", 3_599_999_999_999),
    ],
)
def test_durations_are_read_as_go_reads_them(text: str, nanoseconds: int) -> None:
    assert durations.parse(text) == nanoseconds
    assert re.fullmatch(durations.PATTERN, text)


@pytest.mark.parametrize(
    "text",
    [
        *["", "-", "5", "s", ".s", "1 h", "1h ", "h1", "1d", "1.2.3s", "--1s", "1h\n", "1e3s"],
        pytest.param("\u0661s", id="a digit that is not ASCII"),
        pytest.param("9223372036854775808ns", id="beyond 64 bits"),
        pytest.param("1s" * 100, id="too long"),
        pytest.param("9" * 5000 + "s", id="thousands of digits"),
    ],
)
def test_what_go_refuses_is_refused(text: str) -> None:
    with pytest.raises(InvalidDuration, match="write it like"):
        durations.parse(text)


def test_what_is_too_long_is_refused_with_the_longest() -> None:
    with pytest.raises(DurationTooLong, match="'9999999999h' is longer than 2562047h47m16s; write"):
        durations.parse("9999999999h")
    assert durations.to_text(durations.parse(durations.LONGEST)) == durations.LONGEST
    with pytest.raises(DurationTooLong):
        durations.parse("2562047h47m17s")


@pytest.mark.parametrize(
    ("nanoseconds", "text"),
    [
        (0, "0s"),
        (1, "1ns"),
        (1_100, "1.1\N{MICRO SIGN}s"),
        (2_200_000, "2.2ms"),
        (3_300_000_000, "3.3s"),
        (4 * MINUTE + 5 * SECOND, "4m5s"),
        (5 * HOUR + 6 * MINUTE + 7_001 * MILLISECOND, "5h6m7.001s"),
        (-4 * HOUR, "-4h0m0s"),
    ],
)
def test_durations_are_written_as_go_writes_them(nanoseconds: int, text: str) -> None:
    assert durations.to_text(nanoseconds) == text


@given(st.integers(min_value=-(1 << 63) + 1, max_value=(1 << 63) - 1))
def test_what_is_written_is_read_back(nanoseconds: int) -> None:
    assert durations.parse(durations.to_text(nanoseconds)) == nanoseconds


def test_seconds_for_whoever_sleeps() -> None:
    assert durations.to_seconds("1m0.25s") == 60.25
