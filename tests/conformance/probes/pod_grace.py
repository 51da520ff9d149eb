# SPDX-License-Identifier: Apache-2.0
"""DELETE of pods: who waits for a grace period, how long, and how it can change.

The pods name a node that does not exist. What collects such pods waits for 40 s first.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from tests.conformance.builders import NOBODY, pod
from tests.conformance.probe import HOLD, Probe, probe

RUNNING = {"nodeName": NOBODY}
FORCE = {"gracePeriodSeconds": "0"}


async def running(p: Probe, name: str = "a", **spec: Any) -> str:
    """A pod that has a node; returns its path."""
    await p.do("POST", p.path("v1", "pods"), pod(name, {**RUNNING, **spec}))
    path = p.path("v1", "pods", name)
    p.cleanup.push_async_callback(p.ask, "DELETE", path, query=FORCE)
    return path


def deletion(body: dict[str, Any]) -> dict[str, Any]:
    """What deletion changes in a pod, and how far ahead of the request its end lies."""
    metadata = body["metadata"]
    shown = ("deletionGracePeriodSeconds", "deletionTimestamp", "finalizers", "generation")
    return {
        **{name: metadata[name] for name in (*shown, "resourceVersion") if name in metadata},
        "terminationGracePeriodSeconds": body["spec"]["terminationGracePeriodSeconds"],
    }


async def seen(p: Probe, path: str, options: Any = None, **query: str) -> dict[str, Any]:
    """Deletes and records what deletion has changed, then what is stored."""
    await p.see("DELETE", path, options, query=query, pick=deletion)
    answer: dict[str, Any] = await p.see("GET", path, pick=deletion)
    return answer


def ends(body: dict[str, Any]) -> datetime:
    return datetime.fromisoformat(body["metadata"]["deletionTimestamp"])


@probe("a pod with a node stays for its grace period, with generation + 1")
async def waits(p: Probe) -> None:
    path = await running(p)
    await p.see("GET", path)
    await p.see("DELETE", path)
    await p.see("GET", path)


@probe("deletionTimestamp lies in the future by the grace period")
async def in_the_future(p: Probe) -> None:
    body = await p.do("DELETE", await running(p, terminationGracePeriodSeconds=1000))
    lives = ends(body) - datetime.fromisoformat(body["metadata"]["creationTimestamp"])
    p.note("1000 s after it was made, and no minute more", 1000 <= lives.total_seconds() < 1060)


def asked(title: str, own: int, grace: str) -> None:
    @probe(title)
    async def run(p: Probe) -> None:
        path = await running(p, terminationGracePeriodSeconds=own)
        await seen(p, path, gracePeriodSeconds=grace)


asked("gracePeriodSeconds overrides that of the pod", 30, "7")
asked("gracePeriodSeconds may be longer than that of the pod", 30, "300")
asked("a negative gracePeriodSeconds is 1", 30, "-5")


@probe("gracePeriodSeconds 0 removes a pod with a node at once")
async def forced(p: Probe) -> None:
    path = await running(p)
    await p.see("DELETE", path, query=FORCE, pick=deletion)
    await p.see("GET", path)


@probe("gracePeriodSeconds may stand in the body")
async def in_the_body(p: Probe) -> None:
    path = await running(p)
    await seen(p, path, {"gracePeriodSeconds": 7})
    await p.see("DELETE", path, {"gracePeriodSeconds": 0}, pick=deletion)
    await p.see("GET", path)


@probe("a pod whose own grace period is 0 goes at once")
async def own_zero(p: Probe) -> None:
    path = await running(p, terminationGracePeriodSeconds=0)
    await p.see("DELETE", path, pick=deletion)
    await p.see("GET", path)


@probe("a pod's own grace period that is negative is 1")
async def own_negative(p: Probe) -> None:
    body = pod("a", {**RUNNING, "terminationGracePeriodSeconds": -5})
    await p.see("POST", p.path("v1", "pods"), body, pick=lambda made: made["spec"])
    path = p.path("v1", "pods", "a")
    p.cleanup.push_async_callback(p.ask, "DELETE", path, query=FORCE)
    await seen(p, path)


@probe("a second DELETE without options changes nothing")
async def again(p: Probe) -> None:
    path = await running(p)
    await seen(p, path)
    await seen(p, path)


@probe("the grace period can be shortened, and counts from the first DELETE")
async def shortened(p: Probe) -> None:
    path = await running(p, terminationGracePeriodSeconds=1000)
    before = await seen(p, path)
    after = await seen(p, path, gracePeriodSeconds="100")
    p.note("seconds earlier", int((ends(before) - ends(after)).total_seconds()))


@probe("the grace period can be neither lengthened nor restarted")
async def not_lengthened(p: Probe) -> None:
    path = await running(p)
    before = await seen(p, path, gracePeriodSeconds="20")
    after = await seen(p, path, gracePeriodSeconds="40")
    p.note("deletionTimestamp has moved", ends(before) != ends(after))
    after = await seen(p, path, gracePeriodSeconds="20")
    p.note("deletionTimestamp has moved", ends(before) != ends(after))


@probe("a negative grace period while deleting shortens to 1")
async def negative_while_deleting(p: Probe) -> None:
    path = await running(p)
    await seen(p, path)
    await seen(p, path, gracePeriodSeconds="-1")


@probe("a kubelet's DELETE with grace 0 ends the wait, and nothing is left")
async def ended(p: Probe) -> None:
    path = await running(p)
    await seen(p, path)
    await p.see("DELETE", path, query=FORCE, pick=deletion)
    await p.see("GET", path)


@probe("a finalizer holds a pod beyond its grace period, which ends at 0")
async def held(p: Probe) -> None:
    await p.held(p.path("v1", "pods"), pod("a", RUNNING))
    path = p.path("v1", "pods", "a")
    await seen(p, path)
    await seen(p, path, gracePeriodSeconds="0")
    await seen(p, path, gracePeriodSeconds="0")


@probe("removing the last finalizer during the grace period does not remove the pod")
async def released_early(p: Probe) -> None:
    await p.held(p.path("v1", "pods"), pod("a", RUNNING))
    path = p.path("v1", "pods", "a")
    p.cleanup.push_async_callback(p.ask, "DELETE", path, query=FORCE)
    await p.do("DELETE", path)
    off = {"metadata": {"finalizers": None}}
    await p.see("PATCH", path, off, patch="merge", pick=deletion)
    await p.see("GET", path, pick=deletion)


@probe("a pod that has no node goes at once, whatever grace is asked for")
async def without_node(p: Probe) -> None:
    for name, query in (("a", {}), ("b", {"gracePeriodSeconds": "100"})):
        await p.do("POST", p.path("v1", "pods"), pod(name))
        await p.see("DELETE", p.path("v1", "pods", name), query=query, pick=deletion)
        await p.see("GET", p.path("v1", "pods", name))


def terminal(phase: str) -> None:
    @probe(f"a pod with a node whose phase is {phase} goes at once")
    async def run(p: Probe) -> None:
        path = await running(p)
        status = {"status": {"phase": phase}}
        await p.do("PATCH", f"{path}/status", status, patch="merge")
        await p.see("DELETE", path, query={"gracePeriodSeconds": "100"}, pick=deletion)
        await p.see("GET", path)


terminal("Succeeded")
terminal("Failed")


@probe("a pod that becomes terminal while deleting waits for another DELETE")
async def terminal_later(p: Probe) -> None:
    path = await running(p)
    await p.do("DELETE", path)
    await p.do("PATCH", f"{path}/status", {"status": {"phase": "Succeeded"}}, patch="merge")
    await p.see("GET", path, pick=deletion)
    await p.see("DELETE", path, pick=deletion)
    await p.see("GET", path, pick=deletion)


@probe("a pod that is being deleted can still be relabelled, and its status written")
async def changed_while_deleting(p: Probe) -> None:
    path = await running(p)
    await p.do("DELETE", path)
    await p.see("PATCH", path, {"metadata": {"labels": {"a": "b"}}}, patch="merge", pick=deletion)
    status = {"status": {"phase": "Running"}}
    await p.see("PATCH", f"{path}/status", status, patch="merge", pick=deletion)
    late = {"metadata": {"finalizers": [HOLD]}}
    await p.see("PATCH", path, late, patch="merge")


@probe("deletecollection begins the grace period of pods that have a node")
async def collection(p: Probe) -> None:
    path = await running(p)
    await p.see(
        "DELETE", p.path("v1", "pods"), pick=lambda body: [deletion(i) for i in body["items"]]
    )
    await p.see("GET", path, pick=deletion)


@probe("a propagation policy adds its finalizer to a pod that has a grace period")
async def foreground(p: Probe) -> None:
    path = await running(p)
    await p.see("DELETE", path, query={"propagationPolicy": "Foreground"}, pick=deletion)


@probe("dryRun shows the grace period that it does not begin")
async def dry_run(p: Probe) -> None:
    path = await running(p)
    await seen(p, path, dryRun="All")
