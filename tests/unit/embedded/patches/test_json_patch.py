# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import ast
import json
from typing import Any

import jsonpatch
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.embedded.fields.desk import GOLDENS, Object
from trellis.embedded.copying import copied
from trellis.embedded.patches import json_patch
from trellis.embedded.refusals import Refusal

MAP: Object = {
    "metadata": {"name": "a", "annotations": {"example.com/a": "x"}},
    "data": {"a": "1", "b": "2", "with.dot": "3"},
}
WIDGET: Object = {
    "metadata": {"name": "a"},
    "spec": {
        "size": 3,
        "steps": ["a", "b"],
        "free": {"a~b": 1},
        "items": [{"k": "a", "mode": "auto"}, {"k": "b", "mode": "auto"}],
        "color": "red",
        "replicas": 1,
    },
}
SEEN: list[tuple[str, Object]] = [
    (title, seen)
    for title, observations in json.loads((GOLDENS / "patch_json.json").read_text()).items()
    for seen in observations
    if "note" in seen and "wrong type" not in title and "null stays" not in title
]


def _shown(body: Object) -> Object:
    """As the probes show it, with what reading it back does to it."""
    metadata = {name: body["metadata"].get(name) or None for name in ("labels", "annotations")}
    inner = body.get("data", body.get("spec"))
    if isinstance(inner, dict) and "data" in body:
        inner = {name: "" if value is None else value for name, value in inner.items()}
    return {**metadata, "inner": inner}


@pytest.mark.parametrize(("title", "seen"), SEEN, ids=[seen["note"] for _, seen in SEEN])
def test_operations_do_what_they_did_on_the_server(title: str, seen: Object) -> None:
    operations = ast.literal_eval(seen["note"])
    old = WIDGET if "/widgets/" in seen["request"] else MAP
    before = copied(old)
    if seen["status"] == 200:
        assert _shown(json_patch(old, operations)) == seen["body"], title
    else:
        with pytest.raises(Refusal) as raised:
            json_patch(old, operations)
        assert raised.value.status == seen["body"], title
    assert old == before


def test_more_than_ten_thousand_operations_are_too_many() -> None:
    test = {"op": "test", "path": "/data/a", "value": "1"}
    assert json_patch(MAP, [test] * 10_000) == MAP
    with pytest.raises(Refusal) as raised:
        json_patch(MAP, [test] * 10_001)
    seen = json.loads((GOLDENS / "patch_json.json").read_text())
    (first, _) = seen["more than ten thousand operations are 413"]
    assert raised.value.status == first["body"]


def test_copies_may_not_add_up_to_more_than_a_request_may_have() -> None:
    doubled = [{"op": "copy", "from": "/l", "path": "/l/-"}] * 40
    with pytest.raises(Refusal) as raised:
        json_patch({"l": ["text"]}, doubled)
    assert raised.value.code == 422


@pytest.mark.parametrize(
    "operation",
    [
        None,
        {},
        {"op": 1, "path": "/a"},
        {"op": "add", "path": 1},
        {"op": "add", "path": ""},
        {"op": "replace", "path": "", "value": 1},
        {"op": "remove", "path": "/l/+9"},
        {"op": "add", "path": "/l/4", "value": 1},
        {"op": "add", "path": "/l/-5", "value": 1},
        {"op": "replace", "path": "/l/-4", "value": 1},
        {"op": "add", "path": "/s/x", "value": 1},
        {"op": "add", "path": "/n/x", "value": 1},
        {"op": "test", "path": "/one", "value": 1.0},
        {"op": "test", "path": "/one", "value": True},
        {"op": "test", "path": "/l", "value": [1, 2]},
        {"op": "test", "path": "/one"},
        {"op": "move", "path": "/x"},
        {"op": "copy", "path": "/x", "from": "/missing/x"},
    ],
    ids=str,
)
def test_what_cannot_be_done_is_rejected_without_saying_why(operation: Any) -> None:
    old = {"one": 1, "s": "text", "n": None, "l": [1, 2, 3]}
    with pytest.raises(Refusal) as raised:
        json_patch(old, [operation])
    assert (raised.value.code, raised.value.details) == (422, {})


@pytest.mark.parametrize(
    ("operation", "result"),
    [
        ({"op": "add", "path": "/l/-1", "value": 4}, {"l": [1, 2, 3, 4]}),
        ({"op": "add", "path": "/l/-4", "value": 0}, {"l": [0, 1, 2, 3]}),
        ({"op": "replace", "path": "/l/-1", "value": 4}, {"l": [1, 2, 4]}),
        ({"op": "replace", "path": "", "value": {"x": 1}}, {"x": 1}),
        ({"op": "test", "path": "", "value": {"l": [1, 2, 3]}}, {"l": [1, 2, 3]}),
        ({"op": "test", "path": "/missing"}, {"l": [1, 2, 3]}),
        ({"op": "move", "from": "/l/0", "path": "/l/-"}, {"l": [2, 3, 1]}),
        ({"op": "copy", "from": "/missing", "path": "/x"}, {"l": [1, 2, 3], "x": None}),
    ],
    ids=str,
)
def test_liberties_that_the_server_takes(operation: Object, result: Any) -> None:
    assert json_patch({"l": [1, 2, 3]}, [operation]) == result


def test_a_patch_may_be_used_again_after_its_result_was_changed() -> None:
    operations = [{"op": "add", "path": "/a", "value": {"b": []}}]
    json_patch({}, operations)["a"]["b"].append(1)
    assert json_patch({}, operations) == {"a": {"b": []}}


_values = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text("ab~/", max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text("ab~/", max_size=2), inner, max_size=3)
    ),
    max_leaves=8,
)
_objects = st.dictionaries(st.text("ab~/", max_size=2), _values, max_size=4)


@settings(deadline=None)
@given(_objects, _objects)
def test_a_patch_that_another_library_makes_leads_where_it_should(old: Object, new: Object) -> None:
    operations = jsonpatch.make_patch(old, new).patch
    assert json_patch(old, operations) == new


@settings(deadline=None)
@given(_objects, st.data())
def test_operations_on_what_is_there_agree_with_another_library(
    old: Object, data: st.DataObject
) -> None:
    pointers = sorted(pointer for pointer in _pointers(old, "") if pointer)
    if not pointers:
        return
    pointer, value = data.draw(st.sampled_from(pointers)), data.draw(_values)
    for operation in (
        {"op": "remove", "path": pointer},
        {"op": "replace", "path": pointer, "value": value},
        {"op": "add", "path": pointer, "value": value},
        {"op": "copy", "from": pointer, "path": "/new"},
        {"op": "move", "from": pointer, "path": "/new"},
    ):
        assert json_patch(old, [operation]) == jsonpatch.apply_patch(old, [operation])


def _pointers(value: Any, at: str) -> list[str]:
    inner: list[tuple[str, Any]] = []
    if isinstance(value, dict):
        inner = [(name.replace("~", "~0").replace("/", "~1"), held) for name, held in value.items()]
    elif isinstance(value, list):
        inner = [(str(number), held) for number, held in enumerate(value)]
    return [at, *(found for name, held in inner for found in _pointers(held, f"{at}/{name}"))]
