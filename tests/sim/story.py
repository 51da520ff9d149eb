# SPDX-License-Identifier: Apache-2.0
"""A schedule as a value: who does what when, and what goes wrong where.

Everything that is drawn is drawn before it begins, so a story can be written down, cut short and
told again. Nothing in it names a pod: those are found when their time has come.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import msgspec


class Where(StrEnum):
    """What the places of faults are counted by, for each instance of the operator."""

    CALL = "call"
    """Requests, from the first that it sends, over all its lives."""
    EVENT = "event"
    """Lines that its watches would have brought it."""
    HOOK = "hook"
    """Reviews that the API server sends. There is one count of these."""
    TURN = "turn"
    """Turns of the event loop while it lives: where it can die between two calls."""


class Fault(msgspec.Struct, frozen=True, omit_defaults=True):
    """One thing that goes wrong. `amount` is in seconds; what it means is the kind's affair."""

    where: Where
    at: int
    kind: str
    amount: float = 0.0
    instance: int = 0

    def __str__(self) -> str:
        amount = f" ({self.amount:g} s)" if self.amount else ""
        whose = "" if self.where is Where.HOOK else f" of instance {self.instance}"
        return f"{self.kind}{amount} at {self.where} {self.at}{whose}"


class Act(msgspec.Struct, frozen=True, omit_defaults=True):
    """What somebody does after so many seconds. `what` is the name of a deed."""

    at: float
    what: str
    args: dict[str, Any] = {}

    def __str__(self) -> str:
        said = ", ".join(f"{name}={_shown(value)}" for name, value in self.args.items())
        return f"{self.at:7.2f} s  {self.what}({said})"


class Order(StrEnum):
    """Who goes first, of all that could go on in one moment."""

    DRAWN = "drawn"
    PRIORITY = "priority"


class Story(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """`seed` decides what is too small to be told: latencies, uids, who goes first."""

    name: str
    seed: int = 0
    acts: tuple[Act, ...] = ()
    encores: tuple[Act, ...] = ()
    """Told after the acts until enough has happened; each is so many seconds before the next."""
    faults: tuple[Fault, ...] = ()
    instances: int = 1
    """Operators that work at the same time: nothing keeps them apart unless there is a lease."""
    lease: bool = False
    order: Order = Order.DRAWN
    skews: tuple[float, ...] = ()
    """By how many seconds the clock of each instance is wrong."""
    news_delay: float = 0.02
    """How late the watches of operators may hear, in seconds, as a matter of course."""
    embedded: bool = False
    """Whether the collector is the embedded cluster's own, instead of the quicker one."""
    teardown: bool = False
    """Whether all sets are deleted in the end, and nothing may be left of them."""
    pods: dict[str, int] = {}
    """How many pods there must be in the end, as `ends` calls them; empty where only the oracle
    knows."""
    unharmed: tuple[str, ...] = ()
    """PodCliques of which the operator must delete no pod."""
    fallen: tuple[str, ...] = ()
    """PodCliques of which all pods must have been made anew, for they were broken for too long."""
    updated: bool = False
    """Whether templates change: what is left of that in the end hangs on when it was."""
    racing: bool = False
    """Whether there is more than one right end, as when somebody races the operator for a name."""

    @property
    def until(self) -> float:
        """When the last act is over."""
        return max((act.at for act in self.acts), default=0.0)

    def with_faults(self, *faults: Fault) -> Story:
        return msgspec.structs.replace(self, faults=faults)

    def without_faults(self) -> Story:
        """The same deeds in a world where nothing goes wrong."""
        return msgspec.structs.replace(
            self, faults=(), instances=1, lease=False, order=Order.DRAWN, skews=()
        )

    def told(self) -> str:
        head = [f"{self.name}, seed {self.seed}, {self.instances} instance(s), order {self.order}"]
        acts = [f"  {act}" for act in self.acts]
        encores = [f"  if that was not enough: {act}" for act in self.encores]
        return "\n".join([*head, *acts, *encores, *self._troubles()])

    def _troubles(self) -> list[str]:
        skews = [f"  clock of instance {n} off by {s:g} s" for n, s in enumerate(self.skews) if s]
        return [*skews, *(f"  fault: {fault}" for fault in self.faults)]


def encoded(story: Story) -> bytes:
    return msgspec.json.format(msgspec.json.encode(story, order="sorted"), indent=2)


def decoded(content: bytes) -> Story:
    return msgspec.json.decode(content, type=Story)


def _shown(value: Any) -> str:
    text = msgspec.json.encode(value).decode()
    return text if len(text) <= 120 else f"{text[:117]}…"
