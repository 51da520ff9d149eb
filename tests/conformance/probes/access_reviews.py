# SPDX-License-Identifier: Apache-2.0
"""Reviews of access: may someone, may I, may someone here, and what may I."""

from __future__ import annotations

import json
from typing import Any

from tests.conformance.accounts import (
    RBAC_V1,
    account,
    allow,
    allow_everywhere,
    binding,
    grant,
    user_name,
)
from tests.conformance.probe import Probe, probe

AUTHORIZATION = "authorization.k8s.io/v1"
MAPS = "configmaps"


def _path(p: Probe, resource: str) -> str:
    return p.everywhere(AUTHORIZATION, resource)


def _about(p: Probe, verb: str = "get", resource: str = MAPS, **more: str) -> dict[str, Any]:
    return {"resourceAttributes": {"namespace": p.ns, "verb": verb, "resource": resource, **more}}


def _review(kind: str, spec: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": AUTHORIZATION, "kind": kind, "spec": spec}


def _sorted_rules(body: dict[str, Any]) -> dict[str, Any]:
    """The order of rules is that of a Go map, thus random."""
    status = body["status"]
    for name in ("resourceRules", "nonResourceRules"):
        status[name].sort(key=lambda rule: json.dumps(rule, sort_keys=True))
    return body


@probe("a SubjectAccessReview tells which binding allows it")
async def subject_allowed(p: Probe) -> None:
    await account(p, "user")
    await allow(p, "user", grant(MAPS, "get"))
    spec = {"user": user_name(p, "user"), **_about(p)}
    await p.see("POST", _path(p, "subjectaccessreviews"), _review("SubjectAccessReview", spec))


@probe("a SubjectAccessReview that no rule allows says false and no reason")
async def subject_refused(p: Probe) -> None:
    spec = {"user": "jane", "groups": ["devs"], **_about(p, "delete")}
    await p.see("POST", _path(p, "subjectaccessreviews"), _review("SubjectAccessReview", spec))


@probe("a SubjectAccessReview by group finds what a group may do")
async def subject_group(p: Probe) -> None:
    for groups in (["system:masters"], ["system:authenticated"]):
        path = {"nonResourceAttributes": {"path": "/api", "verb": "get"}}
        body = _review("SubjectAccessReview", {"groups": groups, **path})
        await p.see("POST", _path(p, "subjectaccessreviews"), body)


@probe("a SubjectAccessReview in all namespaces needs a ClusterRoleBinding")
async def subject_everywhere(p: Probe) -> None:
    await account(p, "user")
    await allow(p, "user", grant(MAPS, "list"))
    await account(p, "other")
    await allow_everywhere(p, "other", grant(MAPS, "list"))
    for name in ("user", "other"):
        spec = {"user": user_name(p, name), **_about(p, "list", namespace="")}
        body = _review("SubjectAccessReview", spec)
        await p.see("POST", _path(p, "subjectaccessreviews"), body)


@probe("a SubjectAccessReview of a subresource and a name is about just these")
async def subject_subresource(p: Probe) -> None:
    await account(p, "user")
    await allow(p, "user", grant("pods/log", "get", names=("a",)))
    for more in ({"subresource": "log", "name": "a"}, {"subresource": "log"}, {"name": "a"}):
        spec = {"user": user_name(p, "user"), **_about(p, "get", "pods", **more)}
        body = _review("SubjectAccessReview", spec)
        await p.see("POST", _path(p, "subjectaccessreviews"), body)


@probe("a SubjectAccessReview mentions a binding of a role that is not there")
async def subject_missing_role(p: Probe) -> None:
    await p.do("POST", p.path(RBAC_V1, "rolebindings"), binding("a", "user", "absent"))
    body = _review("SubjectAccessReview", {"user": user_name(p, "user"), **_about(p)})
    path = _path(p, "subjectaccessreviews")
    await p.until("POST", path, lambda answer: b"absent" in answer.content, body=body)
    await p.see("POST", path, body)


@probe("a LocalSubjectAccessReview is about its namespace")
async def local(p: Probe) -> None:
    await account(p, "user")
    await allow(p, "user", grant(MAPS, "get"))
    path = p.path(AUTHORIZATION, "localsubjectaccessreviews")
    spec = {"user": user_name(p, "user"), **_about(p)}
    await p.see("POST", path, _review("LocalSubjectAccessReview", spec))
    other = {"user": user_name(p, "user"), **_about(p, namespace="default")}
    await p.see("POST", path, _review("LocalSubjectAccessReview", other))
    without = {"user": user_name(p, "user"), **_about(p, namespace="")}
    await p.see("POST", path, _review("LocalSubjectAccessReview", without))
    paths = {"user": "jane", "nonResourceAttributes": {"path": "/api", "verb": "get"}}
    await p.see("POST", path, _review("LocalSubjectAccessReview", paths))


@probe("a SelfSubjectAccessReview answers for the caller, whom every user may be")
async def self_review(p: Probe) -> None:
    token = await account(p, "user")
    await allow(p, "user", grant(MAPS, "get"))
    path = _path(p, "selfsubjectaccessreviews")
    for verb in ("get", "delete"):
        body = _review("SelfSubjectAccessReview", _about(p, verb))
        await p.see("POST", path, body, token=token)
    body = _review("SelfSubjectAccessReview", _about(p, "*", "*", group="*"))
    await p.see("POST", path, body, note="the admin")


@probe("a SelfSubjectAccessReview without credentials is forbidden")
async def self_anonymous(p: Probe) -> None:
    body = _review("SelfSubjectAccessReview", _about(p))
    await p.see("POST", _path(p, "selfsubjectaccessreviews"), body, token=None)


@probe("a SelfSubjectRulesReview lists what a service account may do in a namespace")
async def rules_review(p: Probe) -> None:
    token = await account(p, "user")
    await allow(p, "user", grant(MAPS, "get", names=("a",)), grant("pods", "list"))
    body = _review("SelfSubjectRulesReview", {"namespace": p.ns})
    path = _path(p, "selfsubjectrulesreviews")
    await p.see("POST", path, body, token=token, pick=_sorted_rules)


@probe("a SelfSubjectRulesReview of the admin holds everything")
async def rules_admin(p: Probe) -> None:
    body = _review("SelfSubjectRulesReview", {"namespace": p.ns})
    await p.see("POST", _path(p, "selfsubjectrulesreviews"), body, pick=_sorted_rules)


@probe("a SelfSubjectRulesReview without a namespace is refused")
async def rules_no_namespace(p: Probe) -> None:
    await p.see("POST", _path(p, "selfsubjectrulesreviews"), _review("SelfSubjectRulesReview", {}))


def _malformed(title: str, resource: str, kind: str, spec: dict[str, Any], **more: Any) -> None:
    @probe(title)
    async def malformed(p: Probe) -> None:
        await p.see("POST", _path(p, resource), {**_review(kind, spec), **more})


_GET = {"verb": "get", "resource": MAPS}
_MALFORMED: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("a SubjectAccessReview without user and groups is refused", {"resourceAttributes": _GET}, {}),
    ("a SubjectAccessReview about nothing is refused", {"user": "jane"}, {}),
    (
        "a SubjectAccessReview about both a resource and a path is refused",
        {
            "user": "jane",
            "resourceAttributes": _GET,
            "nonResourceAttributes": {"path": "/api", "verb": "get"},
        },
        {},
    ),
    (
        "a SubjectAccessReview with metadata is refused",
        {"user": "jane", "resourceAttributes": _GET},
        {"metadata": {"name": "a"}},
    ),
    (
        "a SubjectAccessReview with a bad selector is refused",
        {
            "user": "jane",
            "resourceAttributes": {
                **_GET,
                "fieldSelector": {"requirements": [{"key": "", "operator": "Near"}]},
                "labelSelector": {"rawSelector": "a=b", "requirements": []},
            },
        },
        {},
    ),
    (
        "a SubjectAccessReview with a selector is accepted",
        {
            "user": "jane",
            "resourceAttributes": {
                **_GET,
                "fieldSelector": {
                    "requirements": [{"key": "spec.nodeName", "operator": "In", "values": ["a"]}]
                },
            },
        },
        {},
    ),
]
for _title, _spec, _more in _MALFORMED:
    _malformed(_title, "subjectaccessreviews", "SubjectAccessReview", _spec, **_more)
_malformed(
    "a SelfSubjectAccessReview about nothing is refused",
    "selfsubjectaccessreviews",
    "SelfSubjectAccessReview",
    {},
)


@probe("reviews can only be created")
async def only_created(p: Probe) -> None:
    for method, path in (
        ("GET", _path(p, "selfsubjectaccessreviews")),
        ("GET", f"{_path(p, 'subjectaccessreviews')}/a"),
        ("DELETE", f"{_path(p, 'subjectaccessreviews')}/a"),
    ):
        await p.see(method, path)
