# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trellis.embedded.core.builtin import natives
from trellis.embedded.refusals import Refusal
from trellis.embedded.selecting import parse_fields, parse_labels

LABELS = {"color": "red", "size": "7", "empty": ""}
PODS = natives()["", "v1", "pods"]


@pytest.mark.parametrize(
    ("selector", "matches"),
    [
        pytest.param("", True, id="nothing matches all"),
        pytest.param("color=red", True, id="equality"),
        pytest.param("color == red", True, id="double equality with blanks"),
        pytest.param("color!=red", False, id="inequality"),
        pytest.param("other!=red", True, id="inequality holds where there is no label"),
        pytest.param("color in (red, green)", True, id="a set"),
        pytest.param("other notin (red)", True, id="absence is outside of a set"),
        pytest.param("color", True, id="existence"),
        pytest.param("!color", False, id="absence"),
        pytest.param("size>6,size<8", True, id="integers between two"),
        pytest.param("color>1", False, id="a word is no integer"),
        pytest.param("empty=", True, id="an empty value"),
        pytest.param("in in (x)", False, id="a key that is called in"),
    ],
)
def test_labels_are_selected(selector: str, matches: bool) -> None:
    assert parse_labels(selector).matches(LABELS) is matches


@pytest.mark.parametrize(
    ("selector", "why"),
    [
        ("color in", "unable to parse requirement: found '' expected: '('"),
        ("color=red,", "found '', expected: identifier after ','"),
        ("=red", "found '=', expected: !, identifier, or 'end of string'"),
        ("color=a b", "found 'b', expected: ',' or 'end of string'"),
    ],
)
def test_a_selector_that_cannot_be_read_says_where(selector: str, why: str) -> None:
    with pytest.raises(Refusal) as refused:
        parse_labels(selector)
    assert (refused.value.code, refused.value.message) == (400, why)


@pytest.mark.parametrize(
    ("selector", "matches"),
    [
        ("spec.nodeName=n1", True),
        ("spec.nodeName!=n1", False),
        ("spec.nodeName=n1,status.phase=Running", False),
        (r"spec.nodeName=a\,b", False),
    ],
)
def test_fields_are_selected(selector: str, matches: bool) -> None:
    assert parse_fields(selector, PODS).matches({"spec.nodeName": "n1"}) is matches


def test_a_field_that_a_kind_cannot_be_selected_by_is_refused() -> None:
    with pytest.raises(Refusal, match=r"field label not supported: spec\.other"):
        parse_fields("spec.other=x", PODS)


@given(st.text(max_size=40))
def test_any_text_is_read_or_refused(text: str) -> None:
    for parse in (parse_labels, lambda given: parse_fields(given, PODS)):
        with suppress(Refusal):
            parse(text)
