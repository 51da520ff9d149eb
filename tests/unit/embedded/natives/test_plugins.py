# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest

from tests.conformance.builders import pod
from tests.conformance.natives import CLAIM, NODE, POD, PRIORITY_CLASS, Native
from tests.unit.embedded.natives.desk import PROBE, Desk, _served
from trellis.embedded.copying import copied
from trellis.embedded.natives import plugins
from trellis.embedded.refusals import Refusal

Stored = dict[tuple[str, str, str, str], dict[str, Any]]
SCHEDULING, NODES = "scheduling.k8s.io", "node.k8s.io"


def _admitted(native: Native, body: dict[str, Any], stored: Stored | None = None) -> dict[str, Any]:
    desk = Desk(stored or {})
    new = copied(body)
    plugins.mutate(desk.review(_served(native), new), desk.read, desk.rng)
    return new


def _class(name: str, value: int, **more: Any) -> Stored:
    held = {"metadata": {"name": name}, "value": value, **more}
    return {(SCHEDULING, "priorityclasses", "", name): held}


def test_a_pod_gets_account_token_priority_and_tolerations() -> None:
    made = _admitted(POD, pod("a"))
    spec = made["spec"]
    volume = spec["volumes"][0]["name"]
    assert volume.startswith("kube-api-access-")
    assert [each["name"] for each in spec["containers"][0]["volumeMounts"]] == [volume]
    assert (spec["serviceAccountName"], spec["priority"]) == ("default", 0)
    assert [each["key"].rpartition("/")[2] for each in spec["tolerations"]] == [
        "not-ready",
        "unreachable",
    ]


def test_the_plugins_change_nothing_twice() -> None:
    once = _admitted(POD, pod("a"))
    assert _admitted(POD, once) == once


def test_a_container_with_a_token_of_its_own_is_left_alone() -> None:
    mount = {"name": "mine", "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount"}
    body = pod("a")
    body["spec"]["containers"][0]["volumeMounts"] = [mount]
    made = _admitted(POD, body)
    assert made["spec"]["containers"][0]["volumeMounts"] == [mount]
    assert "volumes" not in made["spec"]


def test_an_account_decides_for_pods_that_do_not_say() -> None:
    account = {
        "metadata": {"name": "quiet"},
        "automountServiceAccountToken": False,
        "imagePullSecrets": [{"name": "registry"}],
    }
    stored = {("", "serviceaccounts", PROBE.ns, "quiet"): account}
    made = _admitted(POD, pod("a", {"serviceAccountName": "quiet"}), stored)
    assert "volumes" not in made["spec"]
    assert made["spec"]["imagePullSecrets"] == [{"name": "registry"}]
    loud = pod("a", {"serviceAccountName": "quiet", "automountServiceAccountToken": True})
    assert len(_admitted(POD, loud, stored)["spec"]["volumes"]) == 1


def test_the_default_class_of_the_cluster_gives_its_priority() -> None:
    stored = _class("low", 5, globalDefault=True) | _class("high", 9)
    spec = _admitted(POD, pod("a"), stored)["spec"]
    assert (spec["priorityClassName"], spec["priority"]) == ("low", 5)


def test_a_class_gives_its_policy_too() -> None:
    stored = _class("gentle", 5, preemptionPolicy="Never")
    spec = _admitted(POD, pod("a", {"priorityClassName": "gentle"}), stored)["spec"]
    assert (spec["priority"], spec["preemptionPolicy"]) == (5, "Never")


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        pytest.param(
            {"serviceAccountName": "missing"},
            f"error looking up service account {PROBE.ns}/missing: "
            'serviceaccount "missing" not found',
            id="account",
        ),
        pytest.param(
            {"priorityClassName": "missing"},
            "no PriorityClass with name missing was found",
            id="priority class",
        ),
        pytest.param(
            {"runtimeClassName": "missing"},
            'pod rejected: RuntimeClass "missing" not found',
            id="runtime class",
        ),
        pytest.param(
            {"priority": 5},
            "the integer value of priority (5) must not be provided in pod spec; priority "
            "admission controller computed 0 from the given PriorityClass name",
            id="priority",
        ),
    ],
)
def test_a_pod_that_names_what_is_not_there_is_forbidden(spec: dict[str, Any], said: str) -> None:
    with pytest.raises(Refusal) as refused:
        _admitted(POD, pod("a", spec))
    assert (refused.value.code, refused.value.reason) == (403, "Forbidden")
    assert refused.value.message == f'pods "a" is forbidden: {said}'


def test_a_runtime_class_places_its_pods() -> None:
    held = {
        "metadata": {"name": "gpu"},
        "overhead": {"podFixed": {"cpu": "1"}},
        "scheduling": {
            "nodeSelector": {"gpu": "yes"},
            "tolerations": [{"key": "gpu", "operator": "Exists"}],
        },
    }
    stored = {(NODES, "runtimeclasses", "", "gpu"): held}
    spec = _admitted(POD, pod("a", {"runtimeClassName": "gpu"}), stored)["spec"]
    assert (spec["overhead"], spec["nodeSelector"]) == ({"cpu": "1"}, {"gpu": "yes"})
    assert spec["tolerations"][0] == {"key": "gpu", "operator": "Exists"}


def test_a_volume_claim_gets_the_newest_default_class() -> None:
    marked = {"storageclass.kubernetes.io/is-default-class": "true"}
    stored = {
        ("storage.k8s.io", "storageclasses", "", name): {
            "metadata": {"name": name, "creationTimestamp": made, "annotations": marked}
        }
        for name, made in (("old", "2020-01-01T00:00:00Z"), ("new", "2021-01-01T00:00:00Z"))
    }
    body = CLAIM.new(PROBE, {"spec": {"storageClassName": None}})
    made = _admitted(CLAIM, body, stored)
    assert made["spec"]["storageClassName"] == "new"
    assert made["metadata"]["finalizers"] == ["kubernetes.io/pvc-protection"]
    assert _admitted(CLAIM, CLAIM.new(PROBE), stored)["spec"]["storageClassName"] == "nobody"


def test_a_node_is_tainted_until_it_is_ready() -> None:
    taint = {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}
    assert _admitted(NODE, NODE.new(PROBE))["spec"]["taints"] == [taint]


def test_a_binding_carries_the_zone_of_its_node() -> None:
    node = {"metadata": {"labels": {"topology.kubernetes.io/zone": "z1", "rack": "r1"}}}
    desk = Desk({("", "nodes", "", "n1"): node})
    binding: dict[str, Any] = {"metadata": {"name": "a"}, "target": {"name": "n1"}}
    review = desk.review(_served(POD), binding, subresource="binding")
    plugins.mutate(review, desk.read, desk.rng)
    assert binding["metadata"]["labels"] == {"topology.kubernetes.io/zone": "z1"}


def test_there_is_one_default_priority() -> None:
    desk = Desk(_class("low", 5, globalDefault=True))
    body = PRIORITY_CLASS.new(PROBE, {"globalDefault": True})
    with pytest.raises(Refusal, match="PriorityClass low is already marked as default"):
        plugins.validate(desk.review(_served(PRIORITY_CLASS), body), desk.read)
    held = desk.stored[SCHEDULING, "priorityclasses", "", "low"]
    plugins.validate(desk.review(_served(PRIORITY_CLASS), held, held), desk.read)
