# SPDX-License-Identifier: Apache-2.0
"""Who a request comes from: anonymous, bad credentials, impersonation, tokens and their reviews."""

from __future__ import annotations

import base64
import json
from typing import Any

from tests.conformance.accounts import account, allow_everywhere, grant, token
from tests.conformance.builders import pod
from tests.conformance.probe import Probe, probe

AUTHENTICATION = "authentication.k8s.io/v1"
SELF = f"/apis/{AUTHENTICATION}/selfsubjectreviews"
REVIEWS = f"/apis/{AUTHENTICATION}/tokenreviews"
ME: dict[str, Any] = {"apiVersion": AUTHENTICATION, "kind": "SelfSubjectReview"}
ACCOUNTS = "serviceaccounts"
OTHER_UID = "00000000-0000-4000-8000-000000000001"


def _without_token(body: dict[str, Any]) -> dict[str, Any]:
    """A TokenRequest without what nobody can tell beforehand."""
    return {**body, "status": {**body["status"], "token": "<token>"}}


def _claims(issued: str) -> dict[str, Any]:
    """What a token says, with times relative to when it was issued."""
    payload = issued.split(".")[1]
    claims: dict[str, Any] = json.loads(
        base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4))
    )
    issued_at = claims["iat"]
    for name in ("exp", "nbf", "iat"):
        claims[name] -= issued_at
    inner = claims["kubernetes.io"]
    if "warnafter" in inner:
        inner["warnafter"] -= issued_at
    return claims


def _anonymous(title: str, method: str, path: str, **how: Any) -> None:
    @probe(title)
    async def anonymous(p: Probe) -> None:
        await p.see(method, path.format(ns=p.ns), token=None, **how)


_anonymous(
    "without credentials an object is forbidden to system:anonymous",
    "GET",
    "/api/v1/namespaces/{ns}/pods/a",
)
_anonymous("without credentials a list is forbidden", "GET", "/api/v1/pods")
_anonymous("without credentials discovery is forbidden", "GET", "/apis")
_anonymous("without credentials an unknown path is forbidden", "GET", "/nothing/here")
_anonymous("without credentials /healthz is answered", "GET", "/healthz")
_anonymous("without credentials /livez is answered", "GET", "/livez")
_anonymous("without credentials /readyz is answered", "GET", "/readyz")
_anonymous("without credentials /version is answered", "GET", "/version", pick=sorted)
_anonymous(
    "without credentials the OpenID configuration is forbidden",
    "GET",
    "/.well-known/openid-configuration",
)


def _header(title: str, value: str, path: str = "/api/v1/namespaces/{ns}/pods") -> None:
    @probe(title)
    async def header(p: Probe) -> None:
        await p.see("GET", path.format(ns=p.ns), token=None, headers={"Authorization": value})


_header("an unknown bearer token is unauthorized", "Bearer wrong")
_header("an unknown bearer token is unauthorized on open paths too", "Bearer wrong", "/version")
_header("a token that only looks like a JWT is unauthorized", "Bearer a.b.c")
_header("an Authorization header without a token is anonymous", "Bearer ")
_header("an Authorization header of another scheme is anonymous", "Basic YTpi")
_header("an Authorization header without a scheme is anonymous", "wrong")


@probe("the scheme of the Authorization header may be written in any case")
async def scheme_case(p: Probe) -> None:
    issued = await account(p, "user")
    await p.see("POST", SELF, ME, token=None, headers={"Authorization": f"bearer {issued}"})


@probe("a SelfSubjectReview tells the admin who it is")
async def self_admin(p: Probe) -> None:
    await p.see("POST", SELF, ME)


@probe("a SelfSubjectReview tells a service account who it is")
async def self_account(p: Probe) -> None:
    await p.see("POST", SELF, ME, token=await account(p, "user"))


@probe("a SelfSubjectReview is forbidden without credentials")
async def self_anonymous(p: Probe) -> None:
    await p.see("POST", SELF, ME, token=None)


def _impersonate(title: str, **headers: str) -> None:
    """A probe of the admin acting as another; `Impersonate-` is put before each name."""

    @probe(title)
    async def impersonated(p: Probe) -> None:
        sent = {f"Impersonate-{name}": value.format(ns=p.ns) for name, value in headers.items()}
        await p.see("POST", SELF, ME, headers=sent)


for _title, _headers in [
    ("an impersonated user is authenticated and has no other group", {"User": "jane"}),
    (
        "an impersonated user has the groups of the request",
        {"User": "jane", "Group": "devs"},
    ),
    (
        "an impersonated user has the uid and extras of the request, keys decoded, in lower case",
        {"User": "jane", "Uid": "17", "Extra-Scopes": "read", "Extra-Acme.com%2fTeam": "a b"},
    ),
    (
        "an impersonated service account gets its groups",
        {"User": "system:serviceaccount:{ns}:default"},
    ),
    ("an impersonated system:anonymous is unauthenticated", {"User": "system:anonymous"}),
    ("impersonation of a group without a user is refused", {"Group": "devs"}),
    ("impersonation of an extra without a user is refused", {"Extra-Scopes": "read"}),
]:
    _impersonate(_title, **_headers)


@probe("an impersonated user is refused what it may not do")
async def impersonated_refused(p: Probe) -> None:
    await p.see("GET", p.path("v1", "pods"), headers={"Impersonate-User": "jane"})


@probe("an impersonated group's permissions count")
async def impersonated_group(p: Probe) -> None:
    headers = {"Impersonate-User": "jane", "Impersonate-Group": "system:masters"}
    await p.see("GET", p.path("v1", "pods", "a"), headers=headers)


@probe("without permission nobody is impersonated")
async def impersonation_forbidden(p: Probe) -> None:
    issued = await account(p, "user")
    for headers in (
        {"Impersonate-User": "jane"},
        {"Impersonate-User": f"system:serviceaccount:{p.ns}:default"},
    ):
        await p.see("POST", SELF, ME, token=issued, headers=headers)


@probe("permission to impersonate a user does not include groups, extras and uids")
async def impersonation_partly(p: Probe) -> None:
    issued = await account(p, "user")
    await allow_everywhere(p, "user", grant("users", "impersonate", names=("jane",)))
    user = {"Impersonate-User": "jane"}
    await p.see("POST", SELF, ME, token=issued, headers=user)
    await p.see("POST", SELF, ME, token=issued, headers={"Impersonate-User": "joe"})
    for name in ("Group", "Uid", "Extra-Scopes"):
        headers = {**user, f"Impersonate-{name}": "x"}
        await p.see("POST", SELF, ME, token=issued, headers=headers)


def _token_path(p: Probe, name: str = "user") -> str:
    return p.path("v1", ACCOUNTS, name, "token")


async def _account(p: Probe) -> dict[str, Any]:
    made: dict[str, Any] = await p.do(
        "POST", p.path("v1", ACCOUNTS), {"metadata": {"name": "user"}}
    )
    return made


@probe("a token request is answered with 201, an audience and an hour by default")
async def token_defaults(p: Probe) -> None:
    await _account(p)
    body = await p.see("POST", _token_path(p), {"spec": {}}, pick=_without_token)
    p.note("claims", _claims(body["status"]["token"]))


@probe("a token request's audiences and expiration are those asked for")
async def token_audiences(p: Probe) -> None:
    await _account(p)
    spec = {"audiences": ["vault", "other"], "expirationSeconds": 700}
    body = await p.see("POST", _token_path(p), {"spec": spec}, pick=_without_token)
    p.note("claims", _claims(body["status"]["token"]))
    issued = body["status"]["token"]
    await p.see("GET", p.path("v1", "pods"), token=issued, note="a token for others")


def _token_refused(title: str, **spec: Any) -> None:
    @probe(title)
    async def refused(p: Probe) -> None:
        await _account(p)
        await p.see("POST", _token_path(p), {"spec": spec}, pick=_without_token)


_token_refused("a token for less than ten minutes is refused", expirationSeconds=599)
_token_refused("a token for more than 2^32 seconds is refused", expirationSeconds=(1 << 32) + 1)
_token_refused(
    "a token bound to a pod that is not there is refused",
    boundObjectRef={"kind": "Pod", "apiVersion": "v1", "name": "none"},
)
_token_refused(
    "a token bound to a kind that it cannot be bound to is refused",
    boundObjectRef={"kind": "ConfigMap", "apiVersion": "v1", "name": "a"},
)
_token_refused(
    "a token bound to a secret that is not there is refused",
    boundObjectRef={"kind": "Secret", "apiVersion": "v1", "name": "none"},
)


@probe("a token for a service account that is not there is refused")
async def token_unknown_account(p: Probe) -> None:
    await p.see("POST", _token_path(p, "none"), {"spec": {}})


@probe("a token request in the name of another service account or namespace is refused")
async def token_other_name(p: Probe) -> None:
    await _account(p)
    await p.see("POST", _token_path(p), {"metadata": {"name": "other"}, "spec": {}})
    await p.see("POST", _token_path(p), {"metadata": {"namespace": "other"}, "spec": {}})


@probe("a token bound to a pod names it, and works until the pod is gone")
async def token_of_pod(p: Probe) -> None:
    await _account(p)
    made = await p.do("POST", p.path("v1", "pods"), pod("a", {"serviceAccountName": "user"}))
    reference = {"kind": "Pod", "apiVersion": "v1", "name": "a"}
    spec = {"expirationSeconds": 3607, "boundObjectRef": reference}
    body = await p.see("POST", _token_path(p), {"spec": spec}, pick=_without_token)
    issued = body["status"]["token"]
    p.note("the pod's uid", made["metadata"]["uid"])
    p.note("claims", _claims(issued))
    await p.see("POST", SELF, ME, token=issued)
    await p.do("DELETE", p.path("v1", "pods", "a"), query={"gracePeriodSeconds": "0"})
    await p.until("POST", SELF, lambda answer: answer.status == 401, body=ME, token=issued)
    await p.see("POST", SELF, ME, token=issued)


@probe("a token bound to a pod of another uid or another service account is refused")
async def token_of_other_pod(p: Probe) -> None:
    await _account(p)
    await p.do("POST", p.path("v1", "pods"), pod("a", {"serviceAccountName": "user"}))
    await p.do("POST", p.path("v1", "pods"), pod("b"))
    for reference in ({"name": "a", "uid": OTHER_UID}, {"name": "b"}):
        spec = {"boundObjectRef": {"kind": "Pod", "apiVersion": "v1", **reference}}
        await p.see("POST", _token_path(p), {"spec": spec})


@probe("a token works no more after its service account was deleted")
async def token_of_deleted(p: Probe) -> None:
    issued = await account(p, "user")
    await p.do("DELETE", p.path("v1", ACCOUNTS, "user"))
    await p.until("POST", SELF, lambda answer: answer.status == 401, body=ME, token=issued)
    await p.see("POST", SELF, ME, token=issued)


@probe("a token of a service account that was made anew does not work")
async def token_of_recreated(p: Probe) -> None:
    issued = await account(p, "user")
    await p.do("DELETE", p.path("v1", ACCOUNTS, "user"))
    await p.until("POST", SELF, lambda answer: answer.status == 401, body=ME, token=issued)
    again = await account(p, "user")
    await p.see("POST", SELF, ME, token=issued)
    await p.see("POST", SELF, ME, token=again)


def _review(token: Any, **spec: Any) -> dict[str, Any]:
    return {"apiVersion": AUTHENTICATION, "kind": "TokenReview", "spec": {"token": token, **spec}}


@probe("a TokenReview of a good token tells whose it is")
async def review_valid(p: Probe) -> None:
    await p.see("POST", REVIEWS, _review(await account(p, "user")))


@probe("a TokenReview of a bad token tells an error")
async def review_invalid(p: Probe) -> None:
    await p.see("POST", REVIEWS, _review("wrong"))


@probe("a TokenReview without a token is refused")
async def review_empty(p: Probe) -> None:
    await p.see("POST", REVIEWS, _review(""))


@probe("a TokenReview may have a name; a namespace is dropped")
async def review_named(p: Probe) -> None:
    await p.see("POST", REVIEWS, _review("a") | {"metadata": {"name": "b", "namespace": "c"}})


@probe("a TokenReview for audiences finds those that the token shares")
async def review_audiences(p: Probe) -> None:
    await account(p, "user")
    issued = await token(p, "user", audiences=["vault", "other"])
    await p.see("POST", REVIEWS, _review(issued, audiences=["vault", "third"]))
    await p.see("POST", REVIEWS, _review(issued, audiences=["third"]))
    await p.see("POST", REVIEWS, _review(issued))


@probe("a TokenReview by a service account without permission is forbidden")
async def review_forbidden(p: Probe) -> None:
    issued = await account(p, "user")
    await p.see("POST", REVIEWS, _review(issued), token=issued)
