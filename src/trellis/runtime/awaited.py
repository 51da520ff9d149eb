# SPDX-License-Identifier: Apache-2.0
"""Who waits for a name that an object of somebody else has: its end wakes them.

Only the end of what a cache shows is heard of. Whoever waits looks again by himself as well, but
that may take long.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from trellis.api.meta import Key, Object
    from trellis.runtime.cache import Cache

Waiter: TypeAlias = "tuple[str, Key]"
"""A controller, by its name, and one of its keys."""

_MOST = 1024


class Awaited:
    """So many may wait; who has waited longest is forgotten when there are more."""

    def __init__(self) -> None:
        self._names: dict[tuple[Cache[Any], Waiter], frozenset[Key]] = {}
        self._waiters: dict[tuple[Cache[Any], Key], dict[Waiter, Callable[[], None]]] = {}
        self._heard: set[Cache[Any]] = set()

    def __len__(self) -> int:
        """How many names are waited for."""
        return len(self._waiters)

    def wait(
        self,
        waiter: Waiter,
        cache: Cache[Any],
        keys: Collection[Key],
        wake: Callable[[], None],
    ) -> None:
        """From now on it waits for these names of that kind, and for no others."""
        self._leave(cache, waiter)
        if not keys:
            return
        while len(self._names) >= _MOST:
            self._leave(*next(iter(self._names)))
        if cache not in self._heard:
            self._heard.add(cache)
            cache.subscribe(partial(self._changed, cache))
        self._names[cache, waiter] = frozenset(keys)
        for key in keys:
            self._waiters.setdefault((cache, key), {})[waiter] = wake

    def _leave(self, cache: Cache[Any], waiter: Waiter) -> None:
        for key in self._names.pop((cache, waiter), ()):
            waiters = self._waiters[cache, key]
            del waiters[waiter]
            if not waiters:
                del self._waiters[cache, key]

    def _changed(
        self, cache: Cache[Any], old: Object | None, new: Object | None, *, fresh: bool
    ) -> None:
        del fresh
        if old is None or (new is not None and new.metadata.uid == old.metadata.uid):
            return
        for wake in tuple(self._waiters.get((cache, old.metadata.key), {}).values()):
            wake()
