# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from datetime import timedelta

import pytest

from tests.unit.embedded.access.builders import (
    ADMIN_TOKEN,
    NOW,
    Cluster,
    asked,
    golden,
)
from trellis.embedded.access import SigningKey
from trellis.embedded.asking import ANONYMOUS
from trellis.embedded.exchange import Ask
from trellis.embedded.refusals import Refusal

POD = {"kind": "Pod", "metadata": {"name": "a", "namespace": "team"}}
ON_POD = {"kind": "Pod", "apiVersion": "v1", "name": "a"}


def with_header(value: str) -> Ask:
    return Ask(method="GET", path="/", headers={"authorization": value})


def refused(cluster: Cluster, token: str) -> Refusal:
    with pytest.raises(Refusal) as found:
        cluster.access.authenticate(asked(token))
    return found.value


@pytest.mark.parametrize("header", ["Bearer ", "Basic YTpi", "wrong", "", "  Bearer  x"])
def test_a_header_without_a_bearer_token_is_anonymous(header: str) -> None:
    user = Cluster().access.authenticate(with_header(header))
    assert (user.name, user.groups) == (ANONYMOUS, ("system:unauthenticated",))


@pytest.mark.parametrize("token", ["wrong", "a.b.c", ADMIN_TOKEN + "x"])
def test_an_unknown_token_is_unauthorized(token: str) -> None:
    refusal = refused(Cluster(), token)
    (seen,) = golden("authentication", "an unknown bearer token is unauthorized")
    assert refusal.status == seen["body"]


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
def test_the_admins_token_is_the_admins(scheme: str) -> None:
    user = Cluster().access.authenticate(with_header(f"{scheme} {ADMIN_TOKEN}"))
    assert (user.name, user.uid) == ("admin", "admin")
    assert user.groups == ("system:masters", "system:authenticated")


def test_a_token_of_a_service_account_names_it() -> None:
    cluster = Cluster()
    made = cluster.account("user")
    user = cluster.access.authenticate(asked(cluster.access.mint("team", "user")))
    assert user.name == "system:serviceaccount:team:user"
    assert user.uid == made["metadata"]["uid"]
    assert user.groups == (
        "system:serviceaccounts",
        "system:serviceaccounts:team",
        "system:authenticated",
    )
    (number,) = user.extra["authentication.kubernetes.io/credential-id"]
    assert number.startswith("JTI=")


def test_a_token_of_another_cluster_is_unauthorized() -> None:
    cluster = Cluster()
    cluster.account("user")
    claims = cluster.access._key.verify(cluster.access.mint("team", "user"))
    assert refused(cluster, SigningKey.generate().sign(claims)).code == 401


def test_a_token_for_others_is_unauthorized() -> None:
    cluster = Cluster()
    cluster.account("user")
    assert refused(cluster, cluster.access.mint("team", "user", ["vault"])).code == 401


def test_a_token_works_until_its_account_is_deleted_and_not_after_it_is_made_anew() -> None:
    cluster = Cluster()
    cluster.account("user")
    token = cluster.access.mint("team", "user")
    cluster.access.authenticate(asked(token))
    cluster.remove("ServiceAccount", "user")
    assert refused(cluster, token).code == 401
    cluster.account("user")
    assert refused(cluster, token).code == 401
    cluster.access.authenticate(asked(cluster.access.mint("team", "user")))


def test_a_token_ends_a_minute_after_its_time() -> None:
    cluster = Cluster()
    cluster.account("user")
    token = cluster.access.mint("team", "user", seconds=600)
    cluster.clock.moment = NOW + timedelta(seconds=659)
    cluster.access.authenticate(asked(token))
    cluster.clock.moment = NOW + timedelta(seconds=661)
    assert refused(cluster, token).code == 401


def test_a_token_is_not_good_before_its_time() -> None:
    cluster = Cluster()
    cluster.account("user")
    token = cluster.access.mint("team", "user")
    cluster.clock.moment = NOW - timedelta(seconds=61)
    assert refused(cluster, token).code == 401


def bound(cluster: Cluster, reference: dict[str, str]) -> str:
    body = {"spec": {"boundObjectRef": reference}}
    request = cluster.access.prepare_token_request(body, "team", "user")
    token: str = cluster.access.issue_token(request, "team", "user")["status"]["token"]
    return token


@pytest.mark.parametrize(
    ("kind", "where"), [("Pod", "team"), ("Secret", "team"), ("Node", "")], ids=str
)
def test_a_bound_token_works_until_what_it_is_bound_to_is_gone(kind: str, where: str) -> None:
    cluster = Cluster()
    cluster.account("user")
    thing = {"kind": kind, "metadata": {"name": "a", "namespace": where}}
    spec = {"spec": {"serviceAccountName": "user"}}
    cluster.put({**thing, **spec})
    token = bound(cluster, {"kind": kind, "apiVersion": "v1", "name": "a"})
    cluster.access.authenticate(asked(token))
    cluster.remove(kind, "a", where)
    assert refused(cluster, token).code == 401
    cluster.put({**thing, **spec})
    assert refused(cluster, token).code == 401


def test_a_token_of_a_pod_names_pod_and_node() -> None:
    cluster = Cluster()
    cluster.account("user")
    cluster.put({"kind": "Node", "metadata": {"name": "n", "uid": "node-uid"}})
    spec = {"serviceAccountName": "user", "nodeName": "n"}
    pod = cluster.put({**POD, "spec": spec})
    extra = cluster.access.authenticate(asked(bound(cluster, ON_POD))).extra
    assert {
        key.rpartition("/")[2]: value for key, value in extra.items() if "JTI" not in value[0]
    } == {
        "pod-name": ("a",),
        "pod-uid": (pod["metadata"]["uid"],),
        "node-name": ("n",),
        "node-uid": ("node-uid",),
    }


def test_a_token_of_a_pod_that_is_being_deleted_ends_a_minute_later() -> None:
    cluster = Cluster()
    cluster.account("user")
    spec = {"spec": {"serviceAccountName": "user"}}
    pod = cluster.put({**POD, **spec})
    token = bound(cluster, ON_POD)
    going = {**pod["metadata"], "deletionTimestamp": "2026-01-01T00:00:30Z"}
    cluster.put({**POD, **spec, "metadata": going})
    cluster.clock.moment = NOW + timedelta(seconds=89)
    cluster.access.authenticate(asked(token))
    cluster.clock.moment = NOW + timedelta(seconds=91)
    assert refused(cluster, token).code == 401


def test_a_good_token_is_looked_at_once() -> None:
    cluster = Cluster()
    cluster.account("user")
    token = cluster.access.mint("team", "user")
    cluster.access.authenticate(asked(token))
    reads = cluster.shelves.reads
    cluster.access.authenticate(asked(token))
    assert cluster.shelves.reads == reads
