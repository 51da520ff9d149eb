# SPDX-License-Identifier: Apache-2.0
"""DELETE of a collection."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.conformance.builders import config_map, pod
from tests.conformance.kinds import WIDGETS, widget
from tests.conformance.probe import Probe, probe

if TYPE_CHECKING:
    from collections.abc import Iterable

MINE = {"labels": {"mine": "yes"}}
ONLY_MINE = {"labelSelector": "mine=yes"}


async def made(
    p: Probe, resource: str, bodies: Iterable[dict[str, Any]], version: str = "v1"
) -> str:
    for body in bodies:
        await p.do("POST", p.path(version, resource), body)
    return p.path(version, resource)


def names(answer: dict[str, Any]) -> list[str]:
    return [item["metadata"]["name"] for item in answer["items"]]


@probe("it answers 200 with the list of what it deleted")
async def everything(p: Probe) -> None:
    path = await made(p, "secrets", ({"metadata": {"name": name}} for name in ("a", "b")))
    await p.see("DELETE", path)
    await p.see("GET", path)


@probe("of custom resources it answers with the typed list")
async def custom(p: Probe) -> None:
    path = await made(p, "widgets", (widget(name) for name in ("a", "b")), WIDGETS)
    await p.see("DELETE", path)
    await p.see("GET", path)


@probe("of pods it answers with the list of the pods")
async def pods(p: Probe) -> None:
    path = await made(p, "pods", [pod("a")])
    await p.see("DELETE", path)
    await p.see("GET", path)


@probe("of nothing it answers with an empty list")
async def nothing(p: Probe) -> None:
    await p.see("DELETE", p.path("v1", "secrets"))
    await p.see("DELETE", p.path(WIDGETS, "widgets"))
    await p.see("DELETE", p.path("v1", "secrets", ns=f"no-{p.id}"))


@probe("a label selector spares what it does not match")
async def label_selector(p: Probe) -> None:
    bodies = [config_map("a", **MINE), config_map("b"), config_map("c", **MINE)]
    path = await made(p, "configmaps", bodies)
    await p.see("DELETE", path, query=ONLY_MINE, pick=names)
    await p.see("GET", path, pick=names)


@probe("a field selector spares what it does not match")
async def field_selector(p: Probe) -> None:
    path = await made(p, "configmaps", [config_map("a"), config_map("b")])
    await p.see("DELETE", path, query={"fieldSelector": "metadata.name=a"}, pick=names)
    await p.see("GET", path, pick=names)


@probe("a bad selector or field is 400 and deletes nothing")
async def bad_selector(p: Probe) -> None:
    path = await made(p, "configmaps", [config_map("a", **MINE)])
    await p.see("DELETE", path, query={"labelSelector": "a in"})
    await p.see("DELETE", path, query={"fieldSelector": "data.a=1"})
    await p.see("GET", path, query=ONLY_MINE, pick=names)


@probe("what finalizers hold is in the answer as it was before, and stays")
async def held(p: Probe) -> None:
    path = p.path("v1", "configmaps")
    await p.held(path, config_map("a", **MINE))
    await p.do("POST", path, config_map("b", **MINE))
    await p.see("DELETE", path, query=ONLY_MINE)
    await p.see("GET", path, query=ONLY_MINE)
    await p.see("DELETE", path, query=ONLY_MINE, note="again")


@probe("dryRun answers with the list and deletes nothing")
async def dry_run(p: Probe) -> None:
    path = await made(p, "configmaps", [config_map("a", **MINE), config_map("b", **MINE)])
    await p.see("DELETE", path, query={**ONLY_MINE, "dryRun": "All"}, pick=names)
    await p.see("GET", path, query=ONLY_MINE, pick=names)


@probe("options come in the body, and a bad one is 422")
async def options(p: Probe) -> None:
    path = await made(p, "configmaps", [config_map("a", **MINE)])
    bad = {"propagationPolicy": "Slow"}
    await p.see("DELETE", path, bad, query=ONLY_MINE)
    await p.see("GET", path, query=ONLY_MINE, pick=names)
    await p.see("DELETE", path, {"dryRun": ["All"]}, query=ONLY_MINE, pick=names)
    await p.see("GET", path, query=ONLY_MINE, pick=names)


@probe("a uid precondition is held against every object")
async def preconditions(p: Probe) -> None:
    path = await made(p, "configmaps", [config_map("a", **MINE)])
    uid = "00000000-0000-4000-8000-000000000001"
    await p.see("DELETE", path, {"preconditions": {"uid": uid}}, query=ONLY_MINE)
    await p.see("GET", path, query=ONLY_MINE, pick=names)


@probe("limit bounds how many are deleted, and the answer can be continued")
async def limit(p: Probe) -> None:
    path = await made(p, "configmaps", (config_map(name, **MINE) for name in "abc"))
    await p.see("DELETE", path, query={**ONLY_MINE, "limit": "2"})
    await p.see("GET", path, query=ONLY_MINE, pick=names)
