# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trellis.api import selectors
from trellis.api.selectors import InvalidSelector, LabelSelector, Requirement, matches

KEYS = st.sampled_from(["app", "tier", "example.com/zone", "in", "notin"])
VALUES = st.sampled_from(["", "a", "b", "in", "v1.2_3"])
REQUIREMENTS = st.one_of(
    st.builds(
        Requirement,
        key=KEYS,
        operator=st.sampled_from(["In", "NotIn"]),
        values=st.lists(VALUES, min_size=1, max_size=3, unique=True).map(tuple),
    ),
    st.builds(Requirement, key=KEYS, operator=st.sampled_from(["Exists", "DoesNotExist"])),
)
SELECTORS = st.builds(
    LabelSelector,
    match_labels=st.dictionaries(KEYS, VALUES, max_size=2),
    match_expressions=st.lists(REQUIREMENTS, max_size=3).map(tuple),
)
LABELS = st.dictionaries(KEYS, VALUES)


@pytest.mark.parametrize(
    ("text", "labels", "want"),
    [
        ("", {}, True),
        ("app=web", {"app": "web"}, True),
        ("app==web", {"app": "web"}, True),
        ("app=web", {"app": "db"}, False),
        ("app=web", {}, False),
        ("app!=web", {}, True),
        ("app!=web", {"app": "web"}, False),
        ("tier in (a, b)", {"tier": "b"}, True),
        ("tier in (a, b)", {}, False),
        ("tier notin (a,b)", {"tier": "c"}, True),
        ("tier notin (a,b)", {}, True),
        ("app", {"app": ""}, True),
        ("!app", {"app": ""}, False),
        ("! app", {}, True),
        ("app=", {"app": ""}, True),
        ("app=,tier", {"app": "", "tier": "x"}, True),
        ("example.com/a=b,!c, d in (e)", {"example.com/a": "b", "d": "e"}, True),
        ("a in (,b)", {"a": ""}, True),
    ],
)
def test_strings_select_as_kubectl_has_it(text: str, labels: dict[str, str], want: bool) -> None:
    assert matches(selectors.parse(text), labels) is want


@pytest.mark.parametrize(
    "text",
    [
        *[
            "a=b,",
            ",a",
            "a,,b",
            "a b",
            "a=b=c",
            "a in b",
            "a in (b",
            "a in",
            "(a)",
            "=b",
            "!",
            "a!",
        ],
        *["a=$", "a=b c", "-a=b", "a=-b", "a=b\0", "a/b/c=d", "a>1"],
        pytest.param("\u0661=b", id="a key that is not ASCII"),
        pytest.param("a=" + "x" * 64, id="a value of 64 characters"),
        pytest.param("a," * 10_000, id="without end"),
    ],
)
def test_what_cannot_be_meant_is_refused(text: str) -> None:
    with pytest.raises(InvalidSelector, match="the selector"):
        selectors.parse(text)


def test_an_unknown_operator_is_refused_before_anything_is_matched() -> None:
    odd = LabelSelector(match_expressions=(Requirement(key="a", operator="Gt", values=("1",)),))
    with pytest.raises(InvalidSelector, match="'Gt'"):
        selectors.matcher(odd)


@given(SELECTORS, LABELS)
def test_all_parts_must_hold(selector: LabelSelector, labels: dict[str, str]) -> None:
    parts = [
        LabelSelector(match_expressions=(requirement,)) for requirement in selector.requirements()
    ]
    assert matches(selector, labels) == all(matches(part, labels) for part in parts)


@given(SELECTORS, LABELS)
def test_the_string_form_selects_the_same(selector: LabelSelector, labels: dict[str, str]) -> None:
    assert matches(selectors.parse(str(selector)), labels) == matches(selector, labels)


@given(REQUIREMENTS, LABELS)
def test_an_operator_and_its_opposite_never_agree(
    requirement: Requirement, labels: dict[str, str]
) -> None:
    opposites = {"In": "NotIn", "Exists": "DoesNotExist"}
    opposites |= {no: yes for yes, no in opposites.items()}
    other = Requirement(
        key=requirement.key,
        operator=opposites[requirement.operator],
        values=requirement.values,
    )
    one, opposite = (LabelSelector(match_expressions=(part,)) for part in (requirement, other))
    assert matches(one, labels) != matches(opposite, labels)
