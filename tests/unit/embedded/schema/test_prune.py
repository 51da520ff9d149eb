# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest

from tests.unit.embedded.schema.builders import TEXT, fields, spec_of, thing
from trellis.embedded.schema.coerce import coerce
from trellis.embedded.schema.default import fill_defaults
from trellis.embedded.schema.node import resource, structural
from trellis.embedded.schema.prune import prune

KEEP = {"x-kubernetes-preserve-unknown-fields": True}
EMBEDDED = {"x-kubernetes-embedded-resource": True}


@pytest.mark.parametrize(
    ("schema", "given", "kept", "gone"),
    [
        pytest.param(
            fields(a=TEXT, b=fields(c=TEXT), d={"type": "array", "items": fields(e=TEXT)}),
            {"a": "1", "x": 1, "b": {"c": "2", "y": {}}, "d": [{"e": "3", "z": []}, {"z": None}]},
            {"a": "1", "b": {"c": "2"}, "d": [{"e": "3"}, {}]},
            ["spec.b.y", "spec.d[0].z", "spec.d[1].z", "spec.x"],
            id="at every depth",
        ),
        pytest.param(
            fields(free={"type": "object", **KEEP, "properties": {"known": fields(a=TEXT)}}),
            {"free": {"x": {"y": 1}, "known": {"a": "1", "b": "2"}}, "out": 1},
            {"free": {"x": {"y": 1}, "known": {"a": "1"}}},
            ["spec.free.known.b", "spec.out"],
            id="not where unknown fields are preserved, but in what is declared there",
        ),
        pytest.param(
            fields(map={"type": "object", "additionalProperties": True}),
            {"map": {"one": {"a": "1"}, "two": 2}},
            {"map": {"one": {}, "two": 2}},
            ["spec.map.one.a"],
            id="inside additional properties that are true",
        ),
        pytest.param(
            fields(empty={"type": "object"}),
            {"empty": {"a": 1}},
            {"empty": {}},
            ["spec.empty.a"],
            id="all of an object without fields",
        ),
        pytest.param(
            fields(a=TEXT, b=TEXT | {"nullable": True}, c=TEXT | {"default": "d"}),
            {"a": None, "b": None, "c": None},
            {"b": None, "c": None},
            [],
            id="nulls that are neither allowed nor replaced, silently",
        ),
        pytest.param(
            fields(list={"type": "array", **KEEP, "items": {"type": "object"}}),
            {"list": [{"a": 1}]},
            {"list": [{"a": 1}]},
            [],
            id="no items of a list that preserves",
        ),
    ],
)
def test_unknown_fields_go(schema: Any, given: Any, kept: Any, gone: list[str]) -> None:
    obj = thing(given)
    assert prune(resource(spec_of(schema)), obj) == gone
    assert obj == thing(kept)


def test_an_embedded_object_keeps_its_kind_and_metadata_which_is_typed() -> None:
    template = {
        "apiVersion": "v1",
        "kind": "Inner",
        "metadata": {"name": "in", "labels": {}, "odd": 1},
        "spec": {"a": "1", "b": 2},
        "extra": 1,
    }
    obj = thing({"template": template})
    node = resource(spec_of(fields(template=fields(spec=fields(a=TEXT)) | EMBEDDED)))
    assert coerce(node, obj) == [
        "spec.template.extra",
        "spec.template.spec.b",
        "spec.template.metadata.odd",
    ]
    assert obj["spec"]["template"] == {
        "apiVersion": "v1",
        "kind": "Inner",
        "metadata": {"name": "in"},
        "spec": {"a": "1"},
    }


DEFAULTED = TEXT | {"default": "d"}


@pytest.mark.parametrize(
    ("schema", "given", "filled"),
    [
        pytest.param(fields(a=DEFAULTED), {}, {"a": "d"}, id="what is absent"),
        pytest.param(fields(a=DEFAULTED), {"a": None}, {"a": "d"}, id="a null that may not be"),
        pytest.param(
            fields(a=DEFAULTED | {"nullable": True}), {"a": None}, {"a": None}, id="no other null"
        ),
        pytest.param(
            fields(outer=fields(inner=fields(leaf=DEFAULTED)) | {"default": {"inner": {}}}),
            {},
            {"outer": {"inner": {"leaf": "d"}}},
            id="inside a default",
        ),
        pytest.param(
            fields(absent=fields(leaf=DEFAULTED)), {}, {}, id="nothing where the outer is absent"
        ),
        pytest.param(
            fields(
                list={"type": "array", "items": fields(a=DEFAULTED)},
                map={"type": "object", "additionalProperties": fields(a=DEFAULTED)},
            ),
            {"list": [{}, {"a": "own"}], "map": {"k": {}}},
            {"list": [{"a": "d"}, {"a": "own"}], "map": {"k": {"a": "d"}}},
            id="in items and entries",
        ),
    ],
)
def test_defaults_are_filled_in(schema: Any, given: Any, filled: Any) -> None:
    obj = thing(given)
    fill_defaults(structural(spec_of(schema)), obj)
    assert obj == thing(filled)


def test_a_default_is_copied_each_time() -> None:
    node = structural(fields(a={"type": "array", "items": TEXT, "default": ["x"]}))
    one: dict[str, Any] = {}
    other: dict[str, Any] = {}
    fill_defaults(node, one)
    fill_defaults(node, other)
    one["a"].append("y")
    assert other == {"a": ["x"]}
