# SPDX-License-Identifier: Apache-2.0
"""RBAC: what is refused in which words, and what roles and bindings allow."""

from __future__ import annotations

from typing import Any

from tests.conformance.accounts import (
    RBAC,
    RBAC_V1,
    account,
    allow,
    allow_everywhere,
    binding,
    cluster_object,
    grant,
    role,
    until_allowed,
)
from tests.conformance.builders import config_map, pod
from tests.conformance.kinds import WIDGETS, widget
from tests.conformance.probe import Probe, probe

MAPS = "configmaps"
ROLES, BINDINGS = "roles", "rolebindings"
LABEL = {"metadata": {"labels": {"x": "y"}}}


def _names(body: Any) -> list[str]:
    return [item["metadata"]["name"] for item in body["items"]]


def _refused(title: str, method: str, *path: str, body: Any = None, **how: Any) -> None:
    """A probe of a service account without any role. A path without / is of the namespace."""

    @probe(title)
    async def refused(p: Probe) -> None:
        token = await account(p, "nobody")
        where = path[0] if path[0].startswith("/") else p.path(*path)
        await p.see(method, where, body, token=token, **how)


for _title, _method, _path in [
    ("a forbidden get names user, verb, resource and namespace", "GET", ("v1", MAPS, "a")),
    ("a forbidden list has no name in its details", "GET", ("v1", MAPS)),
    ("a forbidden get of a custom resource names its group", "GET", (WIDGETS, "widgets", "a")),
    ("a forbidden get of a subresource names both", "GET", ("v1", "pods", "a", "log")),
    ("a forbidden deletecollection is named so", "DELETE", ("v1", MAPS)),
    ("a forbidden delete is refused before the object is looked for", "DELETE", ("v1", MAPS, "a")),
    (
        "a forbidden list over all namespaces is at the cluster scope",
        "GET",
        ("/api/v1/configmaps",),
    ),
    (
        "a forbidden get of a cluster-scoped object is at the cluster scope",
        "GET",
        ("/api/v1/nodes/a",),
    ),
    ("a namespace is forbidden as in itself", "GET", ("/api/v1/namespaces/default",)),
    ("a forbidden path that is no resource is named", "GET", ("/metrics",)),
    (
        "an unknown group's path is forbidden before it is not found",
        "GET",
        ("/apis/no.example/v1/a",),
    ),
    ("an unknown resource is forbidden before it is not found", "GET", ("v1", "nothings", "a")),
]:
    _refused(_title, _method, *_path)
_refused("a forbidden create names the resource only", "POST", "v1", MAPS, body=config_map("a"))
_refused(
    "a forbidden apply is a patch", "PATCH", "v1", MAPS, "a", body=config_map("a"), patch="apply"
)
_refused("a forbidden watch is named so", "GET", "v1", MAPS, query={"watch": "1"})
_refused("a malformed body is forbidden before it is read", "POST", "v1", MAPS, body=b"{not json")
_refused("a forbidden binding names the subresource", "POST", "v1", "pods", "a", "binding", body={})


@probe("a role allows its verbs and nothing else")
async def verbs(p: Probe) -> None:
    token = await account(p, "user")
    await allow(p, "user", grant(MAPS, "create", "get"))
    await p.see("POST", p.path("v1", MAPS), config_map("a"), token=token)
    await p.see("GET", p.path("v1", MAPS, "a"), token=token)
    await p.see("GET", p.path("v1", MAPS), token=token)
    await p.see("PATCH", p.path("v1", MAPS, "a"), LABEL, patch="merge", token=token)
    await p.see("GET", p.path("v1", MAPS, "a", ns="default"), token=token)


@probe("resourceNames allow the named objects only, and never create")
async def resource_names(p: Probe) -> None:
    token = await account(p, "user")
    await allow(p, "user", grant(MAPS, "get", "update", "create", names=("a",)))
    await p.do("POST", p.path("v1", MAPS), config_map("b"))
    await p.see("GET", p.path("v1", MAPS, "a"), token=token)
    await p.see("GET", p.path("v1", MAPS, "b"), token=token)
    await p.see("POST", p.path("v1", MAPS), config_map("a"), token=token)


@probe("list and watch of one name are allowed by resourceNames with a field selector of that name")
async def list_by_name(p: Probe) -> None:
    token = await account(p, "user")
    await allow(p, "user", grant(MAPS, "list", "watch", names=("a",)))
    await p.do("POST", p.path("v1", MAPS), config_map("a"))
    one = {"fieldSelector": "metadata.name=a"}
    await p.see("GET", p.path("v1", MAPS), query=one, token=token, pick=_names)
    async with p.watch(p.path("v1", MAPS), query=one, token=token) as watch:
        await watch.read(1)
    await p.see("GET", p.path("v1", MAPS), query={"fieldSelector": "metadata.name=b"}, token=token)
    await p.see("GET", p.path("v1", MAPS), token=token)


@probe("wildcards allow every verb, resource and group in the namespace")
async def wildcard(p: Probe) -> None:
    token = await account(p, "user")
    await allow(p, "user", {"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]})
    await p.see("POST", p.path(WIDGETS, "widgets"), widget("a"), token=token)
    await p.see("GET", p.path("v1", "pods", "a", "status"), token=token)
    await p.see("GET", p.everywhere("v1", MAPS), token=token)


@probe("a permission for a status does not include the object")
async def subresource(p: Probe) -> None:
    token = await account(p, "user")
    await allow(p, "user", grant("widgets/status", "patch", group=WIDGETS.split("/")[0]))
    path = p.path(WIDGETS, "widgets", "a")
    await p.do("POST", p.path(WIDGETS, "widgets"), widget("a"))
    await p.see(
        "PATCH", f"{path}/status", {"status": {"phase": "Fine"}}, patch="merge", token=token
    )
    await p.see("PATCH", path, LABEL, patch="merge", token=token)


@probe("*/status allows the status of every resource and not the object")
async def any_status(p: Probe) -> None:
    token = await account(p, "user")
    await allow(p, "user", grant("*/status", "get"))
    await p.do("POST", p.path("v1", "pods"), pod("a"))
    await p.see(
        "GET", p.path("v1", "pods", "a", "status"), token=token, pick=lambda body: body["kind"]
    )
    await p.see("GET", p.path("v1", "pods", "a"), token=token)


@probe("deletecollection needs its own verb")
async def deletecollection(p: Probe) -> None:
    token = await account(p, "user")
    await allow(p, "user", grant(MAPS, "delete", "list"))
    await p.see("DELETE", p.path("v1", MAPS), query={"labelSelector": "x=y"}, token=token)
    rule = grant(MAPS, "deletecollection")
    await p.do("POST", p.path(RBAC_V1, ROLES), role("more", rule))
    await p.do("POST", p.path(RBAC_V1, BINDINGS), binding("more", "user", "more"))
    await until_allowed(p, "user", rule, p.ns)
    await p.see("DELETE", p.path("v1", MAPS), query={"labelSelector": "x=y"}, token=token)


@probe("a RoleBinding of a ClusterRole allows it in its namespace only")
async def cluster_role_in_namespace(p: Probe) -> None:
    token = await account(p, "user")
    rule = grant(MAPS, "get", "list")
    name = f"reader-{p.id}"
    await cluster_object(p, "clusterroles", role(name, rule, kind="ClusterRole"))
    await p.see("POST", p.path(RBAC_V1, BINDINGS), binding("a", "user", name, "ClusterRole"))
    await until_allowed(p, "user", rule, p.ns)
    await p.see("GET", p.path("v1", MAPS, "a"), token=token)
    await p.see("GET", p.everywhere("v1", MAPS), token=token)


@probe("a ClusterRoleBinding allows cluster-scoped and other paths too")
async def cluster_wide(p: Probe) -> None:
    token = await account(p, "user")
    paths = {"nonResourceURLs": ["/metrics", "/debug/*"], "verbs": ["get"]}
    await allow_everywhere(p, "user", grant("namespaces", "get"), paths)
    await p.see("GET", p.everywhere("v1", "namespaces", f"none-{p.id}"), token=token)
    await p.see("GET", "/metrics", token=token, pick=lambda _: "metrics")
    await p.see("POST", "/metrics", token=token)
    await p.see("GET", f"/debug/none-{p.id}", token=token)


@probe("an aggregated ClusterRole gets the rules of those that its selector finds")
async def aggregation(p: Probe) -> None:
    label = {f"{p.id}.example.com/aggregate": "true"}
    for name, rule in (("b", grant(MAPS, "get")), ("a", grant("pods", "get"))):
        part = role(f"{name}-{p.id}", rule, kind="ClusterRole", metadata={"labels": label})
        await cluster_object(p, "clusterroles", part)
    name = f"whole-{p.id}"
    selector = {"clusterRoleSelectors": [{"matchLabels": label}]}
    whole = role(name, grant("secrets", "get"), kind="ClusterRole", aggregationRule=selector)
    await cluster_object(p, "clusterroles", whole)
    path = p.everywhere(RBAC_V1, "clusterroles", name)
    both = grant("pods", "get"), grant(MAPS, "get")
    await p.until("GET", path, lambda answer: answer.body["rules"] == list(both))
    await p.see("GET", path)


@probe("a service account cannot make a role with more than it may do")
async def escalation(p: Probe) -> None:
    token = await account(p, "user")
    await allow(p, "user", grant(ROLES, "create", "update", group=RBAC), grant(MAPS, "get"))
    path = p.path(RBAC_V1, ROLES)
    await p.see("POST", path, role("same", grant(MAPS, "get")), token=token)
    more = role("more", grant(MAPS, "get", "list"), grant("secrets", "get", names=("a",)))
    await p.see("POST", path, more, token=token)
    await p.see("PUT", f"{path}/same", role("same", grant("secrets", "get")), token=token)


@probe("with the verb escalate a service account may make any role")
async def escalate(p: Probe) -> None:
    token = await account(p, "user")
    rules = grant(ROLES, "create", group=RBAC), grant(ROLES, "escalate", group=RBAC)
    await allow(p, "user", *rules)
    await p.see("POST", p.path(RBAC_V1, ROLES), role("a", grant("secrets", "get")), token=token)


@probe("a service account cannot bind a role with more than it may do unless it may bind it")
async def bind(p: Probe) -> None:
    token = await account(p, "user")
    await p.do("POST", p.path(RBAC_V1, ROLES), role("strong", grant("secrets", "get")))
    await p.do("POST", p.path(RBAC_V1, ROLES), role("open", grant("secrets", "get")))
    await allow(
        p,
        "user",
        grant(BINDINGS, "create", group=RBAC),
        grant(ROLES, "bind", group=RBAC, names=("open",)),
    )
    path = p.path(RBAC_V1, BINDINGS)
    await p.see("POST", path, binding("a", "user", "strong"), token=token)
    await p.see("POST", path, binding("b", "user", "open"), token=token)
    await p.see("POST", path, binding("c", "user", "absent"), token=token)


@probe("a binding of a role that is not there is accepted, and refusals mention it")
async def missing_role(p: Probe) -> None:
    token = await account(p, "user")
    await p.see("POST", p.path(RBAC_V1, BINDINGS), binding("a", "user", "absent"))
    path = p.path("v1", MAPS, "a")
    await p.until("GET", path, lambda answer: b"absent" in answer.content, token=token)
    await p.see("GET", path, token=token)


@probe("a binding's roleRef cannot change, its subjects can")
async def role_ref(p: Probe) -> None:
    await p.do("POST", p.path(RBAC_V1, BINDINGS), binding("a", "user", "one"))
    path = p.path(RBAC_V1, BINDINGS, "a")
    await p.see("PATCH", path, {"roleRef": {"name": "two"}}, patch="merge")
    await p.see("PATCH", path, {"subjects": None}, patch="merge")


@probe("a binding that is deleted allows no more")
async def revoked(p: Probe) -> None:
    token = await account(p, "user")
    rule = grant(MAPS, "get")
    await allow(p, "user", rule)
    await p.see("GET", p.path("v1", MAPS, "a"), token=token)
    await p.do("DELETE", p.path(RBAC_V1, BINDINGS, "may-user"))
    await until_allowed(p, "user", rule, p.ns, wanted=False)
    await p.see("GET", p.path("v1", MAPS, "a"), token=token)


def _invalid(title: str, resource: str, body: dict[str, Any]) -> None:
    @probe(title)
    async def invalid(p: Probe) -> None:
        await p.see("POST", p.path(RBAC_V1, resource), body)


_USER = {"kind": "User", "name": "a"}
_REF = {"roleRef": {"kind": "Role", "name": "one"}, "metadata": {"name": "a"}}
for _title, _resource, _body in [
    ("a role's rule without verbs is refused", ROLES, role("a", grant(MAPS))),
    (
        "a role's rule without groups and resources is refused",
        ROLES,
        role("a", {"verbs": ["get"]}),
    ),
    (
        "a role's rule for other paths is refused in a namespace",
        ROLES,
        role("a", {"nonResourceURLs": ["/metrics"], "verbs": ["get"]}),
    ),
    ("a role's name may hold a colon", ROLES, role("a:b")),
    ("a binding without a roleRef is refused", BINDINGS, {"metadata": {"name": "a"}}),
    (
        "a binding of a role of another kind is refused",
        BINDINGS,
        {**_REF, "roleRef": {"kind": "Pod", "name": "a", "apiGroup": RBAC}},
    ),
    (
        "a binding gets the group of its roleRef and subjects",
        BINDINGS,
        {**_REF, "subjects": [_USER]},
    ),
    (
        "a binding of an unknown kind of subject is refused",
        BINDINGS,
        {**_REF, "subjects": [{"kind": "Robot", "name": "a"}]},
    ),
    (
        "a binding's service account needs no namespace",
        BINDINGS,
        {**_REF, "subjects": [{"kind": "ServiceAccount", "name": "a"}]},
    ),
]:
    _invalid(_title, _resource, _body)
