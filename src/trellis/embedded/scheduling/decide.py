# SPDX-License-Identifier: Apache-2.0
"""What becomes of a pod: a wish and the world in, a decision out. No I/O, no clock, no dice."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from msgspec.json import encode

from trellis.embedded.scheduling import explaining
from trellis.embedded.scheduling.claims import Claimed, Unclaimed, claimed
from trellis.embedded.scheduling.devices.selecting import ClaimBroken
from trellis.embedded.scheduling.filters.fitting import kept_off, unfit
from trellis.embedded.scheduling.filters.refusals import (
    CLAIM_ELSEWHERE,
    NOT_NAMED,
    NOT_SELECTED,
    Refusal,
)
from trellis.embedded.scheduling.judging import Judge, Memory
from trellis.embedded.scheduling.preempting import InVain, Preemption, preempt
from trellis.embedded.scheduling.scores import best

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterable, Iterator

    from trellis.embedded.scheduling.dra import Allocation, Claim
    from trellis.embedded.scheduling.rooms import Room
    from trellis.embedded.scheduling.wishes import Shape, Wish
    from trellis.embedded.scheduling.world import World

UNSCHEDULABLE = "Unschedulable"
SCHEDULER_ERROR = "SchedulerError"
# With fewer nodes all are compared; with more, a share that shrinks with their number.
_FEWEST_COMPARED = 100
_LEAST_PERCENT = 5


@dataclass(frozen=True, slots=True)
class Bind:
    """The pod gets that node, and its claims get these devices; `reserved` have them already."""

    node: str
    allocations: tuple[tuple[Claim, Allocation], ...] = ()
    reserved: tuple[Claim, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Refuse:
    """No node will do. `preemption`: these are to leave for it; `freed`: this claim helps nobody.

    The nomination of an earlier decision holds if `keeps_nomination`.
    """

    message: str
    reason: str = UNSCHEDULABLE
    preemption: Preemption | None = None
    freed: Claim | None = None
    keeps_nomination: bool = False

    @property
    def nominee(self) -> str:
        """The node that the pod is to have, if others have to leave it first."""
        return self.preemption.node if self.preemption else ""

    @property
    def is_only_told(self) -> bool:
        """Whether there is nothing to do but to say so."""
        return self.preemption is None and self.freed is None


@dataclass(frozen=True, slots=True)
class Wait:
    """It is not this scheduler's turn yet: nothing is told."""

    why: str


Decision: TypeAlias = Bind | Refuse | Wait
Kind: TypeAlias = "tuple[Shape, str, tuple[bytes, ...]]"


@dataclass(slots=True)
class Decider:
    """`start`: from which node on the search goes; it moves on, so that no node is forgotten."""

    world: World
    start: int = 0
    _memory: Memory = field(default_factory=Memory)
    _refused: dict[Kind, tuple[int, Refuse]] = field(default_factory=dict)
    """What was decided of pods of a kind, and at which version of the world."""

    def decide(self, wish: Wish) -> Decision:
        world = self.world
        if not world.rooms():
            return Refuse(message=explaining.NO_NODES)
        claims = claimed(wish.pod, world.claims) if wish.has_claims else Claimed()
        if isinstance(claims, Unclaimed):
            return Wait(claims.why) if claims.silent else self._hopeless(claims.why)
        kind = self._kind(wish, claims)
        if kind is None:
            return self._consider(wish, claims)
        known = self._refused.get(kind)
        if known is not None and known[0] == world.version:
            return known[1]
        decision = self._consider(wish, claims)
        if isinstance(decision, Refuse) and decision.preemption is None:
            self._refused = {
                kind: said for kind, said in self._refused.items() if said[0] == world.version
            }
            self._refused[kind] = (world.version, decision)
        return decision

    def would_do(self, shape: Shape, room: Room) -> bool:
        """Whether the room as such is good enough for pods of that shape, which wait."""
        return room.present and unfit(shape, room) is None

    def _kind(self, wish: Wish, claims: Claimed) -> Kind | None:
        """Pods of the same kind are told the same. None: it is of its own kind."""
        if (
            wish.sociable
            or wish.shape.pinned
            or claims.allocated
            or not self.world.peaceful
            or self.world.nominee_of(wish.uid) is not None
        ):
            return None
        asked = tuple(encode(claim.spec) for claim in claims.open)
        return wish.shape, wish.pod.spec.preemption_policy, asked

    def _consider(self, wish: Wish, claims: Claimed) -> Decision:
        if why := _unknown_class(claims.open, self.world):
            return self._hopeless(why)
        try:
            return self._choose(wish, claims)
        except ClaimBroken as failure:
            return Refuse(message=str(failure), reason=SCHEDULER_ERROR)

    def _choose(self, wish: Wish, claims: Claimed) -> Decision:
        world = self.world
        judge = Judge(wish, world, claims, self._memory)
        fit, refusals = self._search(wish, judge, _compared(len(world.rooms()), claims))
        if not fit:
            return self._refuse(wish, claims, refusals)
        room = (
            fit[0] if len(fit) == 1 else best(wish, world, [(one, judge.score(one)) for one in fit])
        )
        given = judge.allocations.get(room.name, [])
        return Bind(
            room.name,
            allocations=tuple(zip(claims.open, given, strict=True)),
            reserved=tuple(claims.allocated),
        )

    def _search(
        self, wish: Wish, judge: Judge, wanted: int
    ) -> tuple[list[Room], dict[str, Refusal]]:
        """So many rooms that will do, if there are; and why others will not."""
        world = self.world
        refusals: dict[str, Refusal] = {}
        nominee = world.nominee_of(wish.uid)
        if nominee is not None and judge.refusal(nominee) is None:
            return [nominee], refusals
        pinned = world.rooms_for(wish.shape)
        fit: list[Room] = []
        looked_at = 0
        for room in self._turning() if pinned is None else pinned:
            looked_at += 1
            refused = judge.refusal(room)
            if refused is not None:
                refusals[room.name] = refused
                continue
            fit.append(room)
            if len(fit) >= wanted:
                break
        if pinned is None:
            self.start = (self.start + looked_at) % len(world.rooms())
        return fit, refusals

    def _turning(self) -> Iterator[Room]:
        rooms = self.world.rooms()
        start = self.start % len(rooms)
        yield from rooms[start:]
        yield from rooms[:start]

    def _refuse(self, wish: Wish, claims: Claimed, refusals: dict[str, Refusal]) -> Refuse:
        world = self.world
        reasons = explaining.counted(refusals.values())
        if wish.shape.pinned:
            reasons.update(_outside_pins(wish.shape, world, refusals))
        message = explaining.none_of(len(world.rooms()), reasons)
        freed = _freed(wish, claims, refusals)
        if freed is not None:
            return Refuse(message=f"{message} {explaining.FREED}", freed=freed)

        def assuming(absent: frozenset[str]) -> Judge:
            return Judge(wish, world, claims, self._memory, absent)

        outcome = preempt(wish, world, refusals, assuming)
        if isinstance(outcome, Preemption):
            return Refuse(message=message, preemption=outcome)
        freeing = explaining.STILL_NOT if wish.has_claims else explaining.NO_CLAIMS_TO_FREE
        return _in_vain(f"{message} {freeing}", outcome)

    def _hopeless(self, why: str) -> Refuse:
        """For a reason that holds for every node, and whoever leaves."""
        nodes = len(self.world.rooms())
        unhelpful = explaining.none_of(nodes, {explaining.UNHELPFUL: nodes})
        message = f"{explaining.none_of(nodes, why)} {explaining.NO_CLAIMS_TO_FREE}"
        return _in_vain(message, InVain(unhelpful))


def _in_vain(message: str, outcome: InVain) -> Refuse:
    return Refuse(
        message=f"{message}, {explaining.in_vain(outcome.why)}",
        keeps_nomination=outcome.keeps_nomination,
    )


def _compared(nodes: int, claims: Claimed) -> int:
    """How many nodes are worth comparing. Each that is costs a search where devices are wanted."""
    percent = max(_LEAST_PERCENT, 50 - nodes // 125)
    compared = max(_FEWEST_COMPARED, nodes * percent // 100)
    return compared // 10 if claims.open else compared


def _outside_pins(shape: Shape, world: World, refusals: dict[str, Refusal]) -> Counter[str]:
    """Why the nodes will not do that a pinned pod did not even ask."""
    if shape.names is not None:
        return explaining.counted([NOT_NAMED] * (len(world.rooms()) - len(refusals)))
    asked = [room for name in refusals if (room := world.room(name)) is not None]
    others = world.outsides.copy()
    others.subtract(room.outside for room in asked)
    reasons = explaining.counted(())
    for outside, count in others.items():
        refused = kept_off(shape, outside) or NOT_SELECTED
        reasons[refused.reasons[0]] += count
    return +reasons


def _unknown_class(claims: Iterable[Claim], world: World) -> str:
    for claim in claims:
        for request in claim.spec.devices.requests:
            for name, ask in request.asks:
                if ask.device_class_name not in world.classes:
                    return f"request {name}: device class {ask.device_class_name} does not exist"
    return ""


def _freed(wish: Wish, claims: Claimed, refusals: dict[str, Refusal]) -> Claim | None:
    """A claim that nobody else uses, and whose devices are where the pod cannot be."""
    if CLAIM_ELSEWHERE not in refusals.values():
        return None
    return next(
        (
            claim
            for claim in claims.allocated
            if claim.status.allocation
            and claim.status.allocation.node_selector
            and all(one.uid == wish.uid for one in claim.status.reserved_for)
        ),
        None,
    )
