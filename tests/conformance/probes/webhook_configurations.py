# SPDX-License-Identifier: Apache-2.0
"""Webhook configurations as objects: defaults, validation, generation."""

from __future__ import annotations

from typing import Any

from tests.conformance.admission import rule
from tests.conformance.probe import Probe, probe

VERSION = "admissionregistration.k8s.io/v1"
KINDS = ("validating", "mutating")
URL = {"url": "https://127.0.0.1:1/hook"}


def _path(p: Probe, kind: str, *more: str) -> str:
    return p.everywhere(VERSION, f"{kind}webhookconfigurations", *more)


def _configuration(p: Probe, *hooks: dict[str, Any]) -> dict[str, Any]:
    """Of webhooks for a group that does not exist, so that none is ever called."""
    return {"metadata": {"name": f"plain-{p.id}"}, "webhooks": list(hooks)}


def _hook(p: Probe, **changes: Any) -> dict[str, Any]:
    """The least that is accepted, with changes; a change to None leaves a field out."""
    whole = {
        "name": "hook.example.com",
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
        "clientConfig": URL,
        "rules": [rule("things", "CREATE", group=f"{p.id}.example.com")],
        **changes,
    }
    return {key: value for key, value in whole.items() if value is not None}


@probe("a webhook configuration comes back with its defaults")
async def defaults(p: Probe) -> None:
    for kind in KINDS:
        await p.see("POST", _path(p, kind), _configuration(p, _hook(p)))
        await p.do("DELETE", _path(p, kind, f"plain-{p.id}"))


@probe("a webhook's service gets a port by default")
async def service_defaults(p: Probe) -> None:
    service = {"service": {"namespace": p.ns, "name": "hook"}}
    body = _configuration(p, _hook(p, clientConfig=service))
    await p.see("POST", _path(p, "validating"), body, query={"dryRun": "All"})


@probe("a webhook configuration without webhooks is accepted")
async def no_webhooks(p: Probe) -> None:
    await p.see("POST", _path(p, "validating"), _configuration(p), query={"dryRun": "All"})


@probe("the generation of a webhook configuration counts changes of its webhooks only")
async def generation(p: Probe) -> None:
    name = f"plain-{p.id}"
    await p.do("POST", _path(p, "validating"), _configuration(p, _hook(p)))
    for patch in (
        {"metadata": {"labels": {"x": "y"}}},
        {"webhooks": [{"name": "hook.example.com", "timeoutSeconds": 3}]},
    ):
        await p.see("PATCH", _path(p, "validating", name), patch, patch="strategic")
    await p.see("DELETE", _path(p, "validating", name))


def _refused(title: str, *changes: dict[str, Any], kind: str = "validating") -> None:
    """A probe of a configuration with a webhook for each of the changes."""

    @probe(title)
    async def refused(p: Probe) -> None:
        body = _configuration(p, *(_hook(p, **change) for change in changes))
        await p.see("POST", _path(p, kind), body, query={"dryRun": "All"})


def _rule(**changes: Any) -> dict[str, Any]:
    return {"rules": [{**rule("pods", "CREATE"), **changes}]}


def _condition(name: str, expression: str) -> dict[str, str]:
    return {"name": name, "expression": expression}


_CHANGES: list[tuple[str, dict[str, Any]]] = [
    ("a webhook without sideEffects is refused", {"sideEffects": None}),
    ("a webhook with side effects is refused", {"sideEffects": "Some"}),
    ("a webhook with unknown side effects is refused", {"sideEffects": "Unknown"}),
    ("a webhook with sideEffects NoneOnDryRun is accepted", {"sideEffects": "NoneOnDryRun"}),
    ("a webhook without admissionReviewVersions is refused", {"admissionReviewVersions": None}),
    (
        "a webhook that understands v1beta1 only is accepted",
        {"admissionReviewVersions": ["v1beta1"]},
    ),
    (
        "a webhook that understands v1 and what the server does not is accepted",
        {"admissionReviewVersions": ["v2", "v1"]},
    ),
    ("a webhook without clientConfig is refused", {"clientConfig": None}),
    (
        "a webhook with both url and service is refused",
        {"clientConfig": {**URL, "service": {"namespace": "a", "name": "b"}}},
    ),
    ("a webhook by plain HTTP is refused", {"clientConfig": {"url": "http://127.0.0.1/hook"}}),
    (
        "a webhook whose url has a query, a fragment or a user is refused",
        {"clientConfig": {"url": "https://me@127.0.0.1/hook?a=b#c"}},
    ),
    (
        "a webhook whose caBundle holds no certificate is accepted",
        {"clientConfig": {**URL, "caBundle": "aGVsbG8="}},
    ),
    (
        "a webhook whose service has a bad path and port is refused",
        {"clientConfig": {"service": {"namespace": "a", "name": "b", "path": "c", "port": 0}}},
    ),
    ("a webhook whose name has fewer than three parts is refused", {"name": "hook.example"}),
    ("a webhook without a name is refused", {"name": None}),
    ("a webhook with timeoutSeconds 0 is refused", {"timeoutSeconds": 0}),
    ("a webhook with timeoutSeconds 31 is refused", {"timeoutSeconds": 31}),
    ("a webhook with an unknown failurePolicy is refused", {"failurePolicy": "Retry"}),
    ("a webhook with an unknown matchPolicy is refused", {"matchPolicy": "Close"}),
    ("a rule without operations is refused", _rule(operations=[])),
    ("a rule with an unknown operation is refused", _rule(operations=["PATCH"])),
    ("a rule with * and another operation is refused", _rule(operations=["*", "CREATE"])),
    ("a rule with * and another group is refused", _rule(apiGroups=["*", "apps"])),
    ("a rule without versions and resources is refused", _rule(apiVersions=[], resources=[])),
    (
        "a rule whose resources include one another is refused",
        _rule(resources=["pods/*", "pods/status", "*/status"]),
    ),
    ("a rule with * and another resource is refused", _rule(resources=["*", "pods"])),
    ("a rule with */* and another resource is refused", _rule(resources=["*/*", "pods"])),
    ("a rule with an unknown scope is refused", _rule(scope="Everything")),
    (
        "a webhook with a bad selector is refused",
        {"objectSelector": {"matchExpressions": [{"key": "a b", "operator": "Near"}]}},
    ),
    (
        "a matchCondition that does not compile is refused",
        {"matchConditions": [_condition("broken", "object.metadata.name ==")]},
    ),
    (
        "a matchCondition that is no boolean is refused",
        {"matchConditions": [_condition("number", "1 + 1")]},
    ),
    (
        "a matchCondition with an unknown variable is refused",
        {"matchConditions": [_condition("unknown", "thing == 1")]},
    ),
    (
        "a matchCondition with an unknown field of the request is refused",
        {"matchConditions": [_condition("unknown", "request.colour == 'red'")]},
    ),
    (
        "matchConditions without name or expression are refused",
        {"matchConditions": [_condition("", "true"), _condition("a", "")]},
    ),
    (
        "matchConditions with a bad or repeated name are refused",
        {"matchConditions": [_condition("a b", "true"), *[_condition("c", "true")] * 2]},
    ),
    (
        "more than 64 matchConditions are refused",
        {"matchConditions": [_condition(f"c{number}", "true") for number in range(65)]},
    ),
]
for _title, _changes in _CHANGES:
    _refused(_title, _changes)
_refused("two webhooks with one name are refused", {}, {})
_refused(
    "a mutating webhook with an unknown reinvocationPolicy is refused",
    {"reinvocationPolicy": "Always"},
    kind="mutating",
)
_refused(
    "a validating webhook with a reinvocationPolicy is warned about",
    {"reinvocationPolicy": "Never"},
)
