# SPDX-License-Identifier: Apache-2.0
"""Plays one seed on two servers, and makes a difference as small as it can be."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING

from tests.conformance import goldens
from tests.conformance.fuzz.operations import Operation, operations
from tests.conformance.fuzz.playing import Seen, play

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.support.api import Api

MOST_TRIES = 60
# Both servers order managers by the second in which they wrote, and a new order is a new version:
# into which second a request falls is by chance, so what differs has to do so each time.
TIMES = 3


@dataclass(frozen=True, slots=True)
class Difference:
    seed: int
    operations: list[Operation]
    first: str
    """What came out differently at first, real server before embedded one."""

    def __str__(self) -> str:
        steps = "\n".join(f"  {operation}" for operation in self.operations)
        return f"seed {self.seed}:\n{steps}\n{self.first}"


@dataclass(frozen=True, slots=True)
class Pair:
    """The real server and the one that is to do the same."""

    real: Api
    other: Api

    async def differ(self, seed: int, steps: Sequence[Operation]) -> Difference | None:
        real, other = await asyncio.gather(play(self.real, steps), play(self.other, steps))
        first = _first(real, other)
        return Difference(seed, list(steps), first) if first else None

    async def tried(self, seed: int) -> Difference | None:
        steps = operations(Random(seed))  # noqa: S311
        found = None
        for _ in range(TIMES):
            found = await self.differ(seed, steps)
            if found is None:
                break
        return found

    async def shrunk(self, found: Difference) -> Difference:
        """Leaves out what it can: as long as something still differs, the rest was not needed."""
        best, tries = found, 0
        size = len(best.operations) // 2
        while size:
            index = 0
            while index < len(best.operations) and tries < MOST_TRIES:
                fewer = best.operations[:index] + best.operations[index + size :]
                tries += 1
                smaller = await self.differ(found.seed, fewer) if fewer else None
                if smaller:
                    best = smaller
                else:
                    index += size
            size //= 2
        return best


def _first(real: Seen, other: Seen) -> str:
    for one, two in zip(real, other, strict=True):
        # Keys come sorted, so texts are equal only if everything is.
        if json.dumps(one) != json.dumps(two):
            return goldens.difference([one], [two]) or ""
    return ""
