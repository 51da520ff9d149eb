# SPDX-License-Identifier: Apache-2.0
"""What the Job controller does: pods, status and conditions. Only end states are seen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.conformance.builders import IMAGE
from tests.conformance.controllers import (
    alive,
    set_phase,
    status_of,
    template,
    until_condition,
    until_no_pods,
    until_pods,
    with_generation,
)
from tests.conformance.probe import Probe, probe

if TYPE_CHECKING:
    from tests.support.api import Answer

JOBS = "jobs"
BATCH = "batch/v1"


async def _job(p: Probe, **spec: Any) -> str:
    body = {"metadata": {"name": "a"}, "spec": {"template": template(), **spec}}
    await p.do("POST", p.path(BATCH, JOBS), body)
    return p.path(BATCH, JOBS, "a")


def _exited(code: int) -> dict[str, Any]:
    """The status of a pod whose container ended with a code."""
    terminated = {"exitCode": code, "reason": "Error"}
    container = {
        "name": "app",
        "image": IMAGE,
        "imageID": "",
        "ready": False,
        "restartCount": 0,
        "state": {"terminated": terminated},
    }
    return {"containerStatuses": [container]}


async def _until_settled(p: Probe, job: str, **status: int) -> None:
    """Waits until the Job has counted so, and nothing is left to be counted."""

    def settled(answer: Answer) -> bool:
        seen = answer.body["status"]
        counted = all(seen.get(name, 0) == status[name] for name in status)
        return counted and not seen.get("uncountedTerminatedPods")

    await p.until("GET", job, settled)


def _untracked(items: list[dict[str, Any]]) -> bool:
    return not any(item["metadata"].get("finalizers") for item in items)


@probe("a Job's pod has the Job's labels, its owner and a finalizer")
async def job_pod(p: Probe) -> None:
    job = await _job(p)
    (made,) = await until_pods(p, 1)
    await _until_settled(p, job, active=1)
    await p.until("GET", job, lambda answer: "ready" in answer.body["status"])
    await p.see("GET", p.path("v1", "pods", made["metadata"]["name"]))
    await p.see("GET", job)


@probe("the pods of an Indexed Job carry their index as annotation, label, variable and hostname")
async def indexed_pods(p: Probe) -> None:
    await _job(p, completionMode="Indexed", completions=2, parallelism=2)
    for made in await until_pods(p, 2):
        await p.see("GET", p.path("v1", "pods", made["metadata"]["name"]))


@probe("a Job whose pod succeeds is Complete, with SuccessCriteriaMet before it")
async def job_complete(p: Probe) -> None:
    job = await _job(p)
    (made,) = await until_pods(p, 1)
    await set_phase(p, made, "Succeeded")
    await until_condition(p, job, "Complete")
    await p.see("GET", job, pick=with_generation)
    await p.until("GET", p.path("v1", "pods"), lambda answer: _untracked(answer.body["items"]))
    await p.see(
        "GET", p.path("v1", "pods", made["metadata"]["name"]), pick=lambda body: body["metadata"]
    )


@probe("an Indexed Job counts each index once and lists those that are done")
async def indexed_complete(p: Probe) -> None:
    job = await _job(p, completionMode="Indexed", completions=3, parallelism=3)
    pods = await until_pods(p, 3)
    for made in pods[:2]:
        await set_phase(p, made, "Succeeded")
    await _until_settled(p, job, succeeded=2, active=1)
    await p.see("GET", job, pick=status_of)
    await set_phase(p, pods[2], "Succeeded")
    await until_condition(p, job, "Complete")
    await p.see("GET", job, pick=status_of)


@probe("a Job of several completions makes no more pods at once than its parallelism")
async def parallelism(p: Probe) -> None:
    job = await _job(p, completions=3, parallelism=2)
    pods = await until_pods(p, 2)
    await set_phase(p, pods[0], "Succeeded")
    await until_pods(p, 2, alive)
    await _until_settled(p, job, active=2, succeeded=1)
    await p.see("GET", job, pick=status_of)


@probe("a Job with backoffLimit 0 fails with its first pod")
async def backoff_limit(p: Probe) -> None:
    job = await _job(p, backoffLimit=0)
    (made,) = await until_pods(p, 1)
    await set_phase(p, made, "Failed")
    await until_condition(p, job, "Failed")
    await p.see("GET", job, pick=status_of)


@probe("a Job's pod that failed is replaced by a new one after a while")
async def retried(p: Probe) -> None:
    job = await _job(p, backoffLimit=3)
    (made,) = await until_pods(p, 1)
    await set_phase(p, made, "Failed")
    await until_pods(p, 1, alive)
    await _until_settled(p, job, active=1, failed=1)
    await p.see("GET", job, pick=status_of)


@probe("podFailurePolicy FailJob fails the Job at an exit code, whatever its backoffLimit")
async def fail_job(p: Probe) -> None:
    codes = {"containerName": "app", "operator": "In", "values": [42]}
    rules = [{"action": "FailJob", "onExitCodes": codes}]
    job = await _job(p, backoffLimit=6, podFailurePolicy={"rules": rules})
    (made,) = await until_pods(p, 1)
    p.hide(made["metadata"]["name"], "pod")
    await set_phase(p, made, "Failed", **_exited(42))
    await until_condition(p, job, "Failed")
    await p.see("GET", job, pick=status_of)


@probe("podFailurePolicy Ignore replaces a disrupted pod and counts no failure")
async def ignore_disruption(p: Probe) -> None:
    disrupted = {"type": "DisruptionTarget", "status": "True"}
    rules = [{"action": "Ignore", "onPodConditions": [disrupted]}]
    job = await _job(p, backoffLimit=0, podFailurePolicy={"rules": rules})
    (made,) = await until_pods(p, 1)
    await set_phase(p, made, "Failed", conditions=[disrupted])
    await until_pods(p, 1, alive)
    await _until_settled(p, job, active=1)
    await p.see("GET", job, pick=status_of)


@probe("podFailurePolicy FailIndex fails one index and lets the others end")
async def fail_index(p: Probe) -> None:
    codes = {"operator": "NotIn", "values": [0]}
    rules = [{"action": "FailIndex", "onExitCodes": codes}]
    job = await _job(
        p,
        completionMode="Indexed",
        completions=2,
        parallelism=2,
        backoffLimitPerIndex=1,
        podFailurePolicy={"rules": rules},
    )
    pods = await until_pods(p, 2)
    await set_phase(p, pods[0], "Failed", **_exited(1))
    await set_phase(p, pods[1], "Succeeded")
    await until_condition(p, job, "Failed")
    await p.see("GET", job, pick=status_of)


@probe("a successPolicy ends an Indexed Job when its leader is done")
async def success_policy(p: Probe) -> None:
    rules = [{"succeededIndexes": "0"}]
    job = await _job(
        p,
        completionMode="Indexed",
        completions=2,
        parallelism=2,
        successPolicy={"rules": rules},
    )
    pods = await until_pods(p, 2)
    await set_phase(p, pods[0], "Succeeded")
    await until_condition(p, job, "Complete")
    await p.see("GET", job, pick=status_of)


@probe("a Job over its activeDeadlineSeconds fails and its pods are deleted")
async def deadline(p: Probe) -> None:
    job = await _job(p, activeDeadlineSeconds=1)
    await until_condition(p, job, "Failed")
    await until_no_pods(p)
    await p.see("GET", job, pick=status_of)


@probe("a suspended Job has no pods and a condition; resumed, it starts")
async def suspended(p: Probe) -> None:
    job = await _job(p, suspend=True)
    await until_condition(p, job, "Suspended")
    await p.see("GET", job)
    await p.do("PATCH", job, {"spec": {"suspend": False}}, patch="merge")
    await until_pods(p, 1)
    await _until_settled(p, job, active=1)
    await p.see("GET", job, pick=with_generation)


@probe("a Job suspended while it runs deletes its pods and forgets its start")
async def suspended_later(p: Probe) -> None:
    job = await _job(p)
    await until_pods(p, 1)
    await p.do("PATCH", job, {"spec": {"suspend": True}}, patch="merge")
    await until_condition(p, job, "Suspended")
    await until_no_pods(p)
    await p.until("GET", job, lambda answer: not answer.body["status"].get("terminating"))
    await p.see("GET", job, pick=status_of)


@probe("a suspended Job's node selector and tolerations may change, and reach its pods")
async def suspended_changed(p: Probe) -> None:
    job = await _job(p, suspend=True)
    await until_condition(p, job, "Suspended")
    spec = {"nodeSelector": {"host": "n1"}, "tolerations": [{"key": "gpu", "operator": "Exists"}]}
    patch = {"spec": {"suspend": False, "template": {"spec": spec}}}
    await p.see("PATCH", job, patch, patch="merge")
    (made,) = await until_pods(p, 1)
    p.note("the pod's node selector", made["spec"]["nodeSelector"])


@probe("a Job with ttlSecondsAfterFinished 0 goes once it is done, with its pods")
async def ttl(p: Probe) -> None:
    job = await _job(p, ttlSecondsAfterFinished=0)
    (made,) = await until_pods(p, 1)
    await set_phase(p, made, "Succeeded")
    await p.until_gone(job)
    await until_no_pods(p)
    await p.see("GET", job)


@probe("a Job that is managed by another gets no pods and no status")
async def managed_by(p: Probe) -> None:
    job = await _job(p, managedBy="example.com/other")
    other = {"metadata": {"name": "b"}, "spec": {"template": template()}}
    await p.do("POST", p.path(BATCH, JOBS), other)
    await p.until("GET", p.path(BATCH, JOBS, "b"), lambda answer: bool(answer.body["status"]))
    await p.see("GET", job)


@probe("a deleted Job's pods go with it")
async def job_deleted(p: Probe) -> None:
    job = await _job(p)
    await until_pods(p, 1)
    await p.see("DELETE", job, query={"propagationPolicy": "Background"})
    await p.until_gone(job)
    await until_no_pods(p)
    await p.see("GET", p.path("v1", "pods"))
