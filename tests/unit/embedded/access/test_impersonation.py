# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from typing import Any

import pytest

from tests.unit.embedded.access.builders import (
    ADMIN_TOKEN,
    Cluster,
    asked,
    golden,
    rule,
)
from trellis.embedded.access import user_info
from trellis.embedded.asking import MASTERS, Attributes, User
from trellis.embedded.refusals import Refusal

SELF = {"verb": "create", "group": "authentication.k8s.io", "resource": "selfsubjectreviews"}


def acting(cluster: Cluster, token: str, **headers: str) -> User:
    ask = asked(token, **{f"impersonate_{name}": value for name, value in headers.items()})
    return cluster.access.act_as(ask, Attributes(user=cluster.access.authenticate(ask), **SELF))


@pytest.mark.parametrize(
    ("headers", "title"),
    [
        ({"user": "jane"}, "an impersonated user is authenticated and has no other group"),
        (
            {"user": "jane", "group": "devs"},
            "an impersonated user has the groups of the request",
        ),
        (
            {"user": "jane", "uid": "17", "extra_scopes": "read", "extra_acme.com%2fteam": "a b"},
            "an impersonated user has the uid and extras of the request, keys decoded,"
            " in lower case",
        ),
        (
            {"user": "system:serviceaccount:probe-<id>:default"},
            "an impersonated service account gets its groups",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_the_admin_acts_as(headers: dict[str, str], title: str) -> None:
    (seen,) = golden("authentication", title)
    # A namespace of a real name, for the service account must have one.
    named = {name: value.replace("<id>", "1") for name, value in headers.items()}
    expected = json.dumps(seen["body"]["status"]["userInfo"]).replace("<id>", "1")
    assert user_info(acting(Cluster(), ADMIN_TOKEN, **named)) == json.loads(expected)


def test_anonymous_is_unauthenticated_also_when_it_is_acted_as() -> None:
    found = acting(Cluster(), ADMIN_TOKEN, user="system:anonymous")
    assert found.groups == ("system:unauthenticated",)


def test_several_groups_come_in_one_header() -> None:
    found = acting(Cluster(), ADMIN_TOKEN, user="jane", group="a, b")
    assert found.groups == ("a", "b", "system:authenticated")


@pytest.mark.parametrize(
    ("headers", "title"),
    [
        ({"group": "devs"}, "impersonation of a group without a user is refused"),
        ({"extra_scopes": "read"}, "impersonation of an extra without a user is refused"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_without_a_user_nothing_can_be_acted_as(headers: dict[str, str], title: str) -> None:
    with pytest.raises(Refusal) as refusal:
        acting(Cluster(), ADMIN_TOKEN, **headers)
    (seen,) = golden("authentication", title)
    assert refusal.value.status == seen["body"]


def refused(cluster: Cluster, token: str, **headers: str) -> dict[str, Any]:
    with pytest.raises(Refusal) as refusal:
        acting(cluster, token, **headers)
    return refusal.value.status


def here(seen: dict[str, Any]) -> dict[str, Any]:
    return {**seen["body"], "message": seen["body"]["message"].replace("probe-<id>", "team")}


def test_without_permission_nobody_is_acted_as() -> None:
    cluster = Cluster(born=True)
    cluster.account("user")
    token = cluster.access.mint("team", "user")
    seen = golden("authentication", "without permission nobody is impersonated")
    assert refused(cluster, token, user="jane") == here(seen[0])
    account = "system:serviceaccount:team:default"
    assert refused(cluster, token, user=account) == here(seen[1])


def everywhere(cluster: Cluster, *rules: Any) -> None:
    name = {"name": "may"}
    cluster.put({"kind": "ClusterRole", "metadata": name, "rules": list(rules)})
    cluster.put(
        {
            "kind": "ClusterRoleBinding",
            "metadata": name,
            "roleRef": {"kind": "ClusterRole", "name": "may"},
            "subjects": [{"kind": "ServiceAccount", "name": "user", "namespace": "team"}],
        }
    )


def test_permission_for_a_user_includes_neither_groups_nor_extras_nor_uids() -> None:
    cluster = Cluster()
    cluster.account("user")
    token = cluster.access.mint("team", "user")
    everywhere(cluster, rule("users", "impersonate", names=("jane",)))
    title = "permission to impersonate a user does not include groups, extras and uids"
    seen = golden("authentication", title)
    assert user_info(acting(cluster, token, user="jane")) == seen[0]["body"]["status"]["userInfo"]
    assert refused(cluster, token, user="joe") == here(seen[1])
    for name, expected in zip(("group", "uid", "extra_scopes"), seen[2:], strict=True):
        assert refused(cluster, token, user="jane", **{name: "x"}) == here(expected)


CREATE_SELF = rule(
    "selfsubjectreviews", "impersonate-on:user-info:create", group="authentication.k8s.io"
)


def constrained(resource: str, mode: str, *names: str) -> Any:
    return rule(resource, f"impersonate:{mode}", group="authentication.k8s.io", names=names)


def test_constrained_permission_needs_the_user_and_the_request() -> None:
    cluster = Cluster()
    cluster.account("user")
    token = cluster.access.mint("team", "user")
    everywhere(cluster, constrained("users", "user-info", "jane"))
    assert "impersonate-on:user-info:create" in refused(cluster, token, user="jane")["message"]
    everywhere(cluster, constrained("users", "user-info", "jane"), CREATE_SELF)
    assert acting(cluster, token, user="jane").name == "jane"


def test_constrained_permission_never_includes_masters() -> None:
    cluster = Cluster()
    cluster.account("user")
    token = cluster.access.mint("team", "user")
    everywhere(cluster, rule("*", "impersonate:user-info", group="*"), CREATE_SELF)
    refusal = refused(cluster, token, user="jane", group=MASTERS)
    assert refusal["message"].endswith("impersonating the system:masters group is not allowed")


@pytest.mark.parametrize(
    ("mode", "name"), [("associated-node", "n"), ("arbitrary-node", "m")], ids=str
)
def test_a_node_may_be_acted_as_in_its_own_mode(mode: str, name: str) -> None:
    cluster = Cluster()
    cluster.account("user")
    on = rule("selfsubjectreviews", f"impersonate-on:{mode}:create", group="authentication.k8s.io")
    everywhere(cluster, constrained("nodes", mode), on)
    spec = {"serviceAccountName": "user", "nodeName": "n"}
    cluster.put({"kind": "Pod", "metadata": {"name": "a", "namespace": "team"}, "spec": spec})
    reference = {"kind": "Pod", "apiVersion": "v1", "name": "a"}
    request = cluster.access.prepare_token_request(
        {"spec": {"boundObjectRef": reference}}, "team", "user"
    )
    token = cluster.access.issue_token(request, "team", "user")["status"]["token"]
    found = acting(cluster, token, user=f"system:node:{name}")
    assert found.groups == ("system:nodes", "system:authenticated")


def test_entering_authorises_whom_is_acted_as() -> None:
    cluster = Cluster()

    def wanting(user: User) -> Attributes:
        return Attributes(user=user, verb="list", resource="pods", namespace="team")

    cluster.access.enter(asked(ADMIN_TOKEN), wanting)
    with pytest.raises(Refusal) as refusal:
        cluster.access.enter(asked(ADMIN_TOKEN, impersonate_user="jane"), wanting)
    (seen,) = golden("authentication", "an impersonated user is refused what it may not do")
    assert refusal.value.status == here(seen)
