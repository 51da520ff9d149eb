# SPDX-License-Identifier: Apache-2.0
"""resourceVersion and resourceVersionMatch of GET, for objects and for collections."""

from __future__ import annotations

from typing import Any

from tests.conformance.builders import config_map
from tests.conformance.kinds import WIDGETS, widget
from tests.conformance.probe import Probe, probe

FUTURE = "1000000000000"
EXACT = {"resourceVersionMatch": "Exact"}
NOT_OLDER = {"resourceVersionMatch": "NotOlderThan"}
MINE = {"labels": {"mine": "yes"}}
ONLY_MINE = {"labelSelector": "mine=yes"}


def shown(body: dict[str, Any]) -> dict[str, Any]:
    """The names and values in a list, and its metadata."""
    items = [{item["metadata"]["name"]: item["data"]} for item in body["items"]]
    return {"items": items, "metadata": body["metadata"]}


async def history(p: Probe) -> tuple[str, list[str]]:
    """A config map made, changed and joined by another: the path and the versions."""
    path = p.path("v1", "configmaps")
    first = await p.do("POST", path, config_map("a", **MINE))
    second = await p.do("PATCH", f"{path}/a", {"data": {"a": "2"}}, patch="merge")
    third = await p.do("POST", path, config_map("b", **MINE))
    versions = [step["metadata"]["resourceVersion"] for step in (first, second, third)]
    # Old versions may be answered by a cache; after this it has seen the newest.
    await p.do("GET", path, query={"resourceVersion": versions[-1]})
    return path, versions


@probe("every write of any kind moves one counter, and a list's version is its latest")
async def one_counter(p: Probe) -> None:
    path, versions = await history(p)
    other = await p.do("POST", p.path(WIDGETS, "widgets"), widget("a"))
    versions.append(other["metadata"]["resourceVersion"])
    body = await p.do("GET", path)
    numbers = [int(version) for version in (*versions, body["metadata"]["resourceVersion"])]
    p.note("they never fall", numbers == sorted(numbers))
    p.note("no two writes share one", len(set(versions)) == len(versions))


def data(body: dict[str, Any]) -> Any:
    return body["data"]


@probe("GET of an object with resourceVersion=0, its own, or an older one gives the object")
async def get_object(p: Probe) -> None:
    path, versions = await history(p)
    for version in ("0", versions[1], versions[0]):
        await p.see("GET", f"{path}/a", query={"resourceVersion": version}, pick=data)


@probe("GET of an object with a resourceVersion that is no number is 500, with an empty one 200")
async def get_odd(p: Probe) -> None:
    path, _ = await history(p)
    for version in ("x", "-1", ""):
        await p.see("GET", f"{path}/a", query={"resourceVersion": version}, pick=data)
    await p.see("GET", p.path(WIDGETS, "widgets", "a"), query={"resourceVersion": "x"})


@probe("GET of an object ignores resourceVersionMatch")
async def get_match(p: Probe) -> None:
    path, versions = await history(p)
    query = {"resourceVersion": versions[0], **EXACT}
    await p.see("GET", f"{path}/a", query=query, pick=data)


@probe("GET of an object with a resourceVersion of the future is 504 with Retry-After")
async def get_future(p: Probe) -> None:
    path, _ = await history(p)
    await p.see("GET", f"{path}/a", query={"resourceVersion": FUTURE})


@probe("a list with a resourceVersion of the future is 504 with Retry-After")
async def list_future(p: Probe) -> None:
    await p.see("GET", p.path("v1", "configmaps"), query={"resourceVersion": FUTURE})


@probe("a list of exactly a resourceVersion of the future is 504 too")
async def list_exact_future(p: Probe) -> None:
    await p.see("GET", p.path(WIDGETS, "widgets"), query={"resourceVersion": FUTURE, **EXACT})


def listed(title: str, at: int | None, query: dict[str, str]) -> None:
    """Lists with the version of a step of the history, or none."""

    @probe(title)
    async def run(p: Probe) -> None:
        path, versions = await history(p)
        version = {} if at is None else {"resourceVersion": versions[at]}
        await p.see("GET", path, query={**ONLY_MINE, **version, **query}, pick=shown)


listed("Exact serves the snapshot of the first version", 0, EXACT)
listed("Exact serves the snapshot of a version in between", 1, EXACT)
listed("Exact with the latest version serves all", 2, EXACT)
listed("NotOlderThan serves the present", 0, NOT_OLDER)
listed("a resourceVersion alone serves the present", 0, {})
listed("a resourceVersion with a limit serves exactly that snapshot", 0, {"limit": "5"})
listed("NotOlderThan with a limit serves the present", 0, {"limit": "5", **NOT_OLDER})
listed("an empty resourceVersion is the same as none", None, {"resourceVersion": ""})


@probe("Exact answers with the version that was asked for as the list's")
async def exact_version(p: Probe) -> None:
    path, versions = await history(p)
    body = await p.do("GET", path, query={"resourceVersion": versions[1], **EXACT})
    p.note("the same", body["metadata"]["resourceVersion"] == versions[1])
    body = await p.do("GET", path, query={"resourceVersion": versions[1], **NOT_OLDER})
    p.note("not older", int(body["metadata"]["resourceVersion"]) >= int(versions[1]))


@probe("Exact serves what has been deleted since")
async def exact_deleted(p: Probe) -> None:
    path, versions = await history(p)
    await p.do("DELETE", f"{path}/a")
    query = {**ONLY_MINE, "resourceVersion": versions[2], **EXACT}
    await p.see("GET", path, query=query, pick=shown)


@probe("Exact serves old custom resources")
async def exact_custom(p: Probe) -> None:
    path = p.path(WIDGETS, "widgets")
    first = await p.do("POST", path, widget("a"))
    await p.do("PATCH", f"{path}/a", {"spec": {"size": 4}}, patch="merge")
    query = {"resourceVersion": first["metadata"]["resourceVersion"], **EXACT}
    await p.see("GET", path, query=query)


@probe("Exact can be paged, and the pages keep to it")
async def exact_pages(p: Probe) -> None:
    path, versions = await history(p)
    await p.do("DELETE", f"{path}/b")
    query = {**ONLY_MINE, "limit": "1"}
    exact = {"resourceVersion": versions[2], **EXACT}
    first = await p.see("GET", path, query={**query, **exact}, pick=shown)
    token = first["metadata"]["continue"]
    p.hide(token, "token")
    await p.see("GET", path, query={**query, "continue": token}, pick=shown)


@probe("resourceVersion=0 serves what the cache has, all of it despite a limit")
async def zero(p: Probe) -> None:
    path, _ = await history(p)
    query = {**ONLY_MINE, "resourceVersion": "0"}
    for more in ({}, NOT_OLDER, {"limit": "1"}):
        await p.see("GET", path, query={**query, **more}, pick=shown)


REFUSED = {
    "resourceVersionMatch without a resourceVersion is 422": EXACT,
    "resourceVersionMatch with an empty resourceVersion is 422": {
        "resourceVersion": "",
        **NOT_OLDER,
    },
    "an unknown resourceVersionMatch is 422": {
        "resourceVersion": "1",
        "resourceVersionMatch": "Newer",
    },
    "an unknown resourceVersionMatch without a resourceVersion has both causes": {
        "resourceVersionMatch": "Newer"
    },
    "Exact with resourceVersion=0 is 422": {"resourceVersion": "0", **EXACT},
    "a resourceVersion that is no number is 400": {"resourceVersion": "x"},
    "a negative resourceVersion is 400": {"resourceVersion": "-1"},
    "Exact with a resourceVersion that is no number is 400": {"resourceVersion": "x", **EXACT},
}


def refused(title: str, query: dict[str, str]) -> None:
    @probe(title)
    async def run(p: Probe) -> None:
        await p.see("GET", p.path("v1", "configmaps"), query=query)
        await p.see("GET", p.path(WIDGETS, "widgets"), query=query)


for title, query in REFUSED.items():
    refused(title, query)


@probe("a list over all namespaces can be asked for as of an old version")
async def everywhere(p: Probe) -> None:
    path, versions = await history(p)
    query = {"fieldSelector": f"metadata.namespace={p.ns}", **ONLY_MINE}
    exact = {"resourceVersion": versions[0], **EXACT}
    await p.see("GET", p.everywhere("v1", "configmaps"), query={**query, **exact}, pick=shown)
    await p.see("GET", path, query=ONLY_MINE, pick=shown)
