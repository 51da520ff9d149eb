# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import copy
import json
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trellis.webhooks.jsonpatch import diff

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-5, 5)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=3)
)
# Few keys, and awkward ones: what is compared must often share a path.
KEYS = st.sampled_from(["a", "b", "~", "/", "~1", "a/b", "", "0", "-", "é"])
DOCUMENTS = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=25,
)


def applied(document: Any, patch: bytes) -> Any:
    """RFC 6902, read from the standard and not from the code under test."""
    for step in json.loads(patch):
        if step["path"] == "":
            document = step["value"]
            continue
        *parents, last = [part.replace("~1", "/").replace("~0", "~") for part in tokens(step)]
        target = document
        for token in parents:
            target = target[int(token)] if isinstance(target, list) else target[token]
        apply_one(target, last, step)
    return document


def tokens(step: dict[str, Any]) -> list[str]:
    path: str = step["path"]
    assert path.startswith("/")
    return path[1:].split("/")


def apply_one(target: Any, last: str, step: dict[str, Any]) -> None:
    if isinstance(target, list):
        index = int(last)
        assert 0 <= index <= len(target) - (step["op"] != "add")
        if step["op"] == "add":
            target.insert(index, step["value"])
        elif step["op"] == "remove":
            del target[index]
        else:
            target[index] = step["value"]
        return
    assert step["op"] == "add" or last in target
    if step["op"] == "remove":
        assert "value" not in step
        del target[last]
    else:
        target[last] = step["value"]


def patch_of(before: Any, after: Any) -> list[dict[str, Any]]:
    decoded: list[dict[str, Any]] = json.loads(msgspec.json.encode(diff(before, after)))
    return decoded


@pytest.mark.parametrize(
    ("before", "after", "patch"),
    [
        pytest.param({"a": 1}, {"a": 1}, [], id="nothing changed"),
        pytest.param(
            {"a": {}},
            {"a": {"b": 1}},
            [{"op": "add", "path": "/a/b", "value": 1}],
            id="a member was added",
        ),
        pytest.param(
            {}, {"a": {"b": 1}}, [{"op": "add", "path": "/a", "value": {"b": 1}}], id="so a whole"
        ),
        pytest.param({"a": 1}, {}, [{"op": "remove", "path": "/a"}], id="a member was removed"),
        pytest.param(
            {"a": None}, {}, [{"op": "remove", "path": "/a"}], id="a null member was removed"
        ),
        pytest.param(
            {},
            {"a": None},
            [{"op": "add", "path": "/a", "value": None}],
            id="a null member was added",
        ),
        pytest.param(
            {"a": 1},
            {"a": True},
            [{"op": "replace", "path": "/a", "value": True}],
            id="true is not 1",
        ),
        pytest.param(
            {"a": [0]},
            {"a": [False]},
            [{"op": "replace", "path": "/a/0", "value": False}],
            id="nor is false 0 in a list",
        ),
        pytest.param(
            {"example.com/a~b": 1},
            {"example.com/a~b": 2},
            [{"op": "replace", "path": "/example.com~1a~0b", "value": 2}],
            id="slash and tilde are escaped",
        ),
        pytest.param(
            {"c": [{"n": "a"}, {"n": "b"}]},
            {"c": [{"n": "new"}, {"n": "a"}, {"n": "b"}]},
            [{"op": "add", "path": "/c/0", "value": {"n": "new"}}],
            id="an item put first moves nothing else",
        ),
        pytest.param(
            {"c": [1, 2, 3, 4, 5]},
            {"c": [1, 5]},
            [{"op": "remove", "path": f"/c/{index}"} for index in (3, 2, 1)],
            id="items are removed from the end",
        ),
        pytest.param(
            {"c": [{"n": "a", "env": [1]}]},
            {"c": [{"n": "a", "env": [1, 2]}]},
            [{"op": "add", "path": "/c/0/env/1", "value": 2}],
            id="a change inside an item stays inside",
        ),
        pytest.param([], {}, [{"op": "replace", "path": "", "value": {}}], id="the whole document"),
    ],
)
def test_diff(before: Any, after: Any, patch: list[dict[str, Any]]) -> None:
    assert patch_of(before, after) == patch


@settings(deadline=None)
@given(DOCUMENTS, DOCUMENTS)
def test_applying_it_to_before_gives_after(before: Any, after: Any) -> None:
    patch = msgspec.json.encode(diff(before, after))
    result = applied(copy.deepcopy(before), patch)
    # As text: Python's own comparison takes true for 1.
    assert json.dumps(result, sort_keys=True) == json.dumps(after, sort_keys=True)


@settings(deadline=None)
@given(DOCUMENTS)
def test_a_document_does_not_differ_from_its_copy(document: Any) -> None:
    assert diff(document, copy.deepcopy(document)) == ()


@settings(deadline=None)
@given(DOCUMENTS, DOCUMENTS)
def test_neither_document_is_changed(before: Any, after: Any) -> None:
    kept = copy.deepcopy((before, after))
    diff(before, after)
    assert (before, after) == kept
