# SPDX-License-Identifier: Apache-2.0
"""Budgets, claims, nodes and the conditions of namespaces, decided from what there is."""

from __future__ import annotations

from collections import Counter
from typing import Any

import msgspec
import pytest

from tests.unit.embedded.controllers.builders import NOW, a_node, a_pod, ago
from trellis.embedded.controllers import budgets, claims, nodes
from trellis.embedded.controllers.collecting.namespaces import Left, told
from trellis.embedded.controllers.kinds import Budget, Claim, ClaimTemplate, PodClaim


def a_budget(status: dict[str, Any] | None = None, **spec: Any) -> Budget:
    metadata = {"name": "b", "namespace": "ns", "uid": "uid-b", "generation": 1}
    return msgspec.convert({"metadata": metadata, "spec": spec, "status": status or {}}, Budget)


WELL = [a_pod(f"p{number}", "Running", ready=5) for number in range(3)]
BUDGETS: dict[str, tuple[dict[str, Any], int, tuple[int, int, int]]] = {
    "a number of available": ({"minAvailable": 2}, 0, (3, 2, 1)),
    "a share of available": ({"minAvailable": "50%"}, 3, (3, 2, 1)),
    "a number of missing": ({"maxUnavailable": 1}, 4, (4, 3, 0)),
    "a share of missing": ({"maxUnavailable": "50%"}, 3, (3, 1, 2)),
    "missing ones of nobody": ({"maxUnavailable": 1}, 0, (0, 0, 0)),
}


@pytest.mark.parametrize(("spec", "scale", "expected"), BUDGETS.values(), ids=BUDGETS)
def test_a_budget_by(spec: dict[str, Any], scale: int, expected: tuple[int, int, int]) -> None:
    budget = a_budget(**spec)
    new = budgets.status(budget, WELL, budgets.expected(budget, WELL, scale), NOW)
    assert (new["expectedPods"], new["desiredHealthy"], new["disruptionsAllowed"]) == expected
    reason = "SufficientPods" if expected[2] else "InsufficientPods"
    assert new["conditions"][0]["reason"] == reason


def test_a_pod_that_was_promised_to_go_is_not_counted_until_it_is_late() -> None:
    budget = a_budget({"disruptedPods": {"p0": ago(60), "p1": ago(121)}}, minAvailable=1)
    new = budgets.status(budget, WELL, budgets.expected(budget, WELL, 0), NOW)
    assert (new["currentHealthy"], new["disruptedPods"]) == (2, {"p0": ago(60)})


def test_a_budget_that_cannot_be_reckoned_allows_nothing() -> None:
    new = budgets.unknown(a_budget(maxUnavailable=1), budgets.NoScale("no"), NOW)
    assert new["disruptionsAllowed"] == 0
    assert new["conditions"][0]["reason"] == "SyncFailed"


def a_claim(**more: Any) -> Claim:
    """`users` are names of pods that it is reserved for."""
    users = [
        {"resource": "pods", "name": name, "uid": f"uid-{name}"} for name in more.pop("users", ())
    ]
    metadata: dict[str, Any] = {
        "name": "c",
        "namespace": "ns",
        "uid": "uid-c",
        "finalizers": [claims.FINALIZER] if more.pop("allocated", True) else [],
    }
    if owner := more.pop("owner", None):
        metadata["ownerReferences"] = [
            {
                "apiVersion": "v1",
                "kind": "Pod",
                "name": owner,
                "uid": f"uid-{owner}",
                "controller": True,
            }
        ]
    if more.pop("deleting", False):
        metadata["deletionTimestamp"] = ago(0)
    status: dict[str, Any] = {"reservedFor": users}
    if metadata["finalizers"]:
        status["allocation"] = {"devices": {}}
    assert not more
    return msgspec.convert({"metadata": metadata, "status": status}, Claim, strict=False)


NOTHING = claims.Release()
FREED = {"reservedFor": None, "allocation": None}
CLAIMS: dict[str, tuple[Claim, set[str], claims.Release]] = {
    "stays while it is used": (a_claim(users=["p"]), set(), NOTHING),
    "stays allocated when nobody used it yet": (a_claim(), set(), NOTHING),
    "is freed with its last user": (
        a_claim(users=["p"]),
        {"uid-p"},
        claims.Release(status=FREED, unprotect=True),
    ),
    "stays with its other user": (
        a_claim(users=["p", "q"]),
        {"uid-p"},
        claims.Release(status={"reservedFor": [{"resource": "pods", "name": "q", "uid": "uid-q"}]}),
    ),
    "is freed when it is deleted": (
        a_claim(deleting=True),
        set(),
        claims.Release(status=FREED, unprotect=True),
    ),
    "is not freed while it is used, deleted or not": (
        a_claim(deleting=True, users=["p"]),
        set(),
        NOTHING,
    ),
}


@pytest.mark.parametrize(("claim", "gone", "expected"), CLAIMS.values(), ids=CLAIMS)
def test_a_claim(claim: Claim, gone: set[str], expected: claims.Release) -> None:
    assert claims.release(claim, gone, None) == expected


def test_a_claim_that_was_made_for_a_pod_goes_when_that_is_done() -> None:
    claim = a_claim(owner="p", allocated=False)
    assert not claims.release(claim, (), a_pod("p", "Running")).delete
    assert claims.release(claim, (), a_pod("p", "Succeeded")).delete
    assert claims.release(claim, (), a_pod("p", metadata={"uid": "another"})).delete
    assert not claims.release(claim, (), None).delete


def test_a_claim_is_made_with_the_labels_of_its_template_and_the_name_the_pod_has_for_it() -> None:
    inner = {"labels": {"a": "b"}, "annotations": {"c": "d"}}
    spec = {"metadata": inner, "spec": {"devices": {}}}
    template = msgspec.convert({"metadata": {"name": "t"}, "spec": spec}, ClaimTemplate)
    made = claims.body(a_pod("p"), PodClaim(name="gpu"), template)
    assert made["metadata"]["generateName"] == "p-gpu-"
    assert made["metadata"]["labels"] == {"a": "b"}
    assert made["metadata"]["annotations"] == {"c": "d", claims.CLAIM_NAME: "gpu"}


def test_a_long_name_keeps_something_of_both_the_pod_and_the_claim() -> None:
    base = claims.base("p" * 60, "c" * 20)
    assert len(base) <= 57
    assert base.strip("p").strip("c") == "-"


READY, NOT_READY = {"Ready": "True"}, {"Ready": "False"}


def taint(key: str, effect: str = "NoSchedule") -> dict[str, Any]:
    return {"key": f"node.kubernetes.io/{key}", "effect": effect}


TAINTS: dict[str, tuple[dict[str, Any], list[tuple[str, str]] | None]] = {
    "a new node keeps what it was born with": ({"taints": [taint("not-ready")]}, None),
    "a ready node loses it": ({"taints": [taint("not-ready")], "conditions": READY}, []),
    "a ready node without it is left alone": ({"conditions": READY}, None),
    "a node that is not ready": (
        {"conditions": NOT_READY},
        [("not-ready", "NoSchedule"), ("not-ready", "NoExecute")],
    ),
    "a node that is silent": (
        {"conditions": {"Ready": "Unknown"}},
        [("unreachable", "NoSchedule"), ("unreachable", "NoExecute")],
    ),
    "a node without memory": (
        {"conditions": {**READY, "MemoryPressure": "True"}},
        [("memory-pressure", "NoSchedule")],
    ),
    "a cordoned node": (
        {"conditions": READY, "unschedulable": True},
        [("unschedulable", "NoSchedule")],
    ),
}


@pytest.mark.parametrize(("node", "expected"), TAINTS.values(), ids=TAINTS)
def test_taints_follow_the_conditions(
    node: dict[str, Any], expected: list[tuple[str, str]] | None
) -> None:
    found = nodes.tainted(a_node(**node), NOW)
    shown = None
    if found is not None:
        shown = [(one["key"].removeprefix("node.kubernetes.io/"), one["effect"]) for one in found]
    assert shown == expected


def test_taints_of_others_stay() -> None:
    others = {"key": "gpu", "effect": "NoSchedule"}
    node = a_node(taints=[others, taint("not-ready")], conditions=READY)
    assert nodes.tainted(node, NOW) == [others]


def test_a_namespace_says_what_is_left_in_it() -> None:
    left = Left(Counter({"configmaps.": 2, "jobs.batch": 1}), Counter({"a.b/c": 3}))
    found = {one["type"]: one for one in told({}, left, NOW)["conditions"]}
    assert len(found) == 5
    assert found["NamespaceContentRemaining"]["message"] == (
        "Some resources are remaining: configmaps. has 2 resource instances, "
        "jobs.batch has 1 resource instances"
    )
    assert found["NamespaceFinalizersRemaining"]["message"] == (
        "Some content in the namespace has finalizers remaining: a.b/c in 3 resource instances"
    )
    again = told({"conditions": list(found.values())}, Left(), NOW)["conditions"]
    assert [one["status"] for one in again] == ["False"] * 5
