# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trellis.embedded.fields import sets
from trellis.embedded.fields.elements import BadStep, Path, canonical, encoded, order, shown

STEPS = ["f:a", "f:b", 'k:{"n":80}', 'k:{"n":443}', 'v:"x"', "v:1"]
PATHS = st.frozensets(st.lists(st.sampled_from(STEPS), min_size=1, max_size=4).map(tuple))


def _set(paths: frozenset[Path]) -> sets.Fields:
    return sets.of_paths(*sorted(paths))


def _paths(fields: sets.Fields) -> frozenset[Path]:
    found = list(sets.paths(fields))
    assert len(found) == len(set(found))
    return frozenset(found)


@settings(deadline=None)
@given(PATHS)
def test_a_set_has_the_paths_it_was_made_of(paths: frozenset[Path]) -> None:
    fields = _set(paths)
    assert _paths(fields) == paths
    assert all(sets.has(fields, path) for path in paths)


@settings(deadline=None)
@given(PATHS, PATHS)
def test_sets_are_joined_cut_and_parted_like_sets_of_paths(
    left: frozenset[Path], right: frozenset[Path]
) -> None:
    one, other = _set(left), _set(right)
    assert _paths(sets.union(one, other)) == left | right
    assert _paths(sets.difference(one, other)) == left - right
    assert _paths(sets.intersection(one, other)) == left & right
    assert _paths(one) == left
    assert _paths(other) == right


@settings(deadline=None)
@given(PATHS, PATHS)
def test_a_difference_below_leaves_nothing_under_what_it_takes(
    left: frozenset[Path], right: frozenset[Path]
) -> None:
    expected = {
        path for path in left if not any(path[: end + 1] in right for end in range(len(path)))
    }
    assert _paths(sets.difference_below(_set(left), _set(right))) == expected


@settings(deadline=None)
@given(PATHS)
def test_a_set_that_is_written_in_order_and_read_is_the_same(paths: frozenset[Path]) -> None:
    fields = sets.ordered(_set(paths))
    assert sets.parsed(fields) == fields
    for level in _levels(fields):
        assert list(level) == sorted(level, key=order)


def _levels(fields: sets.Fields) -> list[sets.Fields]:
    return [fields, *(level for branch in fields.values() for level in _levels(branch))]


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ({}, {}),
        ({".": {}}, {}),
        ({"f:a": {".": {}}}, {"f:a": {}}),
        ({"x:data": {}}, {}),
        ({"f:a": {"x:data": {}}}, {"f:a": {}}),
        ({'k:{"b": 1, "a": "x"}': {}}, {'k:{"a":"x","b":1}': {}}),
        ({"v:1.0": {}, 'v: "x"': {}}, {"v:1": {}, 'v:"x"': {}}),
        ({"i:07": {}}, {"i:7": {}}),
    ],
    ids=str,
)
def test_fields_of_clients_are_made_canonical(said: Any, meant: Any) -> None:
    assert sets.parsed(said) == meant


@pytest.mark.parametrize(
    "said", [{"f": {}}, {"data": {}}, {"k:[1]": {}}, {"v:{": {}}, [], {"f:a": 1}]
)
def test_what_is_no_set_of_fields_is_refused(said: Any) -> None:
    with pytest.raises(BadStep):
        sets.parsed(said)


def test_a_set_that_is_nested_without_end_is_refused() -> None:
    deep: dict[str, Any] = {}
    for _ in range(400):
        deep = {"f:a": deep}
    with pytest.raises(BadStep):
        sets.parsed(deep)


def test_steps_are_ordered_by_kind_and_numbers_by_value() -> None:
    wanted = ["f:a", "f:b", 'k:{"n":80}', 'k:{"n":443}', "v:1", 'v:"x"', "v:true", "i:2"]
    assert sorted(reversed(wanted), key=order) == wanted


@pytest.mark.parametrize(
    ("value", "text"),
    [("a", '"a"'), ("<&>", '"\\u003c\\u0026\\u003e"'), ("ü", '"ü"'), ('"', '"\\""'), (1.0, "1")],
)
def test_values_are_written_as_go_writes_them(value: Any, text: str) -> None:
    assert encoded(value) == text
    assert canonical(f"v:{text}") == f"v:{text}"


def test_paths_are_shown_as_messages_have_them() -> None:
    path = ("f:spec", 'k:{"a":1,"b":"x"}', "f:c", 'v:"y"', "i:3")
    assert shown(path) == '.spec[a=1,b="x"].c[="y"][3]'


@pytest.mark.parametrize(
    ("held", "text"),
    [
        pytest.param("{}", "", id="an empty object"),
        pytest.param('{"a":1,"b":"x"}', 'a=1b="x"', id="an object"),
        pytest.param('[1,"x",[]]', '[1,"x",[]]', id="a list"),
        pytest.param("null", "null", id="null"),
        pytest.param("true", "true", id="a truth"),
        pytest.param("2.5", "2.5", id="a fraction"),
        pytest.param('"\\u003c"', '"<"', id="what JSON escapes for pages"),
    ],
)
def test_values_in_paths_are_shown_as_messages_have_them(held: str, text: str) -> None:
    assert shown((f'k:{{"n":{held}}}',)) == f"[n={text}]"
    assert shown((f"v:{held}",)) == f"[={text}]"
