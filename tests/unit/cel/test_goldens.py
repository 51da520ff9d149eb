# SPDX-License-Identifier: Apache-2.0
"""What the real API server answered to rules, selectors and policies, replayed without a server."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.conformance.goldens import FOLDER
from tests.conformance.probes import cel_definitions, cel_libraries, cel_rules, dra_devices
from tests.unit.cel.builders import environment_of
from trellis import cel

if TYPE_CHECKING:
    from collections.abc import Iterator

STATIC_LIMIT = 10_000_000


def _golden(area: str) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = json.loads(
        (FOLDER / "1.36" / f"{area}.json").read_text()
    )
    return found


def _causes(answer: dict[str, Any]) -> list[str]:
    details = (answer.get("body") or {}).get("details") or {}
    return [cause["message"] for cause in details.get("causes", [])]


def _library_cases() -> Iterator[Any]:
    golden = _golden("cel_libraries")
    for title, (schema, rule, specs) in cel_libraries.RULES.items():
        for number, (spec, answer) in enumerate(zip(specs, golden[title], strict=True)):
            yield pytest.param(schema, rule, (spec, answer), id=f"{title}, {number + 1}")


@pytest.mark.parametrize(("schema", "rule", "seen"), list(_library_cases()))
def test_a_rule_accepts_what_the_server_accepted(
    schema: dict[str, Any], rule: str, seen: tuple[dict[str, Any], dict[str, Any]]
) -> None:
    spec, answer = seen
    # What the server does before rules run: fill in defaults, drop what is not in the schema.
    properties = schema["properties"]
    filled = {key: one["default"] for key, one in properties.items() if "default" in one}
    given = {**filled, **{key: value for key, value in spec.items() if key in properties}}
    program = cel.compile(rule, environment_of(schema))
    assert program.estimated_cost <= STATIC_LIMIT
    try:
        said = "" if program.evaluate({"self": given}) else f"failed rule: {rule}"
    except cel.EvaluationProblem as problem:
        said = str(problem)
    wanted = [message.partition("Invalid value: ")[2] for message in _causes(answer)]
    assert bool(said) == bool(wanted)
    if wanted and not wanted[0].startswith("failed rule"):
        assert said in wanted[0]


def _definition_cases() -> Iterator[Any]:
    for title, answers in _golden("cel_definitions").items():
        schema = cel_definitions.SCHEMAS.get(title)
        if schema is not None:
            yield pytest.param(schema, _causes(answers[0]), id=title)


@pytest.mark.parametrize(("schema", "causes"), list(_definition_cases()))
def test_a_definition_meets_the_refusals_of_the_server(
    schema: dict[str, Any], causes: list[str]
) -> None:
    expected = [cause.partition("compilation failed: ")[2] for cause in causes]
    expected = [cause for cause in expected if cause]
    found = []
    environment = environment_of(schema)
    for rule in schema.get("x-kubernetes-validations", []):
        for expression in (rule["rule"], rule.get("messageExpression", "")):
            if not expression.strip():
                continue
            try:
                cel.compile(expression, environment)
            except cel.CompileProblem as problem:
                found.append(problem.issues)
    assert found == expected


def test_a_rule_over_a_list_without_limits_is_estimated_far_above_the_budget() -> None:
    title = "a rule whose estimated cost is too high is refused"
    schema = cel_definitions.SCHEMAS[title]["properties"]["l"]
    program = cel.compile("self.all(x, self.exists(y, x == y))", environment_of(schema))
    assert program.estimated_cost > 100 * STATIC_LIMIT


def test_limits_make_the_same_rule_cheap_enough() -> None:
    schema = cel_definitions.SCHEMAS["limits make a costly rule acceptable"]["properties"]["l"]
    program = cel.compile("self.all(x, self.exists(y, x == y))", environment_of(schema))
    assert program.estimated_cost < STATIC_LIMIT


def test_many_cheap_rules_cost_together_what_the_server_reckons() -> None:
    title = "many rules that are each cheap enough may cost too much together"
    schema = cel_definitions.SCHEMAS[title]
    total = 0
    for field in schema["properties"].values():
        program = cel.compile("self > 0", environment_of(field["additionalProperties"]))
        total += program.estimated_cost * field["maxProperties"]
    (message,) = (
        cause for cause in _causes(_golden("cel_definitions")[title][0]) if "x (" in cause
    )
    assert f"{total / (10 * STATIC_LIMIT):.6f}x" in message


COMPUTED = [title for title, more in cel_rules.SETTINGS.items() if "messageExpression" in more]


@pytest.mark.parametrize("title", COMPUTED)
def test_a_computed_message_is_told_if_it_is_one_line(title: str) -> None:
    environment = environment_of(
        {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}}
    )
    (cause,) = _causes(_golden("cel_rules")[title][0])
    program = cel.compile(cel_rules.SETTINGS[title]["messageExpression"], environment)
    assert program.result_type == "string"
    try:
        said = program.evaluate({"self": {"a": 2, "b": 1}})
    except cel.EvaluationProblem:
        said = ""
    usable = said.strip() and "\n" not in said
    assert (cause == f"Invalid value: {said}") == bool(usable)


SELECTORS = {
    "a selector that does not parse is refused": "device.driver ==",
    "a selector of an unknown function is refused": "isGood(device)",
    "a selector that is no boolean is refused": "1",
    "a selector of an unknown field is refused": "device.size == 1",
}


@pytest.mark.parametrize("title", list(SELECTORS))
def test_a_selector_is_refused_in_the_words_of_the_server(title: str) -> None:
    expression = SELECTORS[title]
    (cause,) = _causes(_golden("dra_devices")[title][0])
    try:
        kind = cel.compile(expression, cel.devices()).result_type
    except cel.CompileProblem as problem:
        said = str(problem)
    else:
        said = f"must evaluate to bool or the unknown type, not {kind}"
    assert cause == f"Invalid value: {json.dumps(expression)}: {said}"


@pytest.mark.parametrize(
    ("expression", "affordable"),
    [
        (
            f"device.attributes['{dra_devices.DRIVER}'].model.startsWith('h') && "
            f"device.capacity['{dra_devices.DRIVER}'].memory.compareTo(quantity('40Gi')) >= 0",
            True,
        ),
        (
            "[1,2,3,4,5,6,7,8,9].all(a, [1,2,3,4,5,6,7,8,9].all(b, [1,2,3,4,5,6,7,8,9].all(c, "
            "[1,2,3,4,5,6,7,8,9].all(d, [1,2,3,4,5,6,7,8,9].all(e, [1,2,3,4,5,6,7,8,9].all(f, "
            "device.driver.contains('x')))))))",
            False,
        ),
    ],
    ids=["a selector of two conditions", "six nested loops"],
)
def test_a_selector_is_estimated_on_the_side_of_the_limit_where_the_server_sees_it(
    expression: str, affordable: bool
) -> None:
    cost = cel.compile(expression, cel.devices()).estimated_cost
    assert (cost <= cel.PER_CALL_LIMIT) == affordable
