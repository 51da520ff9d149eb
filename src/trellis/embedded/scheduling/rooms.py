# SPDX-License-Identifier: Apache-2.0
"""A node and what is left on it, kept up to date pod by pod. No I/O."""

from __future__ import annotations

from collections import Counter
from itertools import count
from typing import TYPE_CHECKING

from trellis.api import quantity
from trellis.embedded.scheduling.nodes import HOSTNAME
from trellis.embedded.scheduling.wishes import PODS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from trellis.api.core.node import Taint
    from trellis.embedded.scheduling.nodes import ScheduledNode
    from trellis.embedded.scheduling.wishes import HostPort, Wish

Outside = tuple[bool, tuple["Taint", ...]]
"""Whether a node is cordoned, and its taints: what it shows to whoever asks for nothing of it."""


# No two states of any rooms have the same: a node may go, and another come by its name.
_generations = count(1)


class Room:
    """`present` is False while pods are bound to a node that is not known, or not any more."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.present = False
        self.generation = next(_generations)
        """Another one with every change: what was found out about the room may be untrue."""
        self.labels: Mapping[str, str] = {}
        self.outside: Outside = (False, ())
        self.has: dict[str, int] = {}
        self.most_pods = 0
        self.used: Counter[str] = Counter()
        self.weight = (0, 0)
        self.ports: Counter[HostPort] = Counter()
        self.pods: dict[str, Wish] = {}
        self.nominated: dict[str, Wish] = {}
        """Pods for which others were made to leave, and that are to have their place."""

    @property
    def host(self) -> str:
        return self.labels.get(HOSTNAME, "")

    def furnish(self, node: ScheduledNode) -> None:
        """The node is as told."""
        self.present = True
        self.labels = node.metadata.labels
        self.outside = (node.spec.unschedulable, node.spec.taints)
        self.has = {
            name: quantity.parse(amount) for name, amount in node.status.allocatable.items()
        }
        self.most_pods = self.has.get(PODS, 0) // quantity.UNIT
        self.generation = next(_generations)

    def vanish(self) -> None:
        self.present = False
        self.generation = next(_generations)

    def add(self, wish: Wish) -> None:
        self.pods[wish.uid] = wish
        self._count(wish, 1)

    def remove(self, uid: str) -> None:
        wish = self.pods.pop(uid, None)
        if wish is not None:
            self._count(wish, -1)

    def nominate(self, wish: Wish) -> None:
        self.nominated[wish.uid] = wish
        self.generation = next(_generations)

    def forget(self, uid: str) -> None:
        """It is not nominated here any more."""
        if self.nominated.pop(uid, None) is not None:
            self.generation = next(_generations)

    def without(self, uids: Iterable[str]) -> Room:
        """The same room as it would be if those pods had left."""
        copy = Room(self.name)
        copy.present, copy.generation = self.present, self.generation
        copy.labels, copy.outside, copy.most_pods = self.labels, self.outside, self.most_pods
        # Only what pods change is copied.
        copy.has, copy.nominated = self.has, self.nominated
        copy.used, copy.weight = Counter(self.used), self.weight
        copy.ports, copy.pods = Counter(self.ports), dict(self.pods)
        for uid in uids:
            copy.remove(uid)
        return copy

    def _count(self, wish: Wish, sign: int) -> None:
        shape, used = wish.shape, self.used
        for name, amount in shape.requests:
            used[name] += sign * amount
        for port in shape.ports:
            self.ports[port] += sign
        cpu, memory = shape.weight
        self.weight = (self.weight[0] + sign * cpu, self.weight[1] + sign * memory)
        self.generation = next(_generations)
