# SPDX-License-Identifier: Apache-2.0
"""Admission webhooks: when they are called and what they are sent."""

from __future__ import annotations

from typing import Any

from tests.conformance.accounts import account, allow, grant
from tests.conformance.admission import Hook, json_patch, rule, settled, webhooks
from tests.conformance.builders import config_map, pod
from tests.conformance.kinds import GROUP, WIDGETS, beacon, widget
from tests.conformance.probe import Probe, probe

SENT = "what the webhook was sent"
ADD_B = {"op": "add", "path": "/data/b", "value": "2"}


async def _made(p: Probe, resource: str, body: dict[str, Any]) -> str:
    """Creates an object in the probe's namespace before any webhook listens; returns its path."""
    version = body["apiVersion"]
    await p.do("POST", p.path(version, resource), body)
    path = p.path(version, resource, body["metadata"]["name"])
    await settled(p, path)
    return path


@probe("a refusal without a reason is 400 and says so")
async def denied_without_reason(p: Probe) -> None:
    deny = Hook("deny", lambda _: {"allowed": False})
    async with webhooks(p, "validating", deny) as calls:
        await p.see("POST", p.path("v1", "configmaps"), config_map("a"))
        p.note(SENT, calls["deny"])


@probe("a review is POSTed with the timeout in the query")
async def request_line(p: Probe) -> None:
    hooks = (Hook("plain"), Hook("hasty", timeoutSeconds=2))
    async with webhooks(p, "validating", *hooks):
        for hook in hooks:
            hook.heads.clear()
        await p.do("POST", p.path("v1", "configmaps"), config_map("a"))
        p.note("heads of the calls", {hook.name: hook.heads for hook in hooks})


@probe("a mutating webhook sees a new object without uid and changes it before it is stored")
async def mutating_create(p: Probe) -> None:
    mutate = Hook("mutate", lambda _: json_patch(ADD_B))
    async with webhooks(p, "mutating", mutate) as calls:
        await p.see("POST", p.path("v1", "configmaps"), config_map("a"))
        p.note(SENT, calls["mutate"])


@probe("a validating webhook sees what a mutating one made of the object, with its uid")
async def validating_after_mutating(p: Probe) -> None:
    mutate = Hook("mutate", lambda _: json_patch(ADD_B))
    async with (
        webhooks(p, "validating", Hook("check")) as checked,
        webhooks(p, "mutating", mutate),
    ):
        checked.clear()
        await p.see("POST", p.path("v1", "configmaps"), config_map("a"))
        p.note(SENT, checked["check"])


@probe("with generateName a mutating webhook sees no name, a validating one sees the final name")
async def generated_name(p: Probe) -> None:
    body = {"metadata": {"generateName": "a-"}}
    async with (
        webhooks(p, "validating", Hook("check")) as checked,
        webhooks(p, "mutating", Hook("mutate")) as mutated,
    ):
        checked.clear()
        await p.see("POST", p.path("v1", "configmaps"), body)
        p.note("what the mutating webhook was sent", mutated["mutate"])
        p.note("what the validating webhook was sent", checked["check"])


@probe("a PUT is reviewed as UPDATE with the object before and after")
async def put(p: Probe) -> None:
    path = await _made(p, "configmaps", config_map("a"))
    async with webhooks(p, "mutating", Hook("mutate")) as calls:
        await p.see("PUT", path, config_map("a", {"a": "2"}), query={"fieldManager": "me"})
        p.note(SENT, calls["mutate"])


@probe("a merge patch is reviewed as UPDATE with the patched object and UpdateOptions")
async def merge_patch(p: Probe) -> None:
    path = await _made(p, "configmaps", config_map("a"))
    async with webhooks(p, "validating", Hook("check")) as calls:
        await p.see("PATCH", path, {"data": {"a": "2"}}, patch="merge")
        p.note(SENT, calls["check"])


@probe("an apply patch is reviewed as a CREATE or UPDATE, with their options and without force")
async def apply_patch(p: Probe) -> None:
    path = p.path("v1", "configmaps", "a")
    how: dict[str, Any] = {"patch": "apply", "query": {"fieldManager": "me", "force": "true"}}
    async with webhooks(p, "validating", Hook("check")) as calls:
        await p.see("PATCH", path, config_map("a"), **how)
        await settled(p, path)
        await p.see("PATCH", path, config_map("a", {"a": "2"}), **how)
        p.note(SENT, calls["check"])


@probe("a PUT and a patch that change nothing are reviewed too")
async def no_change(p: Probe) -> None:
    path = await _made(p, "configmaps", config_map("a"))
    async with webhooks(p, "validating", Hook("check")) as calls:
        await p.see("PUT", path, config_map("a"))
        await p.see("PATCH", path, {"data": {"a": "1"}}, patch="merge")
        p.note("operations reviewed", [call["request"]["operation"] for call in calls["check"]])


@probe("a DELETE is reviewed with the old object only")
async def delete(p: Probe) -> None:
    path = await _made(p, "configmaps", config_map("a"))
    hook = Hook("check", rules=[rule("configmaps", "DELETE")])
    async with webhooks(p, "validating", hook) as calls:
        await p.see("DELETE", path, query={"propagationPolicy": "Background"})
        p.note(SENT, calls["check"])


@probe("an immediate delete of a pod is reviewed as it was and as marked for deletion")
async def delete_pod(p: Probe) -> None:
    path = await _made(p, "pods", pod("a"))
    hook = Hook("check", rules=[rule("pods", "DELETE")])
    async with webhooks(p, "validating", hook) as calls:
        await p.see("DELETE", path)
        # Between the mark and the deletion the cache may lag: then the first comes twice.
        distinct = {
            call["request"]["oldObject"]["metadata"]["resourceVersion"]: call
            for call in calls["check"]
        }
        p.note(SENT, list(distinct.values()))


@probe("a refused DELETE leaves the object there")
async def delete_denied(p: Probe) -> None:
    path = await _made(p, "configmaps", config_map("a"))
    deny = {"allowed": False, "status": {"message": "keep it"}}
    hook = Hook("check", lambda _: deny, rules=[rule("configmaps", "DELETE")])
    async with webhooks(p, "validating", hook):
        await p.see("DELETE", path)
        await p.see("GET", path)


@probe("a status patch of a custom resource is reviewed under its subresource")
async def status_subresource(p: Probe) -> None:
    path = await _made(p, "widgets", widget("a"))
    hook = Hook("check", rules=[rule("widgets/status", group=GROUP)])
    async with webhooks(p, "validating", hook) as calls:
        await p.see("PATCH", f"{path}/status", {"status": {"phase": "Fine"}}, patch="merge")
        p.note(SENT, calls["check"])


@probe("a scale patch is reviewed as a Scale")
async def scale_subresource(p: Probe) -> None:
    path = await _made(p, "widgets", widget("a"))
    hook = Hook("check", rules=[rule("widgets/scale", group=GROUP)])
    async with webhooks(p, "validating", hook) as calls:
        await p.see("PATCH", f"{path}/scale", {"spec": {"replicas": 2}}, patch="merge")
        p.note(SENT, calls["check"])


@probe("an eviction is reviewed as CREATE of an Eviction; the deletion it causes is not reviewed")
async def eviction(p: Probe) -> None:
    path = await _made(p, "pods", pod("a"))
    rules = [rule("pods/eviction"), rule("pods", "DELETE")]
    body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "a"}}
    async with webhooks(p, "validating", Hook("check", rules=rules)) as calls:
        await p.see("POST", f"{path}/eviction", body)
        p.note(SENT, calls["check"])


@probe("a binding is reviewed as CREATE of a Binding and of nothing else")
async def binding(p: Probe) -> None:
    path = await _made(p, "pods", pod("a"))
    rules = [rule("pods/binding"), rule("pods", "UPDATE"), rule("bindings")]
    body = {"metadata": {"name": "a"}, "target": {"kind": "Node", "name": f"node-{p.id}"}}
    async with webhooks(p, "validating", Hook("check", rules=rules)) as calls:
        await p.see("POST", f"{path}/binding", body)
        p.note(SENT, calls["check"])


@probe("a token request is reviewed as CREATE of a TokenRequest")
async def token_request(p: Probe) -> None:
    path = p.path("v1", "serviceaccounts", "default", "token")
    async with webhooks(
        p, "validating", Hook("check", rules=[rule("serviceaccounts/token")])
    ) as calls:
        await p.do("POST", path, {"spec": {"expirationSeconds": 700}})
        p.note(SENT, calls["check"])


@probe("a namespace is reviewed with its own name as namespace")
async def namespace(p: Probe) -> None:
    async with webhooks(p, "validating", Hook("check", rules=[rule("namespaces")])) as calls:
        body = {"metadata": {"labels": {"x": "y"}}}
        await p.see("PATCH", p.everywhere("v1", "namespaces", p.ns), body, patch="merge")
        p.note(SENT, calls["check"])


@probe("a cluster-scoped object is reviewed without a namespace")
async def cluster_scoped(p: Probe) -> None:
    selector = {"matchLabels": {"probe": p.id}}
    hook = Hook("check", rules=[rule("beacons", group=GROUP)], objectSelector=selector)
    async with webhooks(p, "validating", hook) as calls:
        name = f"beacon-{p.id}"
        body = beacon(name, labels={"probe": p.id})
        path = p.everywhere(WIDGETS, "beacons", name)
        await p.see("POST", p.everywhere(WIDGETS, "beacons"), body)
        await settled(p, path)
        await p.see("DELETE", path)
        p.note(SENT, calls["check"])


@probe("a dry run is reviewed with dryRun true, also where sideEffects is NoneOnDryRun")
async def dry_run(p: Probe) -> None:
    hooks = (Hook("none"), Hook("spared", sideEffects="NoneOnDryRun"))
    async with webhooks(p, "validating", *hooks) as calls:
        await p.see("POST", p.path("v1", "configmaps"), config_map("a"), query={"dryRun": "All"})
        p.note(SENT, {name: [call["request"]["dryRun"] for call in calls[name]] for name in calls})
        p.note("options", calls["none"][0]["request"]["options"])


@probe("a service account is named in the review with uid, groups and its token's id")
async def service_account(p: Probe) -> None:
    token = await account(p, "user")
    await allow(p, "user", grant("configmaps", "create"))
    maps = p.path("v1", "configmaps")
    async with webhooks(p, "validating", Hook("check")) as calls:
        await p.do("POST", maps, config_map("a"), token=token)
        p.note("userInfo", calls["check"][0]["request"]["userInfo"])


@probe("an invalid object reaches mutating webhooks but not validating ones")
async def invalid_object(p: Probe) -> None:
    async with (
        webhooks(p, "validating", Hook("check")) as checked,
        webhooks(p, "mutating", Hook("mutate")) as mutated,
    ):
        checked.clear()
        await p.see("POST", p.path("v1", "configmaps"), config_map("a", {"not a key": "1"}))
        p.note("calls", {"mutating": len(mutated["mutate"]), "validating": len(checked["check"])})


@probe("an object that is there already is reviewed before it is refused")
async def exists_already(p: Probe) -> None:
    await _made(p, "configmaps", config_map("a"))
    async with webhooks(p, "validating", Hook("check")) as calls:
        await p.see("POST", p.path("v1", "configmaps"), config_map("a"))
        p.note("operations reviewed", [call["request"]["operation"] for call in calls["check"]])
