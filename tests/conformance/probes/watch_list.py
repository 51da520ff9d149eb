# SPDX-License-Identifier: Apache-2.0
"""WatchList: a watch that first sends everything there is and says when it has."""

from __future__ import annotations

from tests.conformance.builders import config_map
from tests.conformance.kinds import WIDGETS, widget
from tests.conformance.probe import Probe, probe

MINE = {"labels": {"mine": "yes"}}
SEND = {"sendInitialEvents": "true"}
NOT_OLDER = {"resourceVersionMatch": "NotOlderThan"}
BOOKMARKS = {"allowWatchBookmarks": "true"}
WATCH_LIST = {**SEND, **NOT_OLDER, **BOOKMARKS}


async def two_secrets(p: Probe) -> tuple[str, str]:
    """The path of a collection of two, and the version of the second."""
    path = p.path("v1", "secrets")
    await p.do("POST", path, {"metadata": {"name": "b"}})
    made = await p.do("POST", path, {"metadata": {"name": "a"}})
    return path, made["metadata"]["resourceVersion"]


@probe("everything comes as ADDED, then a bookmark that says so, then what happens")
async def initial_events(p: Probe) -> None:
    path, _ = await two_secrets(p)
    async with p.watch(path, query=WATCH_LIST) as watch:
        await watch.read(3)
        await p.do("DELETE", f"{path}/a")
        await watch.read(1)
    versions = [int(event["object"]["metadata"]["resourceVersion"]) for event in watch.events]
    p.note("the bookmark is not older than what came before", versions[2] >= max(versions[:2]))
    p.note("what comes after is newer than the bookmark", versions[3] > versions[2])


@probe("of nothing only the bookmark comes")
async def nothing(p: Probe) -> None:
    async with p.watch(p.path("v1", "secrets"), query=WATCH_LIST) as watch:
        await watch.read(1)
    async with p.watch(p.path(WIDGETS, "widgets"), query=WATCH_LIST) as watch:
        await watch.read(1)


@probe("custom resources are sent the same way")
async def custom(p: Probe) -> None:
    path = p.path(WIDGETS, "widgets")
    await p.do("POST", path, widget("a"))
    async with p.watch(path, query=WATCH_LIST) as watch:
        await watch.read(2)
        await p.do("PATCH", f"{path}/a", {"spec": {"size": 4}}, patch="merge")
        await watch.read(1)


@probe("with a selector only what matches is sent")
async def selector(p: Probe) -> None:
    path = p.path("v1", "configmaps")
    await p.do("POST", path, config_map("a", **MINE))
    await p.do("POST", path, config_map("b"))
    async with p.watch(path, query={**WATCH_LIST, "labelSelector": "mine=yes"}) as watch:
        await watch.read(2)
    async with p.watch(path, query={**WATCH_LIST, "fieldSelector": "metadata.name=b"}) as watch:
        await watch.read(2)


@probe("without allowWatchBookmarks no bookmark says that everything was sent")
async def no_bookmarks(p: Probe) -> None:
    path, _ = await two_secrets(p)
    async with p.watch(path, query={**SEND, **NOT_OLDER}) as watch:
        await watch.read(2)
        await p.do("DELETE", f"{path}/a")
        await watch.read(1)


def started(title: str, version: str | None) -> None:
    """`version` None stands for that of the newest object."""

    @probe(title)
    async def run(p: Probe) -> None:
        path, newest = await two_secrets(p)
        # From 0 the cache's state is sent, so it must have both.
        await p.do("GET", path, query={"resourceVersion": newest})
        query = {**WATCH_LIST, "resourceVersion": newest if version is None else version}
        async with p.watch(path, query=query) as watch:
            await watch.read(3)


started("resourceVersion=0 sends what the cache has", "0")
started("an empty resourceVersion is the same as none", "")
started("a resourceVersion sends everything as of then or later", None)
started("even a resourceVersion of 1 sends what is there now", "1")


@probe("sendInitialEvents=false from a resourceVersion is a plain watch")
async def false_from_version(p: Probe) -> None:
    path, newest = await two_secrets(p)
    query = {**WATCH_LIST, "sendInitialEvents": "false", "resourceVersion": newest}
    async with p.watch(path, query=query) as watch:
        await p.do("DELETE", f"{path}/a")
        await watch.read(1)


def false_from(title: str, query: dict[str, str]) -> None:
    @probe(title)
    async def run(p: Probe) -> None:
        path, newest = await two_secrets(p)
        await p.do("GET", path, query={"resourceVersion": newest})
        whole = {**WATCH_LIST, "sendInitialEvents": "false", **query}
        async with p.watch(path, query=whole) as watch:
            await p.do("DELETE", f"{path}/a")
            await watch.read(1)


false_from("sendInitialEvents=false without a resourceVersion begins now", {})
false_from("sendInitialEvents=false with resourceVersion=0 begins now", {"resourceVersion": "0"})


REFUSED = {
    "sendInitialEvents without resourceVersionMatch is 422": SEND | BOOKMARKS,
    "sendInitialEvents with resourceVersionMatch=Exact is 422": {
        **SEND,
        "resourceVersionMatch": "Exact",
        "resourceVersion": "1",
    },
    "sendInitialEvents=false without resourceVersionMatch is 422": {"sendInitialEvents": "false"},
    "a resourceVersion that is no number is 500": {**WATCH_LIST, "resourceVersion": "x"},
}


def refused(title: str, query: dict[str, str]) -> None:
    @probe(title)
    async def run(p: Probe) -> None:
        for path in (p.path("v1", "secrets"), p.path(WIDGETS, "widgets")):
            async with p.watch(path, query=query) as watch:
                await watch.read_to_end()


for title, query in REFUSED.items():
    refused(title, query)


@probe("sendInitialEvents that is no boolean counts as true")
async def no_boolean(p: Probe) -> None:
    path, _ = await two_secrets(p)
    async with p.watch(path, query={**WATCH_LIST, "sendInitialEvents": "x"}) as watch:
        await watch.read(3)


@probe("sendInitialEvents on a list is 422")
async def on_a_list(p: Probe) -> None:
    path = p.path("v1", "secrets")
    for query in (SEND, {**SEND, **NOT_OLDER}, {**SEND, **NOT_OLDER, "resourceVersion": "0"}):
        await p.see("GET", path, query=query)


@probe("the initial events can be read as PartialObjectMetadata, the bookmark too")
async def as_metadata(p: Probe) -> None:
    path, _ = await two_secrets(p)
    accept = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
    async with p.watch(path, query=WATCH_LIST, accept=accept) as watch:
        await watch.read(3)


@probe("a resourceVersion of the future is 200 with an ERROR event of 504, then the end")
async def future(p: Probe) -> None:
    query = {**WATCH_LIST, "resourceVersion": "1000000000000", "timeoutSeconds": "5"}
    async with p.watch(p.path("v1", "secrets"), query=query) as watch:
        await watch.read_to_end()
