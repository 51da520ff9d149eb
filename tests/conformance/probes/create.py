# SPDX-License-Identifier: Apache-2.0
"""POST: where objects go, of which kind they are, and what the server decides itself."""

from __future__ import annotations

from typing import Any

from tests.conformance.builders import config_map, pod
from tests.conformance.kinds import WIDGETS, beacon, widget
from tests.conformance.natives import PRIORITY_CLASS
from tests.conformance.probe import Probe, probe

UID = "00000000-0000-4000-8000-000000000001"
LONG_AGO = "2001-01-01T00:00:00Z"


def _both(p: Probe, **metadata: Any) -> list[tuple[str, dict[str, Any]]]:
    """The same metadata on a built-in kind and on a custom resource."""
    return [
        (p.path("v1", "configmaps"), config_map("a", **metadata)),
        (p.path(WIDGETS, "widgets"), widget("a", **metadata)),
    ]


async def _see_both(p: Probe, **metadata: Any) -> None:
    for path, body in _both(p, **metadata):
        await p.see("POST", path, body)


async def _see_unnamed(p: Probe, **metadata: Any) -> None:
    for path, body in _both(p):
        await p.see("POST", path, {**body, "metadata": metadata})


@probe("a config map is created with 201 and comes back whole")
async def config_map_created(p: Probe) -> None:
    await p.see("POST", p.path("v1", "configmaps"), config_map("a"))


@probe("a custom resource is created with 201, generation 1 and its defaults")
async def custom_created(p: Probe) -> None:
    await p.see("POST", p.path(WIDGETS, "widgets"), widget("a"))


@probe("an object that is there already is refused with 409 AlreadyExists")
async def exists_already(p: Probe) -> None:
    for path, body in _both(p):
        await p.do("POST", path, body)
    await _see_both(p)


@probe("a pod comes back with every default filled in")
async def pod_defaults(p: Probe) -> None:
    await p.see("POST", p.path("v1", "pods"), pod("a"))


@probe("creating in a namespace that does not exist is 404 and names the namespace")
async def namespace_missing(p: Probe) -> None:
    missing = f"missing-{p.id}"
    await p.see("POST", p.path("v1", "configmaps", ns=missing), config_map("a"))
    await p.see("POST", p.path(WIDGETS, "widgets", ns=missing), widget("a"))


@probe("creating in a namespace that is being deleted is 403 with a cause that says so")
async def namespace_terminating(p: Probe) -> None:
    await p.held(p.path("v1", "configmaps"), config_map("held"))
    await p.do("DELETE", p.everywhere("v1", "namespaces", p.ns))
    await _see_both(p)


@probe("a namespace in the body must be the one of the path")
async def namespace_mismatch(p: Probe) -> None:
    await _see_both(p, namespace="default")


@probe("a namespace in the body that is the one of the path is fine")
async def namespace_match(p: Probe) -> None:
    await _see_both(p, namespace=p.ns)


@probe("a namespace in the body of a cluster-scoped object is dropped")
async def namespace_on_cluster_scoped(p: Probe) -> None:
    klass = PRIORITY_CLASS.new(p, namespace="default")
    await p.see("POST", PRIORITY_CLASS.collection(p), klass)
    path = p.everywhere(WIDGETS, "beacons")
    p.cleanup.push_async_callback(p.ask, "DELETE", f"{path}/b-{p.id}")
    await p.see("POST", path, beacon(f"b-{p.id}", namespace="default"))


@probe("a built-in kind may leave out kind and apiVersion, or either")
async def kind_left_out(p: Probe) -> None:
    path = p.path("v1", "configmaps")
    await p.see("POST", path, {"metadata": {"name": "a"}})
    await p.see("POST", path, {"kind": "ConfigMap", "metadata": {"name": "b"}})
    await p.see("POST", path, {"apiVersion": "v1", "metadata": {"name": "c"}})
    lease = {"kind": "Lease", "metadata": {"name": "a"}}
    await p.see("POST", p.path("coordination.k8s.io/v1", "leases"), lease)


@probe("a wrong kind or apiVersion on a built-in kind is 400, after decoding as what it claims")
async def wrong_kind(p: Probe) -> None:
    for wrong in (
        {"kind": "Secret"},
        {"kind": "ServiceAccount"},
        {"kind": "Nonsense"},
        {"kind": "ConfigMapList"},
        {"apiVersion": "v9"},
        {"apiVersion": "apps/v1"},
    ):
        body = {**config_map("b"), **wrong}
        await p.see("POST", p.path("v1", "configmaps"), body, note=str(wrong))


@probe("a wrong kind on a custom resource is 422, a missing one or a wrong apiVersion 400")
async def wrong_kind_custom(p: Probe) -> None:
    for wrong in (
        {"kind": "Zap"},
        {"kind": "Gadget"},
        {"kind": ""},
        {"apiVersion": ""},
        {"apiVersion": "conformance.trellis.dev/v9"},
        {"apiVersion": "v1"},
    ):
        body = {**widget("b"), **wrong}
        await p.see("POST", p.path(WIDGETS, "widgets"), body, note=str(wrong))


@probe("a resourceVersion on a new object is 500 without a reason")
async def resource_version_set(p: Probe) -> None:
    await _see_both(p, resourceVersion="1")


@probe("a resourceVersion of zero or one that is no number is ignored on a new object")
async def resource_version_empty(p: Probe) -> None:
    for name, version in (("b", "0"), ("c", "nonsense"), ("d", "")):
        body = config_map(name, resourceVersion=version)
        await p.see("POST", p.path("v1", "configmaps"), body, note=version)
        custom = widget(name, resourceVersion=version)
        await p.see("POST", p.path(WIDGETS, "widgets"), custom, note=version)


@probe("uid, times, grace and selfLink of the body are ignored")
async def server_fields(p: Probe) -> None:
    await _see_both(
        p,
        uid=UID,
        creationTimestamp=LONG_AGO,
        deletionTimestamp=LONG_AGO,
        deletionGracePeriodSeconds=5,
        selfLink="/nonsense",
    )


@probe("a generation in the body is kept by kinds that do not count it, and is 1 for those that do")
async def generation_set(p: Probe) -> None:
    await _see_both(p, generation=7)
    await p.see("POST", p.path("v1", "pods"), pod("a", generation=7), pick=_generation)


def _generation(body: dict[str, Any]) -> Any:
    return body["metadata"]["generation"]


@probe("managedFields of the body are kept and added to, but all go if one is of another version")
async def managed_fields_set(p: Probe) -> None:
    entry = {
        "manager": "me",
        "operation": "Update",
        "apiVersion": "v1",
        "fieldsType": "FieldsV1",
        "fieldsV1": {"f:data": {"f:b": {}}},
        "time": LONG_AGO,
    }
    await _see_both(p, managedFields=[entry])


@probe("metadata that is null is an object without a name")
async def null_metadata(p: Probe) -> None:
    for path, body in _both(p):
        await p.see("POST", path, {**body, "metadata": None})


@probe("fields that are null or empty do not come back")
async def null_fields(p: Probe) -> None:
    empty: dict[str, Any] = {
        "labels": None,
        "annotations": {},
        "finalizers": [],
        "ownerReferences": None,
    }
    for path, body in _both(p, **empty, creationTimestamp=None):
        await p.see("POST", path, {**body, "data": None, "status": None})


@probe("generateName gets five characters more")
async def generate_name(p: Probe) -> None:
    await _see_unnamed(p, generateName="a-")


@probe("a generateName of more than 58 characters is cut before it is completed")
async def generate_long_name(p: Probe) -> None:
    await _see_unnamed(p, generateName="x" * 80)


@probe("a name wins over generateName, which stays")
async def generate_name_with_name(p: Probe) -> None:
    await _see_unnamed(p, generateName="b-", name="chosen")


@probe("an invalid generateName is 422 even beside a good name")
async def generate_name_invalid(p: Probe) -> None:
    await _see_unnamed(p, generateName="Not_Ok-", name="chosen")


@probe("an invalid generateName is reported with the name made of it")
async def generate_name_completed(p: Probe) -> None:
    for head in ("Not_Ok-", "-a"):
        body = await p.see("POST", p.path("v1", "configmaps"), {"metadata": {"generateName": head}})
        p.hide(body["details"]["name"], f"{head}random")


@probe("neither a name nor a generateName is 422")
async def no_name(p: Probe) -> None:
    await _see_unnamed(p)


@probe("a status in a new object is dropped by kinds with a status subresource")
async def status_dropped(p: Probe) -> None:
    made = {**widget("a"), "status": {"phase": "Ready"}}
    await p.see("POST", p.path(WIDGETS, "widgets"), made)
    running = {**pod("a"), "status": {"phase": "Running", "podIP": "192.0.2.1"}}
    await p.see("POST", p.path("v1", "pods"), running, pick=lambda body: body["status"])


@probe("a status in a new custom resource without that subresource is kept")
async def status_kept(p: Probe) -> None:
    made = {**widget("a"), "kind": "Gadget", "spec": {}, "status": {"phase": "Ready"}}
    await p.see("POST", p.path(WIDGETS, "gadgets"), made)
