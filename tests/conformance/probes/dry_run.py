# SPDX-License-Identifier: Apache-2.0
"""dryRun=All: everything is checked and answered, nothing is stored."""

from __future__ import annotations

from typing import Any

from tests.conformance.builders import config_map, pod
from tests.conformance.kinds import WIDGETS, widget
from tests.conformance.natives import DEPLOYMENT, LEASE, SERVICE
from tests.conformance.probe import Probe, probe

DRY = {"dryRun": "All"}
BOTH = (("v1", "configmaps"), (WIDGETS, "widgets"))


def _new(resource: str, name: str = "a", **metadata: Any) -> dict[str, Any]:
    make = config_map if resource == "configmaps" else widget
    return make(name, **metadata)


async def _made(p: Probe) -> list[tuple[str, dict[str, Any]]]:
    """A config map and a widget: their paths, and as they were made."""
    made = []
    for version, resource in BOTH:
        body = await p.do("POST", p.path(version, resource), _new(resource))
        made.append((p.path(version, resource, "a"), body))
    return made


def _version(body: dict[str, Any]) -> Any:
    return {"resourceVersion": body["metadata"]["resourceVersion"]}


def _metadata(body: dict[str, Any]) -> Any:
    return {**body["metadata"], "managedFields": "as they were"}


@probe("a dry creation answers with a uid but no resourceVersion, and nothing is there afterwards")
async def create(p: Probe) -> None:
    for version, resource in BOTH:
        await p.see("POST", p.path(version, resource), _new(resource), query=DRY)
        await p.see("GET", p.path(version, resource, "a"))


@probe("a dry creation completes a generateName")
async def generate_name(p: Probe) -> None:
    body = {"metadata": {"generateName": "a-"}}
    await p.see("POST", p.path("v1", "configmaps"), body, query=DRY)


@probe("a dry creation fails like a real one")
async def create_refused(p: Probe) -> None:
    await _made(p)
    for version, resource in BOTH:
        await p.see("POST", p.path(version, resource), _new(resource), query=DRY)
    missing = p.path("v1", "configmaps", ns=f"missing-{p.id}")
    await p.see("POST", missing, config_map("a"), query=DRY)
    await p.see("POST", p.path(WIDGETS, "widgets"), widget("b", {"size": 200}), query=DRY)


@probe("a dry creation of a service answers with an address")
async def service(p: Probe) -> None:
    made = await p.see("POST", SERVICE.collection(p), SERVICE.new(p), query=DRY)
    p.hide(made["spec"]["clusterIP"], "cluster IP")


@probe("a dry update answers with the change and the old resourceVersion, which stays")
async def update(p: Probe) -> None:
    for path, body in await _made(p):
        changed = {**body, "metadata": {**body["metadata"], "labels": {"a": "b"}}}
        await p.see("PUT", path, changed, query=DRY)
        await p.see("GET", path)


@probe("a dry update raises the generation in its answer only")
async def update_generation(p: Probe) -> None:
    body = await p.do("POST", p.path(WIDGETS, "widgets"), widget("a"))
    path = p.path(WIDGETS, "widgets", "a")
    await p.see("PUT", path, {**body, "spec": {**body["spec"], "size": 4}}, query=DRY)
    await p.see("GET", path)


@probe("a dry update of an old version is 409, of a missing object 404")
async def update_refused(p: Probe) -> None:
    for path, body in await _made(p):
        await p.do("PATCH", path, {"metadata": {"labels": {"a": "b"}}}, patch="merge")
        await p.see("PUT", path, body, query=DRY)
    await p.see("PUT", p.path("v1", "configmaps", "b"), config_map("b"), query=DRY)


@probe("a dry update that would create a lease creates none")
async def update_creates(p: Probe) -> None:
    await p.see("PUT", LEASE.path(p), LEASE.new(p), query=DRY)
    await p.see("GET", LEASE.path(p))


@probe("a dry patch of any type answers with the change and stores nothing")
async def patch(p: Probe) -> None:
    (path, _), _ = await _made(p)
    await p.see("PATCH", path, {"data": {"b": "2"}}, patch="merge", query=DRY)
    await p.see("PATCH", path, {"data": {"b": "2"}}, patch="strategic", query=DRY)
    operation = {"op": "add", "path": "/data/b", "value": "2"}
    await p.see("PATCH", path, [operation], patch="json", query=DRY)
    await p.see("GET", path)


@probe("a dry apply of a missing object is 201 and creates nothing")
async def apply_new(p: Probe) -> None:
    query = {**DRY, "fieldManager": "me"}
    for version, resource in BOTH:
        path = p.path(version, resource, "a")
        await p.see("PATCH", path, _new(resource), patch="apply", query=query)
        await p.see("GET", path)


@probe("a dry apply of an object that is there answers with the change and stores nothing")
async def apply_existing(p: Probe) -> None:
    (path, _), _ = await _made(p)
    query = {**DRY, "fieldManager": "me"}
    await p.see("PATCH", path, config_map("a", {"b": "2"}), patch="apply", query=query)
    await p.see("GET", path)


@probe("a dry deletion answers like a real one, and the object stays")
async def delete(p: Probe) -> None:
    for path, _ in await _made(p):
        await p.see("DELETE", path, query=DRY)
        await p.see("GET", path, pick=_version)


@probe("a dry deletion may be asked for in the body")
async def delete_body(p: Probe) -> None:
    (path, _), _ = await _made(p)
    options = {"apiVersion": "v1", "kind": "DeleteOptions", "dryRun": ["All"]}
    await p.see("DELETE", path, options)
    await p.see("GET", path, pick=_version)


@probe("dryRun in the query is ignored by a deletion with a body, which really deletes")
async def delete_body_and_query(p: Probe) -> None:
    (path, _), _ = await _made(p)
    await p.see("DELETE", path, {"propagationPolicy": "Background"}, query=DRY)
    await p.see("GET", path)


@probe("a dry deletion of what has finalizers shows the deletion time, which is not stored")
async def delete_finalized(p: Probe) -> None:
    await p.held(p.path("v1", "configmaps"), config_map("a"))
    path = p.path("v1", "configmaps", "a")
    await p.see("DELETE", path, query=DRY)
    await p.see("GET", path)


@probe("a dry deletion of a pod answers with the pod, which stays")
async def delete_pod(p: Probe) -> None:
    await p.do("POST", p.path("v1", "pods"), pod("a"))
    path = p.path("v1", "pods", "a")
    await p.see("DELETE", path, query=DRY, pick=_metadata)
    await p.see("GET", path, pick=_version)


@probe("a dry deletion of a missing object is 404")
async def delete_missing(p: Probe) -> None:
    await p.see("DELETE", p.path("v1", "configmaps", "a"), query=DRY)


@probe("a dry deletion of a collection lists what would go, and all stay")
async def delete_collection(p: Probe) -> None:
    await p.do("POST", p.path("v1", "configmaps"), config_map("a", labels={"a": "b"}))
    query = {**DRY, "labelSelector": "a=b"}
    await p.see("DELETE", p.path("v1", "configmaps"), query=query)
    await p.see("GET", p.path("v1", "configmaps", "a"), pick=_version)


@probe("a dry write of a subresource stores nothing")
async def subresources(p: Probe) -> None:
    await p.do("POST", p.path(WIDGETS, "widgets"), widget("a"))
    path = p.path(WIDGETS, "widgets", "a")
    await p.see("PATCH", f"{path}/status", {"status": {"phase": "A"}}, patch="merge", query=DRY)
    await p.see("PATCH", f"{path}/scale", {"spec": {"replicas": 5}}, patch="merge", query=DRY)
    await p.see("GET", path)


@probe("a dry change of a deployment's scale stores nothing")
async def scale(p: Probe) -> None:
    await DEPLOYMENT.make(p)
    path = DEPLOYMENT.path(p, "scale")
    patch_ = {"spec": {"replicas": 5}}
    await p.see("PATCH", path, patch_, patch="merge", query=DRY, pick=lambda body: body["spec"])
    await p.see("GET", path, pick=lambda body: body["spec"])


def _query(value: str) -> dict[str, str]:
    return {"dryRun": value}


@probe("a dryRun other than All is 422, for every verb")
async def wrong_value(p: Probe) -> None:
    (path, body), _ = await _made(p)
    await p.see("POST", p.path("v1", "configmaps"), config_map("b"), query=_query("Some"))
    await p.see("PUT", path, body, query=_query("all"))
    await p.see("PATCH", path, {}, patch="merge", query=_query("true"))
    await p.see("DELETE", path, query=_query("Some"))
    await p.see("DELETE", p.path("v1", "configmaps"), query=_query("Some"))
    await p.see("DELETE", path, {"dryRun": ["Some"]})


@probe("an empty dryRun is 422, and so is a wrong one of two, but All may be said twice")
async def odd_values(p: Probe) -> None:
    await p.see("POST", p.path(WIDGETS, "widgets"), widget("b"), query=_query("Some"))
    path = p.path("v1", "configmaps")
    await p.see("POST", path, config_map("b"), query=_query(""))
    await p.see("POST", f"{path}?dryRun=All&dryRun=All", config_map("c"))
    await p.see("POST", f"{path}?dryRun=All&dryRun=Some", config_map("c"))


@probe("dryRun means nothing to a read")
async def read(p: Probe) -> None:
    (path, _), _ = await _made(p)
    await p.see("GET", path, query=DRY, pick=_version)
    await p.see("GET", path, query=_query("Some"), pick=_version)
