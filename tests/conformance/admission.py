# SPDX-License-Identifier: Apache-2.0
"""Admission webhooks for probes: an HTTPS server on loopback and its configuration, for a block.

    hook = Hook("deny", lambda request: {"allowed": False}, rules=[CONFIG_MAP_WRITES])
    async with webhooks(p, "validating", hook) as calls:
        await p.see("POST", p.path("v1", "configmaps"), config_map("a"))
        p.note("what the webhook was sent", calls["deny"][0])

A configuration reaches the server through a watch, so the block begins only after a canary in
the same configuration has been called.
"""

from __future__ import annotations

import asyncio
import base64
import json
import ssl
import tempfile
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from aiohttp import web

from tests.conformance.builders import config_map
from tests.conformance.probe import POLL_SECONDS, Probe
from trellis.webhooks.certificates import Authority, Subject

if TYPE_CHECKING:
    from tests.support.api import Answer

CONFIG_MAP_WRITES = {
    "apiGroups": [""],
    "apiVersions": ["v1"],
    "resources": ["configmaps"],
    "operations": ["CREATE", "UPDATE"],
}
_CANARY = "canary"
_CANARY_SECONDS = 20.0

Calls = dict[str, list[dict[str, Any]]]
Respond = Callable[[dict[str, Any]], dict[str, Any] | web.Response | Awaitable[web.Response]]


class Hook:
    """One webhook: a name, how it answers a review's request, and settings of its entry.

    An answer that is a dict becomes the `response` of a proper review; a `web.Response` goes out
    as it is, however wrong. Unless told otherwise it sees only objects of the probe's namespace.
    """

    def __init__(self, name: str, respond: Respond | None = None, **settings: Any) -> None:
        self.name = name
        self.respond: Respond = respond or (lambda _: {"allowed": True})
        self.settings = {"rules": [CONFIG_MAP_WRITES], **settings}
        self.heads: list[dict[str, str]] = []
        """Method, path and the headers that are the same always, of each call."""


@asynccontextmanager
async def webhooks(p: Probe, kind: str, *hooks: Hook) -> AsyncIterator[Calls]:
    """Serves and registers hooks; `kind` is mutating or validating. Yields reviews by hook name."""
    calls: Calls = defaultdict(list)
    path = p.everywhere("admissionregistration.k8s.io/v1", f"{kind}webhookconfigurations")
    name = f"probe-{kind}-{p.id}"
    # First in the chain: a mutating hook that refuses ends it before what comes after.
    hooks = (_canary(), *hooks)
    async with _server(p, hooks, calls) as client_config:
        entries = [_entry(p, hook, client_config) for hook in hooks]
        await p.do(
            "POST",
            path,
            {
                "apiVersion": "admissionregistration.k8s.io/v1",
                "kind": f"{kind.capitalize()}WebhookConfiguration",
                "metadata": {"name": name},
                "webhooks": entries,
            },
        )
        try:
            await _until_called(p, calls)
            yield calls
        finally:
            await p.ask("DELETE", f"{path}/{name}")


def _canary() -> Hook:
    return Hook(_CANARY, objectSelector={"matchLabels": {"trellis.dev/canary": "true"}})


def _entry(p: Probe, hook: Hook, client_config: Callable[[str], dict[str, Any]]) -> dict[str, Any]:
    return {
        "name": f"{hook.name}.{p.id}.example.com",
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
        "clientConfig": client_config(hook.name),
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": p.ns}},
        **hook.settings,
    }


async def settled(p: Probe, path: str) -> None:
    """Waits until the server's cache holds an object as it is. A write begins with the cached one,
    and where that is old it begins again, so that webhooks are called twice."""
    now = (await p.do("GET", path))["metadata"]["resourceVersion"]

    def cached(answer: Answer) -> bool:
        return answer.status == 200 and bool(answer.body["metadata"]["resourceVersion"] == now)

    await p.until("GET", path, cached, query={"resourceVersion": "0"})


async def _until_called(p: Probe, calls: Calls) -> None:
    sample = config_map("canary", labels={"trellis.dev/canary": "true"})
    async with asyncio.timeout(_CANARY_SECONDS):
        while not calls[_CANARY]:
            await p.ask("POST", p.path("v1", "configmaps"), sample, query={"dryRun": "All"})
            await asyncio.sleep(POLL_SECONDS)
    # What the canary provoked in the other hooks is no concern of the probe.
    calls.clear()


@asynccontextmanager
async def _server(
    p: Probe, hooks: tuple[Hook, ...], calls: Calls
) -> AsyncIterator[Callable[[str], dict[str, Any]]]:
    by_name = {hook.name: hook for hook in hooks}

    async def review(request: web.Request) -> web.Response:
        body = await request.json()
        hook = by_name[request.match_info["name"]]
        calls[hook.name].append(body)
        hook.heads.append(_head(request))
        said = hook.respond(body["request"])
        if isinstance(said, Awaitable):
            said = await said
        if isinstance(said, web.Response):
            return said
        answer = {"uid": body["request"]["uid"], **said}
        return web.json_response(
            {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": answer}
        )

    application = web.Application()
    application.router.add_post("/{name}", review)
    # Slow answers are part of some probes; nothing may wait for them afterwards.
    runner = web.AppRunner(application, shutdown_timeout=0.1)
    await runner.setup()
    context, authority = _tls()
    site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context)
    await site.start()
    try:
        port = runner.addresses[0][1]
        p.hide(f"127.0.0.1:{port}", "webhook")
        bundle = base64.b64encode(authority).decode()
        yield lambda name: {"url": f"https://127.0.0.1:{port}/{name}", "caBundle": bundle}
    finally:
        await runner.cleanup()


def _tls() -> tuple[ssl.SSLContext, bytes]:
    now = datetime.now(UTC)
    authority = Authority.create("probe", now)
    pair = authority.issue(Subject(name="probe", hosts=("127.0.0.1",)), now)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with tempfile.NamedTemporaryFile() as file:
        file.write(pair.certificate + b"\n" + pair.key)
        file.flush()
        context.load_cert_chain(file.name)
    return context, authority.pair.certificate


def _head(request: web.Request) -> dict[str, str]:
    shown = ("Accept", "Accept-Encoding", "Content-Type", "User-Agent")
    headers = {name: request.headers[name] for name in shown if name in request.headers}
    return {"line": f"{request.method} {request.path_qs}", **headers}


def rule(
    resource: str, *operations: str, group: str = "", version: str = "v1", **more: Any
) -> dict[str, Any]:
    """A rule for one resource (or `pods/status`), for the operations named or for all."""
    return {
        "apiGroups": [group],
        "apiVersions": [version],
        "resources": [resource],
        "operations": list(operations) or ["*"],
        **more,
    }


def json_patch(*operations: dict[str, Any]) -> dict[str, Any]:
    """The response of a mutating webhook that allows and changes."""
    encoded = base64.b64encode(json.dumps(list(operations)).encode()).decode()
    return {"allowed": True, "patchType": "JSONPatch", "patch": encoded}
