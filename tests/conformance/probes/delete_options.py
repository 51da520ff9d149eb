# SPDX-License-Identifier: Apache-2.0
"""DeleteOptions: where they may stand, preconditions, propagation, grace and dry-run."""

from __future__ import annotations

from typing import Any

from tests.conformance.builders import config_map, pod
from tests.conformance.kinds import WIDGETS, widget
from tests.conformance.probe import Probe, probe

OTHER_UID = "00000000-0000-4000-8000-000000000001"
OPTIONS = {"apiVersion": "v1", "kind": "DeleteOptions"}


async def made(p: Probe) -> str:
    """A config map to delete; returns its path."""
    await p.do("POST", p.path("v1", "configmaps"), config_map("a"))
    return p.path("v1", "configmaps", "a")


def kept(title: str, options: Any, query: dict[str, str] | None = None) -> None:
    """The config map must still be there afterwards."""

    @probe(title)
    async def run(p: Probe) -> None:
        path = await made(p)
        await p.see("DELETE", path, options, query=query or {})
        await p.do("GET", path)


def deleted(title: str, options: Any, query: dict[str, str] | None = None) -> None:
    """Whatever else is in the answer, deletion has begun."""

    @probe(title)
    async def run(p: Probe) -> None:
        path = await made(p)
        await p.see("DELETE", path, options, query=query or {})
        await p.until_gone(path)


kept("a body that is no JSON is 400", b"{")
kept("a body of another kind is 400", config_map("a"))
kept("a body with a wrong type is 400", {**OPTIONS, "gracePeriodSeconds": "soon"})
kept(
    "a gracePeriodSeconds in the query that is no number is 400", None, {"gracePeriodSeconds": "x"}
)
kept("an unknown propagationPolicy in the body is 422", {**OPTIONS, "propagationPolicy": "Slow"})
kept("an unknown propagationPolicy in the query is 422", None, {"propagationPolicy": "Slow"})
kept(
    "orphanDependents together with propagationPolicy is 422",
    {**OPTIONS, "orphanDependents": True, "propagationPolicy": "Background"},
)
kept("an unknown dryRun value is 422", {**OPTIONS, "dryRun": ["Some"]})
kept("an unknown dryRun value in the query is 422", None, {"dryRun": "Some"})
deleted(
    "ignoring store errors changes nothing for an object that can be read",
    {**OPTIONS, "ignoreStoreReadErrorWithClusterBreakingPotential": True},
)
kept(
    "dryRun in the body answers as a delete would and keeps the object",
    {**OPTIONS, "dryRun": ["All"]},
)
kept("dryRun in the query answers as a delete would and keeps the object", None, {"dryRun": "All"})
deleted("an empty body is the same as none", b"")
deleted("a body of {} without kind and apiVersion is accepted", {})
deleted(
    "DeleteOptions of another group version are accepted",
    {"apiVersion": "apps/v1", "kind": "DeleteOptions"},
)
deleted("an unknown field in the body is ignored", {**OPTIONS, "patience": 7})
deleted(
    "with a body the query is ignored: dryRun in the query does not hold",
    OPTIONS,
    {"dryRun": "All"},
)
deleted(
    "propagationPolicy Background answers as if it were not there",
    {**OPTIONS, "propagationPolicy": "Background"},
)
deleted(
    "propagationPolicy Foreground answers with the object and its finalizer",
    {**OPTIONS, "propagationPolicy": "Foreground"},
)
deleted(
    "propagationPolicy Foreground works in the query", None, {"propagationPolicy": "Foreground"}
)
deleted(
    "propagationPolicy Orphan answers with the object and its finalizer",
    {**OPTIONS, "propagationPolicy": "Orphan"},
)
deleted("orphanDependents true is the same as Orphan", {**OPTIONS, "orphanDependents": True})
deleted("orphanDependents false is the same as Background", {**OPTIONS, "orphanDependents": False})
deleted("a grace period means nothing to a config map", {**OPTIONS, "gracePeriodSeconds": 30})
deleted("a grace period of 0 means nothing to a config map", {**OPTIONS, "gracePeriodSeconds": 0})
deleted(
    "a negative grace period means nothing to a config map", {**OPTIONS, "gracePeriodSeconds": -1}
)


@probe("a uid precondition that does not match is 409 and names both")
async def other_uid(p: Probe) -> None:
    await p.do("POST", p.path(WIDGETS, "widgets"), widget("a"))
    await p.do("POST", p.path("v1", "pods"), pod("a"))
    options = {"preconditions": {"uid": OTHER_UID}}
    await p.see("DELETE", await made(p), options)
    await p.see("DELETE", p.path(WIDGETS, "widgets", "a"), options)
    await p.see("DELETE", p.path("v1", "pods", "a"), options)


@probe("a resourceVersion precondition that does not match is 409 and names both")
async def other_version(p: Probe) -> None:
    await p.do("POST", p.path(WIDGETS, "widgets"), widget("a"))
    options = {"preconditions": {"resourceVersion": "1"}}
    await p.see("DELETE", await made(p), options)
    await p.see("DELETE", p.path(WIDGETS, "widgets", "a"), options)


@probe("preconditions that match are met")
async def preconditions_met(p: Probe) -> None:
    for name, fields in (
        ("a", ["uid"]),
        ("b", ["resourceVersion"]),
        ("c", ["uid", "resourceVersion"]),
    ):
        body = await p.do("POST", p.path("v1", "configmaps"), config_map(name))
        wanted = {field: body["metadata"][field] for field in fields}
        await p.see("DELETE", p.path("v1", "configmaps", name), {"preconditions": wanted})


@probe("preconditions on what is not there are 404")
async def preconditions_on_nothing(p: Probe) -> None:
    await p.see("DELETE", p.path("v1", "configmaps", "a"), {"preconditions": {"uid": OTHER_UID}})


@probe("preconditions that are empty or no uid at all are held against the object too")
async def odd_preconditions(p: Probe) -> None:
    path = await made(p)
    for wanted in ({"uid": ""}, {"uid": "x"}, {"resourceVersion": "x"}, {"resourceVersion": "0"}):
        await p.see("DELETE", path, {"preconditions": wanted})


@probe("preconditions are held against an object whose deletion has begun")
async def preconditions_while_deleting(p: Probe) -> None:
    await p.held(p.path("v1", "configmaps"), config_map("a"))
    path = p.path("v1", "configmaps", "a")
    held = await p.do("DELETE", path)
    await p.see("DELETE", path, {"preconditions": {"uid": OTHER_UID}})
    await p.see("DELETE", path, {"preconditions": {"uid": held["metadata"]["uid"]}})


@probe("dryRun of a held object shows the deletion that it does not begin")
async def dry_run_held(p: Probe) -> None:
    await p.held(p.path("v1", "configmaps"), config_map("a"))
    path = p.path("v1", "configmaps", "a")
    await p.see("DELETE", path, query={"dryRun": "All"})
    await p.see("GET", path)


@probe("dryRun of a pod answers with the pod, and it stays")
async def dry_run_pod(p: Probe) -> None:
    await p.do("POST", p.path("v1", "pods"), pod("a"))
    await p.see("DELETE", p.path("v1", "pods", "a"), query={"dryRun": "All"})
    await p.see("GET", p.path("v1", "pods", "a"))


@probe("a policy adds its finalizer to those that are there, and Background takes none away")
async def policy_and_finalizers(p: Probe) -> None:
    for name, policy in (("a", "Foreground"), ("b", "Orphan"), ("c", "Background")):
        await p.held(p.path("v1", "configmaps"), config_map(name))
        query = {"propagationPolicy": policy}
        await p.see("DELETE", p.path("v1", "configmaps", name), query=query)


@probe("a policy replaces the finalizer of the policy that was asked for before")
async def policy_changes(p: Probe) -> None:
    for name, before, policy in (
        ("a", "foregroundDeletion", "Orphan"),
        ("b", "orphan", "Foreground"),
        ("c", "orphan", "Background"),
    ):
        body = config_map(name, finalizers=[before])
        await p.do("POST", p.path("v1", "configmaps"), body)
        query = {"propagationPolicy": policy}
        await p.see("DELETE", p.path("v1", "configmaps", name), query=query)


@probe("without a policy the finalizers of an earlier choice decide")
async def policy_by_finalizer(p: Probe) -> None:
    for name in ("orphan", "foregroundDeletion"):
        body = config_map(name.lower(), finalizers=[name])
        await p.do("POST", p.path("v1", "configmaps"), body)
        await p.see("DELETE", p.path("v1", "configmaps", name.lower()))


@probe("DeleteOptions may come as YAML, and not as text")
async def content_types(p: Probe) -> None:
    path = await made(p)
    for content_type in ("text/plain", "application/yaml"):
        headers = {"Content-Type": content_type}
        await p.see("DELETE", path, b"dryRun: [All]", headers=headers)
