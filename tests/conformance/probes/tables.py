# SPDX-License-Identifier: Apache-2.0
"""Answers as Table and as PartialObjectMetadata, which kubectl and metadata clients ask for."""

from __future__ import annotations

from typing import Any

from tests.conformance.builders import config_map, pod
from tests.conformance.kinds import WIDGETS, widget
from tests.conformance.probe import Probe, probe

TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
PARTIAL = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"
PARTIAL_LIST = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"
AGES = {"Age", "Last Seen", "First Seen"}
SELECTED: dict[str, Any] = {"matchLabels": {"a": "b"}}
TEMPLATE: dict[str, Any] = {
    "metadata": {"labels": {"a": "b"}},
    "spec": {"containers": [{"name": "c", "image": "registry.example/c:1"}]},
}


def cells(body: dict[str, Any]) -> dict[str, Any]:
    """A table without its rows' objects; ages differ from run to run."""
    return {**body, "rows": [masked(row, ages(body)) for row in body["rows"]]}


def whole(body: dict[str, Any]) -> dict[str, Any]:
    rows = [{**row, **masked(row, ages(body))} for row in body["rows"]]
    return {**body, "rows": rows}


def ages(body: dict[str, Any]) -> set[int]:
    columns = body.get("columnDefinitions") or ()
    return {place for place, column in enumerate(columns) if column["name"] in AGES}


def masked(row: dict[str, Any], places: set[int]) -> dict[str, Any]:
    values = [
        "<age>" if place in places and cell and cell[0].isdigit() else cell
        for place, cell in enumerate(row["cells"])
    ]
    return {name: row[name] for name in ("conditions",) if name in row} | {"cells": values}


def of_kind(title: str, version: str, resource: str, body: dict[str, Any]) -> None:
    """The columns and cells of a kind that no controller changes as it is here."""

    @probe(title)
    async def run(p: Probe) -> None:
        await p.do("POST", p.path(version, resource), {"metadata": {"name": "a"}, **body})
        await p.see("GET", p.path(version, resource), accept=TABLE, pick=cells)


of_kind("secrets as a table", "v1", "secrets", {"data": {"a": "YQ==", "b": "YQ=="}})
of_kind(
    "a headless service as a table",
    "v1",
    "services",
    {
        "spec": {
            "clusterIP": "None",
            "ports": [{"port": 80, "name": "a"}, {"port": 53, "protocol": "UDP", "name": "b"}],
        }
    },
)
of_kind(
    "an external service as a table",
    "v1",
    "services",
    {"spec": {"type": "ExternalName", "externalName": "example.com"}},
)
of_kind(
    "a job that nobody runs as a table",
    "batch/v1",
    "jobs",
    {
        "spec": {
            "managedBy": "trellis.dev/nobody",
            "completions": 3,
            "template": {"spec": {**TEMPLATE["spec"], "restartPolicy": "Never"}},
        }
    },
)
of_kind(
    "leases as a table",
    "coordination.k8s.io/v1",
    "leases",
    {"spec": {"holderIdentity": "me"}},
)
of_kind(
    "resource claims as a table",
    "resource.k8s.io/v1",
    "resourceclaims",
    {"spec": {"devices": {"requests": [{"name": "a", "exactly": {"deviceClassName": "a"}}]}}},
)
of_kind("roles as a table", "rbac.authorization.k8s.io/v1", "roles", {})
of_kind(
    "network policies as a table",
    "networking.k8s.io/v1",
    "networkpolicies",
    {"spec": {"podSelector": SELECTED}},
)


@probe("config maps as a table, with the metadata of each row")
async def config_maps(p: Probe) -> None:
    await p.do("POST", p.path("v1", "configmaps"), config_map("a", labels={"mine": "yes"}))
    query = {"labelSelector": "mine=yes"}
    await p.see("GET", p.path("v1", "configmaps"), query=query, accept=TABLE, pick=whole)


@probe("a pod that waits as a table: Restarts is text")
async def pending_pod(p: Probe) -> None:
    await p.do("POST", p.path("v1", "pods"), pod("a"))
    await p.see("GET", p.path("v1", "pods"), accept=TABLE, pick=cells)


READY = {"type": "Ready", "status": "True"}
STATE: dict[str, dict[str, Any]] = {
    "running": {"state": {"running": {}}, "ready": True, "restartCount": 3},
    "waiting": {"state": {"waiting": {"reason": "CrashLoopBackOff"}}, "restartCount": 1},
    "ended": {"state": {"terminated": {"exitCode": 3}}},
    "killed": {"state": {"terminated": {"exitCode": 137, "signal": 9, "reason": "OOMKilled"}}},
}
PODS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "is running": ({}, {"phase": "Running", "conditions": [READY], "state": "running"}),
    "is in a crash loop": ({}, {"phase": "Running", "state": "waiting"}),
    "has ended with a code": ({}, {"phase": "Failed", "state": "ended"}),
    "was killed": ({}, {"phase": "Failed", "state": "killed"}),
    "has succeeded": ({}, {"phase": "Succeeded"}),
    "has been evicted": ({}, {"phase": "Failed", "reason": "Evicted"}),
    "is gated": ({"schedulingGates": [{"name": "example.com/gate"}]}, {}),
    "has addresses": (
        {"nodeName": "nobody"},
        {"phase": "Running", "podIP": "10.0.0.1", "podIPs": [{"ip": "10.0.0.1"}]},
    ),
    "is nominated": ({}, {"nominatedNodeName": "there"}),
}


def of_pod(which: str, spec: dict[str, Any], status: dict[str, Any]) -> None:
    @probe(f"a pod that {which} as a table")
    async def run(p: Probe) -> None:
        path = p.path("v1", "pods")
        await p.do("POST", path, pod("a", spec))
        forced = {"gracePeriodSeconds": "0"}
        p.cleanup.push_async_callback(p.ask, "DELETE", f"{path}/a", query=forced)
        written = {key: value for key, value in status.items() if key != "state"}
        if "state" in status:
            base = {"name": "app", "image": "x", "imageID": "", "ready": False, "restartCount": 0}
            written["containerStatuses"] = [base | STATE[status["state"]]]
        await p.do("PATCH", f"{path}/a/status", {"status": written}, patch="merge")
        await p.see("GET", path, accept=TABLE, pick=lambda body: cells(body)["rows"])


for which, (spec, status) in PODS.items():
    of_pod(which, spec, status)


@probe("a pod that is being deleted is Terminating")
async def terminating_pod(p: Probe) -> None:
    await p.held(p.path("v1", "pods"), pod("a"))
    await p.do("DELETE", p.path("v1", "pods", "a"))
    path = p.path("v1", "pods")
    await p.see("GET", path, accept=TABLE, pick=lambda body: cells(body)["rows"])


@probe("a deployment without replicas as a table")
async def deployment(p: Probe) -> None:
    path = p.path("apps/v1", "deployments")
    spec = {"replicas": 0, "selector": SELECTED, "template": TEMPLATE}
    await p.do("POST", path, {"metadata": {"name": "a"}, "spec": spec})
    settled = "observedGeneration"
    await p.until("GET", f"{path}/a", lambda answer: settled in answer.body["status"])
    await p.see("GET", path, accept=TABLE, pick=cells)


@probe("a service with an address as a table")
async def service(p: Probe) -> None:
    path = p.path("v1", "services")
    body = {"metadata": {"name": "a"}, "spec": {"ports": [{"port": 80}], "selector": {"a": "b"}}}
    made = await p.do("POST", path, body)
    p.hide(made["spec"]["clusterIP"], "ip")
    await p.see("GET", path, accept=TABLE, pick=cells)


@probe("events as a table")
async def events(p: Probe) -> None:
    path = p.path("v1", "events")
    body = {
        "metadata": {"name": "a"},
        "involvedObject": {"kind": "Pod", "name": "a", "namespace": p.ns},
        "reason": "Why",
        "message": "because",
        "type": "Normal",
        "count": 2,
        "source": {"component": "me"},
    }
    await p.do("POST", path, body)
    await p.see("GET", path, accept=TABLE, pick=cells)


@probe("namespaces as a table")
async def namespaces(p: Probe) -> None:
    query = {"fieldSelector": f"metadata.name={p.ns}"}
    path = p.everywhere("v1", "namespaces")
    await p.see("GET", path, query=query, accept=TABLE, pick=cells)


@probe("custom resources with columns as a table")
async def widgets(p: Probe) -> None:
    await p.do("POST", p.path(WIDGETS, "widgets"), widget("a"))
    await p.see("GET", p.path(WIDGETS, "widgets"), accept=TABLE, pick=whole)


@probe("one object as a table is a table of one row")
async def single(p: Probe) -> None:
    await p.do("POST", p.path("v1", "configmaps"), config_map("a"))
    await p.do("POST", p.path(WIDGETS, "widgets"), widget("a"))
    await p.see("GET", p.path("v1", "configmaps", "a"), accept=TABLE, pick=whole)
    await p.see("GET", p.path(WIDGETS, "widgets", "a"), accept=TABLE, pick=whole)


@probe("nothing as a table has no rows")
async def empty(p: Probe) -> None:
    await p.see("GET", p.path("v1", "secrets"), accept=TABLE)
    await p.see("GET", p.path(WIDGETS, "widgets"), accept=TABLE)


@probe("a page of a table has continue and remainingItemCount")
async def page(p: Probe) -> None:
    for name in ("a", "b"):
        await p.do("POST", p.path("v1", "secrets"), {"metadata": {"name": name}})
    await p.see("GET", p.path("v1", "secrets"), query={"limit": "1"}, accept=TABLE, pick=cells)


@probe("writes answer as a table too")
async def writes(p: Probe) -> None:
    path = p.path("v1", "configmaps")
    await p.see("POST", path, config_map("a"), accept=TABLE, pick=whole)
    change = {"data": {"b": "2"}}
    await p.see("PATCH", f"{path}/a", change, patch="merge", accept=TABLE, pick=cells)
    await p.see("DELETE", f"{path}/a", accept=TABLE)


INCLUDED = {
    "None": "rows have no object",
    "Metadata": "rows have the object's metadata",
    "Object": "rows have the whole object",
    "": "is the same as Metadata",
    "Some": "is 400",
}


def included(value: str, answered: str) -> None:
    @probe(f"includeObject={value}: {answered}")
    async def run(p: Probe) -> None:
        await p.do("POST", p.path("v1", "configmaps"), config_map("a"))
        query = {"includeObject": value, "fieldSelector": "metadata.name=a"}
        await p.see("GET", p.path("v1", "configmaps"), query=query, accept=TABLE, pick=whole)


for value, answered in INCLUDED.items():
    included(value, answered)


@probe("the whole object of a custom resource in a row")
async def included_custom(p: Probe) -> None:
    await p.do("POST", p.path(WIDGETS, "widgets"), widget("a"))
    query = {"includeObject": "Object"}
    await p.see("GET", p.path(WIDGETS, "widgets"), query=query, accept=TABLE, pick=whole)


@probe("errors stay a Status whatever was asked for")
async def errors(p: Probe) -> None:
    for accept in (TABLE, PARTIAL):
        await p.see("GET", p.path("v1", "configmaps", "a"), accept=accept)


@probe("an object as PartialObjectMetadata, a list as PartialObjectMetadataList")
async def partial(p: Probe) -> None:
    await p.do("POST", p.path(WIDGETS, "widgets"), widget("a"))
    await p.see("GET", p.path(WIDGETS, "widgets", "a"), accept=PARTIAL)
    await p.see("GET", p.path(WIDGETS, "widgets"), accept=PARTIAL_LIST)
    await p.do("POST", p.path("v1", "secrets"), {"metadata": {"name": "a"}})
    await p.see("GET", p.path("v1", "secrets"), accept=PARTIAL_LIST)


REFUSED = {
    "an unknown kind": "application/json;as=Thing;v=v1;g=meta.k8s.io",
    "Table of another group": "application/json;as=Table;v=v1;g=example.com",
}


def refused(what: str, accept: str) -> None:
    @probe(f"{what} is 406, unless another type is accepted as well")
    async def run(p: Probe) -> None:
        await p.do("POST", p.path("v1", "configmaps"), config_map("a"))
        path = p.path("v1", "configmaps", "a")
        await p.see("GET", path, accept=accept)
        await p.see("GET", path, accept=f"{accept}, application/json", pick=lambda b: b["kind"])


for what, accept in REFUSED.items():
    refused(what, accept)


@probe("Table of v1beta1 is still served, with rows of that version")
async def older(p: Probe) -> None:
    await p.do("POST", p.path("v1", "configmaps"), config_map("a"))
    accept = TABLE.replace("v=v1", "v=v1beta1")
    await p.see("GET", p.path("v1", "configmaps", "a"), accept=accept, pick=whole)


@probe("a list is no PartialObjectMetadata, and an object no list of it: 406")
async def crossed(p: Probe) -> None:
    await p.do("POST", p.path("v1", "secrets"), {"metadata": {"name": "a"}})
    await p.see("GET", p.path("v1", "secrets"), accept=PARTIAL)
    await p.see("GET", p.path("v1", "secrets", "a"), accept=PARTIAL_LIST)


@probe("kubectl's Accept, with older versions behind, gives the table")
async def kubectl(p: Probe) -> None:
    accept = f"{TABLE},application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json"
    await p.do("POST", p.path("v1", "secrets"), {"metadata": {"name": "a"}})
    await p.see("GET", p.path("v1", "secrets"), accept=accept, pick=cells)


@probe("a watch as tables: one row an event, columns in the first only")
async def watched(p: Probe) -> None:
    path = p.path("v1", "secrets")
    await p.do("POST", path, {"metadata": {"name": "a"}})

    def shown(event: dict[str, Any]) -> dict[str, Any]:
        rows = [{**row, **masked(row, {3})} for row in event["object"]["rows"]]
        return {**event, "object": {**event["object"], "rows": rows}}

    async with p.watch(path, accept=TABLE, pick=shown) as watch:
        await watch.read(1)
        await p.do("PATCH", f"{path}/a", {"data": {"a": "YQ=="}}, patch="merge")
        await p.do("DELETE", f"{path}/a")
        await watch.read(2)
