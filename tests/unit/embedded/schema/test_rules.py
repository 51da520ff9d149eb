# SPDX-License-Identifier: Apache-2.0
"""Rules as the real server ran them, from the goldens."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.embedded.schema.builders import TEXT, WHOLE, fields
from trellis import cel
from trellis.embedded.schema.correlate import NOTHING
from trellis.embedded.schema.node import structural
from trellis.embedded.schema.rules import Rule, has_rules, run_rules


def ruled(base: dict[str, Any], rule: str, **more: Any) -> dict[str, Any]:
    return {**base, "x-kubernetes-validations": [{"rule": rule, **more}]}


def found(schema: Any, new: Any, old: Any = NOTHING) -> tuple[list[str], list[str]]:
    before = NOTHING if old is NOTHING else {"spec": old}
    findings = run_rules(structural(fields(spec=schema)), {"spec": new}, before)
    return sorted(map(str, findings.errors)), list(map(str, findings.tolerated))


PAIR = fields(a=WHOLE, b=WHOLE)
BELOW = "self.a < self.b"


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({}, f"spec: Invalid value: failed rule: {BELOW}"),
        ({"message": "a must be below b"}, "spec: Invalid value: a must be below b"),
        (
            {"messageExpression": "string(self.a) + ' is not below ' + string(self.b)"},
            "spec: Invalid value: 2 is not below 1",
        ),
        ({"messageExpression": "''"}, f"spec: Invalid value: failed rule: {BELOW}"),
        (
            {"messageExpression": "'one\\ntwo'", "message": "plain"},
            "spec: Invalid value: plain",
        ),
        (
            {"messageExpression": "string(1 / (self.a - 2))", "message": "plain"},
            "spec: Invalid value: plain",
        ),
        ({"reason": "FieldValueForbidden", "message": "no"}, "spec: Forbidden: no"),
        ({"reason": "FieldValueDuplicate"}, "spec: Duplicate value"),
        (
            {"reason": "FieldValueRequired", "fieldPath": ".b", "message": "b must be greater"},
            "spec.b: Required value: b must be greater",
        ),
    ],
)
def test_a_broken_rule_says_what_it_was_told_to(more: dict[str, Any], said: str) -> None:
    assert found(ruled(PAIR, BELOW, **more), {"a": 2, "b": 1}) == ([said], [])
    assert found(ruled(PAIR, BELOW, **more), {"a": 1, "b": 2}) == ([], [])


def test_rules_name_where_they_failed() -> None:
    positive = ruled(WHOLE, "self > 0")
    schema = fields(
        l={"type": "array", "items": positive},
        m={"type": "object", "additionalProperties": positive},
        k={"type": "array", "items": ruled(fields(v=WHOLE), "self.v > 0")},
    )
    value = {"l": [1, 0, -1], "m": {"a.b": 0}, "k": [{"v": 0}]}
    assert found(schema, value)[0] == [
        "spec.k[0]: Invalid value: failed rule: self.v > 0",
        "spec.l[1]: Invalid value: 0: failed rule: self > 0",
        "spec.l[2]: Invalid value: -1: failed rule: self > 0",
        "spec.m[a.b]: Invalid value: 0: failed rule: self > 0",
    ]


def test_a_transition_rule_runs_only_where_there_is_something_to_compare_with() -> None:
    schema = fields(a=ruled(TEXT, "self == oldSelf"))
    assert found(schema, {"a": "1"}) == ([], [])
    assert found(schema, {"a": "1"}, {}) == ([], [])
    assert found(schema, {"a": "2"}, {"a": "1"})[0] == [
        'spec.a: Invalid value: "2": failed rule: self == oldSelf'
    ]


def test_a_transition_rule_may_run_on_creation_too() -> None:
    rule = "oldSelf.hasValue() ? self >= oldSelf.value() : self == 1"
    schema = fields(a=ruled(WHOLE, rule, optionalOldSelf=True))
    said = f"failed rule: {rule}"
    assert found(schema, {"a": 2})[0] == [f"spec.a: Invalid value: 2: {said}"]
    assert found(schema, {"a": 2}, {"a": 1})[0] == []
    assert found(schema, {"a": 1}, {"a": 2})[0] == [f"spec.a: Invalid value: 1: {said}"]


def test_a_transition_rule_finds_the_item_of_a_keyed_list_by_its_key() -> None:
    keyed = {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"]}
    item = ruled(fields(k=TEXT, v=WHOLE), "self.v >= oldSelf.v")
    schema = fields(l={"type": "array", "items": item, **keyed})
    old = {"l": [{"k": "a", "v": 5}, {"k": "b", "v": 1}]}
    assert found(schema, {"l": [{"k": "b", "v": 1}, {"k": "a", "v": 6}]}, old)[0] == []
    assert found(schema, {"l": [{"k": "b", "v": 1}, {"k": "a", "v": 4}]}, old)[0] == [
        "spec.l[1]: Invalid value: failed rule: self.v >= oldSelf.v"
    ]


def test_a_broken_rule_is_tolerated_with_a_warning_while_its_value_stays() -> None:
    schema = fields(a=ruled(WHOLE, "self > 5"), b=TEXT)
    said = "failed rule: self > 5"
    assert found(schema, {"a": 1, "b": "x"}, {"a": 1}) == (
        [],
        [f"spec.a: Invalid value: 1: {said}"],
    )
    assert found(schema, {"a": 2}, {"a": 1})[0] == [f"spec.a: Invalid value: 2: {said}"]


def test_a_rule_that_fails_to_run_refuses() -> None:
    schema = ruled(fields(b=TEXT, c=TEXT), "oldSelf.b != 'x'")
    assert found(schema, {"c": "1"}, {"c": "0"})[0] == [
        "spec: Invalid value: \"object\": no such key: b evaluating rule: oldSelf.b != 'x'"
    ]


def test_a_rule_on_the_root_sees_the_kind_and_the_name() -> None:
    node = structural(
        ruled(fields(), "self.metadata.name.startsWith('good')", message="a good name")
    )
    obj = {"apiVersion": "v1", "kind": "Thing", "metadata": {"name": "bad"}}
    assert list(map(str, run_rules(node, obj).errors)) == ["<nil>: Invalid value: a good name"]


def test_a_schema_without_rules_has_nothing_to_run() -> None:
    assert not has_rules(structural(fields(a=TEXT)))
    assert has_rules(structural(fields(a={"type": "array", "items": ruled(TEXT, "true")})))


def test_all_rules_of_a_node_know_the_same_types() -> None:
    """Of a pod's spec these are thousands, and each rule would have its own."""
    node = structural(ruled(PAIR, BELOW))
    first, second = (Rule(node, {"rule": rule}, root=False) for rule in (BELOW, "self.a > 0"))
    assert first.environment is second.environment


def test_rules_go_with_the_schema_that_has_them() -> None:
    cel.compile.cache_clear()
    assert Rule(structural(ruled(PAIR, BELOW)), {"rule": BELOW}, root=False).program
    assert cel.compile.cache_info().currsize == 0
