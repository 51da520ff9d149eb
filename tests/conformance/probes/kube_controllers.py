# SPDX-License-Identifier: Apache-2.0
"""What the real controllers do with ReplicaSets, Deployments, budgets, quotas and namespaces.

Only end states are seen.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from tests.conformance.builders import config_map, pod
from tests.conformance.controllers import (
    make_ready,
    sorted_conditions,
    status_of,
    template,
    until_no_pods,
    until_pods,
    with_generation,
)
from tests.conformance.probe import Probe, probe

if TYPE_CHECKING:
    from tests.support.api import Answer

REPLICA_SETS, DEPLOYMENTS = "replicasets", "deployments"
APPS, POLICY = "apps/v1", "policy/v1"
LABELS = {"app": "a"}


def _made_anew(old: str, answer: Answer) -> bool:
    return answer.status == 200 and answer.body["metadata"]["uid"] != old


def _apps(name: str, replicas: int) -> dict[str, Any]:
    selector = {"matchLabels": LABELS}
    pods = template("Always", labels=LABELS)
    spec = {"replicas": replicas, "selector": selector, "template": pods}
    return {"metadata": {"name": name}, "spec": spec}


def _observed(answer: Answer, **status: int) -> bool:
    seen = answer.body.get("status", {})
    current = seen.get("observedGeneration") == answer.body["metadata"]["generation"]
    return current and all(seen.get(name) == status[name] for name in status)


@probe("a ReplicaSet makes its pods and counts those that are ready")
async def replica_set(p: Probe) -> None:
    path = p.path(APPS, REPLICA_SETS, "a")
    await p.do("POST", p.path(APPS, REPLICA_SETS), _apps("a", 1))
    await p.until("GET", path, lambda answer: _observed(answer, replicas=1))
    await p.see("GET", path)
    (made,) = await until_pods(p, 1)
    await p.see(
        "GET", p.path("v1", "pods", made["metadata"]["name"]), pick=lambda body: body["metadata"]
    )
    await make_ready(p)
    await p.until("GET", path, lambda answer: _observed(answer, availableReplicas=1))
    await p.see("GET", path, pick=status_of)


@probe("a ReplicaSet replaces a pod that is deleted, and removes pods when it is scaled down")
async def replica_set_heals(p: Probe) -> None:
    path = p.path(APPS, REPLICA_SETS, "a")
    await p.do("POST", p.path(APPS, REPLICA_SETS), _apps("a", 2))
    pods = await until_pods(p, 2)
    gone = pods[0]["metadata"]["name"]
    await p.do("DELETE", p.path("v1", "pods", gone))
    await until_pods(p, 2, lambda item: item["metadata"]["name"] != gone)
    await p.do("PATCH", f"{path}/scale", {"spec": {"replicas": 0}}, patch="merge")
    await until_no_pods(p)
    await p.until("GET", path, lambda answer: _observed(answer, replicas=0))
    await p.see("GET", path, pick=with_generation)


@probe("a ReplicaSet adopts a pod that its selector finds")
async def replica_set_adopts(p: Probe) -> None:
    await p.do("POST", p.path("v1", "pods"), pod("orphan", labels=LABELS))
    await p.do("POST", p.path(APPS, REPLICA_SETS), _apps("a", 1))
    path = p.path("v1", "pods", "orphan")
    await p.until("GET", path, lambda answer: "ownerReferences" in answer.body["metadata"])
    await p.see("GET", path, pick=lambda body: body["metadata"])


@probe("a Deployment makes a ReplicaSet with its hash and revision, and is Available when ready")
async def deployment(p: Probe) -> None:
    path = p.path(APPS, DEPLOYMENTS, "a")
    await p.do("POST", p.path(APPS, DEPLOYMENTS), _apps("a", 1))
    await until_pods(p, 1)
    await make_ready(p)
    await p.until("GET", path, lambda answer: _observed(answer, availableReplicas=1))
    await p.until("GET", path, lambda answer: b"NewReplicaSetAvailable" in answer.content)
    await p.see("GET", path, pick=sorted_conditions)
    sets = p.path(APPS, REPLICA_SETS)
    await p.until(
        "GET", sets, lambda answer: answer.body["items"][0]["status"].get("availableReplicas") == 1
    )
    await p.see("GET", sets, pick=lambda body: body["items"])


@probe("a change of a Deployment's template makes a second ReplicaSet and scales the first down")
async def rolled_out(p: Probe) -> None:
    path = p.path(APPS, DEPLOYMENTS, "a")
    await p.do("POST", p.path(APPS, DEPLOYMENTS), _apps("a", 1))
    await until_pods(p, 1)
    await make_ready(p)
    await p.until("GET", path, lambda answer: _observed(answer, availableReplicas=1))
    patch = {"spec": {"template": {"metadata": {"annotations": {"v": "2"}}}}}
    await p.do("PATCH", path, patch, patch="merge")
    await until_pods(p, 2)
    await make_ready(p)
    await until_pods(p, 1)
    await p.until("GET", path, lambda answer: _observed(answer, replicas=1, updatedReplicas=1))
    await p.see(
        "GET",
        p.path(APPS, REPLICA_SETS),
        pick=lambda body: sorted(
            (
                item["metadata"]["annotations"]["deployment.kubernetes.io/revision"],
                item["metadata"]["name"],
                item["spec"]["replicas"],
            )
            for item in body["items"]
        ),
    )


@probe("a namespace gets a default service account")
async def default_account(p: Probe) -> None:
    await p.see("GET", p.path("v1", "serviceaccounts"))


@probe("a namespace gets the root certificates in a config map")
async def root_certificates(p: Probe) -> None:
    def without_certificate(body: dict[str, Any]) -> dict[str, Any]:
        return {**body, "data": sorted(body["data"])}

    path = p.path("v1", "configmaps", "kube-root-ca.crt")
    await p.see("GET", path, pick=without_certificate)


@probe("a service account and root certificates that are deleted come back")
async def namespace_healed(p: Probe) -> None:
    for resource, name in (("serviceaccounts", "default"), ("configmaps", "kube-root-ca.crt")):
        path = p.path("v1", resource, name)
        old = (await p.do("GET", path))["metadata"]["uid"]
        await p.do("DELETE", path)
        await p.until("GET", path, partial(_made_anew, old))
        await p.see("GET", path, pick=lambda body: body["metadata"]["name"])


def _budget(title: str, replicas: int, healthy: int, **spec: Any) -> None:
    """A probe of a budget over the ready pods of a ReplicaSet."""

    @probe(title)
    async def budget(p: Probe) -> None:
        await p.do("POST", p.path(APPS, REPLICA_SETS), _apps("a", replicas))
        await until_pods(p, replicas)
        await make_ready(p)
        selector = {"selector": {"matchLabels": LABELS}}
        body = {"metadata": {"name": "a"}, "spec": {**selector, **spec}}
        await p.do("POST", p.path(POLICY, "poddisruptionbudgets"), body)
        path = p.path(POLICY, "poddisruptionbudgets", "a")
        counted = {"currentHealthy": healthy, "expectedPods": replicas}
        await p.until("GET", path, lambda answer: _observed(answer, **counted))
        await p.see("GET", path)


_budget("a budget by minAvailable counts healthy, desired and allowed", 3, 3, minAvailable=2)
_budget("a budget by a percentage of available pods rounds up", 3, 3, minAvailable="50%")
_budget("a budget by maxUnavailable asks the owner how many are expected", 3, 3, maxUnavailable=1)


@probe("a budget by maxUnavailable expects none of the pods without an owner")
async def budget_unowned(p: Probe) -> None:
    await p.do("POST", p.path("v1", "pods"), pod("a", labels=LABELS))
    spec = {"selector": {"matchLabels": LABELS}, "maxUnavailable": 1}
    path = p.path(POLICY, "poddisruptionbudgets")
    await p.do("POST", path, {"metadata": {"name": "a"}, "spec": spec})
    await p.until("GET", f"{path}/a", lambda answer: "conditions" in answer.body["status"])
    await p.see("GET", f"{path}/a", pick=status_of)


@probe("a quota counts what is there and forbids more")
async def quota(p: Probe) -> None:
    hard = {"count/configmaps": "2", "pods": "1", "requests.cpu": "1"}
    path = p.path("v1", "resourcequotas")
    await p.do("POST", path, {"metadata": {"name": "a"}, "spec": {"hard": hard}})
    await p.until("GET", f"{path}/a", lambda answer: "used" in answer.body["status"])
    await p.see("GET", f"{path}/a", pick=status_of)
    pods, dry = p.path("v1", "pods"), {"dryRun": "All"}
    await p.until("POST", pods, lambda answer: answer.status == 403, body=pod("a"), query=dry)
    await p.do("POST", p.path("v1", "configmaps"), config_map("a"))
    await p.see("POST", p.path("v1", "configmaps"), config_map("b"))
    await p.see("POST", pods, pod("a"), note="a pod that requests nothing")
