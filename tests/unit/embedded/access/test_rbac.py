# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest

from tests.unit.embedded.access.builders import RBAC, Cluster, binding, get, golden, rule, user
from trellis.embedded.access.denial import denial
from trellis.embedded.asking import ANONYMOUS, MASTERS, Attributes, User

WHO = user("user")
NOBODY = User(name=ANONYMOUS, groups=("system:unauthenticated",))


def allowed(cluster: Cluster, name: str = "a", **what: str) -> bool:
    return cluster.access.authorize(get(WHO, name, **what))[0]


@pytest.mark.parametrize(
    ("granted", "wanted", "expected"),
    [
        (rule("configmaps", "get"), {}, True),
        (rule("configmaps", "get"), {"verb": "list"}, False),
        (rule("configmaps", "get"), {"namespace": "other"}, False),
        (rule("configmaps", "get"), {"namespace": ""}, False),
        (rule("configmaps", "get"), {"group": "apps"}, False),
        (rule("configmaps", "get"), {"subresource": "status"}, False),
        (rule("configmaps", "*"), {"verb": "deletecollection"}, True),
        (rule("*", "get"), {"subresource": "status"}, True),
        (rule("*/status", "get"), {"subresource": "status"}, True),
        (rule("*/status", "get"), {}, False),
        (rule("configmaps/status", "get"), {"subresource": "status"}, True),
        (rule("configmaps/status", "get"), {"subresource": "scale"}, False),
        (rule("configmaps/*", "get"), {"subresource": "status"}, False),
        (rule("configmaps", "get", group="*"), {"group": "apps"}, True),
        (rule("configmaps", "get", names=("a",)), {}, True),
        (rule("configmaps", "get", names=("b", "a")), {}, True),
        (rule("configmaps", "get", names=("b",)), {}, False),
        (rule("configmaps", "list", names=("a",)), {"verb": "list", "name": ""}, False),
        ({"verbs": ["get"], "apiGroups": None, "resources": None}, {}, False),
        ({"verbs": ["get"], "nonResourceURLs": ["*"]}, {}, False),
    ],
)
def test_a_rule_allows_what_it_names(granted: Any, wanted: dict[str, str], expected: bool) -> None:
    cluster = Cluster()
    cluster.allow("user", granted)
    name = wanted.pop("name", "a")
    assert allowed(cluster, name, **wanted) is expected


@pytest.mark.parametrize(
    ("url", "path", "expected"),
    [
        ("/metrics", "/metrics", True),
        ("/metrics", "/metrics/cadvisor", False),
        ("/debug/*", "/debug/pprof", True),
        ("/debug/*", "/debug", False),
        ("*", "/anything", True),
    ],
)
def test_a_rule_allows_paths(url: str, path: str, expected: bool) -> None:
    cluster = Cluster()
    rules = [{"nonResourceURLs": [url], "verbs": ["get"]}]
    cluster.put({"kind": "ClusterRole", "metadata": {"name": "paths"}, "rules": rules})
    cluster.put(
        {
            "kind": "ClusterRoleBinding",
            "metadata": {"name": "paths"},
            "roleRef": {"kind": "ClusterRole", "name": "paths"},
            "subjects": [{"kind": "Group", "name": "system:serviceaccounts"}],
        }
    )
    wanted = Attributes(user=WHO, verb="get", path=path)
    assert cluster.access.authorize(wanted)[0] is expected
    assert not cluster.access.authorize(Attributes(user=WHO, verb="post", path=path))[0]


def test_masters_may_do_everything() -> None:
    boss = User(name="boss", groups=(MASTERS,))
    assert Cluster().access.authorize(get(boss, verb="anything")) == (True, "")


def test_a_permission_names_the_binding_that_gives_it() -> None:
    cluster = Cluster()
    cluster.allow("user", rule("configmaps", "get"))
    (seen,) = golden("access_reviews", "a SubjectAccessReview tells which binding allows it")
    told = seen["body"]["status"]["reason"].replace("probe-<id>", "team")
    assert cluster.access.authorize(get(WHO)) == (True, told)


def test_a_role_that_is_not_there_is_mentioned() -> None:
    cluster = Cluster()
    cluster.put(binding("a", "user", "absent"))
    title = "a binding of a role that is not there is accepted, and refusals mention it"
    body = golden("rbac", title)[1]["body"]
    _, reason = cluster.access.authorize(get(WHO))
    told = denial(get(WHO), reason).status["message"]
    assert told == body["message"].replace("probe-<id>", "team")


def test_several_missing_roles_are_mentioned_together() -> None:
    cluster = Cluster()
    for name in ("a", "b"):
        cluster.put(binding(name, "user", f"absent-{name}"))
    _, reason = cluster.access.authorize(get(WHO))
    assert reason == (f'RBAC: [role.{RBAC} "absent-a" not found, role.{RBAC} "absent-b" not found]')


def test_the_first_subject_that_fits_is_told() -> None:
    cluster = Cluster()
    bound = binding("both", "user")
    bound["subjects"] = [
        {"kind": "User", "name": "someone"},
        {"kind": "Group", "name": "system:authenticated"},
        {"kind": "ServiceAccount", "name": "user"},
    ]
    metadata = {"name": "both", "namespace": "team"}
    cluster.put({"kind": "Role", "metadata": metadata, "rules": [rule("configmaps", "get")]})
    cluster.put(bound)
    assert cluster.access.authorize(get(WHO))[1].endswith('to Group "system:authenticated"')


def test_changes_of_roles_and_bindings_count_at_once() -> None:
    cluster = Cluster()
    assert not allowed(cluster)
    cluster.allow("user", rule("configmaps", "get"))
    assert allowed(cluster)
    metadata = {"name": "may-user", "namespace": "team"}
    cluster.put({"kind": "Role", "metadata": metadata, "rules": None})
    assert not allowed(cluster)
    cluster.put({"kind": "Role", "metadata": metadata, "rules": [rule("*", "*", group="*")]})
    assert allowed(cluster)
    cluster.remove("RoleBinding", "may-user")
    assert not allowed(cluster)


def test_an_answer_is_worked_out_once_for_all_names() -> None:
    cluster = Cluster()
    cluster.allow("user", rule("configmaps", "get"))
    assert allowed(cluster)
    reads = cluster.shelves.reads
    assert all(allowed(cluster, f"a-{number}") for number in range(100))
    assert cluster.shelves.reads == reads


def test_memory_of_hostile_questions_is_bounded() -> None:
    cluster = Cluster()
    for number in range(9000):
        cluster.access.authorize(get(WHO, verb=f"v{number}"))
        cluster.access.authorize(get(User(name=f"u{number}")))
        cluster.access.authorize(get(WHO, namespace=f"n{number}"))
    powers = cluster.access.rbac._powers
    assert len(powers) < 5000
    assert all(len(known) < 5000 for known in powers.values())


@pytest.mark.parametrize(
    ("wanted", "title"),
    [
        ({}, "a forbidden get names user, verb, resource and namespace"),
        ({"verb": "list", "name": ""}, "a forbidden list has no name in its details"),
        ({"verb": "create", "name": ""}, "a forbidden create names the resource only"),
        (
            {"verb": "list", "name": "", "namespace": ""},
            "a forbidden list over all namespaces is at the cluster scope",
        ),
        (
            {"resource": "nodes", "namespace": ""},
            "a forbidden get of a cluster-scoped object is at the cluster scope",
        ),
        (
            {"resource": "pods", "subresource": "log"},
            "a forbidden get of a subresource names both",
        ),
        (
            {"resource": "widgets", "group": "conformance.trellis.dev"},
            "a forbidden get of a custom resource names its group",
        ),
        (
            {"resource": "namespaces", "namespace": "default", "name": "default"},
            "a namespace is forbidden as in itself",
        ),
        (
            {"resource": "", "path": "/metrics", "namespace": "", "name": ""},
            "a forbidden path that is no resource is named",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_denial_has_the_words_of_the_real_server(wanted: dict[str, str], title: str) -> None:
    (seen,) = golden("rbac", title)
    body = {**seen["body"], "message": seen["body"]["message"].replace("probe-<id>", "team")}
    assert denial(get(user("nobody"), **wanted)).status == body


def test_a_denial_is_no_page() -> None:
    refusal = denial(Attributes(user=User(name="<b>"), verb="get", path="/&"))
    assert refusal.message == 'forbidden: User "&lt;b&gt;" cannot get path "/&amp;"'


@pytest.mark.parametrize("path", ["/healthz", "/livez", "/readyz", "/version"])
def test_anonymous_may_look_at_health_and_version_of_a_cluster_as_born(path: str) -> None:
    cluster = Cluster(born=True)
    assert cluster.access.authorize(Attributes(user=NOBODY, verb="get", path=path))[0]


@pytest.mark.parametrize("path", ["/apis", "/nothing/here", "/.well-known/openid-configuration"])
def test_anonymous_may_see_nothing_else_of_a_cluster_as_born(path: str) -> None:
    cluster = Cluster(born=True)
    assert not cluster.access.authorize(Attributes(user=NOBODY, verb="get", path=path))[0]
    assert not cluster.access.authorize(get(NOBODY))[0]
