# SPDX-License-Identifier: Apache-2.0
"""Tables of rules: what each rule says, where, and in which order."""

from __future__ import annotations

from typing import Any

import pytest

from trellis.embedded.natives.rules import (
    Rule,
    all_of,
    any_text,
    at_least,
    at_most,
    between,
    choice,
    distinct,
    domain_path,
    every,
    more_than_none,
    needed,
    needed_choice,
    needed_text,
    one_of,
    part,
    struct,
    text,
    variant,
)
from trellis.embedded.natives.syntax import port_name

UNSUPPORTED = 'Unsupported value: "c": supported values: "a", "b"'
NO_LETTER = 'Invalid value: "1": must contain at least one letter (a-z)'
PARTS = struct(a=needed(), b=(at_least(1), at_most(2)))
KINDS = variant({"a": needed(), "b": needed()}, none="say one", several="say one only")


@pytest.mark.parametrize(
    ("rule", "value", "expected"),
    [
        pytest.param(needed("say it"), "", ["x: Required value: say it"], id="needed"),
        pytest.param(text(port_name), "", [], id="a text that is not there"),
        pytest.param(needed_text(port_name), None, ["x: Required value"], id="a needed text"),
        pytest.param(any_text(port_name), "1", [f"x: {NO_LETTER}"], id="a text that is wrong"),
        pytest.param(one_of("a", "b"), None, [], id="no choice"),
        pytest.param(one_of("a", "b"), "c", [f"x: {UNSUPPORTED}"], id="a choice too many"),
        pytest.param(
            choice("c"),
            None,
            ['x: Unsupported value: "": supported values: "c"'],
            id="no choice where one is",
        ),
        pytest.param(needed_choice("a", "b"), "", ["x: Required value"], id="a needed choice"),
        pytest.param(
            at_least(0),
            -1,
            ["x: Invalid value: -1: must be greater than or equal to 0"],
            id="too few",
        ),
        pytest.param(
            at_most(1), 2, ["x: Invalid value: 2: must be less than or equal to 1"], id="too many"
        ),
        pytest.param(
            more_than_none(), None, ["x: Invalid value: 0: must be greater than zero"], id="none"
        ),
        pytest.param(
            between(1, 3),
            4,
            ["x: Invalid value: 4: must be between 1 and 3, inclusive"],
            id="outside",
        ),
        pytest.param(domain_path, "a.b/c", [], id="a domain's path"),
        pytest.param(domain_path, "", ["x: Required value"], id="no path"),
    ],
)
def test_a_rule_says_what_is_wrong_with_a_value(
    rule: Rule, value: Any, expected: list[str]
) -> None:
    assert [str(error) for error in rule(value, "x")] == expected


def test_fields_are_looked_at_in_the_order_of_the_table() -> None:
    told = [error.path for error in PARTS({"b": 3}, "x")]
    assert told == ["x.a", "x.b"]
    assert [error.path for error in PARTS({}, "")] == ["a"]


def test_an_absent_struct_is_silent_and_an_absent_part_is_an_empty_one() -> None:
    assert PARTS(None, "x") == []
    assert [error.path for error in part(a=needed())(None, "x")] == ["x.a"]


def test_a_list_that_is_too_long_is_not_looked_into() -> None:
    items = all_of(every(needed(), 2), distinct(most=2))
    assert [str(error) for error in items(["", "a"], "x")] == ["x[0]: Required value"]
    assert [str(error) for error in items(["", "", ""], "x")] == [
        "x: Too many: 3: must have at most 2 items"
    ]


def test_what_is_there_twice_is_named_the_second_time() -> None:
    found = distinct("name")([{"name": "a"}, {"name": "b"}, {"name": "a"}], "x")
    assert [str(error) for error in found] == ['x[2]: Duplicate value: "a"']


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param({}, ["x: Required value: say one"], id="none"),
        pytest.param({"b": 0}, ["x.b: Required value"], id="one"),
        pytest.param({"a": 1, "b": 1}, ["x.b: Forbidden: say one only"], id="two"),
    ],
)
def test_an_object_of_several_kinds_is_of_one(value: Any, expected: list[str]) -> None:
    assert [str(error) for error in KINDS(value, "x")] == expected
