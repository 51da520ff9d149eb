# SPDX-License-Identifier: Apache-2.0
"""ValidatingAdmissionPolicies and their bindings as objects: defaults, validation, type checks."""

from __future__ import annotations

from typing import Any

from tests.conformance.probe import Probe, probe

VERSION = "admissionregistration.k8s.io/v1"
POLICIES = "validatingadmissionpolicies"
BINDINGS = "validatingadmissionpolicybindings"
RULE = {
    "apiGroups": [""],
    "apiVersions": ["v1"],
    "resources": ["configmaps"],
    "operations": ["CREATE"],
}
CONSTRAINTS = {"resourceRules": [RULE]}
DRY = {"dryRun": "All"}


def _policy(p: Probe, **changes: Any) -> dict[str, Any]:
    """The least that is accepted, with changes; a change to None leaves a field out."""
    spec = {"matchConstraints": CONSTRAINTS, "validations": [{"expression": "true"}], **changes}
    kept = {key: value for key, value in spec.items() if value is not None}
    return {"metadata": {"name": f"policy-{p.id}"}, "spec": kept}


def _binding(p: Probe, **changes: Any) -> dict[str, Any]:
    spec = {"policyName": f"policy-{p.id}", "validationActions": ["Deny"], **changes}
    kept = {key: value for key, value in spec.items() if value is not None}
    return {"metadata": {"name": f"binding-{p.id}"}, "spec": kept}


async def _make(p: Probe, resource: str, body: dict[str, Any], **how: Any) -> None:
    """Sees a creation; what was made goes when the probe ends."""
    path = p.everywhere(VERSION, resource)
    p.cleanup.push_async_callback(p.ask, "DELETE", f"{path}/{body['metadata']['name']}")
    await p.see("POST", path, body, **how)


@probe("a policy comes back with its defaults")
async def policy_defaults(p: Probe) -> None:
    await _make(p, POLICIES, _policy(p), query=DRY)


@probe("a policy may count on parameters, variables, conditions and audit annotations")
async def policy_whole(p: Probe) -> None:
    body = _policy(
        p,
        failurePolicy="Ignore",
        paramKind={"apiVersion": "v1", "kind": "ConfigMap"},
        variables=[{"name": "a", "expression": "object.metadata.name"}],
        matchConditions=[{"name": "c", "expression": "true"}],
        auditAnnotations=[{"key": "k", "valueExpression": "'name ' + variables.a"}],
    )
    await _make(p, POLICIES, body, query=DRY)


@probe("a binding comes back with its defaults, and needs no policy")
async def binding_defaults(p: Probe) -> None:
    resources = {"resourceRules": [RULE], "namespaceSelector": {"matchLabels": {"x": p.id}}}
    await _make(p, BINDINGS, _binding(p, matchResources=resources))


@probe("a policy's generation counts changes of its spec, and its status follows")
async def generation(p: Probe) -> None:
    # No binding: the policy touches nobody.
    path = p.everywhere(VERSION, POLICIES, f"policy-{p.id}")
    await _make(p, POLICIES, _policy(p))
    await p.see(
        "PATCH",
        path,
        {"metadata": {"labels": {"x": "y"}}},
        patch="merge",
        pick=lambda body: body["metadata"]["generation"],
    )
    change = {"spec": {"failurePolicy": "Ignore"}}
    await p.do("PATCH", path, change, patch="merge")
    await p.until("GET", path, lambda answer: answer.body["status"].get("observedGeneration") == 2)
    await p.see("GET", path)


def _checked(title: str, *expressions: str, **changes: Any) -> None:
    """A probe of what the type checker writes into the status."""

    @probe(title)
    async def checked(p: Probe) -> None:
        validations = [{"expression": expression} for expression in expressions]
        body = _policy(p, validations=validations, **changes)
        path = p.everywhere(VERSION, POLICIES, body["metadata"]["name"])
        await p.do("POST", p.everywhere(VERSION, POLICIES), body)
        p.cleanup.push_async_callback(p.ask, "DELETE", path)
        await p.until("GET", path, lambda answer: "typeChecking" in answer.body.get("status", {}))
        await p.see("GET", path, pick=lambda found: found["status"])


_checked("a policy without type errors has an empty check", "object.data.a == '1'")
_checked(
    "the type checker warns of unknown fields and wrong types",
    "object.dta == '1'",
    "object.data.a == 1",
)
_checked(
    "the type checker tries an expression with each kind that is matched",
    "object.spec.replicas > 1",
    matchConstraints={
        "resourceRules": [
            {**RULE, "apiGroups": ["apps"], "resources": ["deployments", "daemonsets"]}
        ]
    },
)


def _refused(title: str, **changes: Any) -> None:
    @probe(title)
    async def refused(p: Probe) -> None:
        await _make(p, POLICIES, _policy(p, **changes), query=DRY)


def _validation(expression: str = "true", **more: Any) -> dict[str, Any]:
    return {"validations": [{"expression": expression, **more}]}


_COSTLY = "object.data.all(a, object.data.all(b, object.data.all(c, object.data.all(d, a == b))))"
_POLICIES: list[tuple[str, dict[str, Any]]] = [
    ("a policy without validations is refused", {"validations": None}),
    ("a policy without matchConstraints is refused", {"matchConstraints": None}),
    ("a policy that matches nothing is refused", {"matchConstraints": {}}),
    ("a validation that does not parse is refused", _validation("object.data ==")),
    ("a validation that is no boolean is refused", _validation("'yes'")),
    ("a validation without an expression is refused", _validation("  ")),
    ("a validation of an unknown variable is refused", _validation("thing == 1")),
    ("a validation of parameters without a paramKind is refused", _validation("params != null")),
    ("a validation that may cost too much is accepted for untyped data", _validation(_COSTLY)),
    (
        "a message of two lines is refused",
        _validation(message="one\ntwo"),
    ),
    ("an unknown reason is refused", _validation(reason="Teapot")),
    ("a messageExpression that is no string is refused", _validation(messageExpression="1")),
    (
        "a variable with a bad name is refused",
        {"variables": [{"name": "not a name", "expression": "3"}]},
    ),
    (
        "two variables of one name are accepted",
        {"variables": [{"name": "a", "expression": "1"}, {"name": "a", "expression": "2"}]},
    ),
    (
        "a variable that is used before it is declared is refused",
        {
            "variables": [
                {"name": "a", "expression": "variables.b"},
                {"name": "b", "expression": "1"},
            ]
        },
    ),
    (
        "a matchCondition that does not compile is refused",
        {"matchConditions": [{"name": "a", "expression": "objct == 1"}]},
    ),
    (
        "an audit annotation that is no string is refused",
        {"auditAnnotations": [{"key": "k", "valueExpression": "1"}]},
    ),
    ("a paramKind without kind and version is refused", {"paramKind": {}}),
    ("a policy with an unknown failurePolicy is refused", {"failurePolicy": "Retry"}),
    (
        "a rule with a bad operation is refused",
        {"matchConstraints": {"resourceRules": [{**RULE, "operations": ["PATCH"]}]}},
    ),
]
for _title, _changes in _POLICIES:
    _refused(_title, **_changes)


def _binding_refused(title: str, **changes: Any) -> None:
    @probe(title)
    async def refused(p: Probe) -> None:
        await _make(p, BINDINGS, _binding(p, **changes), query=DRY)


_BINDINGS: list[tuple[str, dict[str, Any]]] = [
    ("a binding without a policy's name is refused", {"policyName": None}),
    ("a binding without actions is refused", {"validationActions": None}),
    ("a binding with an unknown action is refused", {"validationActions": ["Shout"]}),
    ("a binding that denies and warns is refused", {"validationActions": ["Deny", "Warn"]}),
    ("a binding with an action twice is refused", {"validationActions": ["Warn", "Warn"]}),
    (
        "a binding's parameters without name and selector are refused",
        {"paramRef": {"parameterNotFoundAction": "Allow"}},
    ),
    (
        "a binding's parameters by both name and selector are refused",
        {"paramRef": {"name": "a", "selector": {}, "parameterNotFoundAction": "Allow"}},
    ),
    ("a binding's parameters without an action are refused", {"paramRef": {"name": "a"}}),
]
for _title, _changes in _BINDINGS:
    _binding_refused(_title, **_changes)
