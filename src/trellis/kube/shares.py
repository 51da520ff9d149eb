# SPDX-License-Identifier: Apache-2.0
"""Who waits to be let through: owners take turns, and each sends what is due first. Pure.

Whoever begins to wait is counted from where the others are: who came with thousands has no claim
over who comes with one, nor the other way round.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from itertools import count
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Hashable

    from trellis.kube.batch import Batch

T = TypeVar("T")


@dataclass(slots=True)
class _Share(Generic[T]):
    given: int
    """How many of its were let through, counted from where the others were when it came."""
    places: list[tuple[int, int, T]] = field(default_factory=list)
    """By when it is due, and who came first."""


class Shares(Generic[T]):
    def __init__(self) -> None:
        self._shares: dict[Hashable, _Share[T]] = {}
        self._came = count()
        self._reached = 0

    def __bool__(self) -> bool:
        """Whether anybody waits."""
        return bool(self._shares)

    def add(self, owner: Hashable, batch: Batch, turn: T) -> None:
        share = self._shares.get(owner)
        if share is None:
            others = (one.given for one in self._shares.values())
            share = self._shares[owner] = _Share(min(others, default=self._reached))
        heappush(share.places, (batch.due(share.given), next(self._came), turn))

    def pop(self) -> T:
        """Whose turn it is, of those who wait."""
        owner, share = min(self._shares.items(), key=_first)
        _, _, turn = heappop(share.places)
        share.given += 1
        self._reached = max(self._reached, share.given)
        if not share.places:
            del self._shares[owner]
        return turn

    def remove(self, owner: Hashable, turn: T) -> None:
        """It waits no more, if it did."""
        share = self._shares.get(owner)
        if share is None:
            return
        share.places = [place for place in share.places if place[2] is not turn]
        heapify(share.places)
        if not share.places:
            del self._shares[owner]


def _first(entry: tuple[Hashable, _Share[T]]) -> tuple[int, int]:
    _, share = entry
    _, came, _ = share.places[0]
    return share.given, came
