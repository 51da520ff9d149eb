# SPDX-License-Identifier: Apache-2.0
"""A probe: requests to a server and the observations they give, independent of every other probe.

    @probe("a config map that is there already is refused with 409")
    async def exists_already(p: Probe) -> None:
        await p.do("POST", p.path("v1", "configmaps"), config_map("a"))
        await p.see("POST", p.path("v1", "configmaps"), config_map("a"))

`do` prepares and must succeed; `see` is recorded, whatever comes back. Everything a probe makes
lies in its own namespace `p.ns`, or has `p.id` in its name where it is not namespaced.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tests.support.api import PATCHES, Answer, Api, Request

if TYPE_CHECKING:
    import aiohttp

POLL_SECONDS = 0.05
PATIENCE_SECONDS = 20.0
HOLD = "trellis.dev/hold"
SEEN_HEADERS = ("Allow", "Cache-Control", "Content-Type", "Retry-After", "Warning")

Body = Callable[["Probe"], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Registered:
    area: str
    title: str
    run: Body
    since: int
    """The first minor of Kubernetes 1.x on which it makes sense."""

    @property
    def key(self) -> str:
        return f"{self.area}: {self.title}"


REGISTRY: dict[str, Registered] = {}


def probe(title: str, *, since: int = 0) -> Callable[[Body], Body]:
    """Registers a probe under its module's name (the area) and a sentence (the behaviour)."""

    def register(body: Body) -> Body:
        entry = Registered(body.__module__.rpartition(".")[2], title, body, since)
        if entry.key in REGISTRY:
            raise ValueError(f"two probes are called {entry.key!r}")
        REGISTRY[entry.key] = entry
        return body

    return register


class ProbeBroken(Exception):
    """A probe could not get to what it wanted to see."""


@dataclass(slots=True)
class Probe:
    """What a probe has: a user (the admin), a namespace, a unique id, and a recording."""

    api: Api
    id: str
    cleanup: AsyncExitStack
    patience: float = PATIENCE_SECONDS
    recorded: list[dict[str, Any]] = field(default_factory=list)
    hidden: dict[str, str] = field(default_factory=dict)

    @property
    def ns(self) -> str:
        return f"probe-{self.id}"

    def path(self, version: str, resource: str, *more: str, ns: str | None = None) -> str:
        """`p.path("apps/v1", "deployments", "web", "scale")`, in the probe's own namespace."""
        return "/".join([_root(version), "namespaces", ns or self.ns, resource, *more])

    @staticmethod
    def everywhere(version: str, resource: str, *more: str) -> str:
        """The path of a cluster-scoped resource, or of a resource in all namespaces."""
        return "/".join([_root(version), resource, *more])

    def hide(self, value: str, shown: str) -> None:
        """For what the server makes up anew each time: an address, a port, a random suffix."""
        self.hidden[value] = f"<{shown}>"

    async def do(self, method: str, path: str, body: Any = None, **how: Any) -> Any:
        """A step that must succeed and is not recorded. Returns the decoded body."""
        answer = await self._send(method, path, body, how)
        if answer.status >= 300:
            said = answer.content[:600].decode(errors="replace")
            raise ProbeBroken(f"{method} {path} answered {answer.status}: {said}")
        return answer.body

    async def ask(self, method: str, path: str, body: Any = None, **how: Any) -> Answer:
        """A step that may fail and is not recorded."""
        return await self._send(method, path, body, how)

    async def see(self, method: str, path: str, body: Any = None, **how: Any) -> Any:
        """A step that is recorded: request line, status, headers, body. Returns the decoded body.

        `pick` narrows a large body to the part the probe is about. `note` labels the step.
        """
        note, pick = how.pop("note", None), how.pop("pick", None)
        request = _request(method, path, body, how)
        answer = await self._api(how).send(request)
        shown = pick(answer.body) if pick and answer.status < 300 else answer.body
        self._record(request, note, answer.status, answer.headers, {"body": shown})
        return answer.body

    def note(self, what: str, value: Any) -> None:
        """Records a fact that is not an answer: a computed value, what a webhook was sent."""
        self.recorded.append({"note": what, "value": value})

    async def until(
        self, method: str, path: str, ready: Callable[[Answer], bool], **how: Any
    ) -> Answer:
        """Repeats a step, unrecorded, until its answer is as wanted or `patience` is over."""
        body = how.pop("body", None)
        deadline = time.monotonic() + how.pop("patience", self.patience)
        while True:
            answer = await self._send(method, path, body, dict(how))
            if ready(answer):
                return answer
            if time.monotonic() > deadline:
                said = answer.content[:600].decode(errors="replace")
                raise ProbeBroken(f"waited for {method} {path}; last {answer.status}: {said}")
            await asyncio.sleep(POLL_SECONDS)

    async def until_gone(self, path: str, **how: Any) -> None:
        await self.until("GET", path, lambda answer: answer.status == 404, **how)

    async def held(self, collection: str, body: dict[str, Any]) -> Any:
        """Makes an object that a finalizer keeps from going, and lets it go at the probe's end."""
        metadata = {"finalizers": [HOLD], **body["metadata"]}
        made = await self.do("POST", collection, {**body, "metadata": metadata})
        release = {"metadata": {"finalizers": None}}
        path = f"{collection}/{metadata['name']}"
        self.cleanup.push_async_callback(self.ask, "PATCH", path, release, patch="merge")
        return made

    @asynccontextmanager
    async def watch(self, path: str, **how: Any) -> AsyncIterator[Watch]:
        """A recorded watch: what is read inside the block becomes one observation at its end."""
        note, pick = how.pop("note", None), how.pop("pick", None)
        how["query"] = {"watch": "1", **how.get("query", {})}
        request = _request("GET", path, None, how)
        async with self._api(how).stream(request) as response:
            watch = Watch(response, self.patience)
            yield watch
        events = [pick(event) if pick else event for event in watch.events]
        seen = {"events": events, "ended": watch.ended}
        if response.status != 200:
            seen = {"body": watch.refusal}
        self._record(request, note, response.status, response.headers, seen)

    def _record(
        self,
        request: Request,
        note: str | None,
        status: int,
        headers: Mapping[str, str],
        seen: dict[str, Any],
    ) -> None:
        shown = {name: _header(headers, name) for name in SEEN_HEADERS if name in headers}
        line = {"request": f"{request.method} {request.target}", "status": status}
        label = {"note": note} if note else {}
        self.recorded.append({**label, **line, "headers": shown, **seen})

    async def _send(self, method: str, path: str, body: Any, how: dict[str, Any]) -> Answer:
        return await self._api(how).send(_request(method, path, body, how))

    def _api(self, how: dict[str, Any]) -> Api:
        return self.api.with_token(how["token"]) if "token" in how else self.api


@dataclass(slots=True)
class Watch:
    """The events of a watch, read when asked for and kept in order."""

    response: aiohttp.ClientResponse
    patience: float
    events: list[dict[str, Any]] = field(default_factory=list)
    ended: bool = False
    refusal: Any = None

    async def read(self, count: int) -> list[dict[str, Any]]:
        """Reads exactly so many events more; the server ending the watch first breaks the probe."""
        first = len(self.events)
        for _ in range(count):
            if not await self._next():
                raise ProbeBroken(f"the watch ended after {len(self.events)} events")
        return self.events[first:]

    async def read_to_end(self) -> list[dict[str, Any]]:
        """Reads until the server ends the watch, or the refusal if it never began."""
        if self.response.status != 200:
            content = await self.response.read()
            self.refusal = json.loads(content) if content.startswith(b"{") else content.decode()
            return []
        while await self._next():
            pass
        return self.events

    async def _next(self) -> bool:
        try:
            async with asyncio.timeout(self.patience):
                line = await self.response.content.readline()
        except TimeoutError:
            raise ProbeBroken(f"no event after {len(self.events)} within patience") from None
        if not line:
            self.ended = True
            return False
        self.events.append(json.loads(line))
        return True


def _request(method: str, path: str, body: Any, how: dict[str, Any]) -> Request:
    """`patch="merge"` sets the content type; `accept` and `headers` go as they are."""
    headers = dict(how.get("headers", {}))
    if "patch" in how:
        headers["Content-Type"] = PATCHES[how["patch"]]
    if "accept" in how:
        headers["Accept"] = how["accept"]
    unknown = set(how) - {"headers", "patch", "accept", "query", "token"}
    if unknown:
        raise TypeError(f"a probe's request takes no {sorted(unknown)}")
    return Request(method=method, path=path, body=body, query=how.get("query", {}), headers=headers)


def _header(headers: Mapping[str, str], name: str) -> str | list[str]:
    values = list(headers.getall(name)) if hasattr(headers, "getall") else [headers[name]]
    return values[0] if len(values) == 1 else values


def _root(version: str) -> str:
    return f"/apis/{version}" if "/" in version else f"/api/{version}"
