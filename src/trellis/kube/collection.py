# SPDX-License-Identifier: Apache-2.0
"""The objects of one kind in one namespace, or everywhere: every verb of the API.

Every write says who makes it (the field manager). Nothing is compared, cached or decided here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

import msgspec

from trellis.kube.codec import JSON, decode, encode
from trellis.kube.errors import Expired
from trellis.kube.listing import Listing, Pages
from trellis.kube.resource import path
from trellis.kube.transport import Request
from trellis.kube.verbs import DRY_RUN, EVERYTHING, PLAIN_DELETION
from trellis.kube.watch import Watch

if TYPE_CHECKING:
    from collections.abc import Callable

    from trellis.api.meta import Resource
    from trellis.kube.client import Client
    from trellis.kube.codec import Body
    from trellis.kube.errors import KubeError
    from trellis.kube.transport import Pairs
    from trellis.kube.verbs import Deletion, Patch, Selection

T = TypeVar("T")

# A list that expires again and again is longer than the server's memory: the caller must know.
_MOST_RESTARTS = 3


class _Kind(msgspec.Struct, rename="camel"):
    kind: str = ""
    api_version: str = ""


_STATUS = _Kind("Status", "v1")


@dataclass(frozen=True, slots=True)
class Limits:
    """In seconds: for one exchange, and for how long a write may wait to be sent again."""

    timeout: float
    patience: float | None = None


class Collection(Generic[T]):
    """Made by `Client.of`. Objects come back as `T`; bodies are structs, dicts or bytes."""

    def __init__(
        self,
        client: Client,
        resource: Resource,
        into: type[T],
        namespace: str,
        limits: Limits,
    ) -> None:
        self.client = client
        self.resource = resource
        self.into = into
        self.namespace = namespace
        self.limits = limits

    async def get(self, name: str, *, subresource: str = "", resource_version: str = "") -> T:
        """With a resourceVersion, as of then or later, from the server's cache; else the newest."""
        query = (("resourceVersion", resource_version),) if resource_version else ()
        return await self._object("GET", self._path(name, subresource), query)

    async def list(self, selection: Selection = EVERYTHING) -> Listing[T]:
        """All of them at one moment. One that cannot be read as `T` is an error, not an absence."""
        listing = await self.list_readable(selection)
        if listing.unreadable:
            raise listing.unreadable[0]
        return listing

    async def list_readable(self, selection: Selection = EVERYTHING) -> Listing[T]:
        """The same without those that cannot be read, which `Listing.unreadable` names.

        It is read in pages, and begun anew when they expire midway.
        """
        for _ in range(_MOST_RESTARTS):
            try:
                return await self._pages(selection)
            except Expired:
                continue
        return await self._pages(selection)

    def watch(
        self,
        selection: Selection = EVERYTHING,
        *,
        resource_version: str = "",
        on_trouble: Callable[[KubeError], None] | None = None,
    ) -> Watch[T]:
        """Everything there is, then what changes; from a resourceVersion, only what changes."""
        return Watch(self, selection, resource_version, on_trouble)

    async def create(self, body: Body, *, dry_run: bool = False) -> T:
        query = self._written(dry_run=dry_run)
        return await self._object("POST", self._path(), query, (JSON, encode(body)))

    async def create_in(
        self, name: str, subresource: str, body: Body, *, dry_run: bool = False
    ) -> T:
        """Posts to a part of an object: `eviction`, `binding`, `token`."""
        path = self._path(name, subresource)
        return await self._object(
            "POST", path, self._written(dry_run=dry_run), (JSON, encode(body))
        )

    async def replace(
        self, name: str, body: Body, *, subresource: str = "", dry_run: bool = False
    ) -> T:
        """Puts the whole object; fields that the body lacks are lost."""
        path = self._path(name, subresource)
        return await self._object("PUT", path, self._written(dry_run=dry_run), (JSON, encode(body)))

    async def patch(
        self, name: str, patch: Patch, *, subresource: str = "", dry_run: bool = False
    ) -> T:
        path = self._path(name, subresource)
        force = (("force", "true"),) if patch.force else ()
        query = (*self._written(dry_run=dry_run), *force)
        return await self._object("PATCH", path, query, (patch.type.value, patch.body))

    async def delete(
        self, name: str, deletion: Deletion = PLAIN_DELETION, *, dry_run: bool = False
    ) -> T | None:
        """The object as it was left, or None when the server only says that it is gone."""
        query = DRY_RUN if dry_run else ()
        content = (JSON, deletion.body(dry_run=dry_run))
        request = self.request("DELETE", self._path(name), query, content)
        answer = (await self.client.send(request)).body
        if decode(answer, _Kind, str(request)) == _STATUS:
            return None
        return decode(answer, self.into, str(request))

    async def delete_all(
        self, selection: Selection, deletion: Deletion = PLAIN_DELETION, *, dry_run: bool = False
    ) -> None:
        """Deletes what is selected in this collection, in one request."""
        query = (*selection.query, *(DRY_RUN if dry_run else ()))
        content = (JSON, deletion.body(dry_run=dry_run))
        await self.client.send(self.request("DELETE", self._path(), query, content))

    def request(
        self, method: str, path: str, query: Pairs, content: tuple[str, bytes] | None = None
    ) -> Request:
        """One of this collection's requests, with its headers and its timeout."""
        kind, body = content if content else ("", None)
        headers = (*self.client.headers, ("Content-Type", kind)) if kind else self.client.headers
        return Request(
            method=method,
            path=path,
            query=query,
            headers=headers,
            body=body,
            timeout=self.limits.timeout,
            patience=self.limits.patience,
        )

    async def _object(
        self, method: str, path: str, query: Pairs, content: tuple[str, bytes] | None = None
    ) -> T:
        request = self.request(method, path, query, content)
        return decode((await self.client.send(request)).body, self.into, str(request))

    async def _pages(self, selection: Selection) -> Listing[T]:
        path = self._path()
        pages = Pages(self.into, f"GET {path}")
        while True:
            request = self.request("GET", path, (*selection.query, *pages.query))
            if not pages.add((await self.client.send(request)).body):
                return pages.listing()

    def _path(self, name: str = "", subresource: str = "") -> str:
        return path(self.resource, self.namespace, name, subresource)

    def _written(self, *, dry_run: bool) -> Pairs:
        by = (("fieldManager", self.client.manager),)
        return (*by, *DRY_RUN) if dry_run else by
