# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest

from tests.unit.embedded.admission.builders import (
    ADMIN,
    MAPS,
    NAMESPACES,
    NODES,
    PODS,
    WIDGETS,
    WIDGETS_V1,
    WIDGETS_V2,
    Kinds,
    Room,
    a_map,
    a_review,
    a_rule,
    an_object,
    golden,
    seen,
)
from trellis.embedded.admission import policy_status
from trellis.embedded.asking import Object, Review, User
from trellis.embedded.refusals import Refusal

AREA = "admission_policies"
NEVER = "object.data.a == '0'"


def says(expression: str, **more: str) -> Object:
    return {"expression": expression, **more}


def condition(expression: str) -> Object:
    return {"name": "condition", "expression": expression}


DECIDED: dict[str, tuple[list[Object], dict[str, Any]]] = {
    "a refusal without a message quotes the expression": ([says(NEVER)], {}),
    "a refusal says the policy's message": ([says(NEVER, message="a must be 0")], {}),
    "a refusal says what the messageExpression gives": (
        [says(NEVER, message="unused", messageExpression="'a is ' + object.data.a")],
        {},
    ),
    "a messageExpression that fails falls back to the message": (
        [says(NEVER, message="a must be 0", messageExpression="'x' + object.data.missing")],
        {},
    ),
    "a refusal for Forbidden is 403": ([says(NEVER, reason="Forbidden")], {}),
    "a refusal for RequestEntityTooLarge is 413": (
        [says(NEVER, reason="RequestEntityTooLarge")],
        {},
    ),
    "a refusal for Invalid is 422": ([says(NEVER, reason="Invalid")], {}),
    "of several validations the first that fails is told": (
        [says("true"), says(NEVER, message="first"), says("false", message="second")],
        {},
    ),
    "an expression that fails refuses": ([says("object.data.missing == 'x'")], {}),
    "an expression sees the namespace": (
        [
            says(
                "namespaceObject.metadata.name == 'x'",
                messageExpression="'in ' + namespaceObject.metadata.name",
            )
        ],
        {},
    ),
    "variables are computed from one another": (
        [says("variables.b == 'x'", messageExpression="'b is ' + variables.b")],
        {
            "variables": [
                {"name": "a", "expression": "object.data.a"},
                {"name": "b", "expression": "variables.a + '!'"},
            ]
        },
    ),
    "a matchCondition that fails refuses": (
        [],
        {
            "matchConditions": [
                condition("object.metadata.name == 'canary' || object.data.missing == 'x'")
            ]
        },
    ),
}


@pytest.mark.parametrize("title", DECIDED)
async def test_a_policy_refuses_as_on_the_real_server(title: str) -> None:
    validations, spec = DECIDED[title]
    room = Room()
    room.policy(*validations, **spec)
    assert (await room.refusal(a_review())).status == seen(AREA, title)


async def admitted(room: Room, review: Review | None = None) -> bool:
    review = review or a_review()
    try:
        await room.admission.validate(review)
    except Refusal:
        return False
    return True


@pytest.mark.parametrize(
    "spec",
    [
        {"failurePolicy": "Ignore", "validations": [says("object.data.missing == 'x'")]},
        {
            "failurePolicy": "Ignore",
            "matchConditions": [condition("object.data.missing == 'x'")],
            "validations": [says("false")],
        },
        {"matchConditions": [condition("false")], "validations": [says("false")]},
        {"validations": [says("true")]},
    ],
    ids=["a failure ignored", "a condition's too", "a condition that is false", "valid"],
)
async def test_a_policy_lets_pass(spec: dict[str, Any]) -> None:
    room = Room()
    room.policy(**spec)
    assert await admitted(room)


@pytest.mark.parametrize("actions", [["Warn"], ["Warn", "Audit"]], ids=" ".join)
async def test_a_policy_may_only_warn(actions: list[str]) -> None:
    room = Room()
    room.policy(says("false", message="careful"), bound={"validationActions": actions})
    review = a_review()
    assert await admitted(room, review)
    told = golden(AREA, "validationActions Warn sends a header and lets pass")
    words = "policy-<id>' with binding 'policy-<id>", "policy' with binding 'binding"
    assert f'299 - "{review.warnings[0]}"' == told[0]["headers"]["Warning"].replace(*words)


async def test_a_policy_knows_what_was_and_what_is_asked() -> None:
    room = Room()
    room.policy(says("oldObject == null"))
    assert await admitted(room)
    assert not await admitted(room, a_review(a_map(), a_map()))
    room.policy(says("request.operation == 'CREATE' && request.userInfo.username == 'admin'"))
    assert await admitted(room)
    assert not await admitted(room, a_review(user=User(name="jane")))


async def test_a_policy_on_delete_sees_the_old_object_only() -> None:
    room = Room()
    room.policy(
        says(
            "object != null || oldObject.data.a != '1'",
            messageExpression="'keep ' + oldObject.data.a",
        )
    )
    refusal = await room.refusal(a_review(None, a_map()))
    assert refusal.status == seen(AREA, "a policy on DELETE sees the old object only")


async def test_a_policy_may_ask_what_the_caller_may() -> None:
    check = "authorizer.group('').resource('pods').namespace(request.namespace).check('delete')"
    own = "authorizer.requestResource.check('create').allowed()"
    room = Room()
    room.policy(says(f"{own} && {check}.allowed()", message="you may not delete pods"))
    assert await admitted(room, a_review(user=ADMIN))
    room.allowed = {"create"}
    refusal = await room.refusal(a_review(a_map("b"), user=User(name="jane")))
    assert refusal.status == seen(AREA, "an expression may ask the authorizer about the caller", 1)
    room.allowed = {"create", "delete"}
    assert await admitted(room, a_review(user=User(name="jane")))


async def test_a_policy_may_ask_what_another_account_may() -> None:
    room = Room()
    asked = "authorizer.serviceAccount('team', 'other').path('/x').check('get').allowed()"
    room.policy(says(asked))
    assert not await admitted(room)
    room.allowed = {"get"}
    assert await admitted(room)


@pytest.mark.parametrize(
    ("constraints", "names"),
    [
        ({"resourceRules": [a_rule(resourceNames=["a", "b"])]}, {"a", "b"}),
        (
            {
                "resourceRules": [a_rule(resourceNames=["a", "b"])],
                "excludeResourceRules": [a_rule(resourceNames=["b"])],
            },
            {"a"},
        ),
        ({"resourceRules": [a_rule()], "excludeResourceRules": [a_rule("*")]}, set()),
        (
            {"resourceRules": [a_rule()], "objectSelector": {"matchLabels": {"x": "y"}}},
            set(),
        ),
        (
            {"resourceRules": [a_rule()], "namespaceSelector": {"matchLabels": {"tier": "high"}}},
            {"a", "b", "c"},
        ),
        ({"resourceRules": [a_rule("pods")]}, set()),
    ],
    ids=["names", "but one", "but all", "labels", "namespace", "others"],
)
async def test_constraints_tell_what_a_policy_is_about(constraints: Any, names: set[str]) -> None:
    room = Room()
    room.policy(says("false"), matchConstraints=constraints)
    refused = {name for name in ("a", "b", "c") if not await admitted(room, a_review(a_map(name)))}
    assert refused == names


async def test_a_binding_narrows_a_policy() -> None:
    room = Room()
    free = {"matchExpressions": [{"key": "free", "operator": "DoesNotExist"}]}
    room.policy(says("false", message="no"), bound={"matchResources": {"objectSelector": free}})
    refusal = await room.refusal(a_review())
    assert refusal.status == seen(AREA, "an objectSelector of the binding narrows it further")
    assert await admitted(room, a_review(a_map(labels={"free": "yes"})))


async def test_a_policy_without_a_binding_does_nothing() -> None:
    room = Room()
    room.policy(says("false"), bound={"policyName": "another"})
    assert await admitted(room)


async def test_a_policy_on_a_subresource_does_not_touch_the_resource() -> None:
    room = Room()
    room.policy(
        says("request.subResource != 'status'", message="no status"),
        matchConstraints={"resourceRules": [a_rule("pods/status")]},
    )
    pod = an_object(PODS)
    review = a_review(pod, pod, served=PODS, subresource="status")
    assert (await room.refusal(review)).status == seen(
        AREA, "a policy on a subresource does not touch the resource"
    )
    assert await admitted(room, a_review(pod, pod, served=PODS))


async def test_a_namespace_is_in_none() -> None:
    room = Room()
    room.policy(
        says("namespaceObject == null"),
        matchConstraints={"resourceRules": [a_rule("namespaces")]},
    )
    new = an_object(NAMESPACES, "team")
    assert await admitted(room, a_review(new, new, served=NAMESPACES, namespace="team"))


async def test_another_version_is_converted_for_a_policy() -> None:
    room = Room()
    rules = {"resourceRules": [a_rule("widgets", group=WIDGETS)]}
    room.policy(says("object.apiVersion.endsWith('/v1')"), matchConstraints=rules)
    assert await admitted(room, a_review(an_object(WIDGETS_V2), served=WIDGETS_V2))
    room.policy(says("false"), matchConstraints={**rules, "matchPolicy": "Exact"})
    assert await admitted(room, a_review(an_object(WIDGETS_V2), served=WIDGETS_V2))


CONFIG_MAP = {"apiVersion": "v1", "kind": "ConfigMap"}
WIDGET = {"apiVersion": f"{WIDGETS}/v1", "kind": "Widget"}


def reference(**more: Any) -> Object:
    return {"paramRef": {"parameterNotFoundAction": "Deny", **more}}


async def test_parameters_come_from_the_object_that_the_binding_names() -> None:
    room = Room()
    room.put("team", MAPS, {"name": "params"}, data={"wanted": "7"})
    room.policy(
        says(
            "object.data.a == params.data.wanted",
            messageExpression="'wanted ' + params.data.wanted",
        ),
        bound=reference(name="params"),
        paramKind=CONFIG_MAP,
    )
    refusal = await room.refusal(a_review())
    title = "parameters come from the config map that the binding names"
    assert refusal.status == seen(AREA, title)
    assert await admitted(room, a_review({**a_map(), "data": {"a": "7"}}))


async def test_parameters_by_selector_apply_the_policy_with_each() -> None:
    room = Room()
    for name, size in (("one", 1), ("two", 2)):
        metadata = {"name": name, "labels": {"params": "yes"}}
        room.put("team", WIDGETS_V1, metadata, spec={"size": size})
    room.policy(
        says(
            "object.data.a != string(params.spec.size)",
            messageExpression="'not ' + string(params.spec.size)",
        ),
        bound=reference(selector={"matchLabels": {"params": "yes"}}),
        paramKind=WIDGET,
    )
    title = "parameters by selector apply the policy with each that is found in the namespace"
    for number, value in enumerate(("1", "2")):
        refusal = await room.refusal(a_review({**a_map(), "data": {"a": value}}))
        assert refusal.status == seen(AREA, title, number)
    assert await admitted(room, a_review({**a_map(), "data": {"a": "3"}}))


async def test_parameters_that_are_not_there_refuse_unless_they_may_be_missing() -> None:
    room = Room()
    room.policy(says("true"), bound=reference(name="none"), paramKind=WIDGET)
    refusal = await room.refusal(a_review())
    title = "parameters that are not there refuse every request under Deny"
    assert refusal.status == seen(AREA, title)
    allow = reference(name="none", parameterNotFoundAction="Allow")
    room.policy(says("false"), bound=allow, paramKind=WIDGET)
    assert await admitted(room)


@pytest.mark.parametrize(
    ("kind", "more", "served", "said"),
    [
        (
            {"apiVersion": "v1", "kind": "Nothing"},
            {"name": "x"},
            MAPS,
            "paramKind kind `v1, Kind=Nothing` not known",
        ),
        (
            {"apiVersion": "v1", "kind": "Node"},
            {"name": "x", "namespace": "team"},
            MAPS,
            "paramRef.namespace must not be provided for a cluster-scoped `paramKind`",
        ),
        (
            CONFIG_MAP,
            {"name": "x"},
            NODES,
            "cannot use namespaced paramRef in policy binding that matches cluster-scoped",
        ),
    ],
    ids=["unknown", "namespace", "no namespace"],
)
async def test_parameters_that_cannot_be_had_refuse(
    kind: Object, more: Object, served: Any, said: str
) -> None:
    room = Room()
    rules = {"resourceRules": [a_rule("*")]}
    room.policy(says("true"), bound=reference(**more), paramKind=kind, matchConstraints=rules)
    refusal = await room.refusal(a_review(an_object(served), served=served))
    assert f"failed to configure binding: {said}" in refusal.message


async def test_a_variable_that_fails_is_named() -> None:
    room = Room()
    room.policy(
        says("variables.a == 'x'"),
        variables=[{"name": "a", "expression": "object.data.missing"}],
    )
    message = (await room.refusal(a_review())).message
    assert 'composited variable "a" fails to evaluate: no such key: missing' in message


def test_a_policys_status_holds_what_the_type_checker_finds() -> None:
    area = "admission_policy_objects"
    for title, expressions, rule in (
        ("a policy without type errors has an empty check", ["object.data.a == '1'"], a_rule()),
        (
            "the type checker warns of unknown fields and wrong types",
            ["object.dta == '1'", "object.data.a == 1"],
            a_rule(),
        ),
        (
            "the type checker tries an expression with each kind that is matched",
            ["object.spec.replicas > 1"],
            a_rule(group="apps") | {"resources": ["deployments", "daemonsets"]},
        ),
    ):
        spec = {
            "matchConstraints": {"resourceRules": [rule]},
            "validations": [says(each) for each in expressions],
        }
        status = policy_status({"metadata": {"generation": 1}, "spec": spec}, Kinds())
        assert status == golden(area, title)[0]["body"]


def test_wildcards_are_not_type_checked() -> None:
    spec = {
        "matchConstraints": {"resourceRules": [a_rule("*"), a_rule(group="*")]},
        "validations": [says("object.nothing", messageExpression="object.neither")],
    }
    assert policy_status({"metadata": {}, "spec": spec}, Kinds())["typeChecking"] == {}
