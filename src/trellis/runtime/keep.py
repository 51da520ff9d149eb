# SPDX-License-Identifier: Apache-2.0
"""One object that nobody owns, kept as it is wanted: made, changed or removed.

`converge` is for what an owner has; this is for an object of ours that stands for itself. Whatever
bears its name is taken for it, so the name must be one that nobody else may use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from trellis.api.meta import Object
from trellis.instruments.logs import logger
from trellis.kube.errors import AlreadyExists
from trellis.runtime.barrier import CacheBehind
from trellis.runtime.plan import body

if TYPE_CHECKING:
    from trellis.api.meta import Key
    from trellis.runtime.cache import Cache
    from trellis.runtime.plan import Comparison, Wanted
    from trellis.runtime.writes import Writes

T = TypeVar("T", bound=Object)

_log = logger(__name__)


class Keeper:
    def __init__(self, writes: Writes) -> None:
        self._writes = writes

    async def keep(
        self, cache: Cache[T], key: Key, want: Wanted | None, compare: Comparison
    ) -> T | None:
        """The object, once it is as wanted; None wanted: it is to be gone.

        What is not, is written, and None is returned: there is nothing more to do until the cache
        has it.
        """
        have = cache.get(key)
        await self._wait_for_own_writes(cache, key, have)
        if want is None:
            await self._remove(cache, have)
            return None
        if have is None:
            await self._create(cache, key, want)
        if have is None or have.metadata.deleting:
            return None
        patch = compare(have, want)
        if not patch:
            return have
        await self._writes.change(cache, have.metadata, patch)
        _told("changed", cache, key)
        return None

    async def _wait_for_own_writes(self, cache: Cache[T], key: Key, have: T | None) -> None:
        owner = have.metadata.uid if have is not None else _unborn(cache, key)
        await self._writes.settle(owner)
        if not self._writes.barrier.is_open(owner, cache):
            raise CacheBehind(f"{cache.label} lack our last write")

    async def _create(self, cache: Cache[T], key: Key, want: Wanted) -> None:
        try:
            await self._writes.create(_unborn(cache, key), cache, key, body(want))
        except AlreadyExists:
            # Another instance was faster, or the cache is behind: it will show the object.
            return
        _told("made", cache, key)

    async def _remove(self, cache: Cache[T], have: T | None) -> None:
        if have is not None and not have.metadata.deleting:
            await self._writes.delete(have.metadata.uid, cache, have.metadata)
            _told("removed", cache, have.metadata.key)


def _unborn(cache: Cache[Any], key: Key) -> str:
    """In place of the uid of an object that has none yet."""
    return f"{cache.resource.full_name} {key}"


def _told(done: str, cache: Cache[Any], key: Key) -> None:
    _log.info(f"object {done}", resource=cache.resource.plural, name=str(key))
