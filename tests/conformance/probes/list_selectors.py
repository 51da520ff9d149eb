# SPDX-License-Identifier: Apache-2.0
"""Label and field selectors of lists."""

from __future__ import annotations

from typing import Any

from tests.conformance.builders import config_map, pod
from tests.conformance.kinds import WIDGETS, widget
from tests.conformance.probe import Probe, probe

LABELLED: dict[str, dict[str, str]] = {
    "none": {},
    "red": {"color": "red", "size": "1"},
    "green": {"color": "green", "size": "2"},
    "blank": {"color": "", "size": "12"},
    "domain": {"example.com/color": "red", "size": "x"},
}
LABEL_SELECTORS = {
    "color=red": "equality",
    "color==red": "double equality",
    "color!=red": "inequality, which objects without the label meet",
    "color": "existence",
    "!color": "absence",
    "! color": "absence with a blank",
    "color in (red, green)": "a set",
    "color in (red,)": "a set with an empty member",
    "color in ()": "a set of the empty value",
    "color notin (red, green)": "a set to be outside of, where absence counts as outside",
    "color=red,size=1": "two that must both hold",
    "color, size notin (1)": "existence and a set",
    "color=": "an empty value",
    "example.com/color=red": "a key with a domain",
    "size>1": "greater, as integers",
    "size<10": "less, as integers",
    " color = red ": "blanks around",
    "": "nothing, which matches all",
}
BAD_LABEL_SELECTORS = (
    "color in",
    "color in (red",
    "=red",
    "color=red,",
    "color red",
    "color=a b",
    "color===red",
    "bad key!=x",
    "a/b/c=x",
    "color=%",
    "size>x",
    "!color=red",
)


def names(body: dict[str, Any]) -> list[str]:
    return [item["metadata"]["name"] for item in body["items"]]


async def labelled(p: Probe) -> str:
    for name, labels in LABELLED.items():
        body = {"metadata": {"name": name, "labels": labels}}
        await p.do("POST", p.path("v1", "secrets"), body)
    return p.path("v1", "secrets")


def label_selector(selector: str, meaning: str) -> None:
    @probe(f"label selector {selector!r} is {meaning}")
    async def run(p: Probe) -> None:
        await p.see("GET", await labelled(p), query={"labelSelector": selector}, pick=names)


for each, meaning in LABEL_SELECTORS.items():
    label_selector(each, meaning)


def bad_label_selector(selector: str) -> None:
    @probe(f"label selector {selector!r} is 400")
    async def run(p: Probe) -> None:
        await p.see("GET", p.path("v1", "secrets"), query={"labelSelector": selector})


for each in BAD_LABEL_SELECTORS:
    bad_label_selector(each)


@probe("a label value or key too long is 400 in a selector")
async def too_long(p: Probe) -> None:
    for selector in (f"a={'x' * 64}", f"{'x' * 64}=a"):
        await p.see("GET", p.path("v1", "secrets"), query={"labelSelector": selector})


@probe("custom resources take the same label selectors")
async def custom_labels(p: Probe) -> None:
    path = p.path(WIDGETS, "widgets")
    await p.do("POST", path, widget("a", labels={"color": "red"}))
    await p.do("POST", path, widget("b"))
    for selector in ("color in (red)", "!color", "color in"):
        await p.see("GET", path, query={"labelSelector": selector}, pick=names)


@probe("a field that a custom resource does not make selectable is 400")
async def custom_bad(p: Probe) -> None:
    path = p.path(WIDGETS, "widgets")
    await p.see("GET", path, query={"fieldSelector": "spec.size=3"})
    await p.see("GET", path, query={"fieldSelector": "spec.color>red"})


FIELD_SELECTORS = {
    "metadata.name=red": "equality",
    "metadata.name==red": "double equality",
    "metadata.name!=red": "inequality",
    "metadata.name!=red,metadata.name!=none": "two that must both hold",
    "metadata.name=red,metadata.name=none": "two that cannot both hold",
    "metadata.namespace=elsewhere": "another namespace, which matches nothing",
    "metadata.name=": "an empty name, which matches nothing",
    "": "nothing, which matches all",
}


def field_selector(selector: str, meaning: str) -> None:
    @probe(f"field selector {selector!r} is {meaning}")
    async def run(p: Probe) -> None:
        await p.see("GET", await labelled(p), query={"fieldSelector": selector}, pick=names)


for each, meaning in FIELD_SELECTORS.items():
    field_selector(each, meaning)


BAD_FIELD_SELECTORS = (
    "metadata.name",
    "metadata.name>a",
    "metadata.labels.a=b",
    "metadata.uid=x",
    "=a",
)


def bad_field_selector(selector: str) -> None:
    @probe(f"field selector {selector!r} is 400")
    async def run(p: Probe) -> None:
        await p.see("GET", p.path("v1", "secrets"), query={"fieldSelector": selector})


for each in BAD_FIELD_SELECTORS:
    bad_field_selector(each)


SUPPORTED = {
    "pods": (
        "v1",
        (
            "spec.nodeName",
            "spec.restartPolicy",
            "spec.schedulerName",
            "spec.serviceAccountName",
            "spec.hostNetwork",
            "status.phase",
            "status.podIP",
            "status.podIPs",
            "status.nominatedNodeName",
        ),
    ),
    "events": (
        "v1",
        (
            "involvedObject.kind",
            "involvedObject.namespace",
            "involvedObject.name",
            "involvedObject.uid",
            "involvedObject.apiVersion",
            "involvedObject.resourceVersion",
            "involvedObject.fieldPath",
            "reason",
            "reportingComponent",
            "source",
            "type",
        ),
    ),
    "secrets": ("v1", ("type",)),
    "services": ("v1", ("spec.clusterIP", "spec.type")),
    "replicationcontrollers": ("v1", ("status.replicas",)),
    "jobs": ("batch/v1", ("status.successful",)),
}


def supported(resource: str, version: str, fields: tuple[str, ...]) -> None:
    shown = fields[0] if len(fields) == 1 else f"{len(fields)} fields of their own"

    @probe(f"{resource} can be selected by {shown}, and by no other")
    async def run(p: Probe) -> None:
        path = p.path(version, resource)
        for field in fields:
            await p.see("GET", path, query={"fieldSelector": f"{field}=x"}, pick=names)
        await p.see("GET", path, query={"fieldSelector": "spec.other=x"})


for resource, (version, fields) in SUPPORTED.items():
    supported(resource, version, fields)


ONLY_NAMES = {
    "configmaps": "v1",
    "serviceaccounts": "v1",
    "deployments": "apps/v1",
    "replicasets": "apps/v1",
    "leases": "coordination.k8s.io/v1",
    "poddisruptionbudgets": "policy/v1",
    "resourceclaims": "resource.k8s.io/v1",
}


def only_names(resource: str, version: str) -> None:
    @probe(f"{resource} can be selected by name and namespace only")
    async def run(p: Probe) -> None:
        path = p.path(version, resource)
        for field in ("metadata.name", "metadata.namespace", "spec.other"):
            await p.see("GET", path, query={"fieldSelector": f"{field}=x"}, pick=names)


for resource, version in ONLY_NAMES.items():
    only_names(resource, version)


@probe("nodes can be selected by spec.unschedulable, resource slices by node and driver")
async def cluster_scoped(p: Probe) -> None:
    for path, selector in (
        (p.everywhere("v1", "nodes"), f"metadata.name={p.id},spec.unschedulable=true"),
        (p.everywhere("v1", "nodes"), "spec.providerID=x"),
        (p.everywhere("v1", "namespaces"), f"metadata.name={p.id},status.phase=Active"),
        (
            p.everywhere("resource.k8s.io/v1", "resourceslices"),
            f"spec.nodeName={p.id},spec.driver=x",
        ),
        (p.everywhere("resource.k8s.io/v1", "resourceslices"), "spec.pool.name=x"),
    ):
        await p.see("GET", path, query={"fieldSelector": selector}, pick=names)


@probe("pods are found by their node, phase, scheduler, account, policy and IP, but not by podIPs")
async def pods(p: Probe) -> None:
    path = p.path("v1", "pods")
    await p.do("POST", path, pod("free"))
    await p.do("POST", path, pod("bound", {"nodeName": "nobody", "restartPolicy": "Never"}))
    path_of_bound = f"{path}/bound"
    forced = {"gracePeriodSeconds": "0"}
    p.cleanup.push_async_callback(p.ask, "DELETE", path_of_bound, query=forced)
    status = {"status": {"phase": "Running", "podIP": "10.0.0.1", "podIPs": [{"ip": "10.0.0.1"}]}}
    await p.do("PATCH", f"{path_of_bound}/status", status, patch="merge")
    for selector in (
        "spec.nodeName=nobody",
        "spec.nodeName=",
        "spec.nodeName!=nobody,status.phase=Pending",
        "status.phase!=Running",
        "status.phase=running",
        "spec.schedulerName=nobody",
        "spec.serviceAccountName=default,spec.restartPolicy=Never",
        "spec.hostNetwork=false",
        "status.podIP=10.0.0.1",
        "status.podIPs=10.0.0.1",
    ):
        await p.see("GET", path, query={"fieldSelector": selector}, pick=names)


@probe("secrets are found by their type, together with labels")
async def secret_types(p: Probe) -> None:
    path = await labelled(p)
    body = {"metadata": {"name": "typed", "labels": {"color": "red"}}, "type": "example.com/x"}
    await p.do("POST", path, body)
    query = {"fieldSelector": "type=Opaque", "labelSelector": "color=red"}
    await p.see("GET", path, query=query, pick=names)
    await p.see("GET", path, query={"fieldSelector": "type!=Opaque"}, pick=names)


@probe("selectableFields of a custom resource select, after defaults")
async def selectable(p: Probe) -> None:
    path = p.path(WIDGETS, "widgets")
    await p.do("POST", path, widget("plain"))
    await p.do("POST", path, widget("blue", {"size": 1, "color": "blue"}))
    for selector in ("spec.color=red", "spec.color!=red", "spec.color=blue,metadata.name=plain"):
        await p.see("GET", path, query={"fieldSelector": selector}, pick=names)


@probe("one object over all namespaces can be selected by name and namespace")
async def everywhere(p: Probe) -> None:
    await p.do("POST", p.path("v1", "configmaps"), config_map("a"))
    selector = f"metadata.name=a,metadata.namespace={p.ns}"
    path = p.everywhere("v1", "configmaps")
    await p.see("GET", path, query={"fieldSelector": selector}, pick=names)
