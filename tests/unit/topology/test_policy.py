# SPDX-License-Identifier: Apache-2.0
"""The guard as data, and the permissions. What they do is the lab's to show."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from trellis.topology.grants import GRANTS
from trellis.topology.guard import REFUSAL, NoServiceAccount, Operator
from trellis.topology.policy import guard

if TYPE_CHECKING:
    from trellis.api.permissions import Grant

OPERATOR = Operator(namespace="grove-system", service_account="grove-operator")


def test_the_policy_fails_closed_and_is_bound() -> None:
    policy, binding = guard(OPERATOR)
    assert policy["spec"]["failurePolicy"] == "Fail"
    assert binding["spec"] == {
        "policyName": policy["metadata"]["name"],
        "validationActions": ["Deny"],
    }


def test_the_policy_knows_the_operator_by_its_whole_name() -> None:
    policy, _ = guard(OPERATOR)
    (validation,) = policy["spec"]["validations"]
    operator = "'system:serviceaccount:grove-system:grove-operator'"
    assert f"request.userInfo.username == {operator}" in validation["expression"]
    assert validation["message"] == REFUSAL


def test_no_rule_relies_on_the_name_in_the_request() -> None:
    policy, _ = guard(OPERATOR)
    (rule,) = policy["spec"]["matchConstraints"]["resourceRules"]
    assert "resourceNames" not in rule
    assert "request.name" not in str(policy)


@pytest.mark.parametrize(
    ("namespace", "account"),
    [
        pytest.param("x' || true || 'x", "grove-operator", id="an expression as namespace"),
        pytest.param("grove-system", "x' || true || 'x", id="an expression as account"),
        pytest.param("grove-system\n", "grove-operator", id="a line break"),
        pytest.param("", "grove-operator", id="no namespace"),
        pytest.param("grove-system", "", id="no account"),
        pytest.param("a.b", "grove-operator", id="a namespace with a dot"),
        pytest.param("grove-system", "Grove", id="an upper-case account"),
        pytest.param("grove-system", "a:b", id="an account with a colon"),
        pytest.param("n" * 64, "grove-operator", id="a namespace that is too long"),
    ],
)
def test_what_is_no_service_account_never_reaches_an_expression(
    namespace: str, account: str
) -> None:
    with pytest.raises(NoServiceAccount, match="the operator's"):
        Operator(namespace=namespace, service_account=account)


def verbs(grants: tuple[Grant, ...], resource: str) -> set[tuple[str, tuple[str, ...]]]:
    found = [grant for grant in grants if resource in grant.resources]
    return {(verb, grant.names) for grant in found for verb in grant.verbs}


@pytest.mark.parametrize("resource", ["clustertopologies", "topologies"])
def test_only_creating_is_allowed_for_any_name(resource: str) -> None:
    one = ("grove-topology",)
    assert verbs(GRANTS, resource) == {
        ("create", ()),
        *((verb, one) for verb in ("get", "list", "watch", "patch", "delete")),
    }


def test_definitions_are_only_read_and_only_the_two_that_matter() -> None:
    names = ("clustertopologies.grove.io", "topologies.kai.scheduler")
    assert verbs(GRANTS, "customresourcedefinitions") == {
        (verb, names) for verb in ("list", "watch")
    }


def test_nothing_beyond_topologies_and_their_definitions_is_granted() -> None:
    resources = {resource for grant in GRANTS for resource in grant.resources}
    assert all(
        re.match("(cluster)?topologies|customresourcedefinitions", each) for each in resources
    )
