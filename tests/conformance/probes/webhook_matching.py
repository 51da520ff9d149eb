# SPDX-License-Identifier: Apache-2.0
"""Which requests reach an admission webhook: rules, selectors, matchPolicy, matchConditions."""

from __future__ import annotations

import copy
from typing import Any

from tests.conformance.admission import CONFIG_MAP_WRITES, Calls, Hook, rule, settled, webhooks
from tests.conformance.builders import config_map, pod
from tests.conformance.kinds import DEFINITIONS, GROUP, WIDGETS, beacon, definition, schema
from tests.conformance.probe import Probe, probe

MAPS = "configmaps"
NO_CANARY = {"key": "trellis.dev/canary", "operator": "DoesNotExist"}
READY = {"status": {"conditions": [{"type": "Ready", "status": "True"}]}}


def _operations(p: Probe, calls: Calls, *hooks: Hook) -> None:
    """Notes what each webhook was called for: operation, object and subresource.

    What is not namespaced and of another probe meets every namespaceSelector, and is left out.
    """
    seen = {
        hook.name: [
            " ".join(
                request[key] for key in ("operation", "name", "subResource") if request.get(key)
            )
            for request in (call["request"] for call in calls[hook.name])
            if p.id in f"{request.get('namespace')} {request.get('name')}"
        ]
        for hook in hooks
    }
    p.note("calls", seen)


async def _come_and_go(p: Probe, labels: dict[str, str]) -> None:
    """Creates and deletes a cluster-scoped object."""
    path = p.everywhere(WIDGETS, "beacons")
    await p.do("POST", path, beacon(f"beacon-{p.id}", labels=labels))
    await settled(p, f"{path}/beacon-{p.id}")
    await p.do("DELETE", f"{path}/beacon-{p.id}")


@probe("a rule's operations tell which writes are reviewed, and a patch is an UPDATE")
async def operations(p: Probe) -> None:
    hooks = [
        Hook(name, rules=[rule(MAPS, *which)])
        for name, which in {
            "create": ["CREATE"],
            "update": ["UPDATE"],
            "delete": ["DELETE"],
            "connect": ["CONNECT"],
            "all": ["*"],
        }.items()
    ]
    async with webhooks(p, "validating", *hooks) as calls:
        path = p.path("v1", MAPS, "a")
        await p.do("POST", p.path("v1", MAPS), config_map("a"))
        await settled(p, path)
        await p.do("PUT", path, config_map("a", {"a": "2"}))
        await settled(p, path)
        await p.do("PATCH", path, {"data": {"a": "3"}}, patch="merge")
        await settled(p, path)
        await p.do("DELETE", path)
        _operations(p, calls, *hooks)


@probe("a rule's resources tell which resources and subresources are reviewed")
async def resources(p: Probe) -> None:
    hooks = [
        Hook(name, rules=[rule(resource)])
        for name, resource in {
            "pods": "pods",
            "pods-status": "pods/status",
            "pods-any": "pods/*",
            "any-status": "*/status",
            "any": "*",
            "any-any": "*/*",
        }.items()
    ]
    async with webhooks(p, "validating", *hooks) as calls:
        path = p.path("v1", "pods", "a")
        await p.do("POST", p.path("v1", "pods"), pod("a"))
        await settled(p, path)
        await p.do("PATCH", path, {"metadata": {"labels": {"x": "y"}}}, patch="merge")
        await settled(p, path)
        await p.do("PATCH", f"{path}/status", READY, patch="strategic")
        _operations(p, calls, *hooks)


@probe("a rule's groups and versions tell which are reviewed")
async def groups(p: Probe) -> None:
    hooks = [
        Hook(name, rules=[rule(MAPS, group=group, version=version)])
        for name, (group, version) in {
            "core": ("", "v1"),
            "apps": ("apps", "v1"),
            "any": ("*", "*"),
            "v2": ("", "v2"),
        }.items()
    ]
    async with webhooks(p, "validating", *hooks) as calls:
        await p.do("POST", p.path("v1", MAPS), config_map("a"))
        _operations(p, calls, *hooks)


@probe("a rule's scope tells whether namespaced or cluster-scoped objects are reviewed")
async def scope(p: Probe) -> None:
    rules = {"group": "*", "version": "*"}
    selector = {"matchLabels": {"probe": p.id}}
    hooks = [
        Hook(name, rules=[rule("*", **rules, scope=scope)], objectSelector=selector)
        for name, scope in {"cluster": "Cluster", "namespaced": "Namespaced", "any": "*"}.items()
    ]
    labels = {"probe": p.id}
    namespace = p.everywhere("v1", "namespaces", p.ns)
    async with webhooks(p, "validating", *hooks) as calls:
        await p.do("POST", p.path("v1", MAPS), config_map("a", labels=labels))
        await p.do("PATCH", namespace, {"metadata": {"labels": labels}}, patch="merge")
        await _come_and_go(p, labels)
        _operations(p, calls, *hooks)


@probe("an objectSelector is met if the old or the new object meets it")
async def object_selector(p: Probe) -> None:
    selector = {"matchLabels": {"x": "y"}}
    hook = Hook("hook", rules=[rule(MAPS)], objectSelector=selector)
    path = p.path("v1", MAPS, "a")
    with_label, without = {"labels": {"x": "y"}}, {"labels": None}
    async with webhooks(p, "validating", hook) as calls:
        await p.do("POST", p.path("v1", MAPS), config_map("a"))
        p.note("calls after creation without the label", len(calls["hook"]))
        for what, metadata in (
            ("the label was added", with_label),
            ("the label was removed", without),
            ("another change", {"annotations": {"x": "y"}}),
            ("the label was added again", with_label),
        ):
            await settled(p, path)
            await p.do("PATCH", path, {"metadata": metadata}, patch="merge")
            p.note(f"calls after {what}", len(calls["hook"]))
        await settled(p, path)
        await p.do("DELETE", path)
        p.note("calls after deletion", len(calls["hook"]))


@probe("an objectSelector of absence is met by an object without labels")
async def object_selector_absence(p: Probe) -> None:
    expressions = [{"key": "x", "operator": "DoesNotExist"}]
    hook = Hook("hook", objectSelector={"matchExpressions": expressions})
    async with webhooks(p, "validating", hook) as calls:
        await p.do("POST", p.path("v1", MAPS), config_map("a"))
        await p.do("POST", p.path("v1", MAPS), config_map("b", labels={"x": "y"}))
        _operations(p, calls, hook)


@probe("a namespaceSelector is met by the labels of the object's namespace")
async def namespace_selector(p: Probe) -> None:
    async def relabel(name: str, value: str | None) -> None:
        path = p.everywhere("v1", "namespaces", p.ns)
        await p.do("PATCH", path, {"metadata": {"labels": {name: value}}}, patch="merge")

    own = {"kubernetes.io/metadata.name": p.ns}
    other = {"key": "tier", "operator": "NotIn", "values": ["low"]}
    hooks = [
        Hook("with", namespaceSelector={"matchLabels": {**own, "tier": "high"}}),
        Hook("not", namespaceSelector={"matchLabels": own, "matchExpressions": [other]}),
        Hook("elsewhere", namespaceSelector={"matchLabels": {"tier": p.id}}),
    ]
    await relabel("tier", "high")
    async with webhooks(p, "validating", *hooks) as calls:
        await p.do("POST", p.path("v1", MAPS), config_map("a"))
        _operations(p, calls, *hooks)


@probe("a namespaceSelector does not keep cluster-scoped objects out")
async def namespace_selector_cluster(p: Probe) -> None:
    labels = {"probe": p.id}
    hook = Hook(
        "hook", rules=[rule("beacons", group=GROUP)], objectSelector={"matchLabels": labels}
    )
    async with webhooks(p, "validating", hook) as calls:
        await _come_and_go(p, labels)
        _operations(p, calls, hook)


@probe("deletecollection is reviewed object by object, each with its old object and no name")
async def deletecollection(p: Probe) -> None:
    for name in ("a", "b"):
        await p.do("POST", p.path("v1", MAPS), config_map(name, labels={"x": "y"}))
        await settled(p, p.path("v1", MAPS, name))
    hook = Hook("hook", rules=[rule(MAPS, "DELETE")])
    async with webhooks(p, "validating", hook) as calls:
        await p.do("DELETE", p.path("v1", MAPS), query={"labelSelector": "x=y"})
        calls["hook"].sort(key=lambda call: str(call["request"]["oldObject"]["metadata"]["name"]))
        p.note("what the webhook was sent", calls["hook"])


@probe("deletecollection stops with the refusal of one object's deletion")
async def deletecollection_denied(p: Probe) -> None:
    await p.do("POST", p.path("v1", MAPS), config_map("a", labels={"x": "y"}))
    deny = {"allowed": False, "status": {"message": "keep it"}}
    hook = Hook("hook", lambda _: deny, rules=[rule(MAPS, "DELETE")])
    async with webhooks(p, "validating", hook):
        await p.see("DELETE", p.path("v1", MAPS), query={"labelSelector": "x=y"})
        await p.see("GET", p.path("v1", MAPS), query={"labelSelector": "x=y"})


@probe("webhook configurations themselves are never reviewed")
async def exempt(p: Probe) -> None:
    labels = {"probe": p.id}
    every = rule("*/*", group="*", version="*")
    hook = Hook("hook", rules=[every], objectSelector={"matchLabels": labels})
    version, resource = "admissionregistration.k8s.io/v1", "validatingwebhookconfigurations"
    async with webhooks(p, "validating", hook) as calls:
        body = {"metadata": {"name": f"other-{p.id}", "labels": labels}}
        await p.do("POST", p.everywhere(version, resource), body)
        await p.do("DELETE", p.everywhere(version, resource, f"other-{p.id}"))
        _operations(p, calls, hook)


async def _two_versions(p: Probe) -> str:
    """A kind of the probe's own with versions v1 and v2; returns its group."""
    group = f"{p.id}.example.com"
    free = schema(spec={"type": "object", "x-kubernetes-preserve-unknown-fields": True})
    crd = definition(group, "things", "Thing", {"schema": free})
    second = copy.deepcopy(crd["spec"]["versions"][0]) | {"name": "v2", "storage": False}
    crd["spec"]["versions"].append(second)
    await p.do("POST", DEFINITIONS, crd)
    p.cleanup.push_async_callback(p.ask, "DELETE", f"{DEFINITIONS}/things.{group}")
    for version in ("v1", "v2"):
        path = p.path(f"{group}/{version}", "things")
        await p.until("GET", path, lambda answer: answer.status == 200)
    return group


@probe("matchPolicy Equivalent converts another version to the rule's, Exact passes it by")
async def match_policy(p: Probe) -> None:
    group = await _two_versions(p)
    hooks = [
        Hook(name, rules=[rule("things", group=group)], matchPolicy=name.capitalize())
        for name in ("equivalent", "exact")
    ]
    async with webhooks(p, "validating", *hooks) as calls:
        for version in ("v1", "v2"):
            body = {"apiVersion": f"{group}/{version}", "kind": "Thing", "spec": {"a": 1}}
            body["metadata"] = {"name": version}
            await p.do("POST", p.path(f"{group}/{version}", "things"), body)
        _operations(p, calls, *hooks)
        p.note("what was sent for v2", calls["equivalent"][1])


def _conditions(title: str, *expressions: str, policy: str = "Fail") -> None:
    @probe(title)
    async def conditioned(p: Probe) -> None:
        conditions = [
            {"name": f"c{number}", "expression": expression}
            for number, expression in enumerate(expressions)
        ]
        hook = Hook(
            "hook",
            rules=[{**CONFIG_MAP_WRITES, "operations": ["*"]}],
            matchConditions=conditions,
            failurePolicy=policy,
            # Conditions come before any call: one that fails would keep the canary from being seen.
            objectSelector={"matchExpressions": [NO_CANARY]},
        )
        path = p.path("v1", MAPS, "a")
        async with webhooks(p, "validating", hook) as calls:
            made = await p.see("POST", p.path("v1", MAPS), config_map("a"))
            if made["kind"] == "Status":
                return
            await settled(p, path)
            await p.see("PATCH", path, {"data": {"a": "2"}}, patch="merge")
            await settled(p, path)
            await p.do("DELETE", path)
            _operations(p, calls, hook)


for _title, _expressions in [
    ("a matchCondition that holds lets the request through", ["true"]),
    ("of several matchConditions all must hold", ["true", "request.operation == 'UPDATE'"]),
    ("a matchCondition knows the user", ["request.userInfo.username == 'admin'"]),
    ("a matchCondition sees the object, null on DELETE", ["object == null"]),
    ("a matchCondition sees the old object, null on CREATE", ["oldObject != null"]),
    ("a matchCondition may compare both objects", ["has(object.data) && object != oldObject"]),
    (
        "a matchCondition may ask the authorizer",
        ["authorizer.group('').resource('pods').check('get').allowed()"],
    ),
    (
        "a matchCondition that is false outweighs one that fails",
        ["object.data.missing == 'x'", "false"],
    ),
    ("a matchCondition that fails refuses the request", ["object.data.missing == 'x'"]),
    ("a matchCondition with optional access does not fail", ["object.?data.?missing.hasValue()"]),
]:
    _conditions(_title, *_expressions)
_conditions(
    "a matchCondition that fails passes the webhook by under failurePolicy Ignore",
    "object.data.missing == 'x'",
    policy="Ignore",
)


@probe("a change of a webhook's selector takes effect without a restart")
async def changed(p: Probe) -> None:
    deny = {"allowed": False, "status": {"message": "no"}}
    hook = Hook("hook", lambda _: deny, objectSelector={"matchLabels": {"x": "y"}})
    path = p.everywhere(
        "admissionregistration.k8s.io/v1",
        "validatingwebhookconfigurations",
        f"probe-validating-{p.id}",
    )
    async with webhooks(p, "validating", hook):
        body: dict[str, Any] = config_map("a")
        await p.see("POST", p.path("v1", MAPS), body, query={"dryRun": "All"})
        everything = [{"op": "replace", "path": "/webhooks/1/objectSelector", "value": {}}]
        await p.do("PATCH", path, everything, patch="json")
        await p.until(
            "POST",
            p.path("v1", MAPS),
            lambda answer: answer.status != 201,
            body=body,
            query={"dryRun": "All"},
        )
        await p.see("POST", p.path("v1", MAPS), body, query={"dryRun": "All"})
