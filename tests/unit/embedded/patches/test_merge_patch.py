# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import ast
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.embedded.fields.desk import GOLDENS, Object
from trellis.embedded.copying import copied
from trellis.embedded.patches import merge_patch

SPEC: Object = {
    "size": 3,
    "color": "blue",
    "note": "n",
    "steps": ["a", "b"],
    "labels": {"a": "1", "b": "2"},
    "items": [{"k": "a", "v": "1", "mode": "auto"}, {"k": "b", "v": "2", "mode": "auto"}],
    "free": {"x": {"y": 1}},
    "replicas": 1,
}
SEEN: list[Object] = [
    seen
    for observations in json.loads((GOLDENS / "patch_merge.json").read_text()).values()
    for seen in observations
    if "note" in seen and seen["status"] == 200
]


@pytest.mark.parametrize("seen", SEEN, ids=[seen["note"] for seen in SEEN])
def test_a_widget_becomes_what_it_became_on_the_server(seen: Object) -> None:
    before = copied(SPEC)
    spec = merge_patch({"spec": SPEC}, {"spec": ast.literal_eval(seen["note"])})["spec"]
    spec.setdefault("color", "red")
    for item in spec.get("items", ()):
        item.setdefault("mode", "auto")
    assert spec == seen["body"]
    assert before == SPEC


def test_a_list_that_replaces_a_map_keeps_its_nulls_another_one_does_not() -> None:
    listed = [{"a": None}, None]
    assert merge_patch({"m": {"x": 1}, "l": []}, {"m": listed, "l": listed}) == {
        "m": listed,
        "l": [{}, None],
    }


_values = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.text("ab", max_size=2),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.text("ab", max_size=1), inner, max_size=3)
    ),
    max_leaves=8,
)
_patches = st.dictionaries(st.text("ab", max_size=1), _values, max_size=3)


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_nulls(held) for name, held in value.items() if held is not None}
    if isinstance(value, list):
        return [_without_nulls(item) for item in value]
    return value


_objects = _patches.map(_without_nulls)


@settings(deadline=None)
@given(_objects, _patches)
def test_a_patch_does_the_same_twice_as_once(old: Object, patch: Object) -> None:
    once = merge_patch(old, patch)
    again = merge_patch(once, patch)
    if not _null_in_lists(patch):
        assert again == once


def _null_in_lists(value: Any, inside: bool = False) -> bool:
    if isinstance(value, dict):
        return any(
            (inside and held is None) or _null_in_lists(held, inside) for held in value.values()
        )
    return isinstance(value, list) and any(_null_in_lists(item, True) for item in value)


@settings(deadline=None)
@given(_objects)
def test_an_object_is_its_own_patch_and_the_empty_patch_is_none(old: Object) -> None:
    assert merge_patch(old, old) == old
    assert merge_patch(old, {}) == old
    assert merge_patch({}, old) == old


@settings(deadline=None)
@given(_objects, _objects)
def test_the_difference_of_two_objects_leads_from_one_to_the_other(
    old: Object, new: Object
) -> None:
    assert merge_patch(old, _difference(old, new)) == new


def _difference(old: Object, new: Object) -> Object:
    patch: Object = {name: None for name in old if name not in new}
    for name, value in new.items():
        there = old.get(name)
        if isinstance(there, dict) and isinstance(value, dict):
            patch[name] = _difference(there, value)
        else:
            patch[name] = value
    return patch
