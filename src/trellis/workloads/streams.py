# SPDX-License-Identifier: Apache-2.0
"""Whose pods come and go by the dozen just now. Pure, but for the clock that it is given."""

from __future__ import annotations

from collections import OrderedDict, deque
from math import inf
from typing import TYPE_CHECKING, Protocol

from trellis.api.grove.podcliqueset import PodCliqueSet
from trellis.api.labels import PART_OF
from trellis.api.meta import Key

if TYPE_CHECKING:
    from trellis.api.core.pod import Pod
    from trellis.api.meta import Metadata
    from trellis.instruments.clock import Clock
    from trellis.runtime.cache import Cache

# So much must have happened within a while for more to be expected.
MANY = 4
# Of a set to whose pods nothing has happened for so long, nothing is remembered.
MEMORY_SECONDS = 1.0


class Part(Protocol):
    """A set, or what was made for one."""

    @property
    def metadata(self) -> Metadata: ...


class Streams:
    """When what happened to the pods of each set, of late."""

    def __init__(self, pods: Cache[Pod], clock: Clock) -> None:
        self._clock = clock
        self._times: OrderedDict[Key, deque[float]] = OrderedDict()
        """Of each set the last few, by who was last heard of."""
        pods.subscribe(self._followed)

    def __len__(self) -> int:
        """Of how many sets it remembers anything."""
        return len(self._times)

    def many_since(self, found: Part) -> float:
        """Since when many things have happened to pods of its set; long ago if never."""
        times = self._times.get(set_of(found))
        return times[0] if times and len(times) == MANY else -inf

    def _followed(self, old: Pod | None, new: Pod | None, *, fresh: bool) -> None:
        found = new if new is not None else old
        if found is None or not fresh:
            return
        now, key = self._clock.monotonic(), set_of(found)
        self._times.setdefault(key, deque(maxlen=MANY)).append(now)
        self._times.move_to_end(key)
        while self._times and next(iter(self._times.values()))[-1] < now - MEMORY_SECONDS:
            self._times.popitem(last=False)


def set_of(found: Part) -> Key:
    """The set that this is, or that this was made for."""
    metadata = found.metadata
    if isinstance(found, PodCliqueSet):
        return metadata.key
    return Key(metadata.namespace, metadata.labels.get(PART_OF, ""))
