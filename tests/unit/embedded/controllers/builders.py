# SPDX-License-Identifier: Apache-2.0
"""Objects as these controllers read them, by what a case is about."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec

from trellis.embedded.controllers.job.facts import FAILURES, FINALIZER, INDEX
from trellis.embedded.controllers.kinds import Job, Node, Pod

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
JOB_UID = "job-uid"


def ago(seconds: float) -> str:
    return (NOW - timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")


def a_pod(name: str = "p", phase: str = "Pending", **more: Any) -> Pod:
    """`metadata`, `spec` and `status` are added to; `ready` is since how many seconds."""
    ready = more.pop("ready", None)
    conditions: list[dict[str, Any]] = more.pop("conditions", [])
    if ready is not None:
        conditions = [
            {"type": "Ready", "status": "True", "lastTransitionTime": ago(ready)},
            *conditions,
        ]
    metadata = {
        "name": name,
        "namespace": "ns",
        "uid": f"uid-{name}",
        "creationTimestamp": ago(600),
        **more.pop("metadata", {}),
    }
    if more.pop("deleting", False):
        metadata["deletionTimestamp"] = ago(0)
    status = {"phase": phase, "conditions": conditions, **more.pop("status", {})}
    made = {"metadata": metadata, "spec": more.pop("spec", {}), "status": status}
    assert not more
    return msgspec.convert(made, Pod, strict=False)


def job_pod(name: str = "p", phase: str = "Pending", **more: Any) -> Pod:
    """One that its Job accounts for; `index` and the `failures` before it, where it has them."""
    index, failures = more.pop("index", None), more.pop("failures", None)
    annotations = {}
    if index is not None:
        annotations[INDEX] = str(index)
    if failures is not None:
        annotations[FAILURES] = str(failures)
    metadata = {
        "finalizers": [FINALIZER] if more.pop("tracked", True) else [],
        "annotations": annotations,
        "ownerReferences": [
            {
                "apiVersion": "batch/v1",
                "kind": "Job",
                "name": "j",
                "uid": JOB_UID,
                "controller": True,
            }
        ],
    }
    return a_pod(name, phase, metadata={**metadata, **more.pop("metadata", {})}, **more)


def exited(code: int, seconds_ago: float = 0) -> dict[str, Any]:
    ended = {"exitCode": code, "finishedAt": ago(seconds_ago)}
    return {"containerStatuses": [{"name": "app", "state": {"terminated": ended}}]}


def a_job(status: dict[str, Any] | None = None, **spec: Any) -> Job:
    metadata = {"name": "j", "namespace": "ns", "uid": JOB_UID, "generation": 1}
    if spec.pop("deleting", False):
        metadata["deletionTimestamp"] = ago(0)
    template = {"spec": {"restartPolicy": spec.pop("restartPolicy", "Never")}}
    spec = {"completions": 1, "parallelism": 1, "template": template, **spec}
    made = {"metadata": metadata, "spec": spec, "status": status or {}}
    return msgspec.convert(made, Job, strict=False)


def a_node(name: str = "n", **more: Any) -> Node:
    """`taints`, `conditions` as pairs, `labels`, `unschedulable`."""
    conditions = [
        {"type": kind, "status": status} for kind, status in more.pop("conditions", {}).items()
    ]
    metadata = {"name": name, "uid": f"uid-{name}", "labels": more.pop("labels", {})}
    made = {"metadata": metadata, "spec": more, "status": {"conditions": conditions}}
    return msgspec.convert(made, Node)
