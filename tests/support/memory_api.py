# SPDX-License-Identifier: Apache-2.0
"""A small API server in memory, behind the transport seam: enough for controllers to run against.

Objects of any kind, versions, merge patches, preconditions, finalizers, watches that can be held
back, and a place to inject faults. No validation, no defaults: what those do is the lab's to show.
"""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tests.support.transport import answer, bookmark, event, failure

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator, Mapping

    from trellis.kube.transport import Request, Response

    Body = dict[str, Any]

WRITES = ("POST", "PUT", "PATCH", "DELETE")


class Refusal(Exception):
    def __init__(self, response: Response) -> None:
        self.response = response


@dataclass(frozen=True, slots=True)
class Place:
    """What a path names: a collection, and perhaps one object, and a part of it."""

    resource: str
    namespace: str
    name: str
    part: str

    @classmethod
    def of(cls, path: str) -> Place:
        words = path.strip("/").split("/")
        words = words[2:] if words[0] == "api" else words[3:]
        namespace = words[1] if words[0] == "namespaces" and len(words) > 2 else ""
        resource, *rest = words[2:] if namespace else words
        name, part = (*rest, "", "")[:2]
        return cls(resource, namespace, name, part)


@dataclass
class MemoryApi:
    """A `Transport`. `before` and `after` see every request and may raise in its place."""

    before: Callable[[Request], None] = lambda _: None
    after: Callable[[Request], None] = lambda _: None
    version: int = 100
    requests: list[Request] = field(default_factory=list)
    _objects: dict[tuple[str, str, str], Body] = field(default_factory=dict)
    _log: list[tuple[int, str, str, Body]] = field(default_factory=list)
    _held_at: int | None = None
    _news: asyncio.Condition = field(default_factory=asyncio.Condition)

    def all(self, resource: str, namespace: str = "") -> list[Body]:
        return [
            found
            for (kind, where, _), found in self._objects.items()
            if kind == resource and namespace in ("", where)
        ]

    def names(self, resource: str) -> list[str]:
        return sorted(found["metadata"]["name"] for found in self.all(resource))

    @property
    def writes(self) -> list[str]:
        """Every write so far as `PATCH name/status`."""
        places = ((each.method, Place.of(each.path)) for each in self.requests)
        return [
            f"{method} {'/'.join(filter(None, (place.name or place.resource, place.part)))}"
            for method, place in places
            if method in WRITES
        ]

    def hold(self) -> None:
        """Watches tell nothing that happens from here on."""
        self._held_at = self.version

    async def release(self, up_to: int | None = None) -> None:
        self._held_at = up_to
        await self._wake()

    async def do(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Body:
        """What somebody else does to the cluster. A refusal is raised."""
        found = self._do(method, Place.of(path), dict(body or {}))
        await self._wake()
        return found

    async def request(self, request: Request) -> Response:
        await asyncio.sleep(0)
        self.before(request)
        self.requests.append(request)
        body = json.loads(request.body) if request.body else {}
        try:
            found = self._do(request.method, Place.of(request.path), body)
        except Refusal as refusal:
            return refusal.response
        await self._wake()
        self.after(request)
        return answer(found, 201 if request.method == "POST" else 200)

    @asynccontextmanager
    async def stream(self, request: Request) -> AsyncIterator[_Watch]:
        await asyncio.sleep(0)
        self.before(request)
        yield _Watch(self, Place.of(request.path), dict(request.query))

    async def close(self) -> None:
        pass

    def _do(self, method: str, place: Place, body: Body) -> Body:
        if method == "GET" and not place.name:
            items = self.all(place.resource, place.namespace)
            return {"items": items, "metadata": {"resourceVersion": str(self.version)}}
        if method == "POST":
            return self._create(place, body)
        key = (place.resource, place.namespace, place.name)
        if key not in self._objects:
            raise Refusal(failure(404, "NotFound", name=place.name, kind=place.resource))
        if method == "PATCH":
            return self._patch(key, place.part, body)
        if method == "DELETE":
            return self._delete(key, body.get("preconditions", {}))
        return self._objects[key]

    def _create(self, place: Place, body: Body) -> Body:
        metadata = body["metadata"]
        key = (place.resource, place.namespace, metadata["name"])
        if key in self._objects:
            raise Refusal(failure(409, "AlreadyExists", name=metadata["name"]))
        uid = f"uid-{self.version + 1}"
        made = {"namespace": place.namespace, "uid": uid, "generation": 1}
        return self._store("ADDED", key, {**body, "metadata": {**metadata, **made}})

    def _patch(self, key: tuple[str, str, str], part: str, body: Body) -> Body:
        old = self._objects[key]
        guard = body.get("metadata", {})
        if guard.get("uid", old["metadata"]["uid"]) != old["metadata"]["uid"]:
            cause = {"field": "metadata.uid", "message": "field is immutable"}
            raise Refusal(failure(422, "Invalid", name=key[2], causes=[cause]))
        version = old["metadata"]["resourceVersion"]
        if guard.get("resourceVersion", version) != version:
            raise Refusal(failure(409, "Conflict", name=key[2]))
        written = {"status": body.get("status")} if part == "status" else body
        new = merged(old, written)
        if new == old:
            return old
        if "deletionTimestamp" in new["metadata"] and not new["metadata"].get("finalizers"):
            return self._remove(key, new)
        if new.get("spec") != old.get("spec"):
            new["metadata"]["generation"] += 1
        return self._store("MODIFIED", key, new)

    def _delete(self, key: tuple[str, str, str], preconditions: Body) -> Body:
        old = self._objects[key]
        if preconditions.get("uid", old["metadata"]["uid"]) != old["metadata"]["uid"]:
            raise Refusal(failure(409, "Conflict", name=key[2]))
        if not old["metadata"].get("finalizers"):
            self._remove(key, old)
            return {"kind": "Status", "apiVersion": "v1", "status": "Success"}
        if "deletionTimestamp" in old["metadata"]:
            return old
        stamp = {"deletionTimestamp": "2026-01-01T00:00:00Z"}
        return self._store("MODIFIED", key, merged(old, {"metadata": stamp}))

    def _remove(self, key: tuple[str, str, str], last: Body) -> Body:
        gone = self._store("DELETED", key, last)
        del self._objects[key]
        return gone

    def _store(self, what: str, key: tuple[str, str, str], body: Body) -> Body:
        self.version += 1
        stored = {**body, "metadata": {**body["metadata"], "resourceVersion": str(self.version)}}
        self._objects[key] = stored
        self._log.append((self.version, key[0], what, stored))
        return stored

    async def _wake(self) -> None:
        async with self._news:
            self._news.notify_all()

    @property
    def told(self) -> int:
        """Up to which version watches tell."""
        return self.version if self._held_at is None else min(self._held_at, self.version)

    def between(self, after: int, place: Place) -> Iterator[bytes]:
        for version, resource, what, stored in self._log:
            here = place.namespace in ("", stored["metadata"]["namespace"])
            if after < version <= self.told and resource == place.resource and here:
                yield event(what, stored)

    async def until_past(self, version: int) -> None:
        async with self._news:
            await self._news.wait_for(lambda: self.told > version)


class _Watch:
    """One stream: what there is if asked for, then what happens."""

    status = 200
    headers: Mapping[str, str] = {}

    def __init__(self, api: MemoryApi, place: Place, query: Mapping[str, str]) -> None:
        self._api = api
        self._place = place
        self._from = int(query["resourceVersion"]) if "resourceVersion" in query else None
        self._ends = asyncio.get_running_loop().time() + float(query["timeoutSeconds"])

    async def __aiter__(self) -> AsyncIterator[bytes]:
        reached = self._from
        if reached is None:
            # A first list is consistent: it is never older than what was written before it.
            reached = self._api.version
            for found in self._api.all(self._place.resource, self._place.namespace):
                yield event("ADDED", found)
            yield bookmark(str(reached), initial_end=True)
        while True:
            for line in self._api.between(reached, self._place):
                yield line
            reached = max(reached, self._api.told)
            yield bookmark(str(reached))
            try:
                async with asyncio.timeout_at(self._ends):
                    await self._api.until_past(reached)
            except TimeoutError:
                return


def merged(old: Any, patch: Any) -> Any:
    """RFC 7386."""
    if not isinstance(patch, dict):
        return patch
    base = dict(old) if isinstance(old, dict) else {}
    for name, value in patch.items():
        if value is None:
            base.pop(name, None)
        else:
            base[name] = merged(base.get(name), value)
    return base
