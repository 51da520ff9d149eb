# SPDX-License-Identifier: Apache-2.0
"""Whose leaving would make room for a pod of higher priority: as few and as unimportant as can be.

Disruption budgets are not looked at. Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trellis.api.core.pod import DISRUPTION_TARGET
from trellis.embedded.scheduling import explaining
from trellis.embedded.scheduling.filters.refusals import Refusal
from trellis.embedded.scheduling.pods import NEVER

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from trellis.embedded.scheduling.judging import Judge
    from trellis.embedded.scheduling.pods import ScheduledPod
    from trellis.embedded.scheduling.rooms import Room
    from trellis.embedded.scheduling.wishes import Wish
    from trellis.embedded.scheduling.world import World

    Assuming = Callable[[frozenset[str]], Judge]
    """A judge who takes those pods to have left."""

BY_SCHEDULER = "PreemptionByScheduler"
# So many nodes are tried: a tenth, but no fewer than these.
_FEWEST_TRIED = 100


@dataclass(frozen=True, slots=True)
class Preemption:
    """These pods are to leave that node."""

    node: str
    victims: tuple[Wish, ...]


@dataclass(frozen=True, slots=True)
class InVain:
    why: str
    keeps_nomination: bool = False


def preempt(
    wish: Wish, world: World, refusals: Mapping[str, Refusal], assuming: Assuming
) -> Preemption | InVain:
    """`refusals` are of the rooms that were looked at."""
    if wish.pod.spec.preemption_policy == NEVER:
        return InVain(explaining.NEVER, keeps_nomination=True)
    if _waits_for_leavers(wish, world, refusals):
        return InVain(explaining.LEAVING, keeps_nomination=True)
    rooms = [
        room
        for name, refusal in refusals.items()
        if refusal.by_pods and (room := world.room(name)) is not None
    ]
    found: list[Preemption] = []
    why: list[Refusal] = []
    enough = max(_FEWEST_TRIED, len(rooms) // 10)
    for room in rooms:
        outcome = _clear(wish, room, assuming)
        if isinstance(outcome, Refusal):
            why.append(outcome)
        else:
            found.append(Preemption(room.name, outcome))
            if len(found) >= enough:
                break
    if found:
        return min(found, key=_cost)
    reasons = explaining.counted(why)
    if others := len(world.rooms()) - len(rooms):
        reasons[explaining.UNHELPFUL] += others
    return InVain(explaining.none_of(len(world.rooms()), reasons))


def is_leaving(pod: ScheduledPod) -> bool:
    """Whether it was made to leave and has not gone yet."""
    told = pod.condition(DISRUPTION_TARGET)
    return pod.metadata.deleting and told is not None and told.reason == BY_SCHEDULER


def _waits_for_leavers(wish: Wish, world: World, refusals: Mapping[str, Refusal]) -> bool:
    room = world.nominee_of(wish.uid)
    if room is None or not refusals.get(room.name, Refusal((), by_pods=True)).by_pods:
        return False
    return any(
        other.priority < wish.priority and is_leaving(other.pod) for other in room.pods.values()
    )


def _clear(wish: Wish, room: Room, assuming: Assuming) -> tuple[Wish, ...] | Refusal:
    """Who must leave the room, or why that would not help."""
    lesser = [other for other in room.pods.values() if other.priority < wish.priority]
    if not lesser:
        return Refusal((explaining.NO_VICTIMS,))
    gone = {other.uid: other for other in lesser}
    if refused := _refused(room, gone, assuming):
        return refused
    for other in sorted(lesser, key=_importance):
        spared = {uid: one for uid, one in gone.items() if uid != other.uid}
        if _refused(room, spared, assuming) is None:
            gone = spared
    return tuple(sorted(gone.values(), key=_importance))


def _refused(room: Room, gone: Mapping[str, Wish], assuming: Assuming) -> Refusal | None:
    return assuming(frozenset(gone)).refusal(room.without(gone))


def _importance(wish: Wish) -> tuple[int, float]:
    """The most important first: of high priority, and begun long ago."""
    return -wish.priority, _began(wish)


def _began(wish: Wish) -> float:
    began = wish.pod.status.start_time or wish.metadata.creation_timestamp
    return began.timestamp() if began else float("inf")


def _cost(preemption: Preemption) -> tuple[int, int, int, float]:
    victims = preemption.victims
    highest = victims[0].priority
    # Priorities are counted from the lowest, so that each victim costs something.
    total = sum(one.priority + (1 << 31) for one in victims)
    began = min(_began(one) for one in victims if one.priority == highest)
    return highest, total, len(victims), -began
