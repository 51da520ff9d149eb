# SPDX-License-Identifier: Apache-2.0
"""Lists as the server sends them, page by page. Pure."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Generic, TypeVar

import msgspec

from trellis.kube.codec import decode
from trellis.kube.errors import Unreadable

if TYPE_CHECKING:
    from trellis.kube.transport import Pairs

T = TypeVar("T")

PAGE = 500


class Listing(msgspec.Struct, Generic[T], frozen=True, kw_only=True):
    """Objects as they were at one moment, and that moment's resourceVersion.

    `unreadable` names those that do not fit the type they were to be decoded into.
    """

    objects: list[T]
    resource_version: str
    unreadable: tuple[Unreadable, ...] = ()


class _Metadata(msgspec.Struct, rename="camel"):
    resource_version: str = ""
    more: str = msgspec.field(default="", name="continue")


class _Page(msgspec.Struct, Generic[T]):
    metadata: _Metadata
    # Go writes an empty list as null.
    items: list[T] | None = None


class _Named(msgspec.Struct):
    name: str = ""
    namespace: str = ""


class _Object(msgspec.Struct):
    metadata: _Named


class Pages(Generic[T]):
    """Gathers the pages of one list. All pages show the moment of the first."""

    def __init__(self, into: type[T], what: str) -> None:
        self._into = into
        self._what = what
        self._objects: list[T] = []
        self._unreadable: list[Unreadable] = []
        self._resource_version = ""
        self._more = ""

    @property
    def query(self) -> Pairs:
        """What to ask for the next page with."""
        more = (("continue", self._more),) if self._more else ()
        return (("limit", str(PAGE)), *more)

    def add(self, content: bytes) -> bool:
        """Takes a page, and says whether there is another."""
        page = self._decoded(content)
        self._objects += page.items or []
        self._resource_version = page.metadata.resource_version
        self._more = page.metadata.more
        return bool(self._more)

    def listing(self) -> Listing[T]:
        return Listing(
            objects=self._objects,
            resource_version=self._resource_version,
            unreadable=tuple(self._unreadable),
        )

    def _decoded(self, content: bytes) -> _Page[T]:
        if self._into is not bytes:
            # Perhaps only one object is odd, and it must not hide the others.
            with suppress(Unreadable):
                return decode(content, _Page[self._into], self._what)  # type: ignore[name-defined]
        page = decode(content, _Page[msgspec.Raw], self._what)
        items = [item for raw in page.items or [] for item in self._one(raw)]
        return _Page(metadata=page.metadata, items=items)

    def _one(self, raw: msgspec.Raw) -> list[T]:
        try:
            return [decode(raw, self._into, self._what)]
        except Unreadable as error:
            metadata = decode(raw, _Object, self._what).metadata
            named = f"{metadata.namespace}/{metadata.name}".removeprefix("/")
            self._unreadable.append(Unreadable(f"{named}: {error}"))
            return []
