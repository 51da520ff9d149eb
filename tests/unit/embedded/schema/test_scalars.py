# SPDX-License-Identifier: Apache-2.0
"""Values as the real server wrote them, from the goldens."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trellis.api.quantity import parse
from trellis.embedded.schema import scalars
from trellis.embedded.schema.scalars import Undecodable

QUANTITIES = {
    "2000m": "2",
    "1000": "1k",
    "1000000": "1M",
    "1024": "1024",
    "0": "0",
    "0Gi": "0",
    "123456789012345678901234": "123456789012345678901234",
    "1048576Ki": "1Gi",
    "1024Mi": "1Gi",
    "1500Mi": "1500Mi",
    "1.5Gi": "1536Mi",
    "0.1Ki": "102400m",
    "100E": "100E",
    "0.1": "100m",
    ".5": "500m",
    "1.0001k": "1000100m",
    "0.0000000001": "1m",
    "-0.5": "-500m",
    "+3": "+3",
    "1u": "1m",
    "1e3": "1e3",
    "1.5e3": "1500",
    "1E2": "100",
    "5e-1": "500e-3",
    "1000e0": "1e3",
}


@pytest.mark.parametrize(("given_as", "written"), QUANTITIES.items())
def test_a_quantity_is_written_in_canonical_form(given_as: str, written: str) -> None:
    assert scalars.quantity(given_as, -3) == written


@pytest.mark.parametrize(("value", "written"), [(2, "2"), (1.5, "1500m"), (0, "0")])
def test_a_quantity_may_be_a_number(value: Any, written: str) -> None:
    assert scalars.quantity(value) == written


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("nonsense", "regular expression"),
        ("1kk", "unable to parse quantity's suffix"),
        ("1 Gi", "regular expression"),
        ("1gi", "regular expression"),
        ("--1", "unable to parse quantity's suffix"),
        ("", "regular expression"),
        (True, "regular expression"),
        ([], "regular expression"),
        ("9" * 1000, "regular expression"),
    ],
)
def test_what_is_no_quantity_is_refused(value: Any, why: str) -> None:
    with pytest.raises(Undecodable, match=why):
        scalars.quantity(value)


@given(st.from_regex(r"[+-]?(0|[1-9][0-9]{0,11})(\.[0-9]{1,4})?([mkMGT]|[KMG]i)?", fullmatch=True))
def test_the_canonical_form_is_worth_the_same_and_stays_as_it_is(text: str) -> None:
    written = scalars.quantity(text)
    assert parse(written) == parse(text)
    assert scalars.quantity(written) == written


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("2020-01-01T00:00:00Z", "2020-01-01T00:00:00Z"),
        ("2020-01-01T00:00:00+02:00", "2019-12-31T22:00:00Z"),
        ("2020-01-01T00:00:00.999Z", "2020-01-01T00:00:00Z"),
    ],
)
def test_a_time_is_written_in_utc_to_the_second(text: str, written: str) -> None:
    assert scalars.time(text) == written


def test_a_micro_time_keeps_its_fraction() -> None:
    assert scalars.micro_time("2020-01-01T00:00:00.000001-01:00") == "2020-01-01T01:00:00.000001Z"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("nonsense", 'as "2006-01-02T15:04:05.000000Z07:00": cannot parse "nonsense" as "2006"'),
        ("2020-01-01T00:00:00", 'cannot parse "" as ".000000"'),
        ("2020-13-01T00:00:00.000000Z", "month out of range"),
        ("2020-02-30T00:00:00.000000Z", "day out of range"),
        ("2020-01-01T00:00:00.000000Zzz", 'extra text: "zz"'),
        (1, "json: cannot unmarshal number into Go value of type string"),
    ],
)
def test_what_is_no_time_is_refused_in_goes_words(text: Any, why: str) -> None:
    with pytest.raises(Undecodable) as refused:
        scalars.micro_time(text)
    assert why in str(refused.value)


@pytest.mark.parametrize(
    ("text", "at"),
    [("not base64!", 3), ("1", 0), ("YQ", 0), ("YQ=", 3), ("Y===", 1), ("YQ==YQ==", 4)],
)
def test_base64_is_refused_where_go_stops(text: str, at: int) -> None:
    with pytest.raises(Undecodable, match=f"illegal base64 data at input byte {at}$"):
        scalars.base64(text)


@given(st.binary(max_size=40))
def test_base64_comes_back_as_it_was(data: bytes) -> None:
    text = b64encode(data).decode()
    assert scalars.base64(text) == text
    assert scalars.base64(text[:5] + "\r\n" + text[5:]) == text


@pytest.mark.parametrize("value", [1.5, True, [], 1 << 31])
def test_int_or_string_takes_nothing_else(value: Any) -> None:
    with pytest.raises(Undecodable, match="into Go value of type int32"):
        scalars.int_or_string(value)
