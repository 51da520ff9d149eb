# SPDX-License-Identifier: Apache-2.0
"""ReplicaSets, rollouts of Deployments and daemons, decided from what there is."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from tests.unit.embedded.controllers.builders import NOW, a_node, a_pod, ago
from trellis.embedded.controllers.apps import daemons, replicaset, rollout, standing
from trellis.embedded.controllers.apps.amounts import share, template_hash
from trellis.embedded.controllers.apps.rollout import REVISION, Sets, sets_of
from trellis.embedded.controllers.kinds import DaemonSet, Deployment, ReplicaSet

TEMPLATE = {"metadata": {"labels": {"app": "a"}}, "spec": {"containers": []}}
OLD = {"metadata": {"labels": {"app": "a", "v": "1"}}, "spec": {"containers": []}}

SHARES = {
    "a number": (3, 10, True, 3),
    "a share rounded up": ("25%", 10, True, 3),
    "a share rounded down": ("25%", 10, False, 2),
    "nothing of nothing": ("50%", 0, True, 0),
}


@pytest.mark.parametrize(("value", "total", "up", "expected"), SHARES.values(), ids=SHARES)
def test_a_count_may_be(value: int | str, total: int, up: bool, expected: int) -> None:
    assert share(value, total, up=up) == expected


def test_a_template_is_called_the_same_whatever_the_order_of_its_fields() -> None:
    other = {"spec": TEMPLATE["spec"], "metadata": TEMPLATE["metadata"]}
    assert template_hash(TEMPLATE) == template_hash(other) != template_hash(OLD)
    assert template_hash(TEMPLATE) != template_hash(TEMPLATE, 1)


def a_set(name: str, replicas: int, template: dict[str, Any] = TEMPLATE, **more: Any) -> ReplicaSet:
    status = {"replicas": replicas, "availableReplicas": more.pop("available", replicas)}
    made = {
        "metadata": {
            "name": name,
            "namespace": "ns",
            "uid": f"uid-{name}",
            "generation": 1,
            "creationTimestamp": ago(more.pop("age", 10)),
            "annotations": {REVISION: str(more.pop("revision", 1))},
        },
        "spec": {"replicas": replicas, "template": template, **more},
        "status": {**status, "observedGeneration": 1},
    }
    return msgspec.convert(made, ReplicaSet, strict=False)


def a_deployment(replicas: int, **more: Any) -> Deployment:
    rolling = {
        "maxSurge": more.pop("surge", "25%"),
        "maxUnavailable": more.pop("unavailable", "25%"),
    }
    strategy = {"type": more.pop("strategy", "RollingUpdate"), "rollingUpdate": rolling}
    made = {
        "metadata": {"name": "d", "namespace": "ns", "uid": "uid-d", "generation": 1},
        "spec": {"replicas": replicas, "template": TEMPLATE, "strategy": strategy, **more},
    }
    return msgspec.convert(made, Deployment)


def scaled(found: Deployment, *sets: ReplicaSet) -> dict[str, int]:
    plan = rollout.plan(found, sets_of(found, sets), [])
    new = {} if plan.create is None else {"new": plan.create}
    return {**{uid.removeprefix("uid-"): count for uid, count in plan.scale.items()}, **new}


STEPS: dict[str, tuple[Deployment, list[ReplicaSet], dict[str, int]]] = {
    "the first": (a_deployment(3), [], {"new": 3}),
    "nothing when it is done": (a_deployment(3), [a_set("a", 3)], {}),
    "more pods": (a_deployment(5), [a_set("a", 3)], {"a": 5}),
    "fewer pods": (a_deployment(1), [a_set("a", 3)], {"a": 1}),
    "the surge first": (a_deployment(4), [a_set("o", 4, OLD)], {"new": 1}),
    "then an old one": (
        a_deployment(4),
        [a_set("o", 4, OLD), a_set("a", 1)],
        {"o": 2},
    ),
    "no old one before a new one is well": (
        a_deployment(4, unavailable=0),
        [a_set("o", 4, OLD), a_set("a", 1, available=0)],
        {},
    ),
    "sick old ones at once": (
        a_deployment(4, unavailable=0),
        [a_set("o", 4, OLD, available=3), a_set("a", 1)],
        {"o": 3},
    ),
    "none while it is paused": (a_deployment(2, paused=True), [a_set("o", 2, OLD)], {}),
    "the number while it is paused": (
        a_deployment(3, paused=True),
        [a_set("o", 2, OLD)],
        {"o": 3},
    ),
    "the old away, when it is recreated": (
        a_deployment(2, strategy="Recreate"),
        [a_set("o", 2, OLD)],
        {"o": 0},
    ),
    "the new, when the old are away": (
        a_deployment(2, strategy="Recreate"),
        [a_set("o", 0, OLD)],
        {"new": 2},
    ),
}


@pytest.mark.parametrize(("found", "sets", "expected"), STEPS.values(), ids=STEPS)
def test_the_next_step_of_a_rollout_is(
    found: Deployment, sets: list[ReplicaSet], expected: dict[str, int]
) -> None:
    assert scaled(found, *sets) == expected


@pytest.mark.parametrize("surge", ["0%", 1, "25%", "100%"])
@pytest.mark.parametrize("unavailable", [0, 1, "50%"])
@pytest.mark.parametrize("replicas", [1, 3, 10])
def test_a_rollout_ends_and_never_breaks_its_fences(
    replicas: int, surge: int | str, unavailable: int | str
) -> None:
    found = a_deployment(replicas, surge=surge, unavailable=unavailable)
    more, fewer = rollout.fence(found)
    counts = {"o": replicas, "a": 0}
    for _ in range(4 * replicas + 4):
        sets = [a_set("o", counts["o"], OLD), a_set("a", counts["a"])]
        step = scaled(found, *sets)
        if not step:
            break
        counts.update({"a" if name == "new" else name: count for name, count in step.items()})
        assert replicas - fewer <= sum(counts.values()) <= replicas + more
    assert counts == {"o": 0, "a": replicas}


def test_one_that_is_gone_back_to_gets_the_highest_number() -> None:
    sets = Sets(new=a_set("a", 0, revision=1), old=(a_set("o", 3, OLD, revision=2),))
    assert rollout.current_revision(sets) == 3
    assert rollout.marks(a_deployment(3), sets)[REVISION] == "3"


def test_old_ones_beyond_the_history_are_deleted_the_oldest_first() -> None:
    old = [a_set(f"o{number}", 0, {**OLD, "n": number}, revision=number) for number in (3, 1, 2)]
    found = a_deployment(1, revisionHistoryLimit=1)
    plan = rollout.plan(found, sets_of(found, [*old, a_set("a", 1, revision=4)]), [])
    assert [one.metadata.name for one in plan.delete] == ["o1", "o2"]


def test_a_deployment_says_that_it_gets_on_and_that_it_is_done() -> None:
    found = a_deployment(1)
    begun = standing.status(found, Sets(new=a_set("a", 1, available=0), old=()), NOW)
    assert [(one["type"], one["status"], one["reason"]) for one in begun["conditions"]] == [
        ("Available", "False", "MinimumReplicasUnavailable"),
        ("Progressing", "True", "NewReplicaSetCreated"),
    ]
    seen = msgspec.structs.replace(found, status=begun)
    done = standing.status(seen, Sets(new=a_set("a", 1), old=()), NOW)
    assert [(one["status"], one["reason"]) for one in done["conditions"]] == [
        ("True", "MinimumReplicasAvailable"),
        ("True", "NewReplicaSetAvailable"),
    ]
    assert standing.seconds_until_late(seen, begun, NOW) == 601.0
    assert standing.seconds_until_late(seen, done, NOW) is None


def test_a_deployment_that_does_not_get_on_says_so() -> None:
    late = {
        "type": "Progressing",
        "status": "True",
        "reason": "ReplicaSetUpdated",
        "lastUpdateTime": ago(601),
    }
    before = {"conditions": [late], "replicas": 1, "updatedReplicas": 1, "unavailableReplicas": 1}
    found = msgspec.structs.replace(a_deployment(1), status=before)
    new = standing.status(found, Sets(new=a_set("a", 1, available=0), old=()), NOW)
    assert new["conditions"][0]["reason"] == "ProgressDeadlineExceeded"


def test_a_replica_set_gives_up_its_least_worthy_pods() -> None:
    pods = [
        a_pod("ready", "Running", ready=60, spec={"nodeName": "n"}),
        a_pod("young", "Running", ready=6, spec={"nodeName": "n"}),
        a_pod("unbound"),
        a_pod("failed", "Failed"),
    ]
    plan = replicaset.plan(a_set("a", 1), pods)
    assert [pod.metadata.name for pod in plan.delete] == ["unbound", "young"]
    assert replicaset.plan(a_set("a", 4), pods).create == 1


def test_a_pod_is_available_when_it_was_ready_for_long_enough() -> None:
    found = a_set("a", 1, minReadySeconds=30)
    pods = [a_pod("p", "Running", ready=20, metadata={"labels": {"app": "a"}})]
    new = replicaset.status(found, pods, NOW)
    assert (new["readyReplicas"], new["fullyLabeledReplicas"]) == (1, 1)
    assert "availableReplicas" not in new
    assert replicaset.next_available(found, pods, NOW) == 10.0


def a_daemon_set(**more: Any) -> DaemonSet:
    template = {"spec": more.pop("pod", {})}
    made = {
        "metadata": {"name": "d", "namespace": "ns", "uid": "uid-d", "generation": 1},
        "spec": {"template": template, **more},
    }
    return msgspec.convert(made, DaemonSet)


def on(node: str, found: DaemonSet, name: str = "", *, current: bool = True, **more: Any) -> Any:
    word = template_hash(found.spec.template) if current else "old"
    metadata = {"labels": {daemons.HASH: word}}
    return a_pod(
        name or f"on-{node}", "Running", metadata=metadata, spec={"nodeName": node}, **more
    )


def tainted(effect: str, key: str = "gpu") -> dict[str, Any]:
    return {"taints": [{"key": key, "effect": effect}]}


AFFINITY = {
    "affinity": {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": [
                    {"matchExpressions": [{"key": "gpus", "operator": "Gt", "values": ["4"]}]}
                ]
            }
        }
    }
}
NODES = [
    a_node("plain"),
    a_node("labelled", labels={"x": "y", "gpus": "8"}),
    a_node("tainted", **tainted("NoSchedule")),
    a_node("sick", **tainted("NoExecute", "node.kubernetes.io/not-ready")),
]
PLACES: dict[str, tuple[dict[str, Any], list[str]]] = {
    "every node without a taint of its own": ({}, ["plain", "labelled", "sick"]),
    "those that its selector finds": ({"nodeSelector": {"x": "y"}}, ["labelled"]),
    "those that its affinity finds": (AFFINITY, ["labelled"]),
    "tainted ones that it tolerates": (
        {"tolerations": [{"key": "gpu", "operator": "Exists"}]},
        ["plain", "labelled", "tainted", "sick"],
    ),
}


@pytest.mark.parametrize(("pod", "expected"), PLACES.values(), ids=PLACES)
def test_a_daemon_runs_on(pod: dict[str, Any], expected: list[str]) -> None:
    seen = daemons.picture(a_daemon_set(pod=pod), NODES, [])
    assert list(daemons.plan(seen, NOW).create) == expected


def test_a_daemon_stays_where_it_is_tolerated_and_leaves_where_it_is_not() -> None:
    found = a_daemon_set()
    nodes = [a_node("a", **tainted("NoSchedule")), a_node("b", **tainted("NoExecute"))]
    seen = daemons.picture(found, nodes, [on("a", found), on("b", found), on("gone", found)])
    gone = [pod.metadata.name for pod in daemons.plan(seen, NOW).delete]
    assert gone == ["on-b", "on-gone"]
    assert daemons.status(seen, NOW)["numberMisscheduled"] == 3


def test_outdated_daemons_go_as_many_at_a_time_as_may_be_missing() -> None:
    rolling = {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1}}
    found = a_daemon_set(updateStrategy=rolling)
    nodes = [a_node(name) for name in "abc"]
    old = [on(name, found, current=False, ready=60) for name in "abc"]
    assert len(daemons.plan(daemons.picture(found, nodes, old), NOW).delete) == 1
    sick = [old[0], old[1], on("c", found, current=False)]
    gone = daemons.plan(daemons.picture(found, nodes, sick), NOW).delete
    assert [pod.metadata.name for pod in gone] == ["on-c"]
    waits = a_daemon_set(updateStrategy={"type": "OnDelete"})
    assert daemons.plan(daemons.picture(waits, nodes, old), NOW).delete == ()


def test_a_daemons_pod_is_meant_for_its_node_before_it_is_bound() -> None:
    found = a_daemon_set()
    made = daemons.body(found, "hash", "n1")
    spec = {"affinity": made["spec"]["affinity"]}
    assert a_pod(spec=spec).target == "n1"
    seen = daemons.picture(found, [a_node("n1")], [a_pod(spec=spec)])
    assert daemons.plan(seen, NOW).create == ()
