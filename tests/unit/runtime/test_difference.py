# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.memory_api import merged
from trellis.runtime.difference import Path, difference

SPEC: tuple[Path, ...] = (("spec",),)


@pytest.mark.parametrize(
    ("have", "want", "ours", "patch"),
    [
        pytest.param({"a": 1}, {"a": 1}, (), {}, id="the same"),
        pytest.param({"a": 1, "b": 2}, {"a": 1}, (), {}, id="what the server adds is left alone"),
        pytest.param({"a": 1}, {"a": 2, "c": 3}, (), {"a": 2, "c": 3}, id="changed and missing"),
        pytest.param(
            {"spec": {"a": {"x": 1, "y": 2}, "b": 1}},
            {"spec": {"a": {"x": 1, "y": 3}, "b": 1}},
            (),
            {"spec": {"a": {"y": 3}}},
            id="only the leaf that differs",
        ),
        pytest.param({"a": 1}, {"a": None}, (), {"a": None}, id="what must not be there"),
        pytest.param({}, {"a": None}, (), {}, id="and is not"),
        pytest.param(
            {"spec": {"a": 1, "old": 1}},
            {"spec": {"a": 1}},
            SPEC,
            {"spec": {"old": None}},
            id="a section of ours loses what is not wanted",
        ),
        pytest.param(
            {"spec": {"m": {"a": 1, "old": 1}, "n": 1}},
            {"spec": {"m": {"a": 1}}},
            (("spec", "m"),),
            {"spec": {"m": {"old": None}}},
            id="a section within one that is not",
        ),
        pytest.param(
            {"spec": {"a": 1}, "x": 1},
            {},
            SPEC,
            {"spec": {"a": None}},
            id="a section of ours of which nothing is wanted",
        ),
        pytest.param(
            {"spec": {"m": {"a": 1}, "n": 1}},
            {},
            (("spec", "m"),),
            {"spec": {"m": {"a": None}}},
            id="the same within one that is not",
        ),
        pytest.param({"spec": 1}, {}, SPEC, {"spec": None}, id="a value of ours goes"),
        pytest.param({"spec": 1}, {}, (("spec", "m"),), {}, id="a value that is not ours stays"),
        pytest.param({}, {}, SPEC, {}, id="a section of ours that is not there"),
        pytest.param(
            {"ports": [{"port": 80, "protocol": "TCP"}]},
            {"ports": [{"port": 80}]},
            (),
            {},
            id="defaults inside a list are left alone",
        ),
        pytest.param(
            {"ports": [{"port": 80, "protocol": "TCP"}]},
            {"ports": [{"port": 81}]},
            (),
            {"ports": [{"port": 81}]},
            id="a list that differs is sent whole",
        ),
        pytest.param({"l": [1, 2]}, {"l": [1]}, (), {"l": [1]}, id="a list that is shorter"),
        pytest.param(
            {"spec": {"l": [{"a": 1, "b": 1}]}},
            {"spec": {"l": [{"a": 1}]}},
            SPEC,
            {"spec": {"l": [{"a": 1}]}},
            id="a list of ours is compared exactly",
        ),
        pytest.param({}, {"l": [], "m": {}}, (), {}, id="empty is as good as absent"),
        pytest.param({"l": [1]}, {"l": []}, (), {"l": []}, id="emptied"),
        pytest.param({"a": 1}, {"a": True}, (), {"a": True}, id="one is not true"),
        pytest.param({"a": 1}, {"a": 1.0}, (), {}, id="but it is one point nought"),
        pytest.param({"a": "1"}, {"a": 1}, (), {"a": 1}, id="a number is no string"),
        pytest.param({"a": {"b": 1}}, {"a": "x"}, (), {"a": "x"}, id="of another shape"),
    ],
)
def test_difference(have: Any, want: Any, ours: tuple[Path, ...], patch: Any) -> None:
    assert difference(have, want, ours) == patch


LEAVES = st.integers(0, 3) | st.sampled_from(["a", "b"])
TREES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("xyz"), inner),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.sampled_from(["spec", "data", "x"]), TREES)


@given(have=OBJECTS, want=OBJECTS)
def test_a_patch_that_was_applied_leaves_nothing_to_do(have: Any, want: Any) -> None:
    assert difference(merged(have, difference(have, want)), want) == {}


@given(have=OBJECTS, want=OBJECTS)
def test_a_section_of_ours_becomes_what_is_wanted(have: Any, want: Any) -> None:
    got = merged(have, difference(have, want, SPEC))
    assert without_empty({"spec": got.get("spec")}) == without_empty({"spec": want.get("spec")})


def without_empty(tree: Any) -> Any:
    if not isinstance(tree, dict):
        return tree
    kept = {name: without_empty(value) for name, value in tree.items()}
    return {name: value for name, value in kept.items() if value not in ({}, [], None)}


@given(tree=OBJECTS)
def test_nothing_differs_from_itself(tree: Any) -> None:
    assert difference(tree, tree, SPEC) == {}
