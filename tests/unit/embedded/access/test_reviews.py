# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from typing import Any

import pytest

from tests.unit.embedded.access.builders import ADMIN, Cluster, golden, rule, user
from trellis.embedded.asking import MASTERS
from trellis.embedded.refusals import Refusal

AREA = "access_reviews"
GET = {"verb": "get", "resource": "configmaps"}
HERE = {**GET, "namespace": "team"}
WHO = user("user")


def local(body: Any) -> Any:
    """A golden as it would be here: its namespace, without the owners of fields."""
    found = json.loads(json.dumps(body).replace("probe-<id>", "team"))
    found["metadata"].pop("managedFields", None)
    return found


def a_cluster() -> Cluster:
    cluster = Cluster(born=True)
    cluster.account("user")
    cluster.allow("user", rule("configmaps", "get"))
    return cluster


def test_may_someone() -> None:
    spec = {"user": WHO.name, "resourceAttributes": HERE}
    answer = a_cluster().access.review_access({"spec": spec})
    (seen,) = golden(AREA, "a SubjectAccessReview tells which binding allows it")
    assert answer == local(seen["body"])


def test_may_someone_who_may_not() -> None:
    spec = {
        "user": "jane",
        "groups": ["devs"],
        "resourceAttributes": {**HERE, "verb": "delete", "group": ""},
    }
    answer = a_cluster().access.review_access({"spec": spec})
    (seen,) = golden(AREA, "a SubjectAccessReview that no rule allows says false and no reason")
    assert answer == local(seen["body"])


def test_may_a_group() -> None:
    title = "a SubjectAccessReview by group finds what a group may do"
    for groups, seen in zip(
        ([MASTERS], ["system:authenticated"]), golden(AREA, title), strict=True
    ):
        path = {"path": "/api", "verb": "get"}
        spec = {"groups": groups, "nonResourceAttributes": path}
        assert a_cluster().access.review_access({"spec": spec}) == local(seen["body"])


def test_may_someone_here() -> None:
    about = "a LocalSubjectAccessReview is about its namespace"
    seen = golden(AREA, about)
    access = a_cluster().access
    good = {"user": WHO.name, "resourceAttributes": HERE}
    metadata = {"namespace": "team"}
    answer = access.review_local_access({"metadata": metadata, "spec": good}, "team")
    assert answer == local(seen[0]["body"])
    for spec, expected in zip(
        (
            {"user": WHO.name, "resourceAttributes": {**GET, "namespace": "default"}},
            {"user": WHO.name, "resourceAttributes": GET},
            {"user": "jane", "nonResourceAttributes": {"path": "/api", "verb": "get"}},
        ),
        seen[1:],
        strict=True,
    ):
        with pytest.raises(Refusal) as refusal:
            access.review_local_access({"metadata": metadata, "spec": spec}, "team")
        assert refusal.value.status == local(expected["body"])


def test_may_i() -> None:
    seen = golden(AREA, "a SelfSubjectAccessReview answers for the caller, whom every user may be")
    access = a_cluster().access
    for verb, expected in zip(("get", "delete"), seen, strict=False):
        spec = {"resourceAttributes": {**HERE, "verb": verb}}
        assert access.review_self_access({"spec": spec}, WHO) == local(expected["body"])


def _sorted(body: dict[str, Any]) -> dict[str, Any]:
    for name in ("resourceRules", "nonResourceRules"):
        body["status"][name].sort(key=lambda each: json.dumps(each, sort_keys=True))
    return body


def test_what_may_i() -> None:
    cluster = Cluster(born=True)
    cluster.allow("user", rule("configmaps", "get", names=("a",)), rule("pods", "list"))
    answer = cluster.access.review_self_rules({"spec": {"namespace": "team"}}, WHO)
    title = "a SelfSubjectRulesReview lists what a service account may do in a namespace"
    (seen,) = golden(AREA, title)
    assert _sorted(answer) == local(seen["body"])


def test_what_may_the_admin() -> None:
    access = Cluster(born=True).access
    admin = access._authentication.user("Bearer a-token-of-the-admin")
    assert admin.name == ADMIN.name
    answer = access.review_self_rules({"spec": {"namespace": "team"}}, admin)
    (seen,) = golden(AREA, "a SelfSubjectRulesReview of the admin holds everything")
    assert _sorted(answer) == local(seen["body"])


def test_what_may_i_nowhere_is_refused() -> None:
    with pytest.raises(Refusal) as refusal:
        Cluster().access.review_self_rules({"spec": {}}, WHO)
    (seen,) = golden(AREA, "a SelfSubjectRulesReview without a namespace is refused")
    assert refusal.value.status == seen["body"]


PATH = {"path": "/api", "verb": "get"}


@pytest.mark.parametrize(
    ("spec", "title"),
    [
        (
            {"resourceAttributes": GET},
            "a SubjectAccessReview without user and groups is refused",
        ),
        ({"user": "jane"}, "a SubjectAccessReview about nothing is refused"),
        (
            {"user": "jane", "resourceAttributes": GET, "nonResourceAttributes": PATH},
            "a SubjectAccessReview about both a resource and a path is refused",
        ),
        (
            {
                "user": "jane",
                "resourceAttributes": {
                    **GET,
                    "fieldSelector": {"requirements": [{"key": "", "operator": "Near"}]},
                    "labelSelector": {"rawSelector": "a=b", "requirements": []},
                },
            },
            "a SubjectAccessReview with a bad selector is refused",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_malformed_review_is_refused(spec: dict[str, Any], title: str) -> None:
    with pytest.raises(Refusal) as refusal:
        Cluster().access.review_access({"spec": spec})
    (seen,) = golden(AREA, title)
    assert refusal.value.status == seen["body"]


@pytest.mark.parametrize(
    ("selector", "said"),
    [
        ({}, "when spec.resourceAttributes.fieldSelector is specified, requirements or"),
        (
            {"rawSelector": "a=b", "requirements": [{"key": "a", "operator": "Exists"}]},
            "may not specified at the same time",
        ),
        ({"requirements": [{"key": "a", "operator": "In"}]}, "must be specified when"),
        (
            {"requirements": [{"key": "a", "operator": "Exists", "values": ["b"]}]},
            "may not be specified when",
        ),
    ],
    ids=["empty", "both", "no values", "values"],
)
def test_a_malformed_selector_is_refused(selector: dict[str, Any], said: str) -> None:
    spec = {"resourceAttributes": {**GET, "fieldSelector": selector}}
    with pytest.raises(Refusal, match=said):
        Cluster().access.review_self_access({"spec": spec}, WHO)


def test_a_review_with_metadata_is_refused_and_quotes_it_as_go_does() -> None:
    (seen,) = golden(AREA, "a SubjectAccessReview with metadata is refused")
    fields: dict[str, Any] = {
        "f:spec": {"f:resourceAttributes": {".": {}, "f:resource": {}, "f:verb": {}}}
    }
    fields["f:spec"]["f:user"] = {}
    owner = {
        "apiVersion": "authorization.k8s.io/v1",
        "fieldsType": "FieldsV1",
        "fieldsV1": fields,
        "manager": "trellis-tests",
        "operation": "Update",
        "time": "<time>",
    }
    body = {
        "metadata": {"managedFields": [owner], "name": "a"},
        "spec": {"user": "jane", "resourceAttributes": GET},
    }
    with pytest.raises(Refusal) as refusal:
        Cluster().access.review_access(body)
    assert refusal.value.status == seen["body"]
