# SPDX-License-Identifier: Apache-2.0
"""What expressions may name, and how values of declared types are read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from tests.unit.cel.builders import (
    TEXT,
    WHOLE,
    environment_of,
    list_of,
    object_of,
    refusal_of,
)
from trellis import cel

MANY = {
    "a number is a double, also when it is whole": ({"type": "number"}, "self / 2.0 == 1.5", 3),
    "a time is a time": (
        {**TEXT, "format": "date-time"},
        "self.getDate() == 2",
        "2001-01-02T00:00:00Z",
    ),
    "a date is a time": ({**TEXT, "format": "date"}, "self.getDate() == 2", "2001-01-02"),
    "a duration is a duration": ({**TEXT, "format": "duration"}, "self > duration('1m')", "90s"),
    "bytes are bytes": ({**TEXT, "format": "byte"}, "self == b'hi'", "aGk="),
    "int-or-string is either": ({"x-kubernetes-int-or-string": True}, "self == '5%'", "5%"),
    "items of a list are read so too": (
        list_of({**TEXT, "format": "date"}),
        "self.all(t, t.getFullYear() == 2001) && self[0].getDate() == 2",
        ["2001-01-02"],
    ),
    "values of a map are read so too": (
        {"type": "object", "additionalProperties": {"type": "number"}},
        "self.a + 0.5 == 1.5 && self.all(k, v, type(v) == double)",
        {"a": 1},
    ),
    "fields in a list of objects are read so too": (
        list_of(object_of(t={**TEXT, "format": "duration"})),
        "self.exists(x, x.t == duration('1s'))",
        [{"t": "1s"}],
    ),
    "null in a field is absent": (
        object_of(a={**TEXT, "nullable": True}),
        "!has(self.a) && !self.?a.hasValue()",
        {"a": None},
    ),
    "a name with a dash is escaped": (
        object_of(**{"a-b": TEXT}),
        "self.a__dash__b == 'x'",
        {"a-b": "x"},
    ),
    "a word that is reserved is escaped": (
        object_of(**{"in": TEXT}),
        "self.__in__ == 'x'",
        {"in": "x"},
    ),
    "an embedded resource has a name": (
        object_of(t={"type": "object", "x-kubernetes-embedded-resource": True}),
        "self.t.metadata.name == 'x' && self.t.kind == 'Pod'",
        {"t": {"kind": "Pod", "metadata": {"name": "x"}}},
    ),
}


@pytest.mark.parametrize(("schema", "rule", "given"), MANY.values(), ids=MANY)
def test_a_value_is_read_by_its_schema(schema: dict[str, Any], rule: str, given: Any) -> None:
    assert cel.compile(rule, environment_of(schema)).evaluate({"self": given}) is True


SETS = {"type": "array", "items": TEXT, "x-kubernetes-list-type": "set"}
KEYED = list_of(
    object_of(k=TEXT, v=WHOLE),
    **{"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"]},
)
KEPT = {"k": "a", "v": 1}, {"k": "b", "v": 2}


@pytest.mark.parametrize(
    ("schema", "rule", "now", "before"),
    [
        (SETS, "self == oldSelf", ["a", "b"], ["b", "a"]),
        (SETS, "(self + oldSelf).size() == 3", ["a", "b"], ["b", "c"]),
        (KEYED, "self == oldSelf", [*KEPT], [*reversed(KEPT)]),
        (KEYED, "(self + oldSelf).map(x, x.v) == [9, 2]", [*KEPT], [{"k": "a", "v": 9}]),
        (object_of(s=SETS), "self == oldSelf", {"s": ["a", "b"]}, {"s": ["b", "a"]}),
        (list_of(TEXT), "self != oldSelf", ["a", "b"], ["b", "a"]),
    ],
    ids=[
        "the order of a set does not matter",
        "sets are united",
        "the order of a keyed list does not matter",
        "keyed lists are merged",
        "the order of a set inside an object does not matter",
        "the order of another list matters",
    ],
)
def test_lists_are_compared_and_joined_by_their_type(
    schema: dict[str, Any], rule: str, now: Any, before: Any
) -> None:
    program = cel.compile(rule, environment_of(schema))
    assert program.evaluate({"self": now, "oldSelf": before}) is True


def test_a_root_has_kind_and_name_but_no_labels() -> None:
    environment = environment_of(object_of(spec=object_of(a=TEXT)), root=True)
    program = cel.compile("self.metadata.name == 'x' && self.kind == 'Thing'", environment)
    assert program.evaluate({"self": {"kind": "Thing", "metadata": {"name": "x"}}}) is True
    assert refusal_of("self.metadata.labels['a'] == 'b'", environment) == "undefined field 'labels'"


def test_fields_that_are_only_preserved_cannot_be_read() -> None:
    schema = {**object_of(a=TEXT), "x-kubernetes-preserve-unknown-fields": True}
    assert refusal_of("self.b == 1", environment_of(schema)) == "undefined field 'b'"


def test_values_of_no_type_have_no_rules() -> None:
    assert cel.rules({"x-kubernetes-preserve-unknown-fields": True}) is None
    assert cel.rules({"type": "array"}) is None


def test_an_old_value_may_be_optional() -> None:
    environment = environment_of(WHOLE, optional_old=True)
    program = cel.compile("oldSelf.hasValue() ? self >= oldSelf.value() : self == 1", environment)
    assert program.names == {"self", "oldSelf"}
    assert program.evaluate({"self": 1, "oldSelf": cel.NOTHING}) is True
    assert program.evaluate({"self": 1, "oldSelf": cel.some(2)}) is False


def test_a_program_tells_which_variables_it_reads() -> None:
    environment = environment_of(object_of(a=TEXT))
    assert cel.compile("self.a == 'x'", environment).names == {"self"}
    assert cel.compile("[1].all(self, self > 0)", environment).names == frozenset()


def test_a_variable_that_is_not_bound_is_a_problem() -> None:
    program = cel.compile("self", environment_of(TEXT))
    with pytest.raises(cel.EvaluationProblem, match=r"no such attribute\(s\): self"):
        program.evaluate({})


def test_the_same_expression_is_compiled_once() -> None:
    environment = environment_of(TEXT)
    assert cel.compile("self", environment) is cel.compile("self", environment)
    assert cel.compile("self", environment) is not cel.compile("self", environment_of(TEXT))


def test_how_many_values_fit_into_a_request_depends_on_how_small_they_are() -> None:
    small, large = (
        environment_of(WHOLE),
        environment_of({**object_of(name=TEXT), "required": ["name"]}),
    )
    assert cel.cardinality(small) == 3 * 1024 * 1024 // 2
    assert cel.cardinality(large) == 3 * 1024 * 1024 // 13


def test_the_request_is_typed_and_objects_are_not() -> None:
    environment = cel.admission()
    assert refusal_of("request.colour == 'red'", environment) == "undefined field 'colour'"
    assert refusal_of("params != null", environment).startswith("undeclared reference to 'params'")
    assert cel.compile("object.anything.at.all", environment).result_type == "dyn"
    program = cel.compile("request.userInfo.groups.exists(g, g == 'a')", environment)
    assert program.evaluate({"request": {"userInfo": {"groups": ["a"]}}}) is True


def test_parameters_are_known_where_a_policy_has_them() -> None:
    program = cel.compile("params == null", cel.admission(params=True))
    assert program.evaluate({"params": None}) is True


def test_with_a_schema_the_type_checker_finds_wrong_fields() -> None:
    environment = cel.admission(schema=object_of(data=object_of(a=TEXT)))
    assert refusal_of("object.dta == '1'", environment) == "undefined field 'dta'"
    assert refusal_of("object.data.a == 1", environment).startswith("found no matching overload")


class _Lazy(Mapping[str, Any]):
    """Variables that count how often they are computed."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __getitem__(self, name: str) -> Any:
        self.asked.append(name)
        return {"a": "x"}[name]

    def __iter__(self) -> Iterator[str]:
        return iter(("a",))

    def __len__(self) -> int:
        return 1


def test_variables_are_typed_and_asked_for_only_when_read() -> None:
    first = cel.compile("object.metadata.name", cel.admission(variables={}))
    environment = cel.admission(variables={"a": first.type})
    assert refusal_of("variables.b", environment) == "undefined field 'b'"
    lazy = _Lazy()
    program = cel.compile("object == null || variables.a == 'x'", environment)
    assert program.evaluate({"object": None, "variables": lazy}) is True
    assert lazy.asked == []
    assert program.evaluate({"object": 1, "variables": lazy}) is True
    assert lazy.asked == ["a"]


def _decide(query: cel.Query) -> cel.Decision:
    return cel.Decision(query.verb == "get", reason=str(query.service_account or query.resource))


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("authorizer.group('').resource('pods').check('get').allowed()", True),
        ("authorizer.group('').resource('pods').namespace('a').check('list').allowed()", False),
        ("authorizer.path('/healthz').check('get').allowed()", True),
        (
            "authorizer.serviceAccount('ns', 'sa').group('').resource('x').check('get').reason()",
            "('ns', 'sa')",
        ),
        ("authorizer.requestResource.check('get').reason()", "widgets"),
        ("authorizer.group('').resource('pods').check('get').errored()", False),
    ],
    ids=[
        "a resource may be asked for",
        "a verb may be denied",
        "a path may be asked for",
        "a service account may be asked about",
        "what the request asks for may be checked",
        "an answer is no error",
    ],
)
def test_the_authorizer_answers_by_what_it_is_given(expression: str, value: Any) -> None:
    bindings = {
        "authorizer": cel.Authorizer(_decide),
        "authorizer.requestResource": cel.ResourceCheck(_decide, cel.Query(resource="widgets")),
    }
    assert cel.compile(expression, cel.admission()).evaluate(bindings) == value


def test_an_expression_can_afford_two_checks_and_no_third() -> None:
    check = "authorizer.path('/x').check('get').allowed()"
    bindings = {"authorizer": cel.Authorizer(_decide)}
    assert cel.compile(f"{check} && {check}", cel.admission()).evaluate(bindings) is True
    with pytest.raises(cel.BudgetSpent):
        cel.compile(f"{check} && {check} && {check}", cel.admission()).evaluate(bindings)


DEVICE = {
    "attributes": {
        "model": {"string": "h100"},
        "version": {"version": "1.3.0"},
        "cores": {"int": 8},
        "other.example.com/shared": {"bool": True},
        "links": {"strings": ["a", "b"]},
    },
    "capacity": {"memory": {"value": "80Gi"}},
}


@pytest.mark.parametrize(
    ("selector", "matches"),
    [
        ("device.driver == 'd'", True),
        ("device.attributes['d'].model.startsWith('h')", True),
        ("device.attributes['d'].cores > 4", True),
        ("device.attributes['d'].version.isGreaterThan(semver('1.2.3'))", True),
        ("device.attributes['other.example.com'].shared", True),
        ("device.attributes['d'].links.includes('b')", True),
        ("device.attributes['d'].model.includes('h100')", True),
        ("device.capacity['d'].memory.compareTo(quantity('40Gi')) > 0", True),
        ("'model' in device.attributes['nobody']", False),
        ("'nobody' in device.attributes", False),
        ("device.allowMultipleAllocations", False),
        ("cel.bind(d, device.attributes['d'], d.cores == 8 && d.model == 'h100')", True),
    ],
)
def test_a_selector_looks_into_a_device(selector: str, matches: bool) -> None:
    program = cel.compile(selector, cel.devices())
    assert program.evaluate({"device": cel.device("d", DEVICE)}) is matches


def test_an_attribute_that_a_device_lacks_is_a_problem() -> None:
    program = cel.compile("device.attributes['d'].colour == 'red'", cel.devices())
    with pytest.raises(cel.EvaluationProblem, match="no such key: colour"):
        program.evaluate({"device": cel.device("d", DEVICE)})
