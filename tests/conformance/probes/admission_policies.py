# SPDX-License-Identifier: Apache-2.0
"""ValidatingAdmissionPolicies at work: what they refuse, in which words, and what they know."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from tests.conformance.accounts import account, allow, grant
from tests.conformance.builders import config_map, pod
from tests.conformance.kinds import GROUP, WIDGETS, widget
from tests.conformance.probe import Probe, probe

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.support.api import Answer

VERSION = "admissionregistration.k8s.io/v1"
POLICIES = "validatingadmissionpolicies"
BINDINGS = "validatingadmissionpolicybindings"
MAPS = "configmaps"
# A policy reaches the server through a watch: it is there once this one is refused.
CANARY = {"expression": "object == null || object.metadata.name != 'canary'", "message": "canary"}
CONFIG_MAP = {"apiVersion": "v1", "kind": "ConfigMap"}
WIDGET = {"apiVersion": WIDGETS, "kind": "Widget"}


def _rule(resource: str = MAPS, *operations: str, group: str = "", **more: Any) -> dict[str, Any]:
    return {
        "apiGroups": [group],
        "apiVersions": ["v1"],
        "resources": [resource],
        "operations": list(operations) or ["CREATE", "UPDATE"],
        **more,
    }


def _says(expression: str, **more: Any) -> dict[str, Any]:
    return {"expression": expression, **more}


def _condition(expression: str) -> dict[str, str]:
    return {"name": "condition", "expression": expression}


def _noticed(answer: Answer) -> bool:
    return answer.status != 201 or "Warning" in answer.headers


@asynccontextmanager
async def _policy(
    p: Probe, *validations: dict[str, Any], bound: dict[str, Any] | None = None, **spec: Any
) -> AsyncIterator[None]:
    """A policy for writes of config maps, bound to the probe's namespace, for a block."""
    name = f"policy-{p.id}"
    rules = spec.pop("rules", [_rule()])
    whole = {
        "matchConstraints": {"resourceRules": [*rules, _rule()]},
        "validations": [*validations, CANARY],
        **spec,
    }
    binding = {
        "policyName": name,
        "validationActions": ["Deny"],
        "matchResources": {"namespaceSelector": _own_namespace(p)},
        **(bound or {}),
    }
    for resource, body in ((POLICIES, whole), (BINDINGS, binding)):
        path = p.everywhere(VERSION, resource)
        await p.do("POST", path, {"metadata": {"name": name}, "spec": body})
        p.cleanup.push_async_callback(p.ask, "DELETE", f"{path}/{name}")
    await _until_noticed(p)
    yield
    for resource in (BINDINGS, POLICIES):
        await p.do("DELETE", p.everywhere(VERSION, resource, name))


def _own_namespace(p: Probe) -> dict[str, Any]:
    return {"matchLabels": {"kubernetes.io/metadata.name": p.ns}}


async def _until_noticed(p: Probe) -> None:
    path = p.path("v1", MAPS)
    await p.until("POST", path, _noticed, body=config_map("canary"), query={"dryRun": "All"})


def _validated(title: str, *validations: dict[str, Any], **spec: Any) -> None:
    """A probe that creates a config map under a policy, and changes one that was there before."""

    @probe(title)
    async def validated(p: Probe) -> None:
        await p.do("POST", p.path("v1", MAPS), config_map("old"))
        async with _policy(p, *validations, **spec):
            await p.see("POST", p.path("v1", MAPS), config_map("a"))
            change = {"data": {"a": "2"}}
            await p.see("PATCH", p.path("v1", MAPS, "old"), change, patch="merge")


NEVER = "object.data.a == '0'"
for _title, _validations in [
    ("a refusal without a message quotes the expression", [_says(NEVER)]),
    ("a refusal says the policy's message", [_says(NEVER, message="a must be 0")]),
    (
        "a refusal says what the messageExpression gives",
        [_says(NEVER, message="unused", messageExpression="'a is ' + object.data.a")],
    ),
    (
        "a messageExpression that fails falls back to the message",
        [_says(NEVER, message="a must be 0", messageExpression="'x' + object.data.missing")],
    ),
    ("a refusal for Forbidden is 403", [_says(NEVER, reason="Forbidden")]),
    (
        "a refusal for RequestEntityTooLarge is 413",
        [_says(NEVER, reason="RequestEntityTooLarge")],
    ),
    ("a refusal for Invalid is 422", [_says(NEVER, reason="Invalid")]),
    (
        "of several validations the first that fails is told",
        [_says("true"), _says(NEVER, message="first"), _says("false", message="second")],
    ),
    ("an expression that fails refuses", [_says("object.data.missing == 'x'")]),
    ("an expression sees the old object on update", [_says("oldObject == null")]),
    (
        "an expression sees the request",
        [_says("request.operation == 'CREATE' && request.userInfo.username == 'admin'")],
    ),
    (
        "an expression sees the namespace",
        [
            _says(
                "namespaceObject.metadata.name == 'x'",
                messageExpression="'in ' + namespaceObject.metadata.name",
            )
        ],
    ),
]:
    _validated(_title, *_validations)
_validated(
    "an expression that fails is passed over under failurePolicy Ignore",
    _says("object.data.missing == 'x'"),
    failurePolicy="Ignore",
)
_validated(
    "variables are computed from one another",
    _says("variables.b == 'x'", messageExpression="'b is ' + variables.b"),
    variables=[
        {"name": "a", "expression": "object.data.a"},
        {"name": "b", "expression": "variables.a + '!'"},
    ],
)
_validated(
    "a matchCondition that is false passes the policy by",
    _says("false"),
    matchConditions=[
        _condition("request.operation == 'UPDATE' || object.metadata.name == 'canary'")
    ],
)
_validated(
    "a matchCondition that fails refuses",
    matchConditions=[_condition("object.metadata.name == 'canary' || object.data.missing == 'x'")],
)
_validated(
    "validationActions Warn sends a header and lets pass",
    _says("false", message="careful"),
    bound={"validationActions": ["Warn"]},
)
_validated(
    "validationActions Warn and Audit lets pass",
    _says("false", message="careful"),
    bound={"validationActions": ["Warn", "Audit"]},
)


@probe("an expression may ask the authorizer about the caller")
async def authorizer(p: Probe) -> None:
    token = await account(p, "user")
    await allow(p, "user", grant(MAPS, "create"))
    check = "authorizer.group('').resource('pods').namespace(request.namespace).check('delete')"
    own = "authorizer.requestResource.check('create').allowed()"
    validation = _says(f"{own} && {check}.allowed()", message="you may not delete pods")
    async with _policy(p, validation):
        await p.see("POST", p.path("v1", MAPS), config_map("a"))
        await p.see("POST", p.path("v1", MAPS), config_map("b"), token=token)


def _params(p: Probe, **more: Any) -> dict[str, Any]:
    return {"paramRef": {"name": "params", "namespace": p.ns, **more}}


async def _until_says(p: Probe, words: str, body: dict[str, Any]) -> None:
    """Waits for parameters: the server may see a policy before it sees what the policy needs."""
    await p.until(
        "POST",
        p.path("v1", MAPS),
        lambda answer: words.encode() in answer.content,
        body=body,
        query={"dryRun": "All"},
    )


# The only one with parameters from a config map. The server watches them while a policy needs them
# and, for a built-in kind, cannot begin again once it has stopped: a second one would see nothing.
@probe("parameters come from the config map that the binding names")
async def params(p: Probe) -> None:
    await p.do("POST", p.path("v1", MAPS), config_map("params", {"wanted": "7"}))
    validation = _says(
        "object.data.a == params.data.wanted", messageExpression="'wanted ' + params.data.wanted"
    )
    bound = _params(p, parameterNotFoundAction="Deny")
    async with _policy(p, validation, bound=bound, paramKind=CONFIG_MAP):
        await _until_says(p, "wanted 7", config_map("a"))
        await p.see("POST", p.path("v1", MAPS), config_map("a"))
        await p.see("POST", p.path("v1", MAPS), config_map("a", {"a": "7"}))


@probe("parameters that are not there refuse every request under Deny")
async def params_missing(p: Probe) -> None:
    bound = _params(p, parameterNotFoundAction="Deny")
    async with _policy(p, _says("true"), bound=bound, paramKind=WIDGET):
        await _until_says(p, "no params found", config_map("a"))
        await p.see("POST", p.path("v1", MAPS), config_map("a"))


@probe("parameters by selector apply the policy with each that is found in the namespace")
async def params_selected(p: Probe) -> None:
    for name, size in (("one", 1), ("two", 2)):
        body = widget(name, {"size": size}, labels={"params": "yes"})
        await p.do("POST", p.path(WIDGETS, "widgets"), body)
    reference = {"selector": {"matchLabels": {"params": "yes"}}, "parameterNotFoundAction": "Deny"}
    validation = _says(
        "object.data.a != string(params.spec.size)",
        messageExpression="'not ' + string(params.spec.size)",
    )
    maps = p.path("v1", MAPS)
    async with _policy(p, validation, bound={"paramRef": reference}, paramKind=WIDGET):
        for value in ("1", "2"):
            body = config_map("a", {"a": value})
            await _until_says(p, f"denied request: not {value}", body)
            await p.see("POST", maps, body)
        await p.see("POST", maps, config_map("a", {"a": "3"}))


@probe("a policy on DELETE sees the old object only")
async def delete(p: Probe) -> None:
    await p.do("POST", p.path("v1", MAPS), config_map("a"))
    validation = _says(
        "object != null || oldObject.data.a != '1'", messageExpression="'keep ' + oldObject.data.a"
    )
    async with _policy(p, validation, rules=[_rule(MAPS, "DELETE")]):
        await p.see("DELETE", p.path("v1", MAPS, "a"))


@probe("a policy on a subresource does not touch the resource")
async def subresource(p: Probe) -> None:
    await p.do("POST", p.path("v1", "pods"), pod("a"))
    validation = _says("request.subResource != 'status'", message="no status")
    async with _policy(p, validation, rules=[_rule("pods/status", "UPDATE")]):
        path = p.path("v1", "pods", "a")
        label = {"metadata": {"labels": {"x": "y"}}}
        await p.see("PATCH", f"{path}/status", {"status": {"message": "x"}}, patch="merge")
        await p.see("PATCH", path, label, patch="merge", pick=lambda body: body["kind"])


@probe("a policy knows the schema of a custom resource, defaults included")
async def custom_resource(p: Probe) -> None:
    validation = _says(
        "!has(object.spec) || object.spec.color != 'red'",
        messageExpression="'size ' + string(object.spec.size) + ' is ' + object.spec.color",
    )
    async with _policy(p, validation, rules=[_rule("widgets", group=GROUP)]):
        await p.see("POST", p.path(WIDGETS, "widgets"), widget("a"))


@probe("a rule's resourceNames and exclusions narrow a policy")
async def narrowed(p: Probe) -> None:
    constraints = {
        "resourceRules": [_rule(resourceNames=["a", "b", "canary"])],
        "excludeResourceRules": [_rule(resourceNames=["b"])],
    }
    async with _policy(p, _says("false", message="no"), matchConstraints=constraints):
        for name in ("a", "b", "c"):
            await p.see("POST", p.path("v1", MAPS), config_map(name))


@probe("an objectSelector of the binding narrows it further")
async def object_selector(p: Probe) -> None:
    expression = {"key": "free", "operator": "DoesNotExist"}
    selector = {"matchExpressions": [expression]}
    resources = {"namespaceSelector": _own_namespace(p), "objectSelector": selector}
    async with _policy(p, _says("false", message="no"), bound={"matchResources": resources}):
        await p.see("POST", p.path("v1", MAPS), config_map("a"))
        await p.see("POST", p.path("v1", MAPS), config_map("b", labels={"free": "yes"}))


@probe("a policy is checked on dry runs too")
async def dry_run(p: Probe) -> None:
    async with _policy(p, _says(NEVER, message="no")):
        await p.see("POST", p.path("v1", MAPS), config_map("a"), query={"dryRun": "All"})


@probe("a policy without a binding does nothing")
async def unbound(p: Probe) -> None:
    name = f"unbound-{p.id}"
    path = p.everywhere(VERSION, POLICIES)
    spec = {"matchConstraints": {"resourceRules": [_rule()]}, "validations": [_says("false")]}
    await p.do("POST", path, {"metadata": {"name": name}, "spec": spec})
    p.cleanup.push_async_callback(p.ask, "DELETE", f"{path}/{name}")
    # By the time that another policy works, this one would.
    async with _policy(p, _says(NEVER, message="bound")):
        await p.see("POST", p.path("v1", MAPS), config_map("a", {"a": "0"}))
