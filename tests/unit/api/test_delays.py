# SPDX-License-Identifier: Apache-2.0
"""What the definition of PodCliqueSet says of delays, by its own rule."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trellis.api import durations
from trellis.api.grove.updates import IN_RANGE
from trellis.embedded.schema.node import structural
from trellis.embedded.schema.rules import run_rules

RULE = {"rule": IN_RANGE.rule, "message": IN_RANGE.message}
SCHEMA: Any = structural({"type": "string", "maxLength": 64, "x-kubernetes-validations": [RULE]})
NUMBERS = st.from_regex(r"[0-9]{1,11}(\.[0-9]{0,3})?|\.[0-9]{1,3}", fullmatch=True)
PARTS = st.tuples(NUMBERS, st.sampled_from(sorted(durations.UNITS))).map("".join)
TEXTS = st.tuples(
    st.sampled_from(["", "+", "-"]), st.lists(PARTS, min_size=1, max_size=4).map("".join)
).map("".join)


def said_of(text: str) -> list[str]:
    return [str(error) for error in run_rules(SCHEMA, text, None).errors]


@pytest.mark.parametrize(
    "text",
    [
        *["30m", "4h0m0s", "+1h30m", "1.5s", ".5s", "5.s", "1ns", "876000h", "0h1ns"],
        pytest.param("2562047h47m16.854775807s", id="the longest that Go writes"),
        pytest.param("3\N{MICRO SIGN}s4\N{GREEK SMALL LETTER MU}s", id="both letters for micro"),
    ],
)
def test_a_delay_that_can_be_is_let_in(text: str) -> None:
    assert said_of(text) == []


@pytest.mark.parametrize(
    "text",
    [
        *["0", "0s", "-1m", "0.1ns", "9999999999h", "-9999999999h", "2562047h47m17s"],
        pytest.param("2000000h2000000h", id="too long in sum"),
        pytest.param("9" * 62 + "ns", id="as many digits as there may be"),
    ],
)
def test_a_delay_that_cannot_be_is_refused_with_its_value_its_bounds_and_an_example(
    text: str,
) -> None:
    (said,) = said_of(text)
    assert said.endswith(
        f'Invalid value: "{text}": must be more than 0s and at most 2562047h47m16s; '
        "write it like 30m or 4h"
    )


@given(TEXTS)
def test_the_rule_and_the_operator_agree(text: str) -> None:
    try:
        can_be = durations.parse(text) > 0
    except durations.InvalidDuration:
        can_be = False
    assert (said_of(text) == []) == can_be
