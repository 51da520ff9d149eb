# SPDX-License-Identifier: Apache-2.0
"""The status subresource of custom resources: what it takes, and what it leaves alone."""

from __future__ import annotations

from typing import Any

from tests.conformance.builders import config_map
from tests.conformance.kinds import WIDGETS, beacon, gadget, widget
from tests.conformance.natives import merged
from tests.conformance.probe import Probe, probe

READY = {"type": "Ready", "status": "True"}
DONE = {"type": "Done", "status": "False", "reason": "Waiting"}
_METADATA = {
    "labels": {"a": "b"},
    "annotations": {"c": "d"},
    "finalizers": ["example.com/hold"],
    "ownerReferences": [
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "name": "a",
            "uid": "00000000-0000-4000-8000-000000000001",
        }
    ],
}


async def _made(p: Probe, status: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
    """A widget, its status as given: the path of its status, and how it is."""
    body = await p.do("POST", p.path(WIDGETS, "widgets"), widget("a"))
    path = p.path(WIDGETS, "widgets", "a", "status")
    if status is not None:
        body = await p.do("PUT", path, {**body, "status": status})
    return path, body


def _conditions(body: dict[str, Any]) -> Any:
    return body["status"].get("conditions")


def _version(body: dict[str, Any]) -> dict[str, Any]:
    return {"resourceVersion": body["metadata"]["resourceVersion"]}


@probe("an update of a status takes the status alone, and the generation stays")
async def put(p: Probe) -> None:
    path, body = await _made(p)
    changes = {"metadata": _METADATA, "spec": {"size": 9}, "status": {"phase": "A"}}
    await p.see("PUT", path, merged(body, changes))


@probe("a merge patch of a status takes the status alone")
async def merge(p: Probe) -> None:
    path, _ = await _made(p)
    changes = {"metadata": _METADATA, "spec": {"size": 9}, "status": {"phase": "A"}}
    await p.see("PATCH", path, changes, patch="merge")


@probe("a JSON patch of a status takes the status alone")
async def json(p: Probe) -> None:
    path, _ = await _made(p)
    operations = [
        {"op": "add", "path": "/metadata/labels", "value": {"a": "b"}},
        {"op": "replace", "path": "/spec/size", "value": 9},
        {"op": "add", "path": "/status", "value": {"phase": "A"}},
    ]
    await p.see("PATCH", path, operations, patch="json")


@probe("a JSON patch inside a status that is not there yet is 422")
async def json_inside(p: Probe) -> None:
    path, _ = await _made(p)
    operation = {"op": "add", "path": "/status/phase", "value": "A"}
    await p.see("PATCH", path, [operation], patch="json")


@probe("a strategic patch of the status of a custom resource is 415")
async def strategic(p: Probe) -> None:
    path, _ = await _made(p)
    await p.see("PATCH", path, {"status": {"phase": "A"}}, patch="strategic")


@probe("an applied status owns the status alone, and nothing else of what was applied is taken")
async def apply(p: Probe) -> None:
    path, _ = await _made(p)
    applied = {**widget("a", {"size": 9}, labels={"a": "b"}), "status": {"phase": "A"}}
    await p.see("PATCH", path, applied, patch="apply", query={"fieldManager": "me"})


@probe("an applied status of a missing object is 404")
async def apply_missing(p: Probe) -> None:
    path = p.path(WIDGETS, "widgets", "a", "status")
    applied = {**widget("a"), "status": {"phase": "A"}}
    await p.see("PATCH", path, applied, patch="apply", query={"fieldManager": "me"})


@probe("reading a status gives the whole object")
async def get(p: Probe) -> None:
    path, _ = await _made(p, {"phase": "A"})
    await p.see("GET", path)


@probe("a kind without a status subresource has no such path")
async def absent(p: Probe) -> None:
    await p.do("POST", p.path("v1", "configmaps"), config_map("a"))
    await p.do("POST", p.path(WIDGETS, "gadgets"), gadget("a"))
    for path in (p.path("v1", "configmaps", "a"), p.path(WIDGETS, "gadgets", "a")):
        await p.see("GET", f"{path}/status")
        await p.see("PATCH", f"{path}/status", {}, patch="merge")


@probe("a status of a missing object is 404")
async def missing(p: Probe) -> None:
    path = p.path(WIDGETS, "widgets", "a", "status")
    await p.see("GET", path)
    await p.see("PUT", path, widget("a"))
    await p.see("PATCH", path, {"status": {}}, patch="merge")


@probe("an update of a status needs the current resourceVersion")
async def versions(p: Probe) -> None:
    path, body = await _made(p)
    await p.do("PATCH", path, {"status": {"phase": "A"}}, patch="merge")
    await p.see("PUT", path, {**body, "status": {"phase": "B"}})
    bare = merged(body, {"metadata": {"resourceVersion": None}, "status": {"phase": "B"}})
    await p.see("PUT", path, bare)


@probe("a status that is the same changes no resourceVersion, nor does one that is left out")
async def unchanged(p: Probe) -> None:
    path, body = await _made(p, {"phase": "A"})
    await p.see("GET", path, pick=_version)
    await p.see("PUT", path, body, pick=_version)
    await p.see("PATCH", path, {"status": {"phase": "A"}}, patch="merge", pick=_version)
    await p.see("PATCH", path, {"metadata": {"labels": {"a": "b"}}}, patch="merge", pick=_version)
    await p.see("PATCH", path, {}, patch="merge", pick=_version)


@probe("an update without a status removes it, and an empty one stays empty")
async def removed(p: Probe) -> None:
    path, body = await _made(p, {"phase": "A"})
    now = await p.see("PUT", path, {key: body[key] for key in body if key != "status"})
    await p.see("PUT", path, {**now, "status": {}})


@probe("null removes a status, or one field of it")
async def nulled(p: Probe) -> None:
    path, _ = await _made(p, {"phase": "A", "replicas": 1})
    await p.see("PATCH", path, {"status": {"phase": None}}, patch="merge")
    await p.see("PATCH", path, {"status": None}, patch="merge")


@probe("a status is validated and pruned like a spec")
async def validated(p: Probe) -> None:
    path, _ = await _made(p)
    await p.see("PATCH", path, {"status": {"replicas": "many"}}, patch="merge")
    await p.see("PATCH", path, {"status": {"conditions": [{"type": "A"}]}}, patch="merge")
    await p.see("PATCH", path, {"status": {"conditions": [READY, READY]}}, patch="merge")
    await p.see("PATCH", path, {"status": {"phase": "A", "nonsense": 1}}, patch="merge")


@probe("a spec that is invalid in an update of the status does no harm")
async def invalid_spec(p: Probe) -> None:
    path, body = await _made(p)
    await p.see("PUT", path, merged(body, {"spec": {"size": 500}, "status": {"phase": "A"}}))


@probe("a merge patch replaces the list of conditions, an apply merges it by type")
async def conditions(p: Probe) -> None:
    path, _ = await _made(p, {"conditions": [READY]})
    applied = {**widget("a"), "status": {"conditions": [DONE]}}
    del applied["spec"]
    query = {"fieldManager": "me"}
    await p.see("PATCH", path, applied, patch="apply", query=query, pick=_conditions)
    changes = {"status": {"conditions": [DONE]}}
    await p.see("PATCH", path, changes, patch="merge", pick=_conditions)


@probe("the main path and the status path keep their hands off each other's fields")
async def separate(p: Probe) -> None:
    path, _ = await _made(p)
    main = path.removesuffix("/status")
    await p.see("PATCH", path, {"spec": {"size": 9}, "status": {"phase": "A"}}, patch="merge")
    await p.see("PATCH", main, {"spec": {"size": 9}, "status": {"phase": "B"}}, patch="merge")


@probe("a status that the schema does not have is pruned, with a warning")
async def not_in_schema(p: Probe) -> None:
    path = p.everywhere(WIDGETS, "beacons")
    p.cleanup.push_async_callback(p.ask, "DELETE", f"{path}/a-{p.id}")
    await p.do("POST", path, beacon(f"a-{p.id}"))
    changes = {"status": {"phase": "A"}, "spec": {"a": 1}}
    await p.see("PATCH", f"{path}/a-{p.id}/status", changes, patch="merge")
