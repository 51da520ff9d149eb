# SPDX-License-Identifier: Apache-2.0
"""The status subresource of built-in kinds: each takes a little more than its status, or less."""

from __future__ import annotations

from typing import Any

from tests.conformance.builders import pod
from tests.conformance.natives import (
    CLAIM,
    CRON_JOB,
    DEPLOYMENT,
    INGRESS,
    JOB,
    NODE,
    SERVICE,
    Native,
    merged,
)
from tests.conformance.probe import Body, Probe, probe

_METADATA = {
    "labels": {"a": "b"},
    "annotations": {"c": "d"},
    "finalizers": ["example.com/hold"],
}
_RELEASE = {"metadata": {"finalizers": None}}
_READY = {"type": "Ready", "status": "True"}
_EXAMPLE = {"type": "example.com/Fine", "status": "True"}
_OTHER = {"type": "example.com/Other", "status": "True"}


def _unmanaged(body: dict[str, Any]) -> Any:
    return {key: value for key, value in body.items() if key != "spec"}


def _metadata(body: dict[str, Any]) -> Any:
    """What came of the patch of metadata. Controllers add labels and annotations of their own."""
    metadata = body["metadata"]
    return {
        "labels": metadata.get("labels", {}).get("a"),
        "annotations": metadata.get("annotations", {}).get("c"),
        "finalizers": "example.com/hold" in metadata.get("finalizers", []),
        "generation": metadata.get("generation"),
    }


async def _pod(p: Probe) -> tuple[str, dict[str, Any]]:
    body = await p.do("POST", p.path("v1", "pods"), pod("a"))
    path = p.path("v1", "pods", "a")
    p.cleanup.push_async_callback(p.ask, "PATCH", path, _RELEASE, patch="merge")
    return f"{path}/status", body


@probe("a pod's status takes metadata as well, but no spec, and the generation stays")
async def pod_metadata(p: Probe) -> None:
    path, _ = await _pod(p)
    changes = {
        "metadata": _METADATA,
        "spec": {"activeDeadlineSeconds": 5},
        "status": {"phase": "Running"},
    }
    await p.see("PATCH", path, changes, patch="strategic")


@probe("an update of a pod's status takes the same")
async def pod_put(p: Probe) -> None:
    path, body = await _pod(p)
    changes = {"metadata": _METADATA, "status": {"phase": "Running", "podIP": "192.0.2.1"}}
    await p.see("PUT", path, merged(body, changes), pick=_unmanaged)


@probe("a pod's podIP and podIPs are kept in step")
async def pod_addresses(p: Probe) -> None:
    path, _ = await _pod(p)
    for status in ({"podIP": "192.0.2.1"}, {"podIPs": [{"ip": "192.0.2.2"}]}, {"podIP": None}):
        await p.see("PATCH", path, {"status": status}, patch="merge", pick=_addresses)


def _addresses(body: dict[str, Any]) -> Any:
    return {name: body["status"].get(name) for name in ("podIP", "podIPs")}


@probe("a strategic patch merges a pod's conditions by type")
async def pod_conditions(p: Probe) -> None:
    path, _ = await _pod(p)
    for condition in (_EXAMPLE, _READY, {**_READY, "status": "False", "reason": "Late"}):
        changes = {"status": {"conditions": [condition]}}
        await p.see("PATCH", path, changes, patch="strategic", pick=_conditions)
    gone = {"status": {"conditions": [{"$patch": "delete", "type": "Ready"}]}}
    await p.see("PATCH", path, gone, patch="strategic", pick=_conditions)


def _conditions(body: dict[str, Any]) -> Any:
    """Not those that controllers may add meanwhile."""
    found = body["status"].get("conditions", [])
    return [each for each in found if each["type"] in {"Ready", _EXAMPLE["type"], _OTHER["type"]}]


@probe("a merge patch replaces a pod's conditions")
async def pod_conditions_replaced(p: Probe) -> None:
    path, _ = await _pod(p)
    for condition in (_EXAMPLE, _READY):
        changes = {"status": {"conditions": [condition]}}
        await p.see("PATCH", path, changes, patch="merge", pick=_conditions)


@probe("a JSON patch of a pod's status works on the whole pod")
async def pod_json(p: Probe) -> None:
    path, _ = await _pod(p)
    operations = [
        {"op": "replace", "path": "/status/phase", "value": "Running"},
        {"op": "add", "path": "/metadata/labels", "value": {"a": "b"}},
    ]
    await p.see("PATCH", path, operations, patch="json", pick=_unmanaged)


@probe("a status of a pod without a resourceVersion is taken, an old one is 409")
async def pod_versions(p: Probe) -> None:
    path, body = await _pod(p)
    bare = merged(body, {"metadata": {"resourceVersion": None}, "status": {"phase": "Running"}})
    await p.see("PUT", path, bare, pick=_metadata)
    await p.see("PUT", path, body)


@probe("of a pod's status only addresses, names and types are validated")
async def pod_validated(p: Probe) -> None:
    path, _ = await _pod(p)
    for status in (
        {"podIPs": [{"ip": "nonsense"}]},
        {"hostIPs": [{"ip": "192.0.2.1"}, {"ip": "192.0.2.2"}]},
        {"containerStatuses": [{"name": "other", "state": {"running": {}, "waiting": {}}}]},
        {"conditions": [{"type": "Ready", "status": "Perhaps"}]},
        {"conditions": [{"status": "True"}]},
        {"phase": "Nonsense", "nominatedNodeName": "Not_Ok"},
    ):
        await p.see("PATCH", path, {"status": status}, patch="merge", pick=lambda b: b["status"])


def _patched(native: Native, start: Any, status: dict[str, Any], *shown: str) -> Body:
    """A patch of status, metadata and spec at once; shown is what of it is about the patch."""

    async def run(p: Probe) -> None:
        await native.make(p, start)
        p.cleanup.push_async_callback(p.ask, "PATCH", native.path(p), _RELEASE, patch="merge")
        changes = {"metadata": _METADATA, "spec": _SPECS[native.kind], "status": status}

        def pick(body: dict[str, Any]) -> Any:
            spec = {name: body["spec"].get(name) for name in _SPECS[native.kind]}
            seen = {name: body["status"].get(name) for name in shown}
            return {"metadata": _metadata(body), "spec": spec, "status": seen}

        await p.see("PATCH", native.path(p, "status"), changes, patch="strategic", pick=pick)

    return run


_SPECS: dict[str, dict[str, Any]] = {
    "CronJob": {"schedule": "1 1 1 1 *"},
    "Deployment": {"minReadySeconds": 5},
    "Ingress": {"ingressClassName": "b"},
    "Job": {"parallelism": 7},
    "Node": {"providerID": "b"},
    "PersistentVolumeClaim": {"volumeName": "b"},
    "Service": {"sessionAffinity": "ClientIP"},
}
_CASES: tuple[tuple[str, Native, Any, dict[str, Any], tuple[str, ...]], ...] = (
    (
        "a deployment's status takes annotations and finalizers, but neither labels nor spec",
        DEPLOYMENT,
        None,
        {"collisionCount": 3},
        ("collisionCount",),
    ),
    (
        "a job's status takes metadata, but no spec",
        JOB,
        {"spec": {"managedBy": "example.com/nobody", "suspend": False}},
        {"active": 1, "ready": 1, "startTime": "2020-01-01T00:00:00Z"},
        ("active", "ready", "startTime"),
    ),
    (
        "a cron job's status takes metadata, but no spec",
        CRON_JOB,
        None,
        {"lastScheduleTime": "2020-01-01T00:00:00Z"},
        ("lastScheduleTime",),
    ),
    (
        "a node's status takes metadata, but no spec",
        NODE,
        None,
        {
            "capacity": {"cpu": "2000m", "example.com/gpu": "8"},
            "allocatable": {"cpu": "2", "example.com/gpu": "8"},
            "phase": "Running",
        },
        ("capacity", "allocatable", "phase"),
    ),
    (
        "a service's status takes metadata, but no spec",
        SERVICE,
        {"spec": {"type": "LoadBalancer"}},
        {"loadBalancer": {"ingress": [{"ip": "192.0.2.1"}]}},
        ("loadBalancer",),
    ),
    (
        "a volume claim's status takes metadata, but no spec",
        CLAIM,
        None,
        {"phase": "Lost"},
        ("phase",),
    ),
    (
        "an ingress's status takes metadata, but no spec",
        INGRESS,
        None,
        {"loadBalancer": {"ingress": [{"ip": "192.0.2.1"}]}},
        ("loadBalancer",),
    ),
)
for _title, _native, _start, _status, _shown in _CASES:
    probe(_title)(_patched(_native, _start, _status, *_shown))


@probe("a node's conditions merge by type, the new one first, and no capacity is negative")
async def node_conditions(p: Probe) -> None:
    await NODE.make(p)
    path = NODE.path(p, "status")
    for condition in (_EXAMPLE, _OTHER, {**_EXAMPLE, "status": "False"}):
        changes = {"status": {"conditions": [condition]}}
        await p.see("PATCH", path, changes, patch="strategic", pick=_conditions)
    await p.see("PATCH", path, {"status": {"capacity": {"cpu": "-1"}}}, patch="strategic")


@probe("a job's counters, times and conditions must fit together")
async def job_validated(p: Probe) -> None:
    await JOB.make(p, {"spec": {"managedBy": "example.com/nobody", "suspend": False}})
    path = JOB.path(p, "status")
    for status in (
        {"succeeded": -1, "active": 1},
        {"conditions": [{"type": "Complete", "status": "True"}]},
        {"completionTime": "2020-01-01T00:00:00Z"},
        {"ready": 2, "active": 1},
    ):
        await p.see(
            "PATCH", path, {"status": status}, patch="strategic", pick=lambda b: b["status"]
        )
