# SPDX-License-Identifier: Apache-2.0
"""The policy as data. What it does is shown on clusters."""

from __future__ import annotations

import pytest

from trellis import cel
from trellis.workloads.admission.claimrights import NAME, claim_rights

# What the API server charges for asking, and what one expression may cost.
QUESTION, LIMIT = 350_000, 1_000_000

POLICY, BINDING = claim_rights()
VALIDATIONS = POLICY["spec"]["validations"]


def test_it_fails_closed_and_is_bound() -> None:
    assert POLICY["spec"]["failurePolicy"] == "Fail"
    assert BINDING["spec"] == {"policyName": NAME, "validationActions": ["Deny"]}


@pytest.mark.parametrize("number", range(len(VALIDATIONS)))
def test_every_expression_can_be_read(number: int) -> None:
    names = {one["name"]: cel.types.DYN for one in POLICY["spec"]["variables"]}
    environment = cel.admission(variables=names)
    validation = VALIDATIONS[number]
    assert cel.compile(validation["expression"], environment).result_type == "bool"
    assert cel.compile(validation["messageExpression"], environment).result_type == "string"


@pytest.mark.parametrize("number", range(len(VALIDATIONS)))
def test_no_expression_asks_for_rights_as_often_as_there_are_templates(number: int) -> None:
    expression = VALIDATIONS[number]["expression"]
    asked = expression.count(".check(")
    assert asked * QUESTION < LIMIT
    assert "authorizer" not in expression.partition("||")[0]
