# SPDX-License-Identifier: Apache-2.0
"""Which events a write gives, and how selectors turn one event into another.

Where a write gives none, the event of a later write proves it.
"""

from __future__ import annotations

from typing import Any

from tests.conformance.builders import config_map, pod
from tests.conformance.kinds import WIDGETS, gadget, widget
from tests.conformance.probe import HOLD, Probe, probe

MINE = {"labels": {"mine": "yes"}}
ONLY_MINE = {"labelSelector": "mine=yes"}


def labelled(value: str | None) -> dict[str, Any]:
    return {"metadata": {"labels": {"mine": value}}}


@probe("an object that begins to match is ADDED with its new state")
async def entering(p: Probe) -> None:
    path = p.path("v1", "configmaps")
    async with p.watch(path, query=ONLY_MINE) as watch:
        await p.see("POST", path, config_map("a"))
        await p.see("PATCH", f"{path}/a", labelled("yes"), patch="merge")
        await watch.read(1)


@probe("an object that ceases to match is DELETED: the old state under the new resourceVersion")
async def leaving(p: Probe) -> None:
    path = p.path("v1", "configmaps")
    async with p.watch(path, query=ONLY_MINE) as watch:
        await p.see("POST", path, config_map("a", **MINE))
        change = {**labelled(None), "data": {"a": "2"}}
        await p.see("PATCH", f"{path}/a", change, patch="merge")
        await watch.read(2)


@probe("an object that stays outside the selector gives no event, whatever happens to it")
async def outside(p: Probe) -> None:
    path = p.path("v1", "configmaps")
    async with p.watch(path, query=ONLY_MINE) as watch:
        await p.do("POST", path, config_map("a"))
        await p.do("PATCH", f"{path}/a", {"data": {"a": "2"}}, patch="merge")
        await p.do("DELETE", f"{path}/a")
        await p.do("POST", path, config_map("marker", **MINE))
        await watch.read(1)


@probe("in and out of a selector again, then deleted outside: ADDED and DELETED in turn")
async def to_and_fro(p: Probe) -> None:
    path = p.path("v1", "configmaps")
    async with p.watch(path, query=ONLY_MINE) as watch:
        await p.do("POST", path, config_map("a", **MINE))
        for value in ("no", "yes", None):
            await p.do("PATCH", f"{path}/a", labelled(value), patch="merge")
        await p.do("DELETE", f"{path}/a")
        await p.do("POST", path, config_map("marker", **MINE))
        await watch.read(5)


@probe("from an old resourceVersion the selector is applied to every step since")
async def replayed(p: Probe) -> None:
    path = p.path("v1", "configmaps")
    made = await p.do("POST", path, config_map("a", **MINE))
    for value in ("no", "yes"):
        await p.do("PATCH", f"{path}/a", labelled(value), patch="merge")
    query = {**ONLY_MINE, "resourceVersion": made["metadata"]["resourceVersion"]}
    async with p.watch(path, query=query) as watch:
        await watch.read(2)


@probe("a field selector turns a pod's changes into ADDED and DELETED")
async def phases(p: Probe) -> None:
    path = p.path("v1", "pods")
    await p.do("POST", path, pod("a"))
    async with p.watch(path, query={"fieldSelector": "status.phase=Running"}) as watch:
        for phase in ("Running", "Succeeded"):
            status = {"status": {"phase": phase}}
            await p.do("PATCH", f"{path}/a/status", status, patch="merge")
        await watch.read(2)


def silent(title: str, **change: Any) -> None:
    """A write that changes nothing gives no event: the next one is that of the marker."""

    @probe(f"{title} gives no event and keeps the resourceVersion")
    async def run(p: Probe) -> None:
        path = p.path("v1", "configmaps")
        made = await p.do("POST", path, config_map("a", **MINE))
        query = {**ONLY_MINE, "resourceVersion": made["metadata"]["resourceVersion"]}
        async with p.watch(path, query=query) as watch:
            body = made if change["method"] == "PUT" else change["body"]
            how = {"patch": change["patch"]} if "patch" in change else {}
            await p.see(change["method"], f"{path}/a", body, **how)
            await p.do("POST", path, config_map("marker", **MINE))
            await watch.read(1)


silent("a PUT of what is there", method="PUT")
silent("an empty merge patch", method="PATCH", patch="merge", body={})
silent("a merge patch of what is there", method="PATCH", patch="merge", body={"data": {"a": "1"}})
silent("an empty JSON patch", method="PATCH", patch="json", body=[])
silent(
    "a strategic patch of what is there",
    method="PATCH",
    patch="strategic",
    body={"data": {"a": "1"}},
)


@probe("a dry run gives no event")
async def dry_run(p: Probe) -> None:
    path = p.path("v1", "configmaps")
    async with p.watch(path, query=ONLY_MINE) as watch:
        await p.do("POST", path, config_map("a", **MINE), query={"dryRun": "All"})
        await p.do("POST", path, config_map("marker", **MINE))
        await watch.read(1)


@probe("a refused write gives no event")
async def refused(p: Probe) -> None:
    path = p.path(WIDGETS, "widgets")
    async with p.watch(path) as watch:
        await p.ask("POST", path, widget("a", {"size": -1}))
        await p.do("POST", path, widget("marker"))
        await watch.read(1)


@probe("a write of the status alone is MODIFIED, with the generation as it was")
async def status(p: Probe) -> None:
    path = p.path(WIDGETS, "widgets")
    await p.do("POST", path, widget("a"))
    async with p.watch(path) as watch:
        await watch.read(1)
        await p.do("PATCH", f"{path}/a/status", {"status": {"phase": "x"}}, patch="merge")
        await watch.read(1)


@probe("a finalizer makes a delete MODIFIED; its removal is DELETED with the removal's version")
async def finalizer(p: Probe) -> None:
    path = p.path("v1", "configmaps")
    made = await p.held(path, config_map("a"))
    query = {"resourceVersion": made["metadata"]["resourceVersion"]}
    async with p.watch(path, query=query) as watch:
        await p.do("DELETE", f"{path}/a")
        change = {"metadata": {"finalizers": None}, "data": {"a": "2"}}
        await p.see("PATCH", f"{path}/a", change, patch="merge")
        await watch.read(2)


@probe("removing one of two finalizers is MODIFIED, removing the last of a custom resource DELETED")
async def custom_finalizers(p: Probe) -> None:
    path = p.path(WIDGETS, "gadgets")
    held = await p.held(path, gadget("a", finalizers=[HOLD, "trellis.dev/more"]))
    query = {"resourceVersion": held["metadata"]["resourceVersion"]}
    async with p.watch(path, query=query) as watch:
        await p.do("DELETE", f"{path}/a")
        for left in ([HOLD], []):
            await p.do("PATCH", f"{path}/a", {"metadata": {"finalizers": left}}, patch="merge")
        await watch.read(3)


@probe("a pod with a grace period is MODIFIED twice, then DELETED")
async def graceful(p: Probe) -> None:
    path = p.path("v1", "pods")
    made = await p.do("POST", path, pod("a", {"nodeName": "nobody"}))
    query = {"resourceVersion": made["metadata"]["resourceVersion"]}
    async with p.watch(path, query=query) as watch:
        await p.do("DELETE", f"{path}/a")
        await p.do("DELETE", f"{path}/a", query={"gracePeriodSeconds": "0"})
        await watch.read(3)


@probe("deletecollection gives one DELETED each")
async def collection(p: Probe) -> None:
    path = p.path("v1", "secrets")
    made = {}
    for name in ("a", "b", "c"):
        made = await p.do("POST", path, {"metadata": {"name": name}})
    query = {"resourceVersion": made["metadata"]["resourceVersion"]}
    async with p.watch(path, query=query, pick=lambda event: event["type"]) as watch:
        await p.do("DELETE", path)
        events = await watch.read(3)
    # The server deletes them side by side; their order is left to chance.
    names = sorted(event["object"]["metadata"]["name"] for event in events)
    p.note("what was deleted", names)


@probe("an object with a generated name is ADDED under the name it got")
async def generated(p: Probe) -> None:
    path = p.path("v1", "configmaps")
    async with p.watch(path, query=ONLY_MINE) as watch:
        body = {"metadata": {"generateName": "a-", **MINE}}
        await p.see("POST", path, body)
        await watch.read(1)


@probe("a name that is used again is ADDED with another uid")
async def recreated(p: Probe) -> None:
    path = p.path("v1", "configmaps")
    made = await p.do("POST", path, config_map("a"))
    query = {"resourceVersion": made["metadata"]["resourceVersion"]}
    async with p.watch(path, query=query) as watch:
        await p.do("DELETE", f"{path}/a")
        await p.do("POST", path, config_map("a"))
        await watch.read(2)


@probe("two watches of one collection see the same events in the same order")
async def two_watches(p: Probe) -> None:
    path = p.path("v1", "configmaps")
    async with p.watch(path, query=ONLY_MINE) as one, p.watch(path, query=ONLY_MINE) as other:
        for name in ("a", "b", "c"):
            await p.do("POST", path, config_map(name, **MINE))
        first, second = await one.read(3), await other.read(3)
    p.note("the same", first == second)
