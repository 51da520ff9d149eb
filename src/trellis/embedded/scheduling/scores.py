# SPDX-License-Identifier: Apache-2.0
"""Which of the nodes that will do is best, with the weights of the real scheduler. Pure.

Not scored: images that are there already, and spreading of pods that nobody asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trellis.embedded.scheduling.filters.neighbours import liking
from trellis.embedded.scheduling.matching import unwelcome
from trellis.embedded.scheduling.wishes import CPU, MEMORY

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trellis.embedded.scheduling.rooms import Room
    from trellis.embedded.scheduling.wishes import Shape, Wish
    from trellis.embedded.scheduling.world import World

MOST = 100
_TAINTS, _AFFINITY, _PODS = 3, 2, 2

Local = tuple[int, int, int]
"""How well a room suits by its load, how many taints speak against it, how much it is preferred."""


def local(shape: Shape, room: Room) -> Local:
    """What the room itself says, not yet compared with others."""
    preferred = sum(weight for weight, prefers in shape.prefers if prefers(room.name, room.labels))
    taints = room.outside[1]
    disliked = unwelcome(taints, shape.tolerations) if taints else 0
    return _emptiness(shape, room) + _evenness(shape, room), disliked, preferred


def best(wish: Wish, world: World, rooms: Sequence[tuple[Room, Local]]) -> Room:
    """The first of those with the highest score."""
    most_disliked = max(local[1] for _, local in rooms)
    most_preferred = max(local[2] for _, local in rooms)
    social = _social(wish, world, [room for room, _ in rooms])

    def score(place: int) -> int:
        load, disliked, preferred = rooms[place][1]
        total = load + _PODS * social[place]
        if most_disliked:
            total += _TAINTS * (MOST - MOST * disliked // most_disliked)
        if most_preferred:
            total += _AFFINITY * (MOST * preferred // most_preferred)
        return total

    return rooms[max(range(len(rooms)), key=score)][0]


def _emptiness(shape: Shape, room: Room) -> int:
    scores = [
        MOST * (has - used - more) // has if used + more <= has else 0
        for name, used, more in zip((CPU, MEMORY), room.weight, shape.weight, strict=True)
        if (has := room.has.get(name, 0))
    ]
    return sum(scores) // len(scores) if scores else 0


def _evenness(shape: Shape, room: Room) -> int:
    """Whether CPU and memory come to be used more evenly than before, or less."""
    more = dict(shape.requests)
    if CPU not in more and MEMORY not in more:
        return 0
    before, after = (
        [
            min(1.0, (room.used[name] + adding.get(name, 0)) / has)
            for name in (CPU, MEMORY)
            if (has := room.has.get(name, 0))
        ]
        for adding in ({}, more)
    )
    return MOST // 2 + (MOST // 2 + _balance(after) - _balance(before)) // 2


def _balance(fractions: Sequence[float]) -> int:
    apart = abs(fractions[0] - fractions[1]) / 2 if len(fractions) == 2 else 0.0
    return int((1 - apart) * MOST)


def _social(wish: Wish, world: World, rooms: Sequence[Room]) -> list[int]:
    domains = liking(wish, world)
    if not domains:
        return [0] * len(rooms)
    raw = [
        sum(domains[key, room.labels[key]] for key in {key for key, _ in domains} & {*room.labels})
        for room in rooms
    ]
    least, spread = min(raw), max(raw) - min(raw)
    return [MOST * (one - least) // spread if spread else 0 for one in raw]
