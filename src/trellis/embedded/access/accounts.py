# SPDX-License-Identifier: Apache-2.0
"""Service accounts as users, and what a token of one claims. Pure: it reads, and takes the time.

A token is good as long as its account and what it is bound to are there with the same uid.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from trellis.embedded.asking import AUTHENTICATED, Object, User
from trellis.embedded.natives.syntax import dns_label, dns_subdomain
from trellis.embedded.refusals import not_found

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from trellis.embedded.access.jwt import Claims
    from trellis.embedded.access.reading import Reader

ISSUER = "https://kubernetes.default.svc.cluster.local"
# Clocks differ: what ended less than this ago still counts, as in the library of the real server.
LEEWAY = 60.0
_PREFIX = "system:serviceaccount:"
_GROUP = "system:serviceaccounts"
_EXTRA = "authentication.kubernetes.io/"
Dependency = tuple[str, str, str]
"""Plural, namespace and name of an object in the core group."""


class Rejected(Exception):
    """A token that is ours and not good; the message is for a TokenReview."""


def user_name(namespace: str, name: str) -> str:
    return f"{_PREFIX}{namespace}:{name}"


def split_user_name(user: str) -> tuple[str, str] | None:
    """Namespace and name of the service account that a user name stands for."""
    if not user.startswith(_PREFIX):
        return None
    namespace, _, name = user.removeprefix(_PREFIX).partition(":")
    if dns_label(namespace) or dns_subdomain(name):
        return None
    return namespace, name


def groups(namespace: str) -> tuple[str, ...]:
    return (_GROUP, f"{_GROUP}:{namespace}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """What a token belongs to, beside its account."""

    pod: Object | None = None
    secret: Object | None = None
    node: Object | None = None

    def claims(self) -> dict[str, Any]:
        found = {"pod": self.pod, "secret": self.secret, "node": self.node}
        return {kind: _reference(each) for kind, each in found.items() if each}


@dataclass(frozen=True, slots=True, kw_only=True)
class Lifetime:
    issued: float
    seconds: int
    warn_after: int = 0


def claims(account: Object, bound: Bound, audiences: Sequence[str], life: Lifetime) -> Claims:
    """Everything that a token says but its issuer's number for it (`jti`)."""
    metadata = account["metadata"]
    inner: dict[str, Any] = {
        "namespace": metadata["namespace"],
        **bound.claims(),
        "serviceaccount": _reference(account),
    }
    now = int(life.issued)
    if life.warn_after:
        inner["warnafter"] = now + life.warn_after
    return {
        "aud": list(audiences),
        "exp": now + life.seconds,
        "iat": now,
        "iss": ISSUER,
        "kubernetes.io": inner,
        "nbf": now,
        "sub": user_name(metadata["namespace"], metadata["name"]),
    }


def _reference(item: Object) -> dict[str, str]:
    metadata = item["metadata"]
    found = {"name": metadata.get("name", ""), "uid": metadata.get("uid", "")}
    return {field: value for field, value in found.items() if value}


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """A good token: whose it is, until when, and which objects must stay as they are."""

    user: User
    audiences: tuple[str, ...]
    until: float
    depends_on: tuple[Dependency, ...]


def check(claimed: Claims, wanted: Sequence[str], now: float, reader: Reader) -> Standing:
    """Raises `Rejected` where the token is not, or no more, good for the audiences wanted."""
    audiences = _shared(claimed, wanted)
    until = _until(claimed, now)
    inner = claimed["kubernetes.io"]
    namespace, account = inner["namespace"], inner["serviceaccount"]
    stored = reader.get("", "serviceaccounts", namespace, account["name"])
    if stored is None:
        raise Rejected(not_found("", "serviceaccounts", account["name"]).message)
    uid = stored["metadata"]["uid"]
    if uid != account["uid"]:
        raise Rejected(f"service account UID ({uid}) does not match claim ({account['uid']})")
    ends = [until, _gone_at(stored)]
    if ends[1] < now:
        raise Rejected(f"service account {namespace}/{account['name']} has been deleted")
    depends_on: list[Dependency] = [("serviceaccounts", namespace, account["name"])]
    for kind, plural in _binding(inner):
        where = "" if kind == "node" else namespace
        ends.append(
            _bound_until(kind, inner[kind], now, reader.get("", plural, where, inner[kind]["name"]))
        )
        depends_on.append((plural, where, inner[kind]["name"]))
    return Standing(
        user=_user(claimed),
        audiences=audiences,
        until=min(ends),
        depends_on=tuple(depends_on),
    )


def _binding(inner: dict[str, Any]) -> Iterable[tuple[str, str]]:
    """The kinds that a token's validity depends on. The node of a pod is only told."""
    if "secret" in inner:
        yield "secret", "secrets"
    if "pod" in inner:
        yield "pod", "pods"
    elif "node" in inner:
        yield "node", "nodes"


def _bound_until(kind: str, claimed: dict[str, str], now: float, stored: Object | None) -> float:
    if stored is None:
        raise Rejected("service account token has been invalidated")
    uid = stored["metadata"]["uid"]
    if uid != claimed["uid"]:
        raise Rejected(
            f"{kind} UID ({uid}) does not match service account {kind} ref claim ({claimed['uid']})"
        )
    ends = _gone_at(stored)
    if ends < now:
        raise Rejected("service account token has been invalidated")
    return ends


def _shared(claimed: Claims, wanted: Sequence[str]) -> tuple[str, ...]:
    theirs = claimed["aud"]
    shared = tuple(audience for audience in theirs if audience in wanted)
    if not shared:
        raise Rejected(
            f"token audiences {_list(theirs)} is invalid for the target audiences {_list(wanted)}"
        )
    return shared


def _list(words: Sequence[str]) -> str:
    return "[" + " ".join(f'"{word}"' for word in words) + "]"


def _until(claimed: Claims, now: float) -> float:
    if now - LEEWAY > claimed["exp"]:
        raise Rejected("service account token has expired")
    if now + LEEWAY < claimed["nbf"]:
        raise Rejected("service account token is not valid yet")
    return float(claimed["exp"]) + LEEWAY


def _gone_at(stored: Object) -> float:
    """When an object that is being deleted counts as deleted."""
    stamp = stored["metadata"].get("deletionTimestamp")
    if not stamp:
        return float("inf")
    return datetime.fromisoformat(stamp).timestamp() + LEEWAY


def _user(claimed: Claims) -> User:
    inner = claimed["kubernetes.io"]
    extra = {f"{_EXTRA}credential-id": (f"JTI={claimed['jti']}",)}
    for kind in ("node", "pod"):
        for field, value in inner.get(kind, {}).items():
            extra[f"{_EXTRA}{kind}-{field}"] = (value,)
    return User(
        name=claimed["sub"],
        uid=inner["serviceaccount"]["uid"],
        groups=(*groups(inner["namespace"]), AUTHENTICATED),
        extra=dict(sorted(extra.items())),
    )
