# SPDX-License-Identifier: Apache-2.0
"""Rules as the API server's own code sees them.

`recorded.json` holds what apiextensions-apiserver 1.36.3 made of each rule: its message where it
refuses, else the estimated cost and the value or the error. It was written by a small Go program
that called that code. Where we are known to differ, `KNOWN` says why; nothing was left out.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.unit.cel.builders import environment_of
from trellis import cel

RECORDED = json.loads((Path(__file__).parent / "recorded.json").read_text())
ENVIRONMENT = environment_of(RECORDED["schema"])
BINDINGS = {"self": RECORDED["self"], "oldSelf": RECORDED["oldSelf"]}

_LONG = "isQuantity('" + "1" * 75 + "')"
KNOWN = {
    "dyn(self.m)[1] == 1": "a map of a schema is a plain dict here, and forgets that keys are text",
    "quantity('--1').isInteger()": "api.quantity has one message for all that is no quantity",
    "isQuantity('Ki')": "api.quantity wants a digit",
    "isQuantity('1e1000')": "api.quantity bounds the exponent",
    _LONG: "api.quantity bounds the length",
}


def _seen(rule: str) -> dict[str, Any]:
    try:
        program = cel.compile(rule, ENVIRONMENT)
    except cel.CompileProblem as problem:
        return {"refused": str(problem)}
    if program.result_type != "bool":
        return {"refused": "cel expression must evaluate to a bool"}
    cost = {"cost": program.estimated_cost}
    try:
        return {**cost, "value": program.evaluate(BINDINGS)}
    except cel.EvaluationProblem as problem:
        return {**cost, "problem": str(problem)}


@pytest.mark.parametrize("rule", [rule for rule in RECORDED["rules"] if rule not in KNOWN])
def test_a_rule_is_what_it_is_to_the_server(rule: str) -> None:
    assert _seen(rule) == RECORDED["rules"][rule]


@pytest.mark.parametrize("rule", KNOWN)
def test_a_known_difference_is_still_one(rule: str) -> None:
    assert _seen(rule) != RECORDED["rules"][rule]
