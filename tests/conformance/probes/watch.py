# SPDX-License-Identifier: Apache-2.0
"""GET with watch=1: how a watch begins, what it sends, and how it ends."""

from __future__ import annotations

from typing import Any

from tests.conformance.builders import config_map, pod
from tests.conformance.kinds import WIDGETS, beacon, widget
from tests.conformance.probe import Probe, probe

MINE = {"labels": {"mine": "yes"}}
FUTURE = "1000000000000"
METADATA = "as={kind};g=meta.k8s.io;v=v1"


def brief(event: dict[str, Any]) -> dict[str, Any]:
    """The type, and of the object what tells its state."""
    shown = ("name", "namespace", "resourceVersion", "generation", "labels", "finalizers")
    metadata = event["object"]["metadata"]
    body = {name: metadata[name] for name in shown if name in metadata}
    if "deletionTimestamp" in metadata:
        body["deletionTimestamp"] = metadata["deletionTimestamp"]
    rest = {key: event["object"][key] for key in ("data", "spec") if key in event["object"]}
    return {"type": event["type"], "object": {"metadata": body, **rest}}


async def version_now(p: Probe, path: str) -> dict[str, str]:
    body = await p.do("GET", path)
    return {"resourceVersion": body["metadata"]["resourceVersion"]}


@probe("without a resourceVersion what is there comes first as ADDED, then what happens")
async def from_nothing(p: Probe) -> None:
    path = p.path("v1", "secrets")
    for name in ("b", "a"):
        await p.do("POST", path, {"metadata": {"name": name}})
    async with p.watch(path) as watch:
        await watch.read(2)
        await p.do("PATCH", f"{path}/a", {"metadata": MINE}, patch="merge")
        await watch.read(1)
        await p.do("DELETE", f"{path}/a")
        await watch.read(1)
        await p.do("POST", path, {"metadata": {"name": "c"}})
        await watch.read(1)


@probe("resourceVersion=0 begins with what is there, too")
async def from_zero(p: Probe) -> None:
    path = p.path("v1", "secrets")
    made = await p.do("POST", path, {"metadata": {"name": "a"}})
    # A watch from 0 begins with what the cache has, so it must have the object.
    await p.do("GET", path, query={"resourceVersion": made["metadata"]["resourceVersion"]})
    async with p.watch(path, query={"resourceVersion": "0"}, pick=brief) as watch:
        await watch.read(1)
        await p.do("POST", path, {"metadata": {"name": "b"}})
        await watch.read(1)


@probe("from a resourceVersion only what happened after it comes, in order, to the end")
async def from_version(p: Probe) -> None:
    path = p.path("v1", "configmaps")
    made = await p.do("POST", path, config_map("a"))
    await p.do("PATCH", f"{path}/a", {"data": {"a": "2"}}, patch="merge")
    await p.do("POST", path, config_map("b"))
    await p.do("DELETE", f"{path}/a")
    query = {"resourceVersion": made["metadata"]["resourceVersion"]}
    async with p.watch(path, query=query) as watch:
        await watch.read(3)


@probe("from the resourceVersion of a list nothing of the list comes again")
async def from_list(p: Probe) -> None:
    path = p.path("v1", "secrets")
    await p.do("POST", path, {"metadata": {"name": "a"}})
    query = await version_now(p, path)
    async with p.watch(path, query=query, pick=brief) as watch:
        await p.do("POST", path, {"metadata": {"name": "b"}})
        await watch.read(1)


@probe("a watch of nothing stays silent and ends with timeoutSeconds")
async def silent(p: Probe) -> None:
    async with p.watch(p.path("v1", "secrets"), query={"timeoutSeconds": "1"}) as watch:
        await watch.read_to_end()


@probe("a watch in a namespace that is not there opens, and sees what is not there yet")
async def no_namespace(p: Probe) -> None:
    name = f"late-{p.id}"
    path = p.path("v1", "configmaps", ns=name)
    async with p.watch(path, pick=brief, query={"fieldSelector": "metadata.name=a"}) as watch:
        await p.do("POST", p.everywhere("v1", "namespaces"), {"metadata": {"name": name}})
        namespace = p.everywhere("v1", "namespaces", name)
        p.cleanup.push_async_callback(p.ask, "DELETE", namespace)
        await p.do("POST", path, config_map("a"))
        await watch.read(1)


@probe("timeoutSeconds that is no number, and a resourceVersion that is none, are refused")
async def bad_parameters(p: Probe) -> None:
    path = p.path("v1", "secrets")
    for query in ({"timeoutSeconds": "x"}, {"resourceVersion": "x"}, {"resourceVersion": "-1"}):
        async with p.watch(path, query=query) as watch:
            await watch.read_to_end()


@probe("bad selectors are refused before a watch begins")
async def bad_selectors(p: Probe) -> None:
    path = p.path("v1", "secrets")
    for query in ({"labelSelector": "a in"}, {"fieldSelector": "data.a=b"}):
        async with p.watch(path, query=query) as watch:
            await watch.read_to_end()


@probe("watch takes 1 and true; any other word but 0 and false counts as true")
async def spelling(p: Probe) -> None:
    path = p.path("v1", "secrets")
    for word in ("true", "True", "x", ""):
        query = {"watch": word, "timeoutSeconds": "1"}
        async with p.watch(path, query=query) as watch:
            await watch.read_to_end()
    for word in ("0", "false"):
        await p.see("GET", path, query={"watch": word})


@probe("a resourceVersion that is too old is 200 with an ERROR event of 410, then the end")
async def too_old(p: Probe) -> None:
    # The widgets' history begins with their definition, long after version 1.
    async with p.watch(p.path(WIDGETS, "widgets"), query={"resourceVersion": "1"}) as watch:
        await watch.read_to_end()


@probe("a resourceVersion of the future opens and stays silent")
async def future(p: Probe) -> None:
    query = {"resourceVersion": FUTURE, "timeoutSeconds": "1"}
    path = p.path("v1", "secrets")
    async with p.watch(path, query=query) as watch:
        await p.do("POST", path, {"metadata": {"name": "a"}})
        await watch.read_to_end()


@probe("resourceVersionMatch is refused for a watch")
async def match(p: Probe) -> None:
    path = p.path("v1", "secrets")
    query = {**await version_now(p, path), "resourceVersionMatch": "NotOlderThan"}
    async with p.watch(path, query=query) as watch:
        await watch.read_to_end()


@probe("limit and continue mean nothing to a watch")
async def limit(p: Probe) -> None:
    path = p.path("v1", "secrets")
    for name in ("a", "b"):
        await p.do("POST", path, {"metadata": {"name": name}})
    async with p.watch(path, query={"limit": "1"}, pick=brief) as watch:
        await watch.read(2)


@probe("metadata.name as a field selector watches one object")
async def one_object(p: Probe) -> None:
    path = p.path("v1", "configmaps")
    await p.do("POST", path, config_map("a"))
    query = {"fieldSelector": "metadata.name=a"}
    async with p.watch(path, query=query, pick=brief) as watch:
        await watch.read(1)
        await p.do("POST", path, config_map("b"))
        await p.do("DELETE", f"{path}/a")
        await watch.read(1)
        await p.do("POST", path, config_map("a"))
        await watch.read(1)


@probe("the old /watch/ paths watch a collection and a named object, also of custom resources")
async def old_paths(p: Probe) -> None:
    await p.do("POST", p.path("v1", "configmaps"), config_map("a"))
    query = {"watch": "0", "timeoutSeconds": "1", "fieldSelector": "metadata.name=a"}
    base = f"/api/v1/watch/namespaces/{p.ns}/configmaps"
    for path in (base, f"{base}/a"):
        async with p.watch(
            path, query=query, pick=brief, note="it watches, whatever watch says"
        ) as watch:
            await watch.read_to_end()
    await p.do("POST", p.path(WIDGETS, "widgets"), widget("a"))
    path = f"/apis/{WIDGETS}/watch/namespaces/{p.ns}/widgets"
    async with p.watch(path, query=query, pick=brief) as watch:
        await watch.read_to_end()


@probe("a watch over all namespaces sees each namespace's objects")
async def everywhere(p: Probe) -> None:
    other = f"other-{p.id}"
    await p.do("POST", p.everywhere("v1", "namespaces"), {"metadata": {"name": other}})
    path = p.everywhere("v1", "namespaces", other)
    p.cleanup.push_async_callback(p.ask, "DELETE", path)
    query = {"labelSelector": f"mine={p.id}"}
    async with p.watch(p.everywhere("v1", "configmaps"), query=query, pick=brief) as watch:
        for namespace in (p.ns, other):
            body = config_map("a", labels={"mine": p.id})
            await p.do("POST", p.path("v1", "configmaps", ns=namespace), body)
        await watch.read(2)


@probe("cluster-scoped kinds are watched by name")
async def cluster_scoped(p: Probe) -> None:
    path = p.everywhere(WIDGETS, "beacons")
    query = {"fieldSelector": f"metadata.name={p.id}"}
    async with p.watch(path, query=query, pick=brief) as watch:
        await p.do("POST", path, beacon(p.id))
        await p.do("DELETE", f"{path}/{p.id}")
        await watch.read(2)


@probe("a custom resource is watched like a built-in one, and DELETED has the last state")
async def custom(p: Probe) -> None:
    path = p.path(WIDGETS, "widgets")
    async with p.watch(path) as watch:
        await p.do("POST", path, widget("a"))
        await p.do("PATCH", f"{path}/a", {"spec": {"size": 4}}, patch="merge")
        await p.do("DELETE", f"{path}/a")
        await watch.read(3)


@probe("pods are sent whole; an immediate delete is MODIFIED, then DELETED")
async def pods(p: Probe) -> None:
    path = p.path("v1", "pods")
    async with p.watch(path) as watch:
        await p.do("POST", path, pod("a"))
        await p.do("DELETE", f"{path}/a")
        await watch.read(3)


@probe("watches can be read as PartialObjectMetadata, and as nothing unknown")
async def as_metadata(p: Probe) -> None:
    path = p.path("v1", "configmaps")
    query = {"fieldSelector": "metadata.name=a"}
    accept = f"application/json;{METADATA.format(kind='PartialObjectMetadata')}"
    async with p.watch(path, query=query, accept=accept) as watch:
        await p.do("POST", path, config_map("a"))
        await p.do("DELETE", f"{path}/a")
        await watch.read(2)
    accept = f"application/json;{METADATA.format(kind='Unknown')}"
    async with p.watch(path, query=query, accept=accept) as watch:
        await watch.read_to_end()


@probe("a watch with bookmarks gets one shortly before timeoutSeconds: kind and version only")
async def bookmark(p: Probe) -> None:
    query = {"allowWatchBookmarks": "true", "timeoutSeconds": "5"}
    for version, resource, builder in (
        ("v1", "configmaps", config_map),
        (WIDGETS, "widgets", widget),
    ):
        path = p.path(version, resource)
        made = await p.do("POST", path, builder("a"))
        since = {"resourceVersion": made["metadata"]["resourceVersion"]}
        async with p.watch(path, query={**query, **since}) as watch:
            await p.do("POST", path, builder("b"))
            # Now and then a second bookmark follows; how many there are is left to chance.
            await watch.read(2)
        seen = [int(event["object"]["metadata"]["resourceVersion"]) for event in watch.events]
        p.note("the bookmark is not older than the event before it", seen[0] <= seen[1])


@probe("with bookmarks and no resourceVersion one says when all that was there has been sent")
async def first_bookmark(p: Probe) -> None:
    path = p.path("v1", "secrets")
    await p.do("POST", path, {"metadata": {"name": "a"}})
    async with p.watch(path, query={"allowWatchBookmarks": "true"}) as watch:
        await watch.read(2)
