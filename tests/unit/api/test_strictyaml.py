# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trellis.api import strictyaml
from trellis.api.strictyaml import InvalidYaml, Limits

BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{chr(98 + i)}: &{chr(98 + i)} [{', '.join([f'*{chr(97 + i)}'] * 9)}]\n" for i in range(8)
)
TEXTS = st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=8)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=20,
)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("0000:17:00.0", "0000:17:00.0"),
        ("no", "no"),
        ("on", "on"),
        ("yes", "yes"),
        ("True", "True"),
        ("0300", "0300"),
        ("0x10", "0x10"),
        ("0o17", "0o17"),
        ("1_000", "1_000"),
        (".inf", ".inf"),
        (".nan", ".nan"),
        ("+1", "+1"),
        ("1.", "1."),
        ("190:20:30", "190:20:30"),
        ("2025-01-15T10:05:00Z", "2025-01-15T10:05:00Z"),
        ("2025-01-15", "2025-01-15"),
        ("=", "="),
        ("'true'", "true"),
        ('"5"', "5"),
        ("!!str 5", "5"),
        ("! 5", "5"),
        ("|\n  two\n  lines", "two\nlines"),
        ("true", True),
        ("false", False),
        ("null", None),
        ("~", None),
        ("", None),
        ("5", 5),
        ("-5", -5),
        ("1.5", 1.5),
        ("1e3", 1000.0),
        ("[1, {a: b}]", [1, {"a": "b"}]),
    ],
)
def test_a_value_is_what_json_would_make_of_it(written: str, meant: Any) -> None:
    found = strictyaml.load(f"a: {written}")
    assert found == {"a": meant}
    assert type(found["a"]) is type(meant)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        pytest.param(
            "a: 1\nb: 2\na: 3", "line 3, column 1: the key 'a' is there twice", id="twice"
        ),
        pytest.param("a:\n  b: 1\n  b: 2", "line 3, column 3", id="twice, further in"),
        pytest.param("[" * 100_000, "nested deeper than the 64", id="100,000 lists"),
        pytest.param("{a: " * 60_000, "nested deeper than the 64", id="60,000 mappings"),
        pytest.param("- " * 10_000 + "x", "nested deeper than the 64", id="10,000 dashes"),
        pytest.param(BOMB, "more than the 20000 values", id="an alias bomb"),
        pytest.param("a: *nobody", r"\*nobody stands for nothing", id="an alias of nothing"),
        pytest.param("&a [*a]", r"\*a stands for nothing finished", id="an alias of itself"),
        pytest.param("a: !!python/object:os.system {}", "tag", id="a Python object"),
        pytest.param("a: !!int 5", "tag", id="a tag"),
        pytest.param("a: !mine [1]", "tag", id="a tag on a list"),
        pytest.param("a: 1\n---\nb: 2", "line 2, column 1: a second document", id="two documents"),
        pytest.param("1: a", "the key 1 is not a string; quote it", id="a number for a key"),
        pytest.param("true: a", "the key True is not a string", id="a boolean for a key"),
        pytest.param("? [a]\n: b", "is not a string", id="a list for a key"),
        pytest.param("a: [1", "line 1", id="half of a list"),
        pytest.param("a: b: c", "line 1, column 5: mapping values", id="a colon too many"),
        pytest.param("\ta: 1", "line 1, column 1", id="a tab"),
        pytest.param("a: \0", "the text cannot be read", id="a NUL"),
        pytest.param("a: 9223372036854775808", "64-bit", id="one more than 64 bits hold"),
        pytest.param(f"a: {'9' * 5000}", "64-bit", id="5,000 digits"),
        pytest.param("a: 1e999", "beyond any number", id="a number beyond all"),
        pytest.param("x" * 300_000, "300000 characters", id="too long"),
    ],
)
def test_what_harms_or_misleads_is_refused_with_its_place(text: str, problem: str) -> None:
    with pytest.raises(InvalidYaml, match=problem):
        strictyaml.load(text)


def test_an_alias_stands_for_what_it_names() -> None:
    found = strictyaml.load("a: &x {b: [1, 2]}\nc: *x\nd: &y text\ne: *y")
    assert found == {"a": {"b": [1, 2]}, "c": {"b": [1, 2]}, "d": "text", "e": "text"}


def test_merge_keys_are_keys_like_others() -> None:
    assert strictyaml.load("<<: {a: 1}") == {"<<": {"a": 1}}


def test_nothing_is_nothing() -> None:
    assert strictyaml.load("# only a comment\n") is None


def test_limits_are_the_callers() -> None:
    with pytest.raises(InvalidYaml, match="more than the 3 values"):
        strictyaml.load("[1, 2, 3]", Limits(values=3))
    with pytest.raises(InvalidYaml, match="deeper than the 1"):
        strictyaml.load("[[]]", Limits(depth=1))


@given(JSON)
def test_json_is_yaml_and_means_the_same(value: Any) -> None:
    assert strictyaml.load(json.dumps(value)) == value


@given(st.text("ab01-:{}[],&*!? \n'\"|#~.", max_size=40))
def test_anything_is_read_or_refused(text: str) -> None:
    try:
        found = strictyaml.load(text)
    except InvalidYaml as error:
        found = str(error).splitlines()
    # What was read is JSON, and what was refused took one line to say so.
    assert json.loads(json.dumps(found)) == found
