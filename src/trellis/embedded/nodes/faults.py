# SPDX-License-Identifier: Apache-2.0
"""What ails a node now, from what was asked for and the time. Pure.

A fault lives in an annotation until it is taken out or its time is over, so a simulator that is
started again finds it there. Those of the fleet file's timeline live in memory.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import msgspec

from trellis.api import durations
from trellis.api.meta import Time, Value
from trellis.embedded.nodes.fleet import Ailment

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from trellis.embedded.nodes.fleet import Fault

PREFIX = "sim.trellis.dev"
ON_NODE = f"{PREFIX}/faults"
ON_POD = f"{PREFIX}/fault"
FOREVER = float("inf")
# The application's own mistakes: NVIDIA's device plugin does not hold them against the card.
HARMLESS_XIDS = frozenset({13, 31, 43, 45, 68, 109})


class UnreadableFault(ValueError):
    """An annotation of faults that says something else."""


class NodeFault(Ailment, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a node's annotation holds a list of. `until`: when it is over; never without."""

    until: Time | None = None


class PodFault(Value, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a pod's annotation holds: a container that was running at that time ends so."""

    at: Time
    container: str = ""
    exit_code: int = 1
    reason: str = "Error"


@dataclass(frozen=True, slots=True)
class Blow:
    """How a container is made to end. Without a reason, by its exit code."""

    exit_code: int
    reason: str = ""


CRASH = Blow(1, "Error")
OOM = Blow(137, "OOMKilled")


@dataclass(frozen=True, slots=True)
class Span:
    """An ailment and when it is there, by the simulator's own clock."""

    ailment: Ailment
    begins: float
    ends: float = FOREVER


@dataclass(frozen=True, slots=True)
class CardState:
    """What is wrong with one card."""

    xid: int = 0
    removed: bool = False

    @property
    def healthy(self) -> bool:
        return not self.removed and (not self.xid or self.xid in HARMLESS_XIDS)


WELL = CardState()


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeState:
    """How a node is. Cards that are well are not listed."""

    vanished: bool = False
    slow_images: float = 0.0
    dcgm_silent: bool = False
    cards: Mapping[str, CardState] = field(default_factory=dict)

    def card(self, address: str) -> CardState:
        return self.cards.get(address, WELL)


def state_at(spans: Iterable[Span], now: float) -> NodeState:
    """All that is wrong at a time, taken together."""
    present = [span.ailment for span in spans if span.begins <= now < span.ends]
    cards: dict[str, CardState] = {}
    for ailment in present:
        if ailment.gpu:
            known = cards.get(ailment.gpu, WELL)
            removed = known.removed or ailment.removed
            cards[ailment.gpu] = CardState(ailment.xid or known.xid, removed)
    slow = (durations.to_seconds(one.slow_images) for one in present if one.slow_images)
    return NodeState(
        vanished=any(one.vanish for one in present),
        slow_images=max(slow, default=0.0),
        dcgm_silent=any(one.dcgm == "down" for one in present),
        cards=cards,
    )


def next_change(spans: Iterable[Span], now: float) -> float | None:
    """When something begins or is over for the first time after now."""
    moments = [at for span in spans for at in (span.begins, span.ends) if now < at < FOREVER]
    return min(moments, default=None)


def span_of(fault: Fault, start: float) -> Span:
    """A fault of the timeline, which counts from the start."""
    begins = start + durations.to_seconds(fault.at)
    lasts = durations.to_seconds(fault.for_) if fault.for_ else FOREVER
    return Span(fault, begins, begins + lasts)


def read_node(text: str) -> tuple[NodeFault, ...]:
    try:
        faults = msgspec.json.decode(text.encode(), type=tuple[NodeFault, ...])
        for fault in faults:
            if fault.slow_images:
                durations.parse(fault.slow_images)
    except (msgspec.MsgspecError, ValueError) as error:
        raise UnreadableFault(f"{ON_NODE}: {error}; write it with `trellis sim fault`") from None
    return faults


def read_pod(text: str) -> PodFault:
    try:
        return msgspec.json.decode(text.encode(), type=PodFault)
    except (msgspec.MsgspecError, ValueError) as error:
        raise UnreadableFault(f"{ON_POD}: {error}; write it with `trellis sim fault`") from None


def written(faults: Iterable[NodeFault]) -> str:
    return msgspec.json.encode(tuple(faults)).decode()
