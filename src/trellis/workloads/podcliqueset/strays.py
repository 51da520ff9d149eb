# SPDX-License-Identifier: Apache-2.0
"""What lost the label that it is read by while nobody looked: it is given back once at the start.

Of a replica that is asked for, everything is known by its name. Of one that is no longer there,
nothing else would remind a new process.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trellis.api.labels import MANAGED_BY, OPERATOR, PART_OF
from trellis.api.meta import Key

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from trellis.api.meta import Metadata
    from trellis.runtime.cache import Cache
    from trellis.runtime.io import IO
    from trellis.workloads.caches import Caches

_STRAY = f"{PART_OF},{MANAGED_BY}!={OPERATOR}"


class Strays:
    """`kinds`: the caches of those that are read by that label."""

    def __init__(self, caches: Caches, kinds: Sequence[Cache[Any]]) -> None:
        self._sets = caches.sets
        self._kinds = kinds
        self._looked = False

    async def call_back(self, io: IO) -> None:
        """Once, by whoever comes first. Raises when it is to be tried again."""
        if self._looked:
            return
        self._looked, done = True, False
        try:
            for cache in self._kinds:
                found = await io.out_of_sight(cache, cache.scope.namespace, _STRAY)
                for stray in self._ours(found):
                    await io.relabel(cache, stray, {MANAGED_BY: OPERATOR})
            done = True
        finally:
            self._looked = done

    def _ours(self, found: Sequence[Metadata]) -> Iterator[Metadata]:
        """Those that a set controls which is there: others may label what they like."""
        for one in found:
            by = one.controller
            owner = self._sets.get(Key(one.namespace, by.name)) if by is not None else None
            if by is not None and owner is not None and owner.metadata.uid == by.uid:
                yield one
