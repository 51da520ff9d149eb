# SPDX-License-Identifier: Apache-2.0
"""Cells whose content takes thought: pods, and what is cut short or counted."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conformance.probes.tables import PODS, STATE
from tests.unit.embedded.wire.builders import NOW, golden
from trellis.embedded.natives.selectors import as_text
from trellis.embedded.wire.printing import BUILT_IN, pods

Object = dict[str, Any]


def pod(spec: Object, status: Object, **metadata: Any) -> Object:
    containers = [{"name": "app", "image": "x"}]
    return {
        "metadata": {"name": "a", "creationTimestamp": "2026-01-01T11:59:30Z", **metadata},
        "spec": {"containers": containers, **spec},
        "status": {"phase": "Pending", **status},
    }


def recorded(which: str) -> Object:
    row: Object = golden("tables")[f"a pod that {which} as a table"][0]["body"][0]
    return row


@pytest.mark.parametrize("which", PODS)
def test_a_pod_is_shown_as_recorded(which: str) -> None:
    spec, told = PODS[which]
    status = {key: value for key, value in told.items() if key != "state"}
    if "state" in told:
        base = {"name": "app", "ready": False, "restartCount": 0}
        status["containerStatuses"] = [base | STATE[told["state"]]]
    if "schedulingGates" in spec:
        gated = {"type": "PodScheduled", "status": "False", "reason": "SchedulingGated"}
        status["conditions"] = [gated]
    found = pod(spec, status)
    row = recorded(which)
    shown = ["<age>" if cell == "30s" else cell for cell in pods.cells(found, NOW)]
    assert shown == row["cells"]
    assert (pods.conditions(found) or None) == row.get("conditions")


def init(state: Object, **more: Any) -> Object:
    return {"name": "i", "ready": False, "restartCount": 2, "state": state, **more}


INIT = {"initContainers": [{"name": "i"}, {"name": "s", "restartPolicy": "Always"}]}
SIDECAR = {"name": "s", "ready": True, "started": True, "restartCount": 1, "state": {"running": {}}}
# Each was seen on the lab: ready, status, restarts.
STARTING: dict[str, tuple[Object, tuple[str, str, str]]] = {
    "its init container failed": (
        {"initContainerStatuses": [init({"terminated": {"exitCode": 3}}), SIDECAR]},
        ("0/2", "Init:ExitCode:3", "2"),
    ),
    "its init container is about to start": (
        {"initContainerStatuses": [init({"waiting": {"reason": "PodInitializing"}})]},
        ("0/2", "Init:0/2", "2"),
    ),
    "its init container crashes": (
        {"initContainerStatuses": [init({"waiting": {"reason": "CrashLoopBackOff"}})]},
        ("0/2", "Init:CrashLoopBackOff", "2"),
    ),
    "its init container was killed": (
        {"initContainerStatuses": [init({"terminated": {"exitCode": 137, "signal": 9}})]},
        ("0/2", "Init:Signal:9", "2"),
    ),
    "only its sidecar runs": (
        {
            "initContainerStatuses": [init({"terminated": {"exitCode": 0}}), SIDECAR],
            "containerStatuses": [
                {"name": "app", "restartCount": 0, "state": {"waiting": {"reason": "Creating"}}}
            ],
        },
        ("1/2", "Creating", "1"),
    ),
    "it was restarted": (
        {
            "phase": "Running",
            "containerStatuses": [
                {
                    "name": "app",
                    "ready": True,
                    "restartCount": 4,
                    "state": {"running": {}},
                    "lastState": {"terminated": {"finishedAt": "2026-01-01T11:00:00Z"}},
                }
            ],
        },
        ("1/2", "Running", "4 (60m ago)"),
    ),
}


@pytest.mark.parametrize("case", STARTING)
def test_a_pod_when(case: str) -> None:
    status, wanted = STARTING[case]
    assert tuple(pods.cells(pod(INIT, status), NOW)[1:4]) == wanted


def ended(code: int, reason: str) -> Object:
    return {
        "name": "a",
        "restartCount": 0,
        "state": {"terminated": {"exitCode": code, "reason": reason}},
    }


RUNNING = {"name": "b", "ready": True, "restartCount": 0, "state": {"running": {}}}
COMPLETED = {
    "Running": [ended(0, "Completed"), RUNNING],
    "Error": [ended(0, "Completed"), ended(1, "Error")],
    "Completed": [ended(0, "Completed")],
}


@pytest.mark.parametrize("word", COMPLETED)
def test_when_one_container_has_completed_the_others_decide(word: str) -> None:
    ready = [{"type": "Ready", "status": "True"}]
    status = {"phase": "Running", "conditions": ready, "containerStatuses": COMPLETED[word]}
    assert pods.cells(pod({}, status), NOW)[2] == word


def test_a_container_that_is_left_is_not_ready() -> None:
    status = {"phase": "Running", "containerStatuses": COMPLETED["Running"]}
    assert pods.cells(pod({}, status), NOW)[2] == "NotReady"


@pytest.mark.parametrize(
    ("status", "word"),
    [
        ({}, "Terminating"),
        ({"reason": "NodeLost"}, "Unknown"),
        ({"phase": "Succeeded"}, "Succeeded"),
    ],
)
def test_a_pod_that_is_being_deleted(status: Object, word: str) -> None:
    found = pod({}, status, deletionTimestamp="2026-01-01T12:00:00Z")
    assert pods.cells(found, NOW)[2] == word


def shown(group: str, kind: str, **fields: Any) -> list[Any]:
    metadata = {
        "name": "a",
        "creationTimestamp": "2026-01-01T11:59:30Z",
        **fields.pop("metadata", {}),
    }
    return BUILT_IN[group, kind]({"metadata": metadata, **fields}, NOW)


def test_a_selector_is_sorted_by_key() -> None:
    terms = [
        {"key": "c", "operator": "In", "values": ["z", "a"]},
        {"key": "b", "operator": "NotIn", "values": ["x"]},
        {"key": "e", "operator": "Exists"},
        {"key": "a", "operator": "DoesNotExist"},
    ]
    text = as_text({"matchLabels": {"d": "1"}, "matchExpressions": terms})
    assert text == "!a,b notin (x),c in (a,z),d=1,e"
    assert as_text(None) == as_text({}) == ""


def test_nodes_tell_state_roles_and_addresses() -> None:
    found = shown(
        "",
        "Node",
        metadata={"labels": {"node-role.kubernetes.io/gpu": "", "kubernetes.io/role": "x"}},
        spec={"unschedulable": True},
        status={
            "conditions": [{"type": "Ready", "status": "Unknown"}],
            "addresses": [{"type": "InternalIP", "address": "10.0.0.1"}],
            "nodeInfo": {"kubeletVersion": "v1", "kernelVersion": "6", "architecture": "arm64"},
        },
    )
    assert found[1:3] == ["NotReady,SchedulingDisabled", "gpu,x"]
    assert found[4:] == ["v1", "10.0.0.1", "<none>", "<unknown>", "6 (arm64)", "<unknown>"]


def test_long_lists_are_cut_short() -> None:
    endpoints = [{"addresses": [f"1.1.1.{place}"]} for place in range(5)]
    ports = [{"port": 80}, {"name": "x"}, {}]
    found = shown(
        "discovery.k8s.io", "EndpointSlice", addressType="IPv4", ports=ports, endpoints=endpoints
    )
    assert found[2:4] == ["80,x,*", "1.1.1.0,1.1.1.1,1.1.1.2 + 2 more..."]
    assert shown("discovery.k8s.io", "EndpointSlice")[2:4] == ["<unset>", "<unset>"]


def test_hosts_of_an_ingress_are_cut_short() -> None:
    rules = [{"host": name} for name in "abcde"]
    assert shown("networking.k8s.io", "Ingress", spec={"rules": rules})[2] == "a,b,c + 2 more..."
    assert shown("networking.k8s.io", "Ingress", spec={})[2] == "*"


JOBS: dict[str, tuple[Object, Object]] = {
    "Complete": ({"completions": 2}, {"conditions": [{"type": "Complete", "status": "True"}]}),
    "Suspended": ({}, {"conditions": [{"type": "Suspended", "status": "True"}]}),
    "Running": ({}, {"conditions": [{"type": "Failed", "status": "False"}]}),
}


@pytest.mark.parametrize("word", JOBS)
def test_a_job_in_a_word(word: str) -> None:
    spec, status = JOBS[word]
    assert shown("batch", "Job", spec=spec, status=status)[1] == word


def test_a_job_counts_completions_and_time() -> None:
    times = {"startTime": "2026-01-01T11:00:00Z", "completionTime": "2026-01-01T11:00:50Z"}
    found = shown("batch", "Job", spec={"parallelism": 3}, status={"succeeded": 1, **times})
    assert found[2:4] == ["1/1 of 3", "50s"]
    running = shown("batch", "Job", status={"startTime": "2026-01-01T11:00:00Z"})
    assert running[3] == "60m"


METRICS: dict[str, tuple[Object, Object, str]] = {
    "utilisation": (
        {"type": "Resource", "resource": {"name": "cpu", "target": {"averageUtilization": 50}}},
        {"resource": {"current": {"averageUtilization": 7}}},
        "cpu: 7%/50%",
    ),
    "a value per pod": (
        {"type": "Pods", "pods": {"target": {"averageValue": "10"}}},
        {},
        "<unknown>/10",
    ),
    "an average of another object": (
        {"type": "Object", "object": {"target": {"averageValue": "5"}}},
        {"object": {"current": {"averageValue": "4"}}},
        "4/5 (avg)",
    ),
    "an external value": (
        {"type": "External", "external": {"target": {"value": "3"}}},
        {"external": {"current": {"value": "2"}}},
        "2/3",
    ),
    "a container's resource": (
        {
            "type": "ContainerResource",
            "containerResource": {"name": "memory", "target": {"averageValue": "1Gi"}},
        },
        {},
        "memory: <unknown>/1Gi",
    ),
}


@pytest.mark.parametrize("case", METRICS)
def test_an_autoscaler_shows(case: str) -> None:
    metric, current, text = METRICS[case]
    found = shown(
        "autoscaling",
        "HorizontalPodAutoscaler",
        spec={"metrics": [metric]},
        status={"currentMetrics": [current]},
    )
    assert found[2] == text


def test_an_autoscaler_shows_two_metrics_and_counts_the_rest() -> None:
    metrics = [METRICS[case][0] for case in METRICS]
    text = shown("autoscaling", "HorizontalPodAutoscaler", spec={"metrics": metrics})[2]
    assert text == "cpu: <unknown>/50%, <unknown>/10 + 3 more..."
    assert shown("autoscaling", "HorizontalPodAutoscaler", spec={"metrics": []})[2] == "<none>"


@pytest.mark.parametrize(
    ("spec", "status", "address"),
    [
        ({"type": "LoadBalancer"}, {}, "<pending>"),
        (
            {"type": "LoadBalancer"},
            {"ingress": [{"hostname": "b"}, {"ip": "1.1.1.1"}]},
            "1.1.1.1,b",
        ),
        ({"type": "NodePort", "externalIPs": ["2.2.2.2"]}, {}, "2.2.2.2"),
        ({"type": "Other"}, {}, "<unknown>"),
    ],
)
def test_where_a_service_is_reached(spec: Object, status: Object, address: str) -> None:
    found = shown("", "Service", spec=spec, status={"loadBalancer": status})
    assert found[3] == address


def test_an_event_of_either_group_is_the_same_row() -> None:
    old = shown(
        "",
        "Event",
        involvedObject={"kind": "Pod", "name": "p", "fieldPath": "spec"},
        message=" m ",
        source={"component": "c", "host": "h"},
        firstTimestamp="2026-01-01T11:00:00Z",
        lastTimestamp="2026-01-01T11:59:00Z",
        count=3,
    )
    new = shown(
        "events.k8s.io",
        "Event",
        regarding={"kind": "Pod", "name": "p", "fieldPath": "spec"},
        note=" m ",
        deprecatedSource={"component": "c", "host": "h"},
        deprecatedFirstTimestamp="2026-01-01T11:00:00Z",
        deprecatedLastTimestamp="2026-01-01T11:59:00Z",
        deprecatedCount=3,
    )
    assert old == new
    assert old[:1] + old[3:] == ["60s", "pod/p", "spec", "c, h", "m", "60m", 3, "a"]


def test_an_event_that_repeats_tells_when_it_last_did() -> None:
    series = {"lastObservedTime": "2026-01-01T11:58:00.000000Z", "count": 9}
    found = shown("events.k8s.io", "Event", eventTime="2026-01-01T11:00:00.000000Z", series=series)
    assert (found[0], found[7], found[8]) == ("2m", "60m", 9)


@pytest.mark.parametrize(
    ("metadata", "status", "word"),
    [
        ({}, {"allocation": {}, "reservedFor": [{}]}, "allocated,reserved"),
        ({"deletionTimestamp": "x"}, {}, "deleted"),
        ({"deletionTimestamp": "x"}, {"allocation": {}}, "deleted,allocated"),
    ],
)
def test_the_state_of_a_claim(metadata: Object, status: Object, word: str) -> None:
    assert shown("resource.k8s.io", "ResourceClaim", metadata=metadata, status=status)[1] == word
