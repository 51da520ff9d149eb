# SPDX-License-Identifier: Apache-2.0
"""How many PodCliques have pods made at a time. Pure.

Making dozens of pods takes seconds when many are made, and a run that waits for them is a worker
less for all others. So those that need many are a few at a time, those that need few have a line
of their own, and all workers beyond that are for what goes on elsewhere. Who has to wait is told of
meanwhile like anybody else.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from typing import TYPE_CHECKING, TypeAlias

from trellis.runtime.bell import Bell

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from trellis.api.meta import Key

    _Waiting: TypeAlias = "OrderedDict[Hashable, dict[Key, None]]"

# So few are soon made.
FEW = 8
# Of those who have pods made, how many may need many.
SHARE_OF_MANY = 0.6
# So many of a crowd that has just come are served before it waits for those that came earlier.
FIRST = 4
# For each who has pods made, so many others are looked at meanwhile.
WORKERS_EACH = 2


class Crews:
    """`at_a_time`: how many PodCliques have pods made at once; `crowd`: to whom each belongs."""

    def __init__(self, at_a_time: int, crowd: Callable[[Key], Hashable]) -> None:
        self.bell = Bell()
        """Rung for whoever may have a crew now."""
        many = max(1, int(at_a_time * SHARE_OF_MANY))
        self._many = _Line(many, crowd)
        self._few = _Line(max(1, at_a_time - many), crowd)
        self.workers = WORKERS_EACH * at_a_time

    def __len__(self) -> int:
        return len(self._many) + len(self._few)

    def takes(self, key: Key, pods: int) -> bool:
        """Whether so many may be made for it now. If so, it is to say when that is over; else the
        bell is rung for it when its turn has come."""
        line, other = (self._many, self._few) if pods > FEW else (self._few, self._many)
        other.leaves(key)
        if pods:
            return line.takes(key)
        line.leaves(key)
        return True

    def is_over(self, key: Key) -> None:
        """Said after every run: whoever is next and did not come is called once more."""
        for line in (self._many, self._few):
            line.ends(key)
            if (following := line.following()) is not None:
                self.bell.ring(following)


class _Line:
    """Those of one crowd in the order in which they came, and one crowd after the other: what is
    begun is finished, and costs the cluster least. But a crowd that has just come has its first few
    in between, so that not even one that needs many pods waits for thousands."""

    def __init__(self, most: int, crowd: Callable[[Key], Hashable]) -> None:
        self._most = most
        self._crowd = crowd
        self._working: set[Key] = set()
        self._crowds: dict[Key, Hashable] = {}
        """Of each who waits."""
        self._new: _Waiting = OrderedDict()
        self._known: _Waiting = OrderedDict()
        self._served: Counter[Hashable] = Counter()
        """How many of each crowd that waits."""
        self._new_is_next = True

    def __len__(self) -> int:
        return len(self._working) + len(self._crowds)

    def takes(self, key: Key) -> bool:
        if len(self._working) >= self._most:
            self._waits(key)
            return False
        if key in self._crowds:
            self._is_served(self._crowds[key])
            self.leaves(key)
        self._working.add(key)
        return True

    def leaves(self, key: Key) -> None:
        if key not in self._crowds:
            return
        crowd = self._crowds.pop(key)
        waiting = self._line_of(crowd)
        del waiting[crowd][key]
        if not waiting[crowd]:
            del waiting[crowd], self._served[crowd]

    def ends(self, key: Key) -> None:
        self._working.discard(key)

    def following(self) -> Key | None:
        """Who is next, if there is room. New crowds alternate with others, lest these starve."""
        if not self._crowds or len(self._working) >= self._most:
            return None
        waiting = (self._new_is_next and self._new) or self._known or self._new
        return next(iter(next(iter(waiting.values()))))

    def _waits(self, key: Key) -> None:
        if key not in self._crowds:
            crowd = self._crowds[key] = self._crowd(key)
            self._line_of(crowd).setdefault(crowd, {})[key] = None

    def _line_of(self, crowd: Hashable) -> _Waiting:
        """Where it waits, or is to."""
        return self._known if crowd in self._known else self._new

    def _is_served(self, crowd: Hashable) -> None:
        self._served[crowd] += 1
        self._new_is_next = crowd not in self._new
        if crowd in self._new and self._served[crowd] >= FIRST:
            self._known[crowd] = self._new.pop(crowd)
