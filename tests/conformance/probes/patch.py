# SPDX-License-Identifier: Apache-2.0
"""PATCH of any type: what may be patched, with which type, and what a patch may not change."""

from __future__ import annotations

import asyncio
from typing import Any

from tests.conformance.builders import config_map, pod
from tests.conformance.kinds import WIDGETS, widget
from tests.conformance.natives import LEASE
from tests.conformance.probe import Probe, probe

UID = "00000000-0000-4000-8000-000000000001"
LABEL = {"metadata": {"labels": {"a": "b"}}}
TYPES = ("merge", "strategic", "json")


async def _made(p: Probe) -> tuple[str, str]:
    """A config map and a widget: their paths."""
    await p.do("POST", p.path("v1", "configmaps"), config_map("a"))
    await p.do("POST", p.path(WIDGETS, "widgets"), widget("a"))
    return p.path("v1", "configmaps", "a"), p.path(WIDGETS, "widgets", "a")


def _version(body: dict[str, Any]) -> dict[str, Any]:
    return {"resourceVersion": body["metadata"]["resourceVersion"]}


async def _see_metadata(p: Probe, **metadata: Any) -> None:
    for path in await _made(p):
        await p.see("PATCH", path, {"metadata": metadata}, patch="merge")


@probe("a type that is no patch is 415, and only custom resources' answers list those that are")
async def unknown_type(p: Probe) -> None:
    for path in await _made(p):
        for kind in ("application/json", "text/plain", "application/apply-patch+cbor"):
            await p.see("PATCH", path, LABEL, headers={"Content-Type": kind}, note=kind)


@probe("a patch without a type is 415")
async def no_type(p: Probe) -> None:
    for path in await _made(p):
        await p.see("PATCH", path, LABEL, headers={"Content-Type": ""})


@probe("a type of a patch may have parameters")
async def type_parameters(p: Probe) -> None:
    path, _ = await _made(p)
    headers = {"Content-Type": "application/merge-patch+json; charset=utf-8"}
    await p.see("PATCH", path, LABEL, headers=headers, pick=_version)


@probe("a strategic patch of a custom resource is 415")
async def strategic_custom(p: Probe) -> None:
    _, path = await _made(p)
    await p.see("PATCH", path, LABEL, patch="strategic")


@probe("a patch that is no JSON is 400")
async def malformed(p: Probe) -> None:
    path, custom = await _made(p)
    for kind in TYPES:
        await p.see("PATCH", path, b"{", patch=kind, note=kind)
    for kind in ("merge", "json"):
        await p.see("PATCH", custom, b"{", patch=kind, note=kind)


@probe("null is refused as a merge patch and changes nothing as any other")
async def null(p: Probe) -> None:
    path, custom = await _made(p)
    await p.see("GET", path, pick=_version)
    for kind in TYPES:
        await p.see("PATCH", path, b"null", patch=kind, note=kind, pick=_version)
    await p.see("PATCH", custom, b"null", patch="merge")


@probe("a patch of another JSON type than its own is 400")
async def wrong_shape(p: Probe) -> None:
    path, _ = await _made(p)
    for kind in TYPES:
        for body in (b'"text"', b"[]" if kind != "json" else b"{}"):
            await p.see("PATCH", path, body, patch=kind, note=f"{kind} {body.decode()}")


@probe("a patch of what is missing is 404, for a lease too")
async def missing(p: Probe) -> None:
    for kind in TYPES:
        body: Any = [] if kind == "json" else {}
        await p.see("PATCH", p.path("v1", "configmaps", "a"), body, patch=kind, note=kind)
    await p.see("PATCH", p.path(WIDGETS, "widgets", "a"), {}, patch="merge")
    await p.see("PATCH", LEASE.path(p), {}, patch="merge")


@probe("a patch that changes nothing is 200 and leaves the resourceVersion")
async def nothing(p: Probe) -> None:
    path, custom = await _made(p)
    await p.see("GET", path, pick=_version)
    for kind, body in (("merge", {}), ("strategic", {"data": {"a": "1"}}), ("json", [])):
        await p.see("PATCH", path, body, patch=kind, note=kind, pick=_version)
    await p.see("GET", custom, pick=_version)
    await p.see("PATCH", custom, {"spec": {"size": 3}}, patch="merge", pick=_version)


@probe("a patch with an old resourceVersion is 409, with the current one 200")
async def versions(p: Probe) -> None:
    for path in await _made(p):
        old = (await p.do("GET", path))["metadata"]["resourceVersion"]
        now = (await p.do("PATCH", path, LABEL, patch="merge"))["metadata"]["resourceVersion"]
        for version in (old, now):
            metadata = {"resourceVersion": version, "labels": {"c": "d"}}
            await p.see("PATCH", path, {"metadata": metadata}, patch="merge", pick=_version)


@probe("a resourceVersion of null or zero is none, and one that is no number is 500")
async def odd_versions(p: Probe) -> None:
    for path in await _made(p):
        for version in (None, "0", "nonsense"):
            body = {"metadata": {"resourceVersion": version, "labels": {"c": str(version)}}}
            await p.see("PATCH", path, body, patch="merge", note=str(version), pick=_version)


@probe("a patch that changes the name is 400")
async def name(p: Probe) -> None:
    await _see_metadata(p, name="b")


@probe("a patch that removes the name is 400")
async def no_name(p: Probe) -> None:
    await _see_metadata(p, name=None)


@probe("a patch that changes the namespace is 400")
async def namespace(p: Probe) -> None:
    await _see_metadata(p, namespace="default")


@probe("a patch that changes the uid is 422")
async def uid(p: Probe) -> None:
    await _see_metadata(p, uid=UID)


@probe("a patch of the creation time changes nothing")
async def times(p: Probe) -> None:
    await _see_metadata(p, creationTimestamp="2001-01-01T00:00:00Z")


@probe("a patch that sets a deletion time is 422")
async def deletion(p: Probe) -> None:
    await _see_metadata(p, deletionTimestamp="2001-01-01T00:00:00Z")


@probe("a patch of the generation or the selfLink changes nothing")
async def generation(p: Probe) -> None:
    await _see_metadata(p, generation=7, selfLink="/nonsense")


@probe("a patch that changes the kind or the apiVersion is 422")
async def kind(p: Probe) -> None:
    for path in await _made(p):
        for body in ({"kind": "Zap"}, {"apiVersion": "v9"}, {"kind": None}):
            await p.see("PATCH", path, body, patch="merge", note=str(body))


@probe("a patch that makes an object invalid is 422")
async def invalid(p: Probe) -> None:
    path, custom = await _made(p)
    await p.see("PATCH", path, {"data": {"bad key": ""}}, patch="merge")
    await p.see("PATCH", custom, {"spec": {"size": 200}}, patch="merge")


@probe("patches at the same time all succeed, for the server tries again")
async def together(p: Probe) -> None:
    path, _ = await _made(p)
    patches = ({"data": {f"key-{number}": "1"}} for number in range(4))
    answers = await asyncio.gather(*(p.ask("PATCH", path, one, patch="merge") for one in patches))
    p.note("answers", [answer.status for answer in answers])
    await p.see("GET", path, pick=lambda body: body["data"])


@probe("a field manager is taken from the query, or else from the user agent")
async def managers(p: Probe) -> None:
    path, _ = await _made(p)
    agent = {"User-Agent": "my-tool/v1.2 (linux) extra"}
    await p.see("PATCH", path, {"data": {"b": "1"}}, patch="merge", headers=agent)
    await p.see("PATCH", path, {"data": {"c": "1"}}, patch="merge", query={"fieldManager": "me"})


@probe("force is for apply alone")
async def force(p: Probe) -> None:
    path, _ = await _made(p)
    await p.see("PATCH", path, LABEL, patch="merge", query={"force": "true"})
    await p.see("PATCH", path, LABEL, patch="merge", query={"force": "false"})


@probe("finalizers are added and removed by strategic patches, and replaced by merge patches")
async def finalizers(p: Probe) -> None:
    await p.do("POST", p.path("v1", "pods"), pod("a", finalizers=["example.com/a"]))
    path = p.path("v1", "pods", "a")
    for kind, body in (
        ("strategic", {"metadata": {"finalizers": ["example.com/b"]}}),
        ("strategic", {"metadata": {"$deleteFromPrimitiveList/finalizers": ["example.com/a"]}}),
        ("merge", {"metadata": {"finalizers": ["example.com/c"]}}),
        ("merge", {"metadata": {"finalizers": None}}),
    ):
        await p.see("PATCH", path, body, patch=kind, note=kind, pick=_finalizers)


def _finalizers(body: dict[str, Any]) -> Any:
    return body["metadata"].get("finalizers")
