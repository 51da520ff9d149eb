# SPDX-License-Identifier: Apache-2.0
"""The objects of one kind as the cluster last told: what every reconcile reads instead of asking.

Only the fields that the type declares are kept. Objects are shared by all readers and never
changed. What is read here may be older than what was written: see `barrier`.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from msgspec import structs

from trellis.api.meta import Key, Object
from trellis.api.selectors import matches, parse
from trellis.instruments.logs import logger
from trellis.kube.verbs import EVERYTHING, Selection
from trellis.runtime.index import BY_OWNER, Buckets, Index
from trellis.runtime.sharing import sharing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from datetime import datetime

    from trellis.api.meta import Resource
    from trellis.kube.events import Delta, Snapshot

T = TypeVar("T", bound=Object)
T_contra = TypeVar("T_contra", bound=Object, contravariant=True)

_log = logger(__name__)


class Listener(Protocol[T_contra]):
    def __call__(self, old: T_contra | None, new: T_contra | None, *, fresh: bool) -> None:
        """An object appeared (no old), changed, or is gone (no new). Quick, and never waits.

        `fresh`: it has just happened; else a list brought it, and it may have happened long ago.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Which objects of a kind are kept: of one namespace or all, and those that are selected.

    Whoever writes objects of the kind must have them all in scope: what is written and never seen
    would be waited for. An optional kind may not be served: nobody waits for it then.
    """

    namespace: str = ""
    selection: Selection = EVERYTHING
    optional: bool = False

    def covers(self, labels: Mapping[str, str]) -> bool:
        """Whether an object with these labels is kept, as far as labels decide."""
        return matches(parse(self.selection.labels), labels)


EVERYWHERE = Scope()


class Cache(Generic[T]):
    def __init__(
        self,
        resource: Resource,
        kind: type[T],
        indexes: Sequence[Index[T]] = (),
        scope: Scope = EVERYWHERE,
    ) -> None:
        self.resource = resource
        self.kind = kind
        self.scope = scope
        self.stored_kind = sharing(kind)
        """The type to decode into what this cache is to hold."""
        self.synced = False
        self.resource_version = 0
        """Everything that was written up to there is in the cache."""
        self.history = 0
        """Raised when the cluster's own history went back, as after a restored backup."""
        self._objects: dict[Key, T] = {}
        self._indexes = {index: Buckets(index) for index in (BY_OWNER, *indexes)}
        self._listeners: list[Listener[T]] = []
        self._on_progress: list[Callable[[], None]] = []
        self._on_gap: list[Callable[[], None]] = []
        self._waiting: list[asyncio.Future[None]] = []

    @property
    def label(self) -> str:
        """What this cache is called in metrics and logs: by all that its watch differs in."""
        chosen = (self.scope.namespace, *(f"{n}={v}" for n, v in self.scope.selection.query))
        return "?".join((self.resource.full_name, *filter(None, chosen)))

    def __len__(self) -> int:
        return len(self._objects)

    def __iter__(self) -> Iterator[T]:
        return iter(tuple(self._objects.values()))

    def get(self, key: Key) -> T | None:
        return self._objects.get(key)

    def find(self, index: Index[T], value: str) -> tuple[T, ...]:
        """The objects that the index files under that value. The cache must have been given it."""
        return self._indexes[index].find(value)

    def owned(self, uid: str) -> tuple[T, ...]:
        """The objects that name an owner with that uid."""
        return self._indexes[BY_OWNER].find(uid)

    def add_index(self, index: Index[T]) -> None:
        """Adding it again changes nothing."""
        if index not in self._indexes:
            buckets = self._indexes[index] = Buckets(index)
            for key, found in self._objects.items():
                buckets.change(key, None, found)

    def subscribe(self, listener: Listener[T]) -> None:
        """It is told of everything from here on; of what is there already, as of a list."""
        self._listeners.append(listener)
        for found in tuple(self._objects.values()):
            self._tell(listener, None, found, fresh=False)

    def on_progress(self, callback: Callable[[], None]) -> None:
        """Called whenever the cache has come further, after listeners were told."""
        self._on_progress.append(callback)

    def on_gap(self, callback: Callable[[], None]) -> None:
        """Called when something may have come and gone again without a word to listeners.

        Everything was read anew, or what is gone was never here.
        """
        self._on_gap.append(callback)

    async def until_synced(self) -> None:
        """Waits until everything has been read once."""
        while not self.synced:
            future = asyncio.get_running_loop().create_future()
            self._waiting.append(future)
            await future

    def replace(self, snapshot: Snapshot[T]) -> None:
        """Everything there is: what was known before and is not in it, is gone."""
        present = {found.metadata.key: found for found in snapshot.objects}
        for key in [key for key in self._objects if key not in present]:
            self._put(key, None, fresh=False)
        for key, found in present.items():
            self._put(key, found, fresh=False)
        version = as_number(snapshot.resource_version)
        if version < self.resource_version:
            self.history += 1
        first, self.synced = not self.synced, True
        self._advance(version, gap=not first)

    def apply(self, delta: Delta[T]) -> None:
        gap = False
        for change in delta.changes:
            key = Key(change.namespace, change.name)
            gap = gap or (change.object is None and key not in self._objects)
            if change.leaving is not None:
                self._mark(key, change.leaving)
            self._put(key, change.object, fresh=True)
        self._advance(max(self.resource_version, as_number(delta.resource_version)), gap=gap)

    def _mark(self, key: Key, leaving: datetime) -> None:
        """That it left and that it is gone came as one: listeners are told both."""
        old = self._objects.get(key)
        if old is not None and not old.metadata.deleting:
            metadata = structs.replace(old.metadata, deletion_timestamp=leaving)
            self._put(key, structs.replace(old, metadata=metadata), fresh=True)

    def _put(self, key: Key, new: T | None, *, fresh: bool) -> None:
        old = self._objects.get(key)
        if old is not None and new is not None and old.metadata.uid != new.metadata.uid:
            # The name has passed to another object, and the end of the first went unseen.
            self._put(key, None, fresh=fresh)
            old = None
        if new is not None:
            self._objects[key] = new
        elif self._objects.pop(key, None) is None:
            return
        for buckets in self._indexes.values():
            buckets.change(key, old, new)
        if old is None or new is None or not _reads_alike(old, new):
            for listener in self._listeners:
                self._tell(listener, old, new, fresh=fresh)

    def _tell(self, listener: Listener[T], old: T | None, new: T | None, *, fresh: bool) -> None:
        try:
            listener(old, new, fresh=fresh)
        except Exception:
            # One object that a listener cannot make sense of must not stop the others.
            names = [str(each.metadata.key) for each in (old, new) if each is not None]
            _log.exception("change not told", resource=self.label, object=names[-1])

    def _advance(self, resource_version: int, *, gap: bool) -> None:
        self.resource_version = resource_version
        waiting, self._waiting = self._waiting, []
        for future in waiting:
            if not future.done():
                future.set_result(None)
        for callback in (*self._on_progress, *(self._on_gap if gap else ())):
            callback()


def as_number(resource_version: str) -> int:
    """Versions of one kind are decimal and grow. One that is not orders nothing, so it is 0."""
    decimal = resource_version.isascii() and resource_version.isdigit()
    return int(resource_version) if decimal else 0


def _reads_alike(old: T, new: T) -> bool:
    """Whether nothing differs that anybody here can see, but the version."""
    version = new.metadata.resource_version
    return structs.replace(old.metadata, resource_version=version) == new.metadata and all(
        getattr(old, name) == getattr(new, name)
        for name in old.__struct_fields__
        if name != "metadata"
    )
