# SPDX-License-Identifier: Apache-2.0
"""The addresses of pods: each node has a network of its own, and gives the lowest that is free."""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trellis.embedded.nodes.expanding import NodePlan

_NUMBERS = range(2, 255)


class NoAddress(Exception):
    """The node's network is used up."""


class Addresses:
    def __init__(self) -> None:
        self._free: dict[str, list[int]] = {}

    def give(self, plan: NodePlan) -> str:
        free = self._of(plan)
        if not free:
            raise NoAddress(f"{plan.name} has {len(_NUMBERS)} pods and no address for another")
        return f"{plan.pod_network}.{heappop(free)}"

    def keep(self, plan: NodePlan, address: str) -> str:
        """An address that a pod has already, from the last run of the simulator."""
        free = self._of(plan)
        network, _, number = address.rpartition(".")
        if network == plan.pod_network and int(number) in free:
            free.remove(int(number))
            heapify(free)
        return address

    def take_back(self, plan: NodePlan, address: str) -> None:
        network, _, number = address.rpartition(".")
        if network == plan.pod_network:
            heappush(self._of(plan), int(number))

    def _of(self, plan: NodePlan) -> list[int]:
        return self._free.setdefault(plan.name, list(_NUMBERS))
