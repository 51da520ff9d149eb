# SPDX-License-Identifier: Apache-2.0
"""PUT: whole objects, versions, names, and what of an update the server does not take."""

from __future__ import annotations

from typing import Any

from tests.conformance.builders import config_map, pod
from tests.conformance.kinds import WIDGETS, gadget, widget
from tests.conformance.natives import DEPLOYMENT, LEASE, merged
from tests.conformance.probe import Probe, probe

UID = "00000000-0000-4000-8000-000000000001"
LONG_AGO = "2001-01-01T00:00:00Z"
Made = list[tuple[str, dict[str, Any]]]


async def _made(p: Probe, **metadata: Any) -> Made:
    """A config map and a widget: their paths, and as they were made."""
    bodies = {
        p.path("v1", "configmaps"): config_map("a", **metadata),
        p.path(WIDGETS, "widgets"): widget("a", **metadata),
    }
    return [(f"{path}/a", await p.do("POST", path, body)) for path, body in bodies.items()]


def _version(body: dict[str, Any]) -> dict[str, Any]:
    return {"resourceVersion": body["metadata"]["resourceVersion"]}


async def _see_changed(p: Probe, changes: Any, **metadata: Any) -> None:
    """The same changes, a merge patch in form, to both as they were made."""
    for path, body in await _made(p, **metadata):
        await p.see("PUT", path, merged(body, changes))


@probe("an update with the current resourceVersion is 200 and gives a new one")
async def current(p: Probe) -> None:
    (path, body), (custom, made) = await _made(p)
    for each in (path, custom):
        await p.see("GET", each, pick=_version)
    await p.see("PUT", path, merged(body, {"data": {"a": "2", "b": "3"}}))
    await p.see("PUT", custom, merged(made, {"spec": {"size": 4}}))


@probe("an update with an old resourceVersion is 409")
async def stale(p: Probe) -> None:
    for path, body in await _made(p):
        await p.do("PATCH", path, {"metadata": {"labels": {"a": "b"}}}, patch="merge")
        await p.see("PUT", path, body)


@probe("an update with a resourceVersion that never was is 409")
async def future(p: Probe) -> None:
    await _see_changed(p, {"metadata": {"resourceVersion": "99999999999"}})


@probe("an update without a resourceVersion is 200 for a config map and 422 for a custom resource")
async def unconditional(p: Probe) -> None:
    await _see_changed(p, {"metadata": {"resourceVersion": None, "labels": {"a": "b"}}})


@probe("a resourceVersion of zero is none, one that is no number is 500")
async def odd_versions(p: Probe) -> None:
    for path, body in await _made(p):
        for version in ("0", "nonsense"):
            changes = {"metadata": {"resourceVersion": version, "labels": {"a": "b"}}}
            await p.see("PUT", path, merged(body, changes), note=version)


@probe("an identical update is 200 and changes neither the resourceVersion nor anything else")
async def identical(p: Probe) -> None:
    for path, body in await _made(p):
        await p.see("GET", path, pick=_version)
        await p.see("PUT", path, body)


@probe("an identical update by another manager changes nothing either")
async def identical_other_manager(p: Probe) -> None:
    for path, body in await _made(p):
        await p.see("GET", path, pick=_version)
        await p.see("PUT", path, body, query={"fieldManager": "other"})


@probe("an update of what is missing is 404, but a lease is created with 201")
async def missing(p: Probe) -> None:
    await p.see("PUT", p.path("v1", "configmaps", "a"), config_map("a"))
    await p.see("PUT", p.path("v1", "pods", "a"), pod("a"))
    await p.see("PUT", p.path(WIDGETS, "widgets", "a"), widget("a"))
    await p.see("PUT", LEASE.path(p), LEASE.new(p))


@probe("an update of what is missing is 404 whatever its resourceVersion or uid")
async def missing_versioned(p: Probe) -> None:
    for metadata in ({"resourceVersion": "1"}, {"uid": UID}):
        changes = {"metadata": metadata}
        await p.see("PUT", p.path("v1", "configmaps", "a"), merged(config_map("a"), changes))
        await p.see("PUT", p.path(WIDGETS, "widgets", "a"), merged(widget("a"), changes))


@probe("an update that would create a lease ignores a resourceVersion but is 409 with a uid")
async def created_versioned(p: Probe) -> None:
    for name, metadata in (("a", {"resourceVersion": "1"}), ("b", {"uid": UID})):
        path = p.path(LEASE.version, LEASE.resource, name)
        await p.see("PUT", path, LEASE.new(p, name=name, **metadata))


@probe("an update in a namespace that is missing is 404")
async def missing_namespace(p: Probe) -> None:
    path = p.path("v1", "configmaps", "a", ns=f"missing-{p.id}")
    await p.see("PUT", path, config_map("a"))
    lease = p.path("coordination.k8s.io/v1", "leases", "a", ns=f"missing-{p.id}")
    await p.see("PUT", lease, LEASE.new(p))


@probe("a name other than that of the path is 400")
async def wrong_name(p: Probe) -> None:
    await _see_changed(p, {"metadata": {"name": "b"}})


@probe("no name at all is 400")
async def no_name(p: Probe) -> None:
    await _see_changed(p, {"metadata": {"name": None}})


@probe("a namespace other than that of the path is 400, and none is fine")
async def wrong_namespace(p: Probe) -> None:
    for path, body in await _made(p):
        await p.see("PUT", path, merged(body, {"metadata": {"namespace": "default"}}))
        await p.see("PUT", path, merged(body, {"metadata": {"namespace": None}}))


@probe("a uid other than the object's is 409, and none is fine")
async def wrong_uid(p: Probe) -> None:
    for path, body in await _made(p):
        await p.see("PUT", path, merged(body, {"metadata": {"uid": UID}}))
        await p.see("PUT", path, merged(body, {"metadata": {"uid": None}}))


@probe("a wrong kind in an update is 400, and 422 for a custom resource")
async def wrong_kind(p: Probe) -> None:
    await _see_changed(p, {"kind": "Zap"})


@probe("labels, annotations, finalizers and owners may change, and the generation stays")
async def metadata_only(p: Probe) -> None:
    owner = {"apiVersion": "v1", "kind": "Namespace", "name": "default", "uid": UID}
    changes = {
        "labels": {"a": "b"},
        "annotations": {"c": "d"},
        "finalizers": ["example.com/hold"],
        "ownerReferences": [owner],
    }
    for path, body in await _made(p):
        release = {"metadata": {"finalizers": None}}
        p.cleanup.push_async_callback(p.ask, "PATCH", path, release, patch="merge")
        await p.see("PUT", path, merged(body, {"metadata": changes}))


@probe("what an update leaves out is gone, but for what the server decides")
async def left_out(p: Probe) -> None:
    both = await _made(p, labels={"a": "b"}, annotations={"c": "d"}, generateName="a-")
    for path, body in both:
        version = body["metadata"]["resourceVersion"]
        bare = {"apiVersion": body["apiVersion"], "kind": body["kind"]}
        metadata = {"name": "a", "resourceVersion": version}
        spec = {"spec": {"size": 4}} if "spec" in body else {}
        await p.see("PUT", path, {**bare, "metadata": metadata, **spec})


@probe("a creation time of the client's own is ignored")
async def creation_time(p: Probe) -> None:
    await _see_changed(p, {"metadata": {"creationTimestamp": LONG_AGO}})


@probe("a deletion time of the client's own is 422")
async def deletion_time(p: Probe) -> None:
    changes = {"deletionTimestamp": LONG_AGO, "deletionGracePeriodSeconds": 5}
    await _see_changed(p, {"metadata": changes})


@probe("a generation or selfLink of the client's own is ignored, a generateName is taken")
async def other_metadata(p: Probe) -> None:
    for changes in ({"generation": 7}, {"selfLink": "/nonsense"}, {"generateName": "b-"}):
        for path, body in await _current(p):
            await p.see("PUT", path, merged(body, {"metadata": changes}), note=str(changes))


async def _current(p: Probe) -> Made:
    """Both objects as they are now, made the first time."""
    paths = (p.path("v1", "configmaps", "a"), p.path(WIDGETS, "widgets", "a"))
    if (await p.ask("GET", paths[0])).status == 404:
        return await _made(p)
    return [(path, await p.do("GET", path)) for path in paths]


@probe("a field with a default that an update leaves out gets its default again")
async def default_again(p: Probe) -> None:
    path = p.path(WIDGETS, "widgets")
    body = await p.do("POST", path, widget("a", {"size": 3, "color": "blue", "note": "n"}))
    await p.see("PUT", f"{path}/a", {**body, "spec": {"size": 3}})


@probe("an update that makes an object invalid is 422")
async def invalid(p: Probe) -> None:
    (path, body), (custom, made) = await _made(p)
    await p.see("PUT", path, merged(body, {"data": {"bad key": ""}}))
    await p.see("PUT", custom, merged(made, {"spec": {"size": 200}}))


@probe("a status written through the object itself is ignored where it has a subresource")
async def status_ignored(p: Probe) -> None:
    body = await p.do("POST", p.path(WIDGETS, "widgets"), widget("a"))
    path = p.path(WIDGETS, "widgets", "a")
    await p.see("PUT", path, {**body, "status": {"phase": "A"}})
    await p.do("PATCH", f"{path}/status", {"status": {"phase": "B"}}, patch="merge")
    now = await p.do("GET", path)
    await p.see("PUT", path, merged(now, {"status": None, "spec": {"size": 4}}))


@probe("a status written through a pod or deployment is ignored")
async def status_ignored_natively(p: Probe) -> None:
    made = await p.do("POST", p.path("v1", "pods"), pod("a"))
    changes = {"status": {"phase": "Running"}, "metadata": {"labels": {"a": "b"}}}
    await p.see("PUT", p.path("v1", "pods", "a"), merged(made, changes), pick=_phase)
    await DEPLOYMENT.make(p)
    patch = {"status": {"replicas": 7}}
    await p.see("PATCH", DEPLOYMENT.path(p), patch, patch="merge", pick=_replicas)


def _phase(body: dict[str, Any]) -> Any:
    return body["status"]["phase"]


def _replicas(body: dict[str, Any]) -> Any:
    return body["status"].get("replicas")


@probe("a status of a custom resource without that subresource is a field like any other")
async def status_plain(p: Probe) -> None:
    body = await p.do("POST", p.path(WIDGETS, "gadgets"), gadget("a"))
    path = p.path(WIDGETS, "gadgets", "a")
    await p.see("PUT", path, {**body, "status": {"phase": "A"}})


@probe("an update of a pod with its spec left out is 422")
async def pod_spec_gone(p: Probe) -> None:
    made = await p.do("POST", p.path("v1", "pods"), pod("a"))
    path = p.path("v1", "pods", "a")
    await p.see("PUT", path, merged(made, {"spec": None}))
