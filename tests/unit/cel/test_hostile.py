# SPDX-License-Identifier: Apache-2.0
"""Nothing that a tenant writes may crash, hang or fill the process."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.cel.builders import TEXT, UNTYPED, WHOLE, environment_of, list_of, object_of
from trellis import cel

SETS = {"type": "array", "items": TEXT, "x-kubernetes-list-type": "set"}
SCHEMA = object_of(l=list_of(WHOLE), t=list_of(TEXT), s=TEXT, u=SETS)
ENVIRONMENT = environment_of(SCHEMA)
NUMBERS = list(range(20_000))
GIVEN = {
    "l": NUMBERS,
    "t": [str(number) for number in NUMBERS],
    "s": "a" * 200_000,
    "u": [str(number) for number in NUMBERS],
}
BEFORE = {**GIVEN, "l": list(NUMBERS), "u": GIVEN["u"][::-1]}  # type: ignore[index]

COSTLY = {
    "loops in loops": "self.l.all(a, self.l.all(b, self.l.all(c, a + b + c >= 0)))",
    "strings that grow": "self.l.map(x, self.s + self.s).size() > 0",
    "lists that grow": "self.l.map(x, self.l + self.l).size() > 0",
    "a range without end": "lists.range(9223372036854775807).size() > 0",
    "pairs of items": "self.t.distinct().size() > 0",
    "sorting": "self.t.sort()[0] == ''",
    "sets of lists": "sets.equivalent(self.t, self.t)",
    "searching in a loop": "self.l.all(x, x in self.l)",
    "comparing in a loop": "self.l.all(x, self.l == oldSelf.l)",
    "writing in a loop": "self.l.all(x, '%s'.format([self.l]) != '')",
    "joining in a loop": "self.l.all(x, self.t.join('').size() > 0)",
    "replacing in a loop": "self.l.all(x, self.s.replace('', self.s).size() > 0)",
    "a pattern in a loop": "self.l.all(x, self.s.matches('(a+)+$'))",
    "a match at every place": "self.s.findAll('').size() > 0",
}


@pytest.mark.parametrize("expression", COSTLY.values(), ids=COSTLY)
def test_what_costs_too_much_is_ended(expression: str) -> None:
    program = cel.compile(expression, ENVIRONMENT)
    with pytest.raises(cel.BudgetSpent, match="operation cancelled: actual cost limit exceeded"):
        program.evaluate({"self": GIVEN, "oldSelf": BEFORE})


def test_no_condition_outlives_a_spent_budget() -> None:
    costly = COSTLY["loops in loops"]
    for expression in (
        f"{costly} || true",
        f"true || {costly}",
        f"[1].exists(x, {costly} || x > 0)",
    ):
        program = cel.compile(expression, ENVIRONMENT)
        if expression.startswith("true"):
            assert program.evaluate({"self": GIVEN}) is True
            continue
        with pytest.raises(cel.BudgetSpent):
            program.evaluate({"self": GIVEN})


def test_large_sets_are_compared_without_trying_every_pair() -> None:
    program = cel.compile("self.u == oldSelf.u && (self.u + oldSelf.u) == self.u", ENVIRONMENT)
    assert program.evaluate({"self": GIVEN, "oldSelf": BEFORE}) is True


def test_evaluations_can_share_a_budget() -> None:
    meter = cel.Meter(100)
    program = cel.compile("self.l.all(x, x >= 0)", ENVIRONMENT)
    program.evaluate({"self": {"l": [1, 2, 3]}}, meter)
    assert 70 < meter.left < 100
    assert not meter.spent
    with pytest.raises(cel.EvaluationProblem):
        cel.compile("self.l[9] == 1", ENVIRONMENT).evaluate({"self": {"l": list(range(5))}}, meter)
    program.evaluate({"self": {"l": list(range(50))}}, meter)
    assert meter.spent


@pytest.mark.parametrize(
    "expression",
    [
        "(" * 50_000,
        "[" * 300 + "]" * 300,
        "a" + ".b" * 5_000,
        "1" + "+1" * 5_000,
        "!" * 5_000 + "true ? 1 : (",
        "'" + "x" * 200_000 + "'",
        "a ? b : " * 1_000 + "c",
        "'\ud800'",
        "\x00",
        "`a`",
    ],
    ids=[
        "parentheses",
        "lists in lists",
        "fields of fields",
        "sums of sums",
        "signs",
        "a long text",
        "choices in choices",
        "half a character",
        "a zero byte",
        "a quoted name",
    ],
)
def test_what_is_too_deep_too_long_or_no_text_is_refused(expression: str) -> None:
    with pytest.raises(cel.CompileProblem, match="compilation failed: ERROR: <input>"):
        cel.compile(expression, UNTYPED)


@pytest.mark.parametrize(
    "given_value", [{"l": 1, "s": 5}, {"l": None}, [], None, "x", {"l": [[1]], "s": {}}], ids=repr
)
@pytest.mark.parametrize(
    "expression",
    ["self.l.all(x, x > 0)", "self.s.startsWith('a')", "self.l[0] + 1 > 0"],
)
def test_values_that_are_not_of_their_declared_type_are_problems(
    expression: str, given_value: Any
) -> None:
    program = cel.compile(expression, ENVIRONMENT)
    with pytest.raises(cel.EvaluationProblem):
        program.evaluate({"self": given_value})


_WORDS = """
self object oldObject request l t s x 1 -1 0 1.5 2u 'a' b'a' true null [] {} ( ) [ ] { } , : ? .
.? [? + - * / % ! && || == != < <= > >= in has all exists map filter size matches split join format
sum min sort flatten distinct quantity ip cidr url semver duration timestamp string int optional.of
optional.none orValue hasValue dyn type sets.contains lists.range substring transformMap authorizer
group resource check allowed '%s' '%d' '(' '9999999999'
"""
_CALLS = """
{0}.size() {0}.trim() {0}.sum() {0}.split({1}) {0}.join({1}) {0}.matches({1}) int({0}) double({0})
uint({0}) string({0}) bool({0}) bytes({0}) timestamp({0}) duration({0}) {0}+{1} {0}-{1} {0}*{1}
{0}/{1} {0}%{1} {0}<{1} {0}=={1} {0}[{1}] {0}[?{1}] {0}.a {0}.?a has({0}.a) {0}.format([{1}])
{0}.format({1}) {0}.all(x,x=={1}) {0}.map(x,x+{1}) {0}.exists(k,v,k==v) {0}.transformMap(k,v,{1})
quantity({0}) semver({0}) ip({0}) cidr({0}) url({0}) {0}.substring({1}) {0}.charAt({1})
{0}.replace({1},{1}) {0}.find({1}) {0}.findAll({1}) {0}.indexOf({1}) {0}.slice({1},{1})
{0}.flatten({1}) {0}.sort()
{0}.sortBy(x,x) {0}.getHours({1}) {1}in{0} -{0} !{0} {0}?{1}:{1} {0}&&{1} {0}||{1}
format.dns1123Label().validate({0}) sets.contains({0},{1}) lists.range({0}) {0}.value()
{0}.orValue({1}) {0}.isSorted() {0}.distinct() {0}.containsIP({1}) type({0})=={1}
"""
WORDS = st.sampled_from(_WORDS.split())
CALLS = st.sampled_from(_CALLS.split())
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats()
    | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4)
    ),
    max_leaves=10,
)
ENVIRONMENTS = st.sampled_from([ENVIRONMENT, UNTYPED, cel.devices()])


def _run(expression: str, environment: cel.Environment, value: Any) -> None:
    with suppress(cel.CompileProblem, cel.EvaluationProblem):
        program = cel.compile(expression, environment)
        assert program.estimated_cost >= 0
        program.evaluate(dict.fromkeys(environment.variables, value))


@given(st.text(max_size=60), ENVIRONMENTS)
@settings(max_examples=200, deadline=None)
def test_no_text_does_worse_than_be_refused(text: str, environment: cel.Environment) -> None:
    _run(text, environment, None)


@given(st.lists(WORDS, max_size=12), st.booleans(), ENVIRONMENTS, VALUES)
@settings(max_examples=400, deadline=None)
def test_no_row_of_words_does_worse_than_fail(
    words: list[str], spaced: bool, environment: cel.Environment, value: Any
) -> None:
    _run((" " if spaced else "").join(words), environment, value)


@given(CALLS, CALLS, VALUES, VALUES)
@settings(max_examples=400, deadline=None)
def test_no_value_makes_a_function_do_worse_than_fail(
    outer: str, inner: str, first: Any, second: Any
) -> None:
    inside = inner.replace("{0}", "(object)").replace("{1}", "(oldObject)").replace("in(", " in(")
    expression = outer.replace("{0}", f"({inside})").replace("{1}", "(oldObject)")
    with suppress(cel.CompileProblem, cel.EvaluationProblem):
        program = cel.compile(expression, UNTYPED)
        program.evaluate({"object": first, "oldObject": second})
