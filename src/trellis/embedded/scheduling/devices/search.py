# SPDX-License-Identifier: Apache-2.0
"""Devices of one node for all claims of a pod at once: the first choice that suits every request.

Every choice is tried, in a fixed order, as the real scheduler does; within one request only
combinations, not orders. Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from trellis.embedded.scheduling.devices.constraints import Bond
from trellis.embedded.scheduling.devices.results import Choice, Chosen, allocation
from trellis.embedded.scheduling.devices.selecting import ClaimBroken, suits, tolerated
from trellis.embedded.scheduling.dra import ALL

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from trellis.embedded.scheduling.claims import DeviceId
    from trellis.embedded.scheduling.devices.inventory import Candidate, Stock
    from trellis.embedded.scheduling.dra import Allocation, Ask, Claim, DeviceClass

MOST_RESULTS = 32
# Beyond that many devices looked at, a node is given up: choices grow faster than any patience.
_PATIENCE = 20_000


class Impatience(Exception):
    """There are too many choices to try them all."""


@dataclass(frozen=True, slots=True)
class _Alternative:
    """So many devices of a class for a request, which is `name` or `name/alternative`."""

    claim: int
    whose: str
    request: str
    ask: Ask
    class_: DeviceClass

    def suits(self, candidate: Candidate) -> bool:
        return suits(candidate, self.ask, self.class_, self.whose)


class Plan:
    """What all claims of a pod ask for, the same on every node."""

    def __init__(self, claims: Sequence[Claim], classes: Mapping[str, DeviceClass]) -> None:
        self.claims = claims
        for claim in claims:
            _check_size(claim)
        self.steps = [
            [
                _Alternative(
                    number, str(claim.metadata.key), name, ask, classes[ask.device_class_name]
                )
                for name, ask in request.asks
            ]
            for number, claim in enumerate(claims)
            for request in claim.spec.devices.requests
        ]

    def allocate(self, stock: Stock, taken: Mapping[DeviceId, int]) -> list[Allocation] | None:
        """What each claim gets of the stock, or None if it has not enough for all."""
        search = _Search(self, stock, taken)
        if not search.succeeds():
            return None
        return [
            allocation(claim, Chosen(tuple(chosen)))
            for claim, chosen in zip(self.claims, search.chosen, strict=True)
        ]


class _Search:
    def __init__(self, plan: Plan, stock: Stock, taken: Mapping[DeviceId, int]) -> None:
        self._steps = plan.steps
        self._stock = stock
        self._taken = taken
        self._bonds = [
            [Bond(one) for one in claim.spec.devices.constraints] for claim in plan.claims
        ]
        self.chosen: list[list[Choice]] = [[] for _ in plan.claims]
        self._mine: dict[DeviceId, list[int]] = {}
        self._looked_at = 0

    def succeeds(self) -> bool:
        return self._request(0)

    def _request(self, step: int) -> bool:
        """From that request on, everything can be had."""
        if step == len(self._steps):
            return True
        return any(self._alternative(step, one) for one in self._steps[step])

    def _alternative(self, step: int, wanted: _Alternative) -> bool:
        if wanted.ask.allocation_mode != ALL:
            return self._some(step, wanted, self._usable(wanted), wanted.ask.count)
        if self._stock.unsettled:
            why = f"claim {wanted.whose}, request {wanted.request}: asks for all devices"
            raise ClaimBroken(f"{why}, but {self._stock.unsettled}")
        every = [one for one in self._stock.candidates if wanted.suits(one)]
        return bool(every) and self._every(step, wanted, every)

    def _usable(self, wanted: _Alternative) -> list[Candidate]:
        return [
            one
            for one in self._stock.candidates
            if self._is_free(wanted, one) and wanted.suits(one) and tolerated(one, wanted.ask)
        ]

    def _every(self, step: int, wanted: _Alternative, rest: list[Candidate]) -> bool:
        """All of these can be had, and what is asked for after them."""
        if not rest:
            return self._request(step + 1)
        first, *others = rest
        return self._fits(wanted, len(rest)) and self._with(
            wanted, first, lambda: self._every(step, wanted, others)
        )

    def _some(self, step: int, wanted: _Alternative, usable: list[Candidate], lacking: int) -> bool:
        """So many of these can be had, in their order, and what is asked for after them."""
        if not lacking:
            return self._request(step + 1)
        if not self._fits(wanted, lacking):
            return False
        # With fewer left than are lacking, there is nothing to try.
        for place in range(len(usable) - lacking + 1):
            rest = usable[place + 1 :]
            following = partial(self._some, step, wanted, rest, lacking - 1)
            if self._with(wanted, usable[place], following):
                return True
        return False

    def _fits(self, wanted: _Alternative, more: int) -> bool:
        """Whether the status of the claim can hold so many more devices."""
        return len(self.chosen[wanted.claim]) + more <= MOST_RESULTS

    def _is_free(self, wanted: _Alternative, candidate: Candidate) -> bool:
        mine = self._mine.get(candidate.id, ())
        if wanted.ask.admin_access:
            return wanted.claim not in mine
        return not mine and candidate.id not in self._taken

    def _with(
        self, wanted: _Alternative, candidate: Candidate, following: Callable[[], bool]
    ) -> bool:
        """With this device too, the rest can be had. If not, it is as if it had not been tried."""
        self._looked_at += 1
        if self._looked_at > _PATIENCE:
            raise Impatience
        if not self._is_free(wanted, candidate) or not tolerated(candidate, wanted.ask):
            return False
        bonds = self._bonds[wanted.claim]
        added = 0
        for bond in bonds:
            if not bond.add(wanted.request, candidate):
                break
            added += 1
        if added == len(bonds):
            self._mine.setdefault(candidate.id, []).append(wanted.claim)
            choice = Choice(wanted.request, wanted.ask, wanted.class_, candidate)
            self.chosen[wanted.claim].append(choice)
            if following():
                return True
            self.chosen[wanted.claim].pop()
            self._mine[candidate.id].pop()
        for bond in bonds[:added]:
            bond.take_back(wanted.request)
        return False


def _check_size(claim: Claim) -> None:
    fewest = sum(
        min((ask.count for _, ask in request.asks if ask.allocation_mode != ALL), default=1)
        for request in claim.spec.devices.requests
    )
    if fewest > MOST_RESULTS:
        raise ClaimBroken(
            f"claim {claim.metadata.key}: number of requested devices {fewest} "
            f"exceeds the claim limit of {MOST_RESULTS}"
        )
