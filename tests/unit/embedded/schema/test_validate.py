# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: E501 - sentences of the server are quoted whole
"""Errors as the real server words them, from the goldens."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.embedded.schema.builders import TEXT, WHOLE, fields, spec_of, thing
from trellis.embedded.schema.correlate import NOTHING
from trellis.embedded.schema.embedded import validate_embedded
from trellis.embedded.schema.lists import validate_lists
from trellis.embedded.schema.node import structural
from trellis.embedded.schema.validate import validate

KEYED = {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"]}
NUMBER = {"type": "number"}


def errors(schema: Any, value: Any, old: Any = NOTHING) -> list[str]:
    node = structural(spec_of(fields(a=schema)))
    before = NOTHING if old is NOTHING else thing({"a": old})
    return sorted(map(str, validate(node, thing({"a": value}), before)))


@pytest.mark.parametrize(
    ("schema", "value", "said"),
    [
        (TEXT, 1, 'spec.a: Invalid value: "integer": spec.a in body must be of type string: "integer"'),
        (WHOLE, "1", 'spec.a: Invalid value: "string": spec.a in body must be of type integer: "string"'),
        ({"type": "boolean"}, "t", 'spec.a: Invalid value: "string": spec.a in body must be of type boolean: "string"'),
        (fields(), [], 'spec.a: Invalid value: "array": spec.a in body must be of type object: "array"'),
        (TEXT, None, 'spec.a: Invalid value: "null": spec.a in body must be of type string: "null"'),
        ({"x-kubernetes-int-or-string": True}, True, 'spec.a: Invalid value: "boolean": spec.a in body must be of type integer,string: "boolean"'),
        (TEXT | {"minLength": 2}, "a", 'spec.a: Invalid value: "a": spec.a in body should be at least 2 chars long'),
        (TEXT | {"maxLength": 3}, "äöüß", "spec.a: Too long: may not be more than 3 bytes"),
        (TEXT | {"maxLength": 1}, "ab", "spec.a: Too long: may not be more than 1 byte"),
        (TEXT | {"pattern": "b+"}, "ac", "spec.a: Invalid value: \"ac\": spec.a in body should match 'b+'"),
        (TEXT | {"enum": ["red", "green"]}, "Red", 'spec.a: Unsupported value: "Red": supported values: "red", "green"'),
        (WHOLE | {"enum": [1, 2]}, 3, 'spec.a: Unsupported value: 3: supported values: "1", "2"'),
        (WHOLE | {"minimum": 1}, 0, "spec.a: Invalid value: 0: spec.a in body should be greater than or equal to 1"),
        (WHOLE | {"minimum": 1, "exclusiveMinimum": True}, 1, "spec.a: Invalid value: 1: spec.a in body should be greater than 1"),
        (WHOLE | {"maximum": 9, "exclusiveMaximum": True}, 9, "spec.a: Invalid value: 9: spec.a in body should be less than 9"),
        (NUMBER | {"maximum": 2}, 2.5, "spec.a: Invalid value: 2.5: spec.a in body should be less than or equal to 2"),
        (NUMBER | {"multipleOf": 0.5}, 1.2, "spec.a: Invalid value: 1.2: spec.a in body should be a multiple of 0.5"),
        (NUMBER | {"multipleOf": 0.5}, 0, "spec.a: Invalid value: 0: factor MultipleOf declared for spec.a must be positive: 0"),
        (WHOLE | {"format": "int32"}, 1 << 31, '<nil>: Invalid value: "": Checked value must be of type integer with format int32 in spec.a'),
        (NUMBER | {"format": "float"}, 1e300, '<nil>: Invalid value: "": Checked value must be of type number with format float in spec.a'),
        ({"type": "array", "minItems": 1}, [], "spec.a: Invalid value: 0: spec.a in body should have at least 1 items"),
        ({"type": "array", "maxItems": 2}, [1, 1, 1], "spec.a: Too many: 3: must have at most 2 items"),
        (fields() | {"minProperties": 1}, {}, "spec.a: Invalid value: 0: spec.a in body should have at least 1 properties"),
        ({"type": "object", "additionalProperties": WHOLE}, {"b.a/d": "x"}, 'spec.a.b.a/d: Invalid value: "string": spec.a.b.a/d in body must be of type integer: "string"'),
        ({"type": "object", "additionalProperties": False}, {"one": 1}, 'spec.a: Invalid value: "one": spec.a.one in body is a forbidden property'),
        (TEXT | {"not": {"enum": ["bad"]}}, "bad", '<nil>: Invalid value: "": "spec.a" must not validate the schema (not)'),
        (TEXT | {"format": "date"}, "2001-2-3", 'spec.a: Invalid value: "2001-2-3": spec.a in body must be of type date: "2001-2-3"'),
    ],
)  # fmt: skip
def test_a_value_that_breaks_its_schema_is_told_of(schema: Any, value: Any, said: str) -> None:
    assert errors(schema, value) == [said]


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        (WHOLE | {"minimum": 1, "maximum": 3}, 3),
        (NUMBER | {"maximum": 2.5}, 2),
        (NUMBER, 1),
        (TEXT | {"nullable": True}, None),
        (TEXT | {"format": "poem"}, "unknown formats check nothing"),
        ({"x-kubernetes-int-or-string": True}, "80%"),
        (fields(b={"type": "array"}, c=fields()), {"b": [], "c": {}}),
        ({}, {"anything": [1, None, "a"]}),
    ],
)
def test_a_value_that_fits_is_not_mentioned(schema: Any, value: Any) -> None:
    assert errors(schema, value) == []


def test_a_fraction_is_no_integer_in_two_ways() -> None:
    assert errors(WHOLE, 1.5) == [
        '<nil>: Invalid value: "": Checked value must be of type integer (default format) in spec.a',
        'spec.a: Invalid value: "number": spec.a in body must be of type integer: "number"',
    ]
    assert errors(WHOLE | {"format": "int64"}, 1e30) == [
        '<nil>: Invalid value: "": Checked value must be of type integer with format int64 in spec.a',
        'spec.a: Invalid value: "float64": spec.a in body must be of type int64: "float64"',
    ]


def test_all_errors_come_at_once() -> None:
    schema = fields(b=TEXT | {"maxLength": 1}, c=WHOLE) | {"required": ["r", "b"]}
    assert errors(schema, {"b": "long", "c": "text"}) == [
        "spec.a.b: Too long: may not be more than 1 byte",
        'spec.a.c: Invalid value: "string": spec.a.c in body must be of type integer: "string"',
        "spec.a.r: Required value",
    ]


ONE_OF = fields(b=TEXT, c=TEXT) | {"oneOf": [{"required": ["b"]}, {"required": ["c"]}]}
ALL_OF = WHOLE | {"allOf": [{"minimum": 10}, {"multipleOf": 4}]}
ANY_OF = TEXT | {"anyOf": [{"maxLength": 1}, {"pattern": "^x"}]}


@pytest.mark.parametrize(
    ("schema", "value", "said"),
    [
        pytest.param(ONE_OF, {"b": "1"}, [], id="one of one"),
        pytest.param(
            ONE_OF,
            {},
            [
                '<nil>: Invalid value: "": "spec.a" must validate one and only one schema (oneOf). '
                "Found none valid",
                "spec.a.b: Required value",
            ],
            id="none of one",
        ),
        pytest.param(
            ONE_OF,
            {"b": "1", "c": "2"},
            [
                '<nil>: Invalid value: "": "spec.a" must validate one and only one schema (oneOf). '
                "Found 2 valid alternatives"
            ],
            id="two of one",
        ),
        pytest.param(
            ALL_OF,
            5,
            [
                '<nil>: Invalid value: "": "spec.a" must validate all the schemas (allOf). None '
                "validated",
                "spec.a: Invalid value: 5: spec.a in body should be a multiple of 4",
                "spec.a: Invalid value: 5: spec.a in body should be greater than or equal to 10",
            ],
            id="none of all",
        ),
        pytest.param(ALL_OF, 12, [], id="all of all"),
        pytest.param(ANY_OF, "xyz", [], id="one of any"),
        pytest.param(
            ANY_OF,
            "yz",
            [
                '<nil>: Invalid value: "": "spec.a" must validate at least one schema (anyOf)',
                "spec.a: Too long: may not be more than 1 bytes".replace("bytes", "byte"),
            ],
            id="none of any",
        ),
    ],
)
def test_alternatives_report_the_nearest_failure(schema: Any, value: Any, said: list[str]) -> None:
    assert errors(schema, value) == sorted(said)


def test_what_was_wrong_before_may_stay_while_it_is_left_alone() -> None:
    schema = fields(b=TEXT | {"maxLength": 2}, c=TEXT)
    assert errors(schema, {"b": "long", "c": "new"}, {"b": "long", "c": "old"}) == []
    assert errors(schema, {"b": "longer"}, {"b": "long"}) != []


def test_a_field_that_became_required_is_missed_when_the_object_around_it_changes() -> None:
    schema = fields(b=TEXT, c=TEXT) | {"required": ["c"]}
    assert errors(schema, {"b": "1"}, {"b": "1"}) == []
    assert errors(schema, {"b": "2"}, {"b": "1"}) == ["spec.a.c: Required value"]


def test_items_of_a_list_are_followed_by_their_keys_only() -> None:
    item = fields(k=TEXT, v=TEXT | {"maxLength": 2})
    old = [{"k": "a", "v": "long"}]
    new = [{"k": "0", "v": "ok"}, {"k": "a", "v": "long"}]
    assert errors({"type": "array", "items": item} | KEYED, new, old) == []
    assert len(errors({"type": "array", "items": item}, new, old)) == 1


def test_a_status_is_named_from_where_it_is_but_described_from_its_own_root() -> None:
    node = structural(
        fields(
            phase=TEXT, conditions={"type": "array", "items": fields(s=TEXT) | {"required": ["s"]}}
        )
    )
    found = validate(node, {"phase": 1, "conditions": [{}]}, prefix="status")
    assert sorted(map(str, found)) == [
        "status.conditions[0].s: Required value",
        'status.phase: Invalid value: "integer": phase in body must be of type string: "integer"',
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("schema", "value", "said"),
    [
        ({"x-kubernetes-list-type": "set", "items": TEXT}, ["a", "b", "a", "a"], ['l[2]: Duplicate value: "a"']),
        ({"x-kubernetes-list-type": "set", "items": fields()}, [{"a": 1, "b": 2}, {"b": 2, "a": 1}], ['l[1]: Duplicate value: {"a":1,"b":2}']),
        (KEYED | {"items": fields(k=TEXT)}, [{"k": "a"}, {"k": "b"}, {"k": "a", "v": 1}], ['l[2]: Duplicate value: {"k":"a"}']),
        (KEYED | {"items": fields(k=TEXT)}, [{}, {}], ["l[1]: Duplicate value: {}"]),
        (KEYED | {"items": fields(k=TEXT)}, [1], ["l[0]: Invalid value: 1: must be an object for an array of list-type map"]),
        ({"items": TEXT}, ["a", "a"], []),
    ],
)  # fmt: skip
def test_nothing_is_twice_in_a_set_or_under_a_key(schema: Any, value: Any, said: list[str]) -> None:
    node = structural(fields(l={"type": "array", **schema}))
    assert list(map(str, validate_lists(node, {"l": value}))) == said


def test_an_embedded_object_needs_a_kind_and_sound_metadata() -> None:
    node = structural(fields(t=fields() | {"x-kubernetes-embedded-resource": True}))
    assert list(map(str, validate_embedded(node, {"t": {"metadata": {}}}))) == [
        "t.apiVersion: Required value",
        "t.kind: Required value",
    ]
    found = {"apiVersion": "a/b/c", "kind": "", "metadata": {"labels": {"a b": ""}}}
    assert [error.path for error in validate_embedded(node, {"t": found})] == [
        "t.apiVersion",
        "t.kind",
        "t.metadata.labels",
    ]
