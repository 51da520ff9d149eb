# SPDX-License-Identifier: Apache-2.0
"""Go's numbers and durations."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trellis.embedded.wire.numbers import (
    SECOND,
    duration,
    parsed_duration,
    parsed_integer,
    parsed_version,
)

WRITTEN = {
    0: "0s",
    1: "1ns",
    1_500: "1.5µs",
    250_000_000: "250ms",
    1_500_000_000: "1.5s",
    90 * SECOND: "1m30s",
    3600 * SECOND: "1h0m0s",
    -5 * SECOND: "-5s",
}


@pytest.mark.parametrize("nanoseconds", WRITTEN)
def test_a_duration_is_written(nanoseconds: int) -> None:
    assert duration(nanoseconds) == WRITTEN[nanoseconds]


@given(st.integers(min_value=-(10**17), max_value=10**17))
def test_a_duration_that_was_written_is_read_back(nanoseconds: int) -> None:
    assert parsed_duration(duration(nanoseconds)) == nanoseconds


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("nonsense", 'time: invalid duration "nonsense"'),
        ("", 'time: invalid duration ""'),
        ("10", 'time: missing unit in duration "10"'),
        ("-", 'time: invalid duration "-"'),
    ],
)
def test_what_is_no_duration_is_said_in_gos_words(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(why)}$"):
        parsed_duration(text)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("x", 'strconv.ParseInt: parsing "x": invalid syntax'),
        ("1.5", 'strconv.ParseInt: parsing "1.5": invalid syntax'),
        ("", 'strconv.ParseInt: parsing "": invalid syntax'),
        ("٣", 'strconv.ParseInt: parsing "٣": invalid syntax'),
        ("9" * 20, f'strconv.ParseInt: parsing "{"9" * 20}": value out of range'),
        ("9" * 5000, f'strconv.ParseInt: parsing "{"9" * 5000}": value out of range'),
    ],
    ids=["text", "a fraction", "nothing", "foreign digits", "too large", "far too large"],
)
def test_what_is_no_integer_is_said_in_gos_words(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(why)}$"):
        parsed_integer(text)


def test_versions_are_unsigned_and_nothing_is_none() -> None:
    assert parsed_version("") == 0
    assert parsed_version("18446744073709551615") == (1 << 64) - 1
    with pytest.raises(ValueError, match="invalid syntax"):
        parsed_version("-1")
