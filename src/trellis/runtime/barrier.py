# SPDX-License-Identifier: Apache-2.0
"""Read your own writes: nothing is decided for an owner on a cache that lacks our last write.

After a write, the owner waits until the cache has reached the version that the write was answered
with; after a deletion, until the object is gone or terminating there; after a write of unknown
fate, until its object has been read again. What is remembered is keyed by uid: an owner that is
deleted and made anew owes nothing for its predecessor. It is forgotten when caches have caught up.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from trellis.runtime.cache import Cache, as_number

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from trellis.api.meta import Key

    AnyCache: TypeAlias = Cache[Any]

# What has been caught up with is swept out when twice as many owners are known as were after the
# last sweep, and not before there are this many.
_SWEEP_FLOOR = 64


class CacheBehind(Exception):
    """Raised where a decision would rest on a cache that lacks our own last write.

    `owner`: in whose name it was written, where that is another than the one who decides.
    """

    def __init__(self, message: str, owner: str = "") -> None:
        super().__init__(message)
        self.owner = owner


@dataclass(slots=True)
class _Owed:
    """What one cache must show before anything more is decided on it for one owner."""

    cache: AnyCache
    history: int
    version: int = 0
    deletions: dict[Key, str] = field(default_factory=dict)
    doubts: dict[Key, None] = field(default_factory=dict)

    def is_behind(self) -> bool:
        """Whether the cache is yet to show something. Doubts are not for it to clear."""
        if self.cache.history > self.history:
            # What was written before history went back is in none of its versions.
            self.version = 0
            self.deletions.clear()
        # What was made and deleted in one go may not have appeared yet: first the version.
        return self.cache.resource_version < self.version or not self._all_gone()

    def is_settled(self) -> bool:
        return not (self.is_behind() or self.doubts)

    def _all_gone(self) -> bool:
        """Drops what is gone or going from the front, so that looking again costs nothing."""
        while self.deletions:
            key, uid = next(iter(self.deletions.items()))
            found = self.cache.get(key)
            if found is not None and found.metadata.uid == uid and not found.metadata.deleting:
                return False
            del self.deletions[key]
        return True


class Barrier:
    def __init__(self) -> None:
        self._owed: dict[str, dict[AnyCache, _Owed]] = {}
        self._waiting: dict[str, dict[Hashable, Callable[[], None]]] = {}
        self._followed: set[AnyCache] = set()
        self._sweep_at = _SWEEP_FLOOR

    def __len__(self) -> int:
        """Owners about which anything is remembered."""
        return len(self._owed)

    def wrote(self, owner: str, cache: AnyCache, resource_version: str) -> None:
        """Something that concerns the owner was written, and answered with that version."""
        owed = self._of(owner, cache)
        owed.version = max(owed.version, as_number(resource_version))

    def deleted(self, owner: str, cache: AnyCache, key: Key, uid: str) -> None:
        """The deletion of one of its objects was accepted."""
        self._of(owner, cache).deletions[key] = uid

    def doubt(self, owner: str, cache: AnyCache, key: Key) -> None:
        """A write to that object may or may not have happened."""
        self._of(owner, cache).doubts[key] = None

    def doubts(self, owner: str) -> tuple[tuple[AnyCache, Key], ...]:
        """What must be read again before anything is decided for the owner."""
        owed = self._owed.get(owner, {}).values()
        return tuple((each.cache, key) for each in owed for key in each.doubts)

    def cleared(self, owner: str, cache: AnyCache, key: Key) -> None:
        """That object has been read again."""
        self._of(owner, cache).doubts.pop(key, None)

    def is_open(self, owner: str, cache: AnyCache | None = None) -> bool:
        """Whether anything may be decided for the owner on that cache, or on all of them."""
        caches = self._owed.get(owner)
        if caches is None:
            return True
        for each in [each for each in caches.values() if each.is_settled()]:
            del caches[each.cache]
        if not caches:
            del self._owed[owner]
        return not caches if cache is None else cache not in caches

    def when_caught_up(self, owner: str, waiter: Hashable, wake: Callable[[], None]) -> None:
        """Calls once when the caches have caught up, at once if they have. One call a waiter."""
        if self._is_behind(owner):
            self._waiting.setdefault(owner, {})[waiter] = wake
        else:
            wake()

    def _of(self, owner: str, cache: AnyCache) -> _Owed:
        if cache not in self._followed:
            self._followed.add(cache)
            cache.on_progress(self._progressed)
        if owner not in self._owed:
            self._sweep()
        caches = self._owed.setdefault(owner, {})
        owed = caches.get(cache)
        if owed is None or owed.history < cache.history:
            doubts = owed.doubts if owed else {}
            owed = caches[cache] = _Owed(cache, cache.history, doubts=doubts)
        return owed

    def _progressed(self) -> None:
        for owner in [owner for owner in self._waiting if not self._is_behind(owner)]:
            for wake in self._waiting.pop(owner).values():
                wake()

    def _is_behind(self, owner: str) -> bool:
        return any(each.is_behind() for each in self._owed.get(owner, {}).values())

    def _sweep(self) -> None:
        if len(self._owed) >= self._sweep_at:
            for owner in list(self._owed):
                self.is_open(owner)
            self._sweep_at = max(_SWEEP_FLOOR, 2 * len(self._owed))
