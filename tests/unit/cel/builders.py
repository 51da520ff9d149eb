# SPDX-License-Identifier: Apache-2.0
"""Shorter words for schemas and for what an expression comes to."""

from __future__ import annotations

from typing import Any

from trellis import cel

TEXT: dict[str, Any] = {"type": "string"}
WHOLE: dict[str, Any] = {"type": "integer"}
UNTYPED = cel.admission()


def object_of(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def list_of(items: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "array", "items": items, **more}


def environment_of(schema: dict[str, Any], **more: Any) -> cel.Environment:
    found = cel.rules(schema, **more)
    assert found is not None
    return found


def value_of(expression: str, given: Any = None) -> Any:
    """The value of an expression over `object`, of which nothing is declared."""
    return cel.compile(expression, UNTYPED).evaluate({"object": given})


def problem_of(expression: str, given: Any = None) -> str:
    """What is said where there is no value."""
    try:
        value = value_of(expression, given)
    except cel.EvaluationProblem as problem:
        return str(problem)
    raise AssertionError(f"{expression} is {value!r}")


def refusal_of(expression: str, environment: cel.Environment = UNTYPED) -> str:
    """What is said to an expression that does not compile: the first line, without the place."""
    try:
        cel.compile(expression, environment)
    except cel.CompileProblem as problem:
        return problem.issues.splitlines()[0].partition(": ")[2].partition(": ")[2]
    raise AssertionError(f"{expression} compiles")
