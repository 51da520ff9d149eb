# SPDX-License-Identifier: Apache-2.0
"""Eviction of pods, with and without a disruption budget."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.conformance.admission import Calls, Hook, rule, webhooks
from tests.conformance.builders import pod
from tests.conformance.probe import Probe, probe

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from tests.support.api import Answer

PODS, BUDGETS = "pods", "poddisruptionbudgets"
POLICY = "policy/v1"
DISRUPTION_CONTROLLER = "system:serviceaccount:kube-system:disruption-controller"
LABELS = {"app": "a"}
SELECTOR = {"matchLabels": LABELS}
READY = {
    "status": {
        "phase": "Running",
        "conditions": [{"type": "Ready", "status": "True"}],
    }
}
OTHER_UID = "00000000-0000-4000-8000-000000000001"


def _eviction(name: str = "a", **more: Any) -> dict[str, Any]:
    return {"apiVersion": POLICY, "kind": "Eviction", "metadata": {"name": name}, **more}


def _pod(p: Probe, name: str = "a", *more: str) -> str:
    return p.path("v1", PODS, name, *more)


async def _bound(p: Probe, name: str = "a", *, ready: bool = True, **metadata: Any) -> None:
    """A pod on a node that does not exist: it stays when deleted, until someone says it is gone."""
    body = pod(name, {"nodeName": f"node-{p.id}"}, labels=LABELS, **metadata)
    await p.do("POST", p.path("v1", PODS), body)
    if ready:
        await p.do("PATCH", _pod(p, name, "status"), READY, patch="strategic")


async def _budget(p: Probe, name: str = "budget", **spec: Any) -> str:
    body = {"metadata": {"name": name}, "spec": {"selector": SELECTOR, **spec}}
    await p.do("POST", p.path(POLICY, BUDGETS), body)
    return p.path(POLICY, BUDGETS, name)


async def _until(p: Probe, budget: str, **status: int) -> None:
    """Waits until the disruption controller has written what is expected."""

    def written(answer: Answer) -> bool:
        seen = answer.body.get("status", {})
        processed = seen.get("observedGeneration") == answer.body["metadata"]["generation"]
        return processed and all(seen.get(name) == status[name] for name in status)

    await p.until("GET", budget, written)


def _budgets_frozen(p: Probe) -> AbstractAsyncContextManager[Calls]:
    """Keeps the disruption controller from writing what it finds, for the length of a block."""

    def others(request: dict[str, Any]) -> dict[str, Any]:
        return {"allowed": request["userInfo"]["username"] != DISRUPTION_CONTROLLER}

    hook = Hook("hook", others, rules=[rule(f"{BUDGETS}/status", group="policy")])
    return webhooks(p, "validating", hook)


@probe("an eviction without a budget answers 201 and leaves a mark on a pod that stays")
async def without_budget(p: Probe) -> None:
    await _bound(p)
    await p.see("POST", _pod(p, "a", "eviction"), _eviction())
    await p.see("GET", _pod(p))


@probe("an unscheduled pod is gone after its eviction")
async def unscheduled(p: Probe) -> None:
    await p.do("POST", p.path("v1", PODS), pod("a"))
    await p.see("POST", _pod(p, "a", "eviction"), _eviction())
    await p.see("GET", _pod(p))


@probe("the mark of an eviction and the deletion are two changes of the pod")
async def watched(p: Probe) -> None:
    await _bound(p)
    made = await p.do("GET", _pod(p))
    query = {"resourceVersion": made["metadata"]["resourceVersion"]}
    async with p.watch(p.path("v1", PODS), query=query) as watch:
        await p.do("POST", _pod(p, "a", "eviction"), _eviction())
        await watch.read(2)


@probe("an eviction that a budget does not allow is 429 with its cause")
async def blocked(p: Probe) -> None:
    await _bound(p)
    budget = await _budget(p, minAvailable=1)
    await _until(p, budget, currentHealthy=1)
    await p.see("POST", _pod(p, "a", "eviction"), _eviction())
    await p.see("GET", budget)


@probe("an eviction that a budget allows is counted in the budget at once")
async def allowed(p: Probe) -> None:
    for name in ("a", "b"):
        await _bound(p, name)
    budget = await _budget(p, minAvailable=1)
    await _until(p, budget, currentHealthy=2, disruptionsAllowed=1)
    async with _budgets_frozen(p):
        await p.see("POST", _pod(p, "a", "eviction"), _eviction())
        await p.see("GET", budget, pick=lambda body: body["status"])
        await p.see("POST", _pod(p, "b", "eviction"), _eviction("b"))


@probe("a dry-run eviction is checked against the budget and changes nothing")
async def dry_run(p: Probe) -> None:
    for name in ("a", "b"):
        await _bound(p, name)
    budget = await _budget(p, minAvailable=1)
    await _until(p, budget, currentHealthy=2, disruptionsAllowed=1)
    for _ in range(2):
        await p.see("POST", _pod(p, "a", "eviction"), _eviction(), query={"dryRun": "All"})
    options = {"dryRun": ["All"]}
    await p.see("POST", _pod(p, "a", "eviction"), _eviction(deleteOptions=options))
    await p.see("GET", _pod(p), pick=lambda body: body["metadata"].get("deletionTimestamp"))


@probe("an eviction is 429 with Retry-After while the budget has not been looked at")
async def unprocessed(p: Probe) -> None:
    await _bound(p)
    async with _budgets_frozen(p):
        await _budget(p, minAvailable=0)
        await p.see("POST", _pod(p, "a", "eviction"), _eviction())


@probe("a pod with two budgets cannot be evicted")
async def two_budgets(p: Probe) -> None:
    await _bound(p)
    for name in ("one", "two"):
        budget = await _budget(p, name, minAvailable=0)
        await _until(p, budget, currentHealthy=1)
    await p.see("POST", _pod(p, "a", "eviction"), _eviction())


@probe("a finished pod is evicted whatever its budget says")
async def finished(p: Probe) -> None:
    await _bound(p)
    budget = await _budget(p, minAvailable=1)
    await _until(p, budget, currentHealthy=1)
    done = {"status": {"phase": "Succeeded"}}
    await p.do("PATCH", _pod(p, "a", "status"), done, patch="merge")
    await p.see("POST", _pod(p, "a", "eviction"), _eviction())


@probe("a pending pod is evicted whatever its budget says")
async def pending(p: Probe) -> None:
    await _bound(p, ready=False)
    budget = await _budget(p, minAvailable=1)
    await _until(p, budget, currentHealthy=0, expectedPods=1)
    await p.see("POST", _pod(p, "a", "eviction"), _eviction())


def _unready(title: str, policy: str | None) -> None:
    @probe(title)
    async def unready(p: Probe) -> None:
        await _bound(p, ready=False)
        running = {"status": {"phase": "Running"}}
        await p.do("PATCH", _pod(p, "a", "status"), running, patch="merge")
        spec: dict[str, Any] = {"unhealthyPodEvictionPolicy": policy} if policy else {}
        budget = await _budget(p, minAvailable=1, **spec)
        await _until(p, budget, currentHealthy=0, expectedPods=1)
        await p.see("POST", _pod(p, "a", "eviction"), _eviction())


_unready("a running pod that is not ready is held by a budget that lacks healthy pods", None)
_unready("unhealthyPodEvictionPolicy AlwaysAllow lets a pod that is not ready go", "AlwaysAllow")


@probe("a pod that is being deleted already is evicted whatever its budget says")
async def deleting(p: Probe) -> None:
    await _bound(p)
    budget = await _budget(p, minAvailable=1)
    await _until(p, budget, currentHealthy=1)
    await p.do("DELETE", _pod(p))
    await p.see("POST", _pod(p, "a", "eviction"), _eviction())


@probe("an eviction's delete options set the grace period")
async def grace(p: Probe) -> None:
    await _bound(p)
    options = {"gracePeriodSeconds": 7}
    await p.see("POST", _pod(p, "a", "eviction"), _eviction(deleteOptions=options))
    await p.see("GET", _pod(p), pick=lambda body: body["metadata"])


@probe("an eviction with grace period 0 removes the pod at once")
async def no_grace(p: Probe) -> None:
    await _bound(p)
    options = {"gracePeriodSeconds": 0}
    await p.see("POST", _pod(p, "a", "eviction"), _eviction(deleteOptions=options))
    await p.see("GET", _pod(p))


@probe("an eviction's preconditions are heeded")
async def preconditions(p: Probe) -> None:
    await _bound(p)
    made = await p.do("GET", _pod(p))
    for condition in (
        {"uid": OTHER_UID},
        {"resourceVersion": "1"},
        {"uid": made["metadata"]["uid"]},
    ):
        body = _eviction(deleteOptions={"preconditions": condition})
        await p.see("POST", _pod(p, "a", "eviction"), body)


@probe("a pod with a finalizer stays after its eviction")
async def finalizer(p: Probe) -> None:
    await p.do("POST", p.path("v1", PODS), pod("a", finalizers=["example.com/keep"]))
    p.cleanup.push_async_callback(
        p.ask, "PATCH", _pod(p), {"metadata": {"finalizers": None}}, patch="merge"
    )
    await p.see("POST", _pod(p, "a", "eviction"), _eviction())
    await p.see("GET", _pod(p))


def _malformed(title: str, body: dict[str, Any] | None) -> None:
    @probe(title)
    async def malformed(p: Probe) -> None:
        await _bound(p)
        await p.see("POST", _pod(p, "a", "eviction"), body)


for _title, _body in [
    ("an eviction in the name of another pod is refused", _eviction("b")),
    ("an eviction without a name is refused", {"apiVersion": POLICY, "kind": "Eviction"}),
    ("an eviction without kind and version is taken as policy/v1", {"metadata": {"name": "a"}}),
    (
        "an eviction in policy/v1beta1 is accepted",
        {**_eviction(), "apiVersion": "policy/v1beta1"},
    ),
    ("an eviction of another kind is refused", {**_eviction(), "kind": "Pod", "apiVersion": "v1"}),
    (
        "an eviction with a bad propagation policy is refused",
        _eviction(deleteOptions={"propagationPolicy": "Sideways"}),
    ),
    ("an eviction without a body is refused", None),
]:
    _malformed(_title, _body)


@probe("a pod that is not there cannot be evicted")
async def missing(p: Probe) -> None:
    await p.see("POST", _pod(p, "a", "eviction"), _eviction())


@probe("an eviction can only be created")
async def only_created(p: Probe) -> None:
    await _bound(p)
    await p.see("GET", _pod(p, "a", "eviction"))
    await p.see("DELETE", _pod(p, "a", "eviction"))
