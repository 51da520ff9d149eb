# SPDX-License-Identifier: Apache-2.0
"""How many pods of each room match something, counted anew only where something has happened."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

    from trellis.embedded.scheduling.rooms import Room

    Counts = tuple[int, ...]

T = TypeVar("T")

# Each remembers something of every node.
_MOST = 32


@dataclass(slots=True)
class Tallies:
    _known: OrderedDict[object, dict[str, tuple[int, Counts]]] = field(default_factory=OrderedDict)

    def count(self, what: T, room: Room, counted: Callable[[T, Room], Counts]) -> Counts:
        """`what` must be the same object each time, and nothing but pods of the room may count."""
        rooms = self._known.get(what)
        if rooms is None:
            rooms = self._known[what] = {}
            if len(self._known) > _MOST:
                self._known.popitem(last=False)
        known = rooms.get(room.name)
        if known is None or known[0] != room.generation:
            known = rooms[room.name] = (room.generation, counted(what, room))
        return known[1]
