# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest

from tests.unit.embedded.access.builders import RBAC, Cluster, binding, golden, rule, user
from trellis.embedded.access.aggregation import aggregated
from trellis.embedded.access.rules import uncovered
from trellis.embedded.asking import MASTERS, Object, Review, User
from trellis.embedded.refusals import Refusal
from trellis.embedded.served import Served

WHO = user("user")
PLURALS = {
    "Role": "roles",
    "RoleBinding": "rolebindings",
    "ClusterRole": "clusterroles",
    "ClusterRoleBinding": "clusterrolebindings",
}


def a_role(name: str, *rules: Any, kind: str = "Role", **more: Any) -> Object:
    metadata = {"name": name, "namespace": "team"} if kind == "Role" else {"name": name}
    return {"kind": kind, "metadata": metadata, "rules": list(rules), **more}


def write(cluster: Cluster, new: Object, old: Object | None = None, who: User = WHO) -> None:
    kind = new["kind"]
    plural = PLURALS[kind]
    served = Served(
        group=RBAC,
        version="v1",
        kind=kind,
        plural=plural,
        singular=kind.lower(),
        namespaced="Cluster" not in kind,
        schema=None,  # type: ignore[arg-type]
        strategy=None,  # type: ignore[arg-type]
        list_kind=f"{kind}List",
    )
    cluster.access.check_roles(
        Review(
            user=who,
            served=served,
            subresource="",
            operation="UPDATE" if old else "CREATE",
            namespace=new["metadata"].get("namespace", ""),
            name=new["metadata"]["name"],
            new=new,
            old=old,
            options={},
            dry_run=False,
        )
    )


def refused(cluster: Cluster, new: Object, old: Object | None = None) -> dict[str, Any]:
    with pytest.raises(Refusal) as refusal:
        write(cluster, new, old)
    return refusal.value.status


def here(seen: dict[str, Any]) -> dict[str, Any]:
    return {**seen["body"], "message": seen["body"]["message"].replace("probe-<id>", "team")}


def test_a_role_may_hold_what_its_writer_has_and_no_more() -> None:
    cluster = Cluster()
    cluster.allow("user", rule("configmaps", "get"))
    seen = golden("rbac", "a service account cannot make a role with more than it may do")
    same = a_role("same", rule("configmaps", "get"))
    write(cluster, same)
    more = a_role("more", rule("configmaps", "get", "list"), rule("secrets", "get", names=("a",)))
    assert refused(cluster, more) == here(seen[1])
    changed = a_role("same", rule("secrets", "get"))
    assert refused(cluster, changed, same) == here(seen[2])


def test_masters_grant_anything() -> None:
    boss = User(name="boss", groups=(MASTERS,))
    write(Cluster(), a_role("all", rule("*", "*", group="*")), who=boss)


def test_whoever_may_escalate_makes_any_role() -> None:
    cluster = Cluster()
    cluster.allow("user", rule("roles", "escalate", group=RBAC))
    write(cluster, a_role("a", rule("secrets", "get")))


def test_who_only_lets_a_role_go_needs_nothing() -> None:
    old = a_role("a", rule("secrets", "get"))
    new = {**old, "metadata": {**old["metadata"], "finalizers": ["x/y"], "managedFields": [1]}}
    write(Cluster(), new, old)
    assert refused(Cluster(), {**new, "metadata": {**new["metadata"], "labels": {"a": "b"}}}, old)


def test_a_binding_gives_what_its_writer_has_or_may_bind() -> None:
    cluster = Cluster()
    cluster.put(a_role("strong", rule("secrets", "get")))
    cluster.put(a_role("open", rule("secrets", "get")))
    cluster.put(a_role("mine", rule("roles", "bind", group=RBAC, names=("open",))))
    cluster.allow("user", rule("roles", "bind", group=RBAC, names=("open",)))
    title = "a service account cannot bind a role with more than it may do unless it may bind it"
    seen = golden("rbac", title)
    assert refused(cluster, binding("a", "user", "strong")) == here(seen[0])
    write(cluster, binding("b", "user", "open"))
    write(cluster, binding("own", "user", "mine"))
    assert refused(cluster, binding("c", "user", "absent")) == here(seen[2])


@pytest.mark.parametrize("reference", [None, {}, {"kind": "Pod", "name": "x"}, {"kind": "Role"}])
def test_a_malformed_binding_is_left_to_validation(reference: Any) -> None:
    write(Cluster(), {**binding("a", "user"), "roleRef": reference})


def test_an_aggregating_role_needs_everything() -> None:
    cluster = Cluster()
    selector = {"clusterRoleSelectors": [{"matchLabels": {"a": "b"}}]}
    whole = a_role("whole", kind="ClusterRole", aggregationRule=selector)
    message = refused(cluster, whole)["message"]
    assert message.endswith("must have cluster-admin privileges to use the aggregationRule")


def test_refusals_tell_of_roles_that_are_not_there() -> None:
    cluster = Cluster()
    cluster.put(binding("a", "user", "absent"))
    message = refused(cluster, a_role("a", rule("pods", "get")))["message"]
    assert message.endswith(f'; resolution errors: [role.{RBAC} "absent" not found]')


@pytest.mark.parametrize(
    ("owned", "wanted", "covered"),
    [
        (rule("*", "*", group="*"), rule("pods", "get", "list"), True),
        (rule("pods", "get"), rule("pods", "get", names=("a",)), True),
        (rule("pods", "get", names=("a",)), rule("pods", "get"), False),
        (rule("pods", "get", names=("a", "b")), rule("pods", "get", names=("b",)), True),
        (rule("*/status", "get"), rule("pods/status", "get"), True),
        (rule("*/status", "get"), rule("pods", "get"), False),
        (rule("pods", "get"), rule("pods/status", "get"), False),
        (rule("pods", "get"), rule("*", "get"), False),
        (
            {"nonResourceURLs": ["/api/*"], "verbs": ["get"]},
            {"nonResourceURLs": ["/api/v1"], "verbs": ["get"]},
            True,
        ),
        (
            {"nonResourceURLs": ["/api"], "verbs": ["get"]},
            {"nonResourceURLs": ["/api/v1"], "verbs": ["get"]},
            False,
        ),
    ],
)
def test_rules_cover_others(owned: Any, wanted: Any, covered: bool) -> None:
    assert (uncovered([owned], [wanted]) == []) is covered


def labelled(name: str, *rules: Any) -> Object:
    whole = a_role(name, *rules, kind="ClusterRole")
    return {**whole, "metadata": {"name": name, "labels": {"aggregate": "yes"}}}


def test_an_aggregated_role_gets_the_rules_of_others_by_name_each_once() -> None:
    selector = {"clusterRoleSelectors": [{"matchLabels": {"aggregate": "yes"}}]}
    whole = {**labelled("whole", rule("secrets", "get")), "aggregationRule": selector}
    first = labelled("a", rule("pods", "get"))
    second = labelled("b", rule("configmaps", "get"), rule("pods", "get"))
    other = a_role("c", rule("nodes", "get"), kind="ClusterRole")
    found = aggregated(whole, [second, other, whole, first])
    assert found == [rule("pods", "get"), rule("configmaps", "get")]
    assert aggregated({**whole, "rules": found}, [first, second]) is None
    assert aggregated(other, [first]) is None
