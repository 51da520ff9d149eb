# SPDX-License-Identifier: Apache-2.0
"""GET of a collection: its shape, and pages."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any

from tests.conformance.builders import config_map, pod
from tests.conformance.kinds import WIDGETS, widget
from tests.conformance.probe import Probe, probe

if TYPE_CHECKING:
    from collections.abc import Iterable

MINE = {"labels": {"mine": "yes"}}


async def secrets(p: Probe, names: Iterable[str]) -> str:
    """Secrets, of which the server makes none by itself; returns the path of the collection."""
    for name in names:
        await p.do("POST", p.path("v1", "secrets"), {"metadata": {"name": name}})
    return p.path("v1", "secrets")


def page(body: dict[str, Any]) -> dict[str, Any]:
    """The names on a page, and its metadata."""
    names = [item["metadata"]["name"] for item in body["items"]]
    return {"items": names, "metadata": body["metadata"]}


def places(body: dict[str, Any]) -> list[str]:
    metadata = [item["metadata"] for item in body["items"]]
    return [f"{one['namespace']}/{one['name']}" for one in metadata]


def next_page(p: Probe, body: dict[str, Any]) -> dict[str, str]:
    token = body["metadata"]["continue"]
    p.hide(token, "token")
    return {"continue": token}


def token(**fields: Any) -> str:
    encoded = json.dumps({"v": "meta.k8s.io/v1", **fields}).encode()
    return base64.urlsafe_b64encode(encoded).decode().rstrip("=")


@probe("items of a built-in list have neither kind nor apiVersion, and are sorted by name")
async def built_in(p: Probe) -> None:
    await p.see("GET", await secrets(p, ("b", "a", "b-a", "a1")))


@probe("items of a list of custom resources have kind and apiVersion")
async def custom(p: Probe) -> None:
    for name in ("b", "a"):
        await p.do("POST", p.path(WIDGETS, "widgets"), widget(name))
    await p.see("GET", p.path(WIDGETS, "widgets"))


@probe("a list of pods shows every pod whole")
async def pods(p: Probe) -> None:
    await p.do("POST", p.path("v1", "pods"), pod("a"))
    await p.see("GET", p.path("v1", "pods"))


@probe("a list of nothing has an empty array")
async def empty(p: Probe) -> None:
    await p.see("GET", p.path("v1", "pods"))
    await p.see("GET", p.path(WIDGETS, "widgets"))


@probe("a list in a namespace that is not there is empty, not 404")
async def no_namespace(p: Probe) -> None:
    await p.see("GET", p.path("v1", "pods", ns=f"no-{p.id}"))
    await p.see("GET", p.path(WIDGETS, "widgets", ns=f"no-{p.id}"))


@probe("a list over all namespaces is sorted by namespace, then name")
async def everywhere(p: Probe) -> None:
    other = f"a-{p.id}"
    await p.do("POST", p.everywhere("v1", "namespaces"), {"metadata": {"name": other}})
    path = p.everywhere("v1", "namespaces", other)
    p.cleanup.push_async_callback(p.ask, "DELETE", path)
    mine = {"labels": {"mine": p.id}}
    for name in ("a", "b"):
        for namespace in (p.ns, other):
            body = {"metadata": {"name": name, **mine}}
            await p.do("POST", p.path("v1", "secrets", ns=namespace), body)
    query = {"labelSelector": f"mine={p.id}"}
    await p.see("GET", p.everywhere("v1", "secrets"), query=query, pick=places)


@probe("limit gives pages: continue and remainingItemCount on all but the last")
async def pages(p: Probe) -> None:
    path = await secrets(p, "abcde")
    first = await p.see("GET", path, query={"limit": "2"})
    second = await p.see("GET", path, query={"limit": "2", **next_page(p, first)}, pick=page)
    await p.see("GET", path, query={"limit": "2", **next_page(p, second)}, pick=page)


@probe("pages of custom resources are the same")
async def custom_pages(p: Probe) -> None:
    for name in ("a", "b", "c"):
        await p.do("POST", p.path(WIDGETS, "widgets"), widget(name))
    path = p.path(WIDGETS, "widgets")
    first = await p.see("GET", path, query={"limit": "2"}, pick=page)
    await p.see("GET", path, query={"limit": "2", **next_page(p, first)}, pick=page)


@probe("a limit that everything fits into gives no continue")
async def fits(p: Probe) -> None:
    path = await secrets(p, "ab")
    for limit in ("2", "3", "0"):
        await p.see("GET", path, query={"limit": limit}, pick=page)


@probe("a continuation shows neither what was made nor what was deleted after the first page")
async def snapshot(p: Probe) -> None:
    path = await secrets(p, "abde")
    first = await p.see("GET", path, query={"limit": "2"}, pick=page)
    await secrets(p, "c")
    await p.do("DELETE", f"{path}/d")
    label = {"metadata": {"labels": {"late": "yes"}}}
    await p.do("PATCH", f"{path}/e", label, patch="merge")
    query = next_page(p, first)
    second = await p.see("GET", path, query={"limit": "1", **query}, pick=page)
    third = await p.see("GET", path, query={"limit": "1", **next_page(p, second)})
    await p.see("GET", path, query=query, note="the same page again, without a limit", pick=page)
    versions = {answer["metadata"]["resourceVersion"] for answer in (first, second, third)}
    p.note("all pages have the first one's resourceVersion", len(versions) == 1)


@probe("a page of a custom resource is a snapshot too")
async def custom_snapshot(p: Probe) -> None:
    path = p.path(WIDGETS, "widgets")
    for name in ("a", "c"):
        await p.do("POST", path, widget(name))
    first = await p.see("GET", path, query={"limit": "1"}, pick=page)
    await p.do("POST", path, widget("b"))
    await p.see("GET", path, query=next_page(p, first), pick=page)


@probe("pages of a selection have continue but no remainingItemCount")
async def selected_pages(p: Probe) -> None:
    path = p.path("v1", "configmaps")
    for name in ("a", "c", "e"):
        await p.do("POST", path, config_map(name, **MINE))
        await p.do("POST", path, config_map(f"{name}-not"))
    query = {"labelSelector": "mine=yes", "limit": "2"}
    first = await p.see("GET", path, query=query, pick=page)
    await p.see("GET", path, query={**query, **next_page(p, first)}, pick=page)
    query = {"fieldSelector": "metadata.name!=a", "limit": "2"}
    await p.see("GET", path, query=query, pick=page)


@probe("a continue token works with another limit and another selector")
async def other_selector(p: Probe) -> None:
    path = p.path("v1", "configmaps")
    for name in ("a", "b", "c", "d"):
        await p.do("POST", path, config_map(name, labels={"name": name}))
    first = await p.do("GET", path, query={"limit": "1"})
    query = {"labelSelector": "name in (a, c)", **next_page(p, first)}
    await p.see("GET", path, query=query, pick=page)


BAD_TOKENS = {
    "that is no base64": "%%%",
    "that is no JSON": base64.urlsafe_b64encode(b"abc").decode(),
    "of another version": token(v="other", rv=1, start="a\u0000"),
    "without a start": token(rv=1, start=""),
    "without a resourceVersion": token(start="a\u0000"),
    "that leads out of the collection": token(rv=1, start="../a"),
}


def bad_token(what: str, value: str) -> None:
    @probe(f"a continue token {what} is 400")
    async def run(p: Probe) -> None:
        await p.see("GET", p.path("v1", "secrets"), query={"continue": value})


for name, value in BAD_TOKENS.items():
    bad_token(name, value)


@probe("a continue token with a negative resourceVersion continues in the present")
async def present(p: Probe) -> None:
    path = await secrets(p, "abc")
    await p.see("GET", path, query={"continue": token(rv=-1, start="a\u0000")}, pick=page)


@probe("a continue token of the future is 504 after a while, as a list of the future is")
async def future(p: Probe) -> None:
    value = token(rv=10**12, start="a\u0000")
    await p.see("GET", p.path("v1", "secrets"), query={"continue": value})


@probe("continue excludes resourceVersion other than 0, and resourceVersionMatch")
async def with_version(p: Probe) -> None:
    path = await secrets(p, "ab")
    for version in ("1", "0"):
        first = await p.do("GET", path, query={"limit": "1"})
        query = {"resourceVersion": version, **next_page(p, first)}
        await p.see("GET", path, query=query, pick=page)
    query = {"resourceVersionMatch": "Exact", **next_page(p, first)}
    await p.see("GET", path, query=query, pick=page)


ODD_LIMITS = {
    "-1": "is the same as no limit",
    "x": "is 400",
    "1.5": "is 400",
    "99999999999999999999": "is 400, out of range",
}


def odd_limit(limit: str, answered: str) -> None:
    @probe(f"limit={limit} {answered}")
    async def run(p: Probe) -> None:
        path = await secrets(p, "ab")
        await p.see("GET", path, query={"limit": limit}, pick=page)


for value, answered in ODD_LIMITS.items():
    odd_limit(value, answered)


@probe("timeoutSeconds that is no number is 400")
async def bad_timeout(p: Probe) -> None:
    await p.see("GET", p.path("v1", "secrets"), query={"timeoutSeconds": "x"})
