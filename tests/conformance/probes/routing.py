# SPDX-License-Identifier: Apache-2.0
"""Paths, methods and queries before any object is looked at: who answers, and with what."""

from __future__ import annotations

from typing import Any

from tests.conformance.builders import config_map
from tests.conformance.kinds import GROUP, WIDGETS, beacon, widget
from tests.conformance.probe import Probe, probe

# How bytes travel, and what priority and fairness adds: no client relies on either.
_TRANSPORT = {"Connection", "Content-Length", "Date", "Transfer-Encoding"}


async def _see_all(p: Probe, method: str, *paths: str) -> None:
    for path in paths:
        await p.see(method, path)


async def _a_and_a(p: Probe) -> tuple[str, str]:
    """A config map and a widget, both called a; returns their paths."""
    await p.do("POST", p.path("v1", "configmaps"), config_map("a"))
    await p.do("POST", p.path(WIDGETS, "widgets"), widget("a"))
    return p.path("v1", "configmaps", "a"), p.path(WIDGETS, "widgets", "a")


def _kind(body: dict[str, Any]) -> dict[str, Any]:
    return {"kind": body["kind"]}


@probe(
    "a path that no group owns is 404 in plain text, and so is an unknown version of a CR's group"
)
async def unknown_path(p: Probe) -> None:
    await _see_all(
        p,
        "GET",
        "/nonsense",
        "/apis/nonsense.example.com",
        "/apis/nonsense.example.com/v1/things",
        f"/apis/{GROUP}/v9",
        f"/apis/{GROUP}/v9/widgets",
    )


@probe("an unknown resource, version or subresource of a built-in group is 404 with a Status")
async def unknown_resource(p: Probe) -> None:
    await _see_all(
        p,
        "GET",
        p.path("v1", "nonsense"),
        "/apis/apps/v1/nonsense",
        "/apis/apps/v9",
        "/apis/apps/v9/deployments",
        p.path("v1", "configmaps", "a", "nonsense"),
        "/api/v9/pods",
    )


@probe(
    "an unknown resource of a custom group is 404 in plain text, an unknown subresource a Status"
)
async def unknown_custom_resource(p: Probe) -> None:
    _, path = await _a_and_a(p)
    await _see_all(p, "GET", p.path(WIDGETS, "nonsense"), p.everywhere(WIDGETS, "nonsense"))
    await p.see("GET", f"{path}/nonsense")


@probe("an object of a namespaced kind has no path outside a namespace")
async def namespaced_outside(p: Probe) -> None:
    await _see_all(p, "GET", "/api/v1/configmaps/a", f"/apis/{WIDGETS}/widgets/a")


@probe("a cluster-scoped kind has no path inside a namespace")
async def cluster_scoped_inside(p: Probe) -> None:
    await _see_all(p, "GET", p.path("v1", "nodes"), p.path(WIDGETS, "beacons"))
    await p.see("POST", p.path(WIDGETS, "beacons"), beacon(f"b-{p.id}"))


@probe("HEAD is not allowed on built-in kinds, but answers like GET on a custom resource")
async def head(p: Probe) -> None:
    path, custom = await _a_and_a(p)
    await _see_all(p, "HEAD", path, p.path("v1", "configmaps"), custom, f"{custom}-missing")


@probe("OPTIONS is 405, with different words for built-in kinds and custom resources")
async def options(p: Probe) -> None:
    path, custom = await _a_and_a(p)
    await _see_all(p, "OPTIONS", path, p.path("v1", "configmaps"), custom)


@probe("a method that a path of a built-in kind does not have is 405")
async def wrong_method(p: Probe) -> None:
    path, _ = await _a_and_a(p)
    await p.see("PUT", p.path("v1", "configmaps"), config_map("a"))
    await p.see("PATCH", p.path("v1", "configmaps"), {}, patch="merge")
    await p.see("POST", path, config_map("a"))
    await p.see("FROB", path)
    await p.see("DELETE", p.everywhere("v1", "namespaces"))


@probe(
    "PUT and PATCH of a list of custom resources are 400, POST to a named one tries to create it"
)
async def wrong_method_custom(p: Probe) -> None:
    _, path = await _a_and_a(p)
    await p.see("PUT", p.path(WIDGETS, "widgets"), widget("a"))
    await p.see("PATCH", p.path(WIDGETS, "widgets"), {}, patch="merge")
    await p.see("POST", path, widget("a"))
    await p.see("POST", p.path(WIDGETS, "widgets", "b"), widget("c"))


@probe("a status subresource can be neither created nor deleted")
async def wrong_method_status(p: Probe) -> None:
    _, path = await _a_and_a(p)
    await p.see("POST", f"{path}/status", widget("a"))
    await p.see("DELETE", f"{path}/status")
    await p.see("DELETE", p.path("v1", "pods", "a", "status"))


@probe("creating through the path of all namespaces is 405, and 404 in plain text for a CR")
async def post_everywhere(p: Probe) -> None:
    await p.see("POST", p.everywhere("v1", "configmaps"), config_map("a", namespace=p.ns))
    await p.see("POST", p.everywhere(WIDGETS, "widgets"), widget("a", namespace=p.ns))


@probe("a slash at the end of a path changes nothing")
async def trailing_slash(p: Probe) -> None:
    path, custom = await _a_and_a(p)
    await _see_all(p, "GET", f"{path}/", f"{custom}/")
    await p.see("GET", p.path("v1", "configmaps", ""), pick=_kind)
    await p.see("GET", p.path(WIDGETS, "widgets", ""), pick=_kind)
    await p.see("POST", p.path("v1", "configmaps", ""), config_map("b"), pick=_kind)


@probe("a slash at the end of a discovery path changes nothing")
async def trailing_slash_discovery(p: Probe) -> None:
    for path in ("/api/", "/apis/", "/api/v1/", "/apis/apps/", f"/apis/{WIDGETS}/"):
        await p.see("GET", path, pick=_kind)
    await p.see("GET", "/version/", pick=sorted)


@probe("two slashes in a row are not one")
async def double_slash(p: Probe) -> None:
    await p.see("GET", f"/api/v1//namespaces/{p.ns}/configmaps")
    await p.see("GET", f"//api/v1/namespaces/{p.ns}/configmaps/a")


@probe("a name that no object can have is simply not found, but two dots are 400")
async def odd_names(p: Probe) -> None:
    await p.see("GET", p.path("v1", "configmaps", "Not%20A%20Name"))
    await p.see("GET", p.path(WIDGETS, "widgets", "Not%20A%20Name"))
    await p.see("GET", p.path("v1", "configmaps", "a%2Fb"))
    await p.see("GET", p.path("v1", "configmaps", ".."))


async def _note_headers(p: Probe, method: str, path: str, body: Any = None) -> None:
    answer = await p.ask(method, path, body)
    names = {name for name in answer.headers if "-Pf-" not in name.title()}
    p.note(f"headers of {method} {path}", sorted(names - _TRANSPORT))


@probe("every answer has an Audit-Id and a Cache-Control header")
async def header_names(p: Probe) -> None:
    await _note_headers(p, "POST", p.path("v1", "configmaps"), config_map("a"))
    for path in ("a", "missing"):
        await _note_headers(p, "GET", p.path("v1", "configmaps", path))
    for path in (p.path(WIDGETS, "widgets"), "/version", "/healthz", "/nonsense"):
        await _note_headers(p, "GET", path)


@probe("an Audit-Id that the client sends comes back")
async def audit_id(p: Probe) -> None:
    path = p.path("v1", "configmaps", "a")
    answer = await p.ask("GET", path, headers={"Audit-ID": "my-own-id"})
    p.note("Audit-Id", answer.headers["Audit-Id"])


@probe("the version names the minor, and only GET reads it")
async def version(p: Probe) -> None:
    await p.see("GET", "/version", pick=_without_build)
    await _see_all(p, "HEAD", "/version")
    await _see_all(p, "POST", "/version")


def _without_build(version: dict[str, str]) -> dict[str, str]:
    """Major and minor stay: the goldens are of one minor. The rest is of one build."""
    return {
        name: value if name.lower().endswith(("major", "minor")) else "<build>"
        for name, value in version.items()
    }


@probe("health endpoints answer ok in plain text, whatever the method")
async def health(p: Probe) -> None:
    await _see_all(p, "GET", "/healthz", "/livez", "/readyz")
    await _see_all(p, "HEAD", "/livez")
    await _see_all(p, "POST", "/livez")


@probe("one health check can be asked for or left out, and an unknown one is 404")
async def health_checks(p: Probe) -> None:
    await _see_all(p, "GET", "/livez/ping", "/livez/nonsense", "/livez/")
    await p.see("GET", "/livez", query={"exclude": "ping"})
    for name in ("livez", "readyz"):
        await p.see("GET", f"/{name}", query={"verbose": ""}, pick=_first_and_last)


def _first_and_last(text: str) -> list[str]:
    lines = text.splitlines()
    return [lines[0], lines[-1]]


@probe("watch is ignored on a named object")
async def watch_named(p: Probe) -> None:
    for path in await _a_and_a(p):
        await p.see("GET", path, query={"watch": "1"})
        await p.see("GET", path, query={"watch": "true"}, pick=_kind)


@probe("an unknown query parameter is ignored, a timeout must be a duration")
async def queries(p: Probe) -> None:
    path, _ = await _a_and_a(p)
    await p.see("GET", path, query={"nonsense": "1"}, pick=_kind)
    await p.see("GET", path, query={"timeout": "10s"}, pick=_kind)
    await p.see("GET", path, query={"timeout": "-1s"}, pick=_kind)
    await p.see("GET", path, query={"timeout": "nonsense"})
    await p.see("GET", path, query={"timeout": "10"})


@probe("pretty indents by two spaces and leaves out the line end")
async def pretty(p: Probe) -> None:
    path = p.path("v1", "configmaps", "missing")
    for value in ("", "true", "1", "false", "0", "nonsense"):
        answer = await p.ask("GET", path, query={"pretty": value} if value else {})
        p.note(f"text with pretty={value}", answer.content.decode())


@probe("browsers, curl and wget get indented answers without asking")
async def pretty_agents(p: Probe) -> None:
    path = p.path("v1", "configmaps", "missing")
    for agent in ("curl/8.5.0", "Mozilla/5.0", "Wget/1.2", "kubectl/v1.36.3"):
        answer = await p.ask("GET", path, headers={"User-Agent": agent})
        p.note(f"text for {agent}", answer.content.decode())
