# SPDX-License-Identifier: Apache-2.0
"""One pod and all rooms: which will do, and why not the others. Pure.

What a room says to a shape is remembered for as long as nothing happens in the room, so that the
second pod of a group costs a fraction of the first.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from trellis.embedded.scheduling import scores
from trellis.embedded.scheduling.devices.search import Impatience, Plan
from trellis.embedded.scheduling.filters.fitting import unfit
from trellis.embedded.scheduling.filters.neighbours import Neighbourhood
from trellis.embedded.scheduling.filters.refusals import CLAIM_ELSEWHERE, NO_DEVICES
from trellis.embedded.scheduling.filters.spreading import Balance
from trellis.embedded.scheduling.filters.tallies import Tallies
from trellis.embedded.scheduling.matching import node_matcher

if TYPE_CHECKING:
    from trellis.embedded.scheduling.claims import Claimed
    from trellis.embedded.scheduling.dra import Allocation
    from trellis.embedded.scheduling.filters.refusals import Refusal
    from trellis.embedded.scheduling.rooms import Room
    from trellis.embedded.scheduling.scores import Local
    from trellis.embedded.scheduling.wishes import Shape, Wish
    from trellis.embedded.scheduling.world import World

    Said = tuple[int, Refusal | None, Local | None]
    """At which generation of the room, why not, and if so, how well."""

# Each remembers something of every node.
_MOST_SHAPES = 32
_NOBODY: frozenset[str] = frozenset()


@dataclass(slots=True)
class Memory:
    tallies: Tallies = field(default_factory=Tallies)
    _said: OrderedDict[Shape, dict[str, Said]] = field(default_factory=OrderedDict)

    def of(self, shape: Shape) -> dict[str, Said]:
        """What rooms said to that shape, by their names."""
        found = self._said.get(shape)
        if found is None:
            found = self._said[shape] = {}
            if len(self._said) > _MOST_SHAPES:
                self._said.popitem(last=False)
        else:
            self._said.move_to_end(shape)
        return found


class Judge:
    """`absent`: pods that are taken to have left. What is asked of rooms must fit with that."""

    def __init__(
        self,
        wish: Wish,
        world: World,
        claimed: Claimed,
        memory: Memory,
        absent: frozenset[str] = _NOBODY,
    ) -> None:
        self._wish = wish
        self._world = world
        self._claimed = claimed
        self._has_claims = wish.has_claims
        self._said = {} if absent or wish.shape.pinned else memory.of(wish.shape)
        self._elsewhere = [
            node_matcher(claim.status.allocation.node_selector)
            for claim in claimed.allocated
            if claim.status.allocation and claim.status.allocation.node_selector
        ]
        self._plan = Plan(claimed.open, world.classes)
        terms = wish.terms
        heeds = terms.required or terms.forbidden or not world.peaceful
        self._neighbours = Neighbourhood(wish, world, memory.tallies, absent) if heeds else None
        self._balance = Balance(wish, world, memory.tallies, absent) if wish.spread else None
        self.allocations: dict[str, list[Allocation]] = {}
        """Devices for the claims that have none yet, by room."""

    def refusal(self, room: Room) -> Refusal | None:
        """Why the pod cannot be there."""
        refused = self._local(room)[1]
        if refused is None and self._balance:
            refused = self._balance.refusal(room)
        if refused is None and self._neighbours:
            refused = self._neighbours.refusal(room)
        if refused is None and self._has_claims:
            refused = self._devices(room)
        return refused

    def score(self, room: Room) -> Local:
        """Of a room that will do."""
        said = self._local(room)
        if said[2] is not None:
            return said[2]
        found = scores.local(self._wish.shape, room)
        if self._said.get(room.name) is said:
            self._said[room.name] = (said[0], said[1], found)
        return found

    def _local(self, room: Room) -> Said:
        wish = self._wish
        if room.nominated and wish.uid in room.nominated:
            # Its own nomination is no hindrance to it, but is to the others of its shape.
            return room.generation, unfit(wish.shape, room, wish.uid), None
        said = self._said.get(room.name)
        if said is not None and said[0] == room.generation:
            return said
        said = self._said[room.name] = (room.generation, unfit(wish.shape, room), None)
        return said

    def _devices(self, room: Room) -> Refusal | None:
        if any(not matches(room.name, room.labels) for matches in self._elsewhere):
            return CLAIM_ELSEWHERE
        if not self._claimed.open:
            return None
        try:
            found = self._plan.allocate(self._world.inventory.stock(room), self._world.claims.taken)
        except Impatience:
            found = None
        if found is None:
            return NO_DEVICES
        self.allocations[room.name] = found
        return None
