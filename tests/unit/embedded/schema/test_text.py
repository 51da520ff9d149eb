# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trellis.embedded.schema.scalars import Undecodable
from trellis.embedded.schema.text import from_json
from trellis.embedded.schema.typed import Repeated
from trellis.embedded.schema.yamltext import from_yaml

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.text(st.characters(codec="utf-8"), max_size=10)
    | st.sampled_from(['":', ": ", '"', "\\", '{"a":1}']),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4)
    ),
    max_leaves=20,
)


@given(JSON, st.sampled_from([None, (",", ":"), (" , ", " : ")]))
def test_text_is_read_as_what_it_says(value: Any, separators: tuple[str, str] | None) -> None:
    text = json.dumps(value, separators=separators).encode()
    read = from_json(text)
    assert read == value
    assert type(read) is not Repeated


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (b"", "unexpected end of JSON input"),
        (b"{", "unexpected end of JSON input"),
        (b"nonsense", "invalid character 'o' in literal null (expecting 'u')"),
        (b"apiVersion: v1", "invalid character 'a' looking for beginning of value"),
        (b'{"a": 1} {}', "invalid character '{' after top-level value"),
        (b"{a: 1}", "invalid character 'a' looking for beginning of object key string"),
        (b'{"a" 1}', "invalid character '1' after object key"),
        (b'{"a":01}', "invalid character '1' after object key:value pair"),
        (b"[1 2]", "invalid character '2' after array element"),
        (b"[1,]", "invalid character ']' looking for beginning of value"),
        (b'"a\nb"', "invalid character '\\n' in string literal"),
        (b'"\\x"', "invalid character 'x' in string escape code"),
        (b'"\\u12g4"', "invalid character 'g' in \\u hexadecimal character escape"),
        (b"-", "unexpected end of JSON input"),
        (b"1.x", "invalid character 'x' after decimal point in numeric literal"),
        (b"1ex", "invalid character 'x' in exponent of numeric literal"),
        (b"'a'", "invalid character '\\'' looking for beginning of value"),
        (b"[" * 5000, "unexpected end of JSON input"),
        (b"[" * 5000 + b"]" * 5000, "exceeded max depth"),
    ],
)
def test_mistakes_are_told_as_go_tells_them(text: bytes, why: str) -> None:
    with pytest.raises(Undecodable) as refused:
        from_json(text)
    assert str(refused.value) == why


@given(st.binary(max_size=60))
def test_no_text_does_more_harm_than_to_be_refused(text: bytes) -> None:
    try:
        json.dumps(from_json(text, untyped=True)).encode()
    except Undecodable:
        return


def test_keys_that_are_there_twice_are_kept_in_mind() -> None:
    read = from_json(b'{"a": {"b" : 1, "c": 2, "b": 3}}')
    assert read == {"a": {"b": 3, "c": 2}}
    assert read["a"].keys_repeated == {"b"}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (b"3.0", 3),
        (b"1e3", 1000),
        (b"0.1", 0.1),
        (b"12345678901234567890", 12345678901234567000),
        (b"1e300", 1e300),
        (b"9223372036854775807", 9223372036854775807),
    ],
)
def test_numbers_without_a_type_are_those_that_go_makes_of_them(text: bytes, value: Any) -> None:
    read = from_json(text, untyped=True)
    assert (read, type(read)) == (value, type(value))


def test_half_a_character_is_replaced() -> None:
    assert from_json(b'"\\ud83d\\ude00 \\\\ud800 \\ud800"') == "😀 \\ud800 �"


def test_yaml_means_what_it_means_to_go() -> None:
    text = b"a: yes\nb: '1'\nc: 0x10\nd: 2020-01-01\ne: 1.5\nf: ~\n1: [on, 010]\n---\nx: y"
    assert from_yaml(text) == (
        {"a": True, "b": "1", "c": 16, "d": "2020-01-01", "e": 1.5, "f": None, "1": [True, 8]},
        [],
    )


def test_repeated_keys_in_yaml_are_told_with_their_line() -> None:
    assert from_yaml(b"a: 1\nb: 2\na: 3") == (
        {"a": 3, "b": 2},
        ['line 3: key "a" already set in map'],
    )


def test_malformed_yaml_is_told_as_go_tells_it() -> None:
    with pytest.raises(Undecodable, match=r"^yaml: line 1: did not find expected node content$"):
        from_yaml(b"a: [")


def test_aliases_cannot_make_a_small_text_huge() -> None:
    levels = "\n".join(f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 9)}]" for n in range(1, 9))
    with pytest.raises(Undecodable, match="excessive aliasing"):
        from_yaml(f"l0: &l0 [x]\n{levels}".encode())
