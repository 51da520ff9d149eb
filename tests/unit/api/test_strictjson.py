# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trellis.api import strictjson
from trellis.api.strictjson import InvalidJson, Limits

DEEP = 100_000
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.text(st.characters(codec="utf-8"), max_size=10),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4)
    ),
    max_leaves=20,
)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(b"[" * DEEP + b"]" * DEEP, id="100,000 levels"),
        pytest.param(b'{"a":' * DEEP + b"1" + b"}" * DEEP, id="100,000 objects"),
        pytest.param(b"[" * DEEP, id="100,000 levels that never close"),
        pytest.param(b"[" * 65 + b"]" * 65, id="one level too many"),
        pytest.param(b"NaN", id="NaN"),
        pytest.param(b'{"a":Infinity}', id="infinity"),
        pytest.param(b"[1e400]", id="a number beyond all"),
        pytest.param(b'"\\ud800"', id="half a surrogate pair at the end"),
        pytest.param(b'"\\ud800 and more text"', id="half a surrogate pair"),
        pytest.param(b'{"\\udc00":1}', id="the other half, as a key"),
        pytest.param(b'"\xff"', id="no UTF-8"),
        pytest.param(b"\xef\xbb\xbf{}", id="a byte order mark"),
        pytest.param("{}".encode("utf-16"), id="UTF-16"),
        pytest.param(b"9223372036854775808", id="one more than 64 bits hold"),
        pytest.param(b'{"a":[-9223372036854775809]}', id="one less"),
        pytest.param(b"9" * 5000, id="5,000 digits"),
        pytest.param(b"{}{}", id="two documents"),
        pytest.param(b"", id="nothing"),
        pytest.param(b'{"a":1', id="half of one"),
        pytest.param(b'{"a":1,}', id="a comma too many"),
        pytest.param(b"\0", id="a NUL"),
    ],
)
def test_what_harms_is_refused_with_a_sentence(text: bytes) -> None:
    with pytest.raises(InvalidJson, match=r"^the JSON "):
        strictjson.loads(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        pytest.param(b'["[[[[{{{{"]', ["[[[[{{{{"], id="brackets in a string"),
        pytest.param(b'{"a":"\\"[[[\\\\"}', {"a": '"[[[\\'}, id="quotes in a string"),
        pytest.param(b'"99999999999999999999"', "9" * 20, id="digits in a string"),
        pytest.param(b"-9223372036854775808", -(2**63), id="the least integer"),
        pytest.param(b"1.12345678901234567890", 1.1234567890123457, id="a long fraction"),
        pytest.param(b"12345678901234567890e-3", 1.2345678901234568e16, id="a long mantissa"),
        pytest.param(b'"\\ud83d\\ude00"', "\U0001f600", id="a whole surrogate pair"),
    ],
)
def test_what_only_looks_harmful_is_let_in(text: bytes, value: Any) -> None:
    assert strictjson.loads(text) == value


def test_64_levels_are_let_in() -> None:
    strictjson.loads(b"[" * 64 + b"]" * 64)
    strictjson.loads(b"[" * 63 + b",".join([b"[]"] * 1000) + b"]" * 63)


@pytest.mark.parametrize(
    ("text", "limits", "word"),
    [
        (b"[1, 2]", Limits(size=5), "6 bytes"),
        (b'{"a":1,"b":2}', Limits(keys=1), "more keys"),
        (b"[[]]", Limits(depth=1), "deeper than the 1"),
    ],
)
def test_limits_are_the_callers(text: bytes, limits: Limits, word: str) -> None:
    with pytest.raises(InvalidJson, match=word):
        strictjson.loads(text, limits)
    strictjson.loads(text)


def test_colons_in_strings_are_no_keys() -> None:
    assert strictjson.loads(b'{"a":"::::"}', Limits(keys=1)) == {"a": "::::"}


@given(JSON)
def test_whatever_is_harmless_comes_through(value: Any) -> None:
    for text in (json.dumps(value), json.dumps(value, ensure_ascii=False, indent=1)):
        assert strictjson.loads(text.encode()) == value


@given(st.binary(max_size=60) | st.text('[]{}",:\\u0d8', max_size=60).map(str.encode))
def test_anything_is_read_or_refused_and_what_was_read_can_be_written(text: bytes) -> None:
    try:
        value = strictjson.loads(text)
    except InvalidJson:
        return
    msgspec.json.encode(value)


def test_what_a_type_refuses_is_told_with_its_place() -> None:
    decoder = msgspec.json.Decoder(dict[str, int])
    assert strictjson.decode(b'{"a":1}', decoder) == {"a": 1}
    with pytest.raises(InvalidJson, match=r"Expected `int`, got `bool`"):
        strictjson.decode(b'{"a":true}', decoder)
