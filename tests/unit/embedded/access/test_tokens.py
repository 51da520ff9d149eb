# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest

from tests.unit.embedded.access.builders import ADMIN_TOKEN, KEY, NOW, Cluster, asked, golden
from trellis.embedded.refusals import Refusal

ISSUER = "https://kubernetes.default.svc.cluster.local"
VOLUME_SECONDS = 3607


def a_cluster() -> Cluster:
    cluster = Cluster()
    cluster.account("user")
    for name, account in (("a", "user"), ("b", "default")):
        pod = {"kind": "Pod", "metadata": {"name": name, "namespace": "team"}}
        cluster.put({**pod, "spec": {"serviceAccountName": account}})
    return cluster


def request(cluster: Cluster, spec: dict[str, Any], **metadata: str) -> dict[str, Any]:
    body = {"metadata": metadata, "spec": spec}
    prepared = cluster.access.prepare_token_request(body, "team", "user")
    return cluster.access.issue_token(prepared, "team", "user")


def told(answer: dict[str, Any]) -> dict[str, Any]:
    """Claims with times relative to their issue."""
    claims = KEY.verify(answer["status"]["token"])
    issued = claims["iat"]
    assert issued == NOW.timestamp()
    for name in ("exp", "nbf", "iat"):
        claims[name] -= issued
    if "warnafter" in claims["kubernetes.io"]:
        claims["kubernetes.io"]["warnafter"] -= issued
    return claims


def test_a_request_gets_the_defaults_of_the_real_server() -> None:
    cluster = a_cluster()
    answer = request(cluster, {})
    (seen, noted) = golden(
        "authentication",
        "a token request is answered with 201, an audience and an hour by default",
    )
    assert answer["spec"] == seen["body"]["spec"]
    assert answer["metadata"]["creationTimestamp"] == "2026-01-01T00:00:00Z"
    assert answer["status"]["expirationTimestamp"] == "2026-01-01T01:00:00Z"
    claims = told(answer)
    assert claims.keys() == noted["value"].keys()
    assert (claims["exp"], claims["aud"], claims["iss"]) == (3600, [ISSUER], ISSUER)
    assert claims["sub"] == "system:serviceaccount:team:user"


def test_audiences_and_time_are_those_asked_for() -> None:
    claims = told(request(a_cluster(), {"audiences": ["vault"], "expirationSeconds": 700}))
    assert (claims["aud"], claims["exp"]) == (["vault"], 700)


@pytest.mark.parametrize(
    ("spec", "lives", "warns"),
    [
        pytest.param({}, 365 * 24 * 3600, VOLUME_SECONDS, id="of a pod's volume: a year"),
        pytest.param({"audiences": ["vault"]}, VOLUME_SECONDS, None, id="for others: as asked"),
        pytest.param({"expirationSeconds": 3600}, 3600, None, id="another time: as asked"),
    ],
)
def test_the_token_of_a_volume_lives_long_and_warns(
    spec: dict[str, Any], lives: int, warns: int | None
) -> None:
    reference = {"kind": "Pod", "apiVersion": "v1", "name": "a"}
    whole = {"expirationSeconds": VOLUME_SECONDS, "boundObjectRef": reference, **spec}
    claims = told(request(a_cluster(), whole))
    assert claims["exp"] == lives
    assert claims["kubernetes.io"].get("warnafter") == warns


def on(kind: str, name: str, **more: str) -> dict[str, Any]:
    reference = {"kind": kind, "apiVersion": "v1", "name": name, **more}
    return {"boundObjectRef": reference}


OTHER_UID = "00000000-0000-4000-8000-000000000001"
PAIR = "a token bound to a pod of another uid or another service account is refused"
NAMES = "a token request in the name of another service account or namespace is refused"


@pytest.mark.parametrize(
    ("spec", "metadata", "title", "which"),
    [
        ({"expirationSeconds": 599}, {}, "a token for less than ten minutes is refused", 0),
        (
            {"expirationSeconds": (1 << 32) + 1},
            {},
            "a token for more than 2^32 seconds is refused",
            0,
        ),
        (on("Pod", "none"), {}, "a token bound to a pod that is not there is refused", 0),
        (on("Secret", "none"), {}, "a token bound to a secret that is not there is refused", 0),
        (
            on("ConfigMap", "a"),
            {},
            "a token bound to a kind that it cannot be bound to is refused",
            0,
        ),
        (on("Pod", "a", uid=OTHER_UID), {}, PAIR, 0),
        (on("Pod", "b"), {}, PAIR, 1),
        ({}, {"name": "other"}, NAMES, 0),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_refusals_are_the_real_servers(
    spec: dict[str, Any], metadata: dict[str, str], title: str, which: int
) -> None:
    with pytest.raises(Refusal) as refusal:
        request(a_cluster(), spec, **metadata)
    seen = golden("authentication", title)[which]
    assert refusal.value.status == seen["body"]


def test_a_request_for_the_uid_of_another_account_conflicts() -> None:
    with pytest.raises(Refusal, match="does not match the UID of the service account") as refusal:
        request(a_cluster(), {}, uid="other")
    assert refusal.value.code == 409


def test_a_token_of_an_account_that_is_not_there_is_refused() -> None:
    with pytest.raises(Refusal) as refusal:
        Cluster().access.prepare_token_request({}, "team", "none")
    (seen,) = golden("authentication", "a token for a service account that is not there is refused")
    assert refusal.value.status == seen["body"]


def review(cluster: Cluster, token: str, *audiences: str) -> dict[str, Any]:
    spec = {"token": token, "audiences": list(audiences)} if audiences else {"token": token}
    status: dict[str, Any] = cluster.access.review_token({"spec": spec})["status"]
    return status


def test_a_review_of_a_good_token_tells_whose_it_is() -> None:
    cluster = a_cluster()
    status = review(cluster, cluster.access.mint("team", "user"))
    (seen,) = golden("authentication", "a TokenReview of a good token tells whose it is")
    assert status.keys() == seen["body"]["status"].keys()
    assert status["audiences"] == [ISSUER]
    assert status["user"].keys() == seen["body"]["status"]["user"].keys()


def test_a_review_of_the_admins_token_is_for_whom_it_asks() -> None:
    assert review(Cluster(), ADMIN_TOKEN, "anybody")["audiences"] == ["anybody"]


def test_a_review_for_audiences_finds_the_shared_ones() -> None:
    cluster = a_cluster()
    token = cluster.access.mint("team", "user", ["vault", "other"])
    title = "a TokenReview for audiences finds those that the token shares"
    seen = [each["body"]["status"] for each in golden("authentication", title)]
    assert review(cluster, token, "vault", "third")["audiences"] == seen[0]["audiences"]
    assert review(cluster, token, "third") == seen[1]
    assert review(cluster, token) == seen[2]


def test_a_review_of_a_bad_token_tells_an_error_and_keeps_the_name() -> None:
    body = {"metadata": {"name": "b", "namespace": "c"}, "spec": {"token": "a"}}
    answer = Cluster().access.review_token(body)
    (seen,) = golden("authentication", "a TokenReview may have a name; a namespace is dropped")
    del seen["body"]["metadata"]["managedFields"]
    assert answer == seen["body"]


def test_a_review_without_a_token_is_refused() -> None:
    with pytest.raises(Refusal) as refusal:
        Cluster().access.review_token({"spec": {"token": ""}})
    (seen,) = golden("authentication", "a TokenReview without a token is refused")
    assert refusal.value.status == seen["body"]


def test_a_review_of_oneself_tells_who_one_is() -> None:
    cluster = Cluster()
    answer = cluster.access.review_self(cluster.access.authenticate(asked(ADMIN_TOKEN)))
    (seen,) = golden("authentication", "a SelfSubjectReview tells the admin who it is")
    assert {**answer, "metadata": {"creationTimestamp": "<time>"}} == seen["body"]
