# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trellis.api import quantity
from trellis.api.quantity import LARGEST, UNIT, InvalidQuantity

DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}


@pytest.mark.parametrize(
    ("amount", "nano"),
    [
        ("2", 2 * UNIT),
        (2, 2 * UNIT),
        (0.5, UNIT // 2),
        ("500m", UNIT // 2),
        ("1.5Gi", 3 * 2**29 * UNIT),
        ("1e3", 1_000 * UNIT),
        ("1E3", 1_000 * UNIT),
        ("1E", 10**18 * UNIT),
        ("12e-1", 12 * UNIT // 10),
        ("-1k", -1_000 * UNIT),
        ("+.5", UNIT // 2),
        ("5.", 5 * UNIT),
        ("0.1n", 1),
        ("-0.1n", -1),
        ("-0", 0),
        ("1e30", LARGEST),
        ("-9999999999999Ei", -LARGEST),
    ],
)
def test_amounts_are_read_as_the_server_reads_them(amount: str | float, nano: int) -> None:
    assert quantity.parse(amount) == nano


@pytest.mark.parametrize(
    "text",
    [
        *["", ".", "-", "m", "1.2.3", "1 Gi", "1Gi ", "1gi", "1K", "0x10", "1e", "1e+", "1Ki3"],
        *["1_000", "NaN", "inf", "1\n", "1e1.5"],
        pytest.param("\uff11", id="a digit that is not ASCII"),
        pytest.param("1e1000000", id="an exponent without end"),
        pytest.param("9" * 5000, id="thousands of digits"),
    ],
)
def test_what_is_no_amount_is_refused(text: str) -> None:
    with pytest.raises(InvalidQuantity, match="write it like"):
        quantity.parse(text)


def test_true_is_no_amount() -> None:
    with pytest.raises(InvalidQuantity):
        quantity.parse(True)


@pytest.mark.parametrize(
    ("nano", "text", "binary"),
    [
        (0, "0", "0"),
        (2 * UNIT, "2", "2"),
        (UNIT // 2, "500m", "500m"),
        (2**39 * UNIT, "549755813888", "512Gi"),
        (1_000 * UNIT, "1k", "1k"),
        (-(2**20) * UNIT, "-1048576", "-1Mi"),
        (1, "1n", "1n"),
    ],
)
def test_amounts_are_written_short(nano: int, text: str, binary: str) -> None:
    assert quantity.to_text(nano) == text
    assert quantity.to_binary_text(nano) == binary


@given(st.integers(min_value=-LARGEST, max_value=LARGEST))
def test_what_is_written_is_read_back_exactly(nano: int) -> None:
    assert quantity.parse(quantity.to_text(nano)) == nano
    assert quantity.parse(quantity.to_binary_text(nano)) == nano


@given(
    st.integers(min_value=0, max_value=10**15),
    st.text("0123456789", max_size=6),
    st.sampled_from([*DECIMAL, *BINARY]),
)
def test_reading_agrees_with_exact_fractions(whole: int, fraction: str, suffix: str) -> None:
    scale = Fraction(2) ** BINARY[suffix] if suffix in BINARY else Fraction(10) ** DECIMAL[suffix]
    exact = Fraction(f"{whole}.{fraction or '0'}") * scale * UNIT
    rounded_up = -(-exact.numerator // exact.denominator)
    assert quantity.parse(f"{whole}.{fraction}{suffix}") == min(rounded_up, LARGEST)
