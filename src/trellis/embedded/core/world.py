# SPDX-License-Identifier: Apache-2.0
"""What every verb works on: the store, the kinds, admission, the time and the dice."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from uuid import UUID

import msgspec

from trellis.embedded import refusals
from trellis.embedded.fields import manager_name
from trellis.embedded.stamps import stamp
from trellis.embedded.store.problems import TooLarge

if TYPE_CHECKING:
    from random import Random

    from trellis.embedded.access import Access, Reader
    from trellis.embedded.admission import Admission
    from trellis.embedded.asking import Object, User
    from trellis.embedded.core.registry import Registry
    from trellis.embedded.exchange import Ask
    from trellis.embedded.served import Served
    from trellis.embedded.store.records import Record
    from trellis.embedded.store.shelf import Shelf
    from trellis.embedded.store.store import Store
    from trellis.instruments.clock import Clock

_SUFFIX = "bcdfghjklmnpqrstvwxz2456789"
_SUFFIX_LENGTH = 5
_LONGEST_BASE = 63 - _SUFFIX_LENGTH


@dataclass(slots=True, kw_only=True)
class World:
    store: Store
    reader: Reader
    registry: Registry
    access: Access
    admission: Admission
    clock: Clock
    rng: Random

    def now(self) -> str:
        return stamp(self.clock.now())

    def uid(self) -> str:
        return str(UUID(int=self.rng.getrandbits(128), version=4))

    def suffixed(self, base: str) -> str:
        drawn = "".join(self.rng.choice(_SUFFIX) for _ in range(_SUFFIX_LENGTH))
        return base[:_LONGEST_BASE] + drawn

    def shelf(self, served: Served) -> Shelf:
        return self.store.shelf(*self.registry.stored_as(served))

    def put(self, served: Served, new: Object, expected: int) -> Record:
        """Commits an object, in the version that its kind is stored in."""
        kept = self.registry.to_storage(served, new)
        try:
            record = self.shelf(served).put(kept, self.registry.fields_of(served, kept), expected)
        except TooLarge:
            raise refusals.Refusal(500, "", "etcdserver: request is too large") from None
        if kept is not new:
            # What is shown is what another version made of it, and kept.
            shown = self.registry.read_as(served, record.decoded())
            new.clear()
            new.update(shown)
        return record

    def object(self, served: Served, record: Record) -> Object:
        """An object as it is served at that version: the caller's own."""
        found = record.decoded()
        return found if self.as_stored(served, record) else self.registry.read_as(served, found)

    def data(self, served: Served, record: Record) -> bytes:
        if self.as_stored(served, record):
            return record.data
        return msgspec.json.encode(self.object(served, record))

    def bare(self, served: Served, record: Record) -> bytes:
        """Without kind and apiVersion, as in lists of Kubernetes' own kinds."""
        if self.as_stored(served, record):
            return record.bare
        shown = self.object(served, record)
        del shown["kind"], shown["apiVersion"]
        return msgspec.json.encode(shown)

    def as_stored(self, served: Served, record: Record) -> bool:
        """Whether the bytes in the store are what that version shows."""
        return self.registry.kept_at(served) == served.api_version and (
            record.version > served.since
        )

    def read(self, group: str, plural: str, namespace: str, name: str) -> Object | None:
        """What is stored, not to be changed. Without a name: all of it, as `items`."""
        if name:
            return self.reader.get(group, plural, namespace, name)
        return {"items": self.reader.list(group, plural)}


@dataclass(slots=True, kw_only=True)
class Call:
    """One request on its way: who, what, where, and what it is warned of."""

    ask: Ask
    user: User
    served: Served
    verb: str
    namespace: str = ""
    name: str = ""
    subresource: str = ""
    warnings: list[str] = field(default_factory=list)

    @property
    def manager(self) -> str:
        """Who the fields of a write belong to, unless it says: the program, by its user agent."""
        return manager_name(self.ask.headers.get("user-agent", ""))
