# SPDX-License-Identifier: Apache-2.0
"""A cluster's objects in a dict, and the access to it."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

from trellis.embedded.access import Access, SigningKey, bootstrap
from trellis.embedded.asking import Attributes, Object, User
from trellis.embedded.exchange import Ask

RBAC = "rbac.authorization.k8s.io"
NOW = datetime(2026, 1, 1, tzinfo=UTC)
KEY = SigningKey.generate()
ADMIN_TOKEN = "a-token-of-the-admin"
ADMIN = User(name="admin", uid="admin", groups=("system:masters",))
GOLDENS = Path(__file__).parents[4] / "tests" / "conformance" / "goldens" / "1.36"
PLURALS = {
    "Role": "roles",
    "RoleBinding": "rolebindings",
    "ClusterRole": "clusterroles",
    "ClusterRoleBinding": "clusterrolebindings",
    "ServiceAccount": "serviceaccounts",
    "Pod": "pods",
    "Secret": "secrets",
    "Node": "nodes",
    "Namespace": "namespaces",
    "ConfigMap": "configmaps",
}


def golden(area: str, title: str) -> list[dict[str, Any]]:
    """What the real server answered to each request of a probe."""
    found: list[dict[str, Any]] = json.loads((GOLDENS / f"{area}.json").read_text())[title]
    return found


class HandClock:
    """A clock that moves when told."""

    def __init__(self) -> None:
        self.moment = NOW

    def now(self) -> datetime:
        return self.moment

    def monotonic(self) -> float:
        return (self.moment - NOW).total_seconds()

    async def sleep(self, seconds: float) -> None:
        self.moment += timedelta(seconds=seconds)


class Shelves:
    """A Reader over a dict, that counts how often it is asked."""

    def __init__(self) -> None:
        self.items: dict[tuple[str, str, str, str], Object] = {}
        self.reads = 0

    def get(self, group: str, plural: str, namespace: str, name: str) -> Object | None:
        self.reads += 1
        return self.items.get((group, plural, namespace, name))

    def list(self, group: str, plural: str, namespace: str = "") -> list[Object]:
        self.reads += 1
        return [
            self.items[key]
            for key in sorted(self.items)
            if key[:2] == (group, plural) and namespace in ("", key[2])
        ]


class Cluster:
    """Objects with uids, whose changes are told to the access as the store would."""

    def __init__(self, *, born: bool = False) -> None:
        self.shelves = Shelves()
        self.clock = HandClock()
        self.access = Access(
            reader=self.shelves,
            clock=self.clock,
            random=Random(7),  # noqa: S311
            key=KEY,
            tokens={ADMIN_TOKEN: ADMIN},
        )
        self._made = 0
        for item in bootstrap.objects() if born else ():
            self.put(item)

    def put(self, item: Object) -> Object:
        self._made += 1
        metadata = {"uid": f"uid-{self._made}", **item["metadata"]}
        stored = {**item, "metadata": metadata}
        key = self._key(stored)
        self.shelves.items[key] = stored
        self.access.invalidate(*key)
        return stored

    def remove(self, kind: str, name: str, namespace: str = "team") -> None:
        key = self._key({"kind": kind, "metadata": {"name": name, "namespace": namespace}})
        del self.shelves.items[key]
        self.access.invalidate(*key)

    def account(self, name: str, namespace: str = "team") -> Object:
        return self.put(
            {"kind": "ServiceAccount", "metadata": {"name": name, "namespace": namespace}}
        )

    def allow(self, account: str, *rules: Any, namespace: str = "team") -> None:
        """Gives a service account a role of that namespace."""
        metadata = {"name": f"may-{account}", "namespace": namespace}
        self.put({"kind": "Role", "metadata": metadata, "rules": list(rules)})
        self.put(binding(f"may-{account}", account, namespace=namespace))

    def _key(self, item: Object) -> tuple[str, str, str, str]:
        metadata = item["metadata"]
        group = RBAC if "Role" in item["kind"] else ""
        return group, PLURALS[item["kind"]], metadata.get("namespace", ""), metadata["name"]


def rule(resource: str, *verbs: str, group: str = "", names: tuple[str, ...] = ()) -> Any:
    found = {"apiGroups": [group], "resources": [resource], "verbs": list(verbs)}
    return {**found, "resourceNames": list(names)} if names else found


def binding(name: str, account: str, role: str = "", namespace: str = "team") -> Object:
    return {
        "kind": "RoleBinding",
        "metadata": {"name": name, "namespace": namespace},
        "roleRef": {"kind": "Role", "name": role or name, "apiGroup": RBAC},
        "subjects": [{"kind": "ServiceAccount", "name": account}],
    }


def user(account: str, namespace: str = "team") -> User:
    groups = ("system:serviceaccounts", f"system:serviceaccounts:{namespace}")
    return User(
        name=f"system:serviceaccount:{namespace}:{account}",
        groups=(*groups, "system:authenticated"),
    )


def asked(token: str = "", **headers: str) -> Ask:
    """A request with a bearer token; names of headers with _ for -."""
    found = {name.replace("_", "-"): value for name, value in headers.items()}
    if token:
        found["authorization"] = f"Bearer {token}"
    return Ask(method="GET", path="/", headers=found)


def get(who: User, name: str = "a", **what: str) -> Attributes:
    wanted = {"verb": "get", "resource": "configmaps", "namespace": "team", "name": name, **what}
    return Attributes(user=who, **wanted)
