# SPDX-License-Identifier: Apache-2.0
"""The pods that have no node: whose turn it is, and who waits for something to change.

Those of higher priority come first, and of these the ones that were made first. A pod that no node
would have is not looked at again until something changes that could help it; then it rests a while,
unless there is nothing else to do. Pure: the time is a parameter.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING

from trellis.embedded.scheduling.claims import names

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from trellis.api.meta import Key
    from trellis.embedded.scheduling.rooms import Room
    from trellis.embedded.scheduling.wishes import Shape, Wish

    WouldDo = Callable[[Shape, Room], bool]
    _Order = tuple[float, int]
    _Ranked = tuple[float, _Order, str]

FIRST_REST = 1.0
LONGEST_REST = 10.0
_DOUBLINGS = 10


@dataclass(slots=True)
class _Entry:
    wish: Wish
    order: _Order
    failures: int = 0
    rests_until: float = 0.0
    state: str = ""


# Where an entry is. It lies in the heaps of other states as well, until it comes up there.
_READY, _RESTING, _ILL, _PARKED, _AWAY = "ready", "resting", "ill", "parked", "away"


class Pending:
    def __init__(self) -> None:
        self._entries: dict[str, _Entry] = {}
        self._order = count()
        self._ready: list[_Ranked] = []
        self._resting: list[_Ranked] = []
        self._ill: list[_Ranked] = []
        self._parked = _Parked()

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, uid: str) -> Wish | None:
        entry = self._entries.get(uid)
        return entry.wish if entry is not None else None

    def add(self, wish: Wish) -> None:
        """A pod that has come, or has changed in a way that matters: it is its turn at once."""
        entry = self._entries.get(wish.uid)
        if entry is None:
            order = (_made_at(wish), next(self._order))
            entry = self._entries[wish.uid] = _Entry(wish, order)
        self._parked.remove(entry.wish)
        entry.wish = wish
        if entry.state != _AWAY:
            self._make_ready(entry)

    def renew(self, wish: Wish) -> None:
        """The pod has changed in a way that does not matter."""
        entry = self._entries.get(wish.uid)
        if entry is None:
            return
        if entry.state == _PARKED:
            self._parked.remove(entry.wish)
            self._parked.add(wish)
        entry.wish = wish

    def forget(self, uid: str) -> None:
        entry = self._entries.pop(uid, None)
        if entry is not None:
            self._parked.remove(entry.wish)

    def take(self, now: float) -> Wish | None:
        """The pod whose turn it is. It is to be given back (`park`, `fail`), or forgotten."""
        while self._ill and self._ill[0][0] <= now:
            entry = self._pop(self._ill, _ILL)
            if entry is not None:
                self._make_ready(entry)
        while self._resting and self._resting[0][0] <= now:
            entry = self._pop(self._resting, _RESTING)
            if entry is not None:
                self._make_ready(entry)
        entry = self._first(self._ready, _READY) or self._first(self._resting, _RESTING)
        if entry is None:
            return None
        entry.state = _AWAY
        return entry.wish

    def next_due(self) -> float | None:
        """When one that failed is to be tried again."""
        while self._ill:
            due, _, uid = self._ill[0]
            entry = self._entries.get(uid)
            if entry is not None and entry.state == _ILL and entry.rests_until == due:
                return due
            heapq.heappop(self._ill)
        return None

    def park(self, uid: str, now: float) -> None:
        """No node would have it: it waits for a change."""
        entry = self._entries.get(uid)
        if entry is not None:
            self._tire(entry, now)
            entry.state = _PARKED
            self._parked.add(entry.wish)

    def fail(self, uid: str, now: float) -> None:
        """Something went wrong: it is tried again when it has rested."""
        entry = self._entries.get(uid)
        if entry is not None:
            self._parked.remove(entry.wish)
            self._tire(entry, now)
            entry.state = _ILL
            heapq.heappush(self._ill, (entry.rests_until, entry.order, uid))

    def wake_for(self, room: Room, would_do: WouldDo) -> None:
        """The room has changed for the better: those that it would do for are looked at again."""
        self._wake(self._parked.for_room(room, would_do))

    def wake_sociable(self) -> None:
        """Pods have come, gone or changed: those are looked at again that care about others."""
        self._wake(self._parked.sociable.values())

    def wake_claimants(self) -> None:
        """There may be more devices than before."""
        self._wake(self._parked.claimants.values())

    def wake_sharers(self, claim: Key) -> None:
        """The claim has changed."""
        self._wake(self._parked.sharers.get(claim, {}).values())

    def _wake(self, wishes: Iterable[Wish]) -> None:
        for wish in tuple(wishes):
            entry = self._entries[wish.uid]
            self._parked.remove(wish)
            entry.state = _RESTING
            heapq.heappush(self._resting, (entry.rests_until, entry.order, wish.uid))

    def _make_ready(self, entry: _Entry) -> None:
        entry.state = _READY
        heapq.heappush(self._ready, (-entry.wish.priority, entry.order, entry.wish.uid))

    def _tire(self, entry: _Entry, now: float) -> None:
        rest = min(LONGEST_REST, FIRST_REST * 2.0 ** min(entry.failures, _DOUBLINGS))
        entry.failures += 1
        entry.rests_until = now + rest

    def _first(self, heap: list[_Ranked], state: str) -> _Entry | None:
        while heap:
            entry = self._pop(heap, state)
            if entry is not None:
                return entry
        return None

    def _pop(self, heap: list[_Ranked], state: str) -> _Entry | None:
        """The entry on top, unless it has moved on since."""
        entry = self._entries.get(heapq.heappop(heap)[2])
        return entry if entry is not None and entry.state == state else None


def _made_at(wish: Wish) -> float:
    made = wish.metadata.creation_timestamp
    return made.timestamp() if made else 0.0


class _Parked:
    """Those that wait for a change, found by what may help them."""

    def __init__(self) -> None:
        self._shapes: dict[Shape, dict[str, Wish]] = {}
        self._pinned: dict[str, dict[Shape, None]] = {}
        self._free: dict[Shape, None] = {}
        self.sociable: dict[str, Wish] = {}
        self.claimants: dict[str, Wish] = {}
        self.sharers: dict[Key, dict[str, Wish]] = {}

    def add(self, wish: Wish) -> None:
        group = self._shapes.setdefault(wish.shape, {})
        if not group:
            for filed in self._filed(wish.shape):
                filed[wish.shape] = None
        group[wish.uid] = wish
        if wish.sociable:
            self.sociable[wish.uid] = wish
        if wish.has_claims:
            self.claimants[wish.uid] = wish
            for claim in names(wish.pod):
                self.sharers.setdefault(claim, {})[wish.uid] = wish

    def remove(self, wish: Wish) -> None:
        group = self._shapes.get(wish.shape, {})
        if group.pop(wish.uid, None) is None:
            return
        self.sociable.pop(wish.uid, None)
        self.claimants.pop(wish.uid, None)
        for claim in names(wish.pod):
            del self.sharers[claim][wish.uid]
            if not self.sharers[claim]:
                del self.sharers[claim]
        if not group:
            del self._shapes[wish.shape]
            for filed in self._filed(wish.shape):
                del filed[wish.shape]
            for pin in _pins(wish.shape):
                if not self._pinned[pin]:
                    del self._pinned[pin]

    def for_room(self, room: Room, would_do: WouldDo) -> list[Wish]:
        shapes = {
            **self._free,
            **self._pinned.get(f"host {room.host}", {}),
            **self._pinned.get(f"name {room.name}", {}),
        }
        found = {
            uid: wish
            for shape in shapes
            if would_do(shape, room)
            for uid, wish in self._shapes[shape].items()
        }
        # Its own nomination is no hindrance to a pod, which `would_do` does not know.
        for uid, wish in room.nominated.items():
            if uid in self._shapes.get(wish.shape, {}):
                found[uid] = self._shapes[wish.shape][uid]
        return [*(found | self.sociable).values()]

    def _filed(self, shape: Shape) -> list[dict[Shape, None]]:
        pins = _pins(shape)
        return [self._pinned.setdefault(pin, {}) for pin in pins] if shape.pinned else [self._free]


def _pins(shape: Shape) -> list[str]:
    if shape.names is not None:
        return [f"name {name}" for name in sorted(shape.names)]
    return [f"host {host}" for host in sorted(shape.hosts or ())]
