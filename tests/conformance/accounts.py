# SPDX-License-Identifier: Apache-2.0
"""Service accounts of a probe, with tokens, and the roles that allow them something.

    token = await account(p, "reader")
    await allow(p, "reader", grant("configmaps", "get"))
    await p.see("GET", p.path("v1", "configmaps", "a"), token=token)

A binding reaches the authorizer through a watch, so `allow` returns only after it took effect.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.conformance.probe import Probe

RBAC = "rbac.authorization.k8s.io"
RBAC_V1 = f"{RBAC}/v1"
REVIEWS = "/apis/authorization.k8s.io/v1/subjectaccessreviews"


def user_name(p: Probe, name: str) -> str:
    return f"system:serviceaccount:{p.ns}:{name}"


async def account(p: Probe, name: str, **spec: Any) -> str:
    """Makes a service account and returns a token for it; `spec` is that of the TokenRequest."""
    await p.do("POST", p.path("v1", "serviceaccounts"), {"metadata": {"name": name}})
    return await token(p, name, **spec)


async def token(p: Probe, name: str, **spec: Any) -> str:
    path = p.path("v1", "serviceaccounts", name, "token")
    issued: str = (await p.do("POST", path, {"spec": spec}))["status"]["token"]
    p.hide(issued, f"token of {name}")
    return issued


def grant(resource: str, *verbs: str, group: str = "", names: tuple[str, ...] = ()) -> Any:
    """A rule of a role for one resource (or `pods/status`)."""
    rule: dict[str, Any] = {"apiGroups": [group], "resources": [resource], "verbs": list(verbs)}
    return {**rule, "resourceNames": list(names)} if names else rule


def role(name: str, *rules: Any, kind: str = "Role", **more: Any) -> dict[str, Any]:
    meta = {"name": name, **more.pop("metadata", {})}
    return {"apiVersion": RBAC_V1, "kind": kind, "metadata": meta, "rules": list(rules), **more}


def binding(name: str, subject: str, role_name: str, kind: str = "Role") -> dict[str, Any]:
    """A RoleBinding for a service account of the same namespace."""
    return {
        "metadata": {"name": name},
        "roleRef": {"apiGroup": RBAC, "kind": kind, "name": role_name},
        "subjects": [{"kind": "ServiceAccount", "name": subject}],
    }


def cluster_binding(p: Probe, name: str, subject: str, role_name: str) -> dict[str, Any]:
    whole = binding(name, subject, role_name, "ClusterRole")
    whole["subjects"][0]["namespace"] = p.ns
    return whole


async def allow(p: Probe, subject: str, *rules: Any) -> None:
    """Lets a service account do what the rules say in the probe's namespace."""
    name = f"may-{subject}"
    await p.do("POST", p.path(RBAC_V1, "roles"), role(name, *rules))
    await p.do("POST", p.path(RBAC_V1, "rolebindings"), binding(name, subject, name))
    for rule in rules:
        await until_allowed(p, subject, rule, p.ns)


async def allow_everywhere(p: Probe, subject: str, *rules: Any) -> None:
    """Lets a service account do what the rules say in the whole cluster."""
    name = f"may-{subject}-{p.id}"
    for resource, body in (
        ("clusterroles", role(name, *rules, kind="ClusterRole")),
        ("clusterrolebindings", cluster_binding(p, name, subject, name)),
    ):
        await cluster_object(p, resource, body)
    for rule in rules:
        await until_allowed(p, subject, rule)


async def cluster_object(p: Probe, resource: str, body: dict[str, Any]) -> None:
    """Makes a ClusterRole or ClusterRoleBinding that goes when the probe ends."""
    path = p.everywhere(RBAC_V1, resource)
    await p.do("POST", path, body)
    p.cleanup.push_async_callback(p.ask, "DELETE", f"{path}/{body['metadata']['name']}")


async def until_allowed(
    p: Probe, subject: str, rule: Any, namespace: str = "", *, wanted: bool = True
) -> None:
    """Waits until the authorizer says yes (or no) to the first thing that a rule allows."""
    spec: dict[str, Any] = {
        "user": user_name(p, subject),
        "groups": ["system:authenticated", "system:serviceaccounts"],
    }
    if "nonResourceURLs" in rule:
        attributes = {"path": rule["nonResourceURLs"][0], "verb": rule["verbs"][0]}
        spec["nonResourceAttributes"] = attributes
    else:
        resource, _, subresource = rule["resources"][0].partition("/")
        spec["resourceAttributes"] = {
            "namespace": namespace,
            "group": rule["apiGroups"][0],
            "resource": resource,
            "subresource": subresource,
            "verb": rule["verbs"][0],
            "name": rule.get("resourceNames", [""])[0],
        }
    await p.until(
        "POST",
        REVIEWS,
        lambda answer: answer.status == 201 and answer.body["status"]["allowed"] is wanted,
        body={"spec": spec},
    )
