# SPDX-License-Identifier: Apache-2.0
"""Looks at everything in the caches now and then, and counts what does not hold.

What is found in two rounds in a row is no matter of caches that lag: it is counted, once for as
long as it lasts, and logged. Nothing is ever mended here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trellis.instruments.logs import logger
from trellis.workloads.auditor.checks import IDS, of_child, of_clique, of_gang, of_group, of_set

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trellis.runtime.env import Env
    from trellis.workloads.auditor.checks import Violation
    from trellis.workloads.caches import Caches

ROUND_SECONDS = 60.0
# So many objects are looked at before others have their turn.
_AT_ONCE = 200

_log = logger(__name__)


class Auditor:
    def __init__(self, caches: Caches, env: Env, every: float = ROUND_SECONDS) -> None:
        self._caches = caches
        self._clock = env.clock
        self._every = every
        self._suspects: dict[tuple[str, str], None] = {}
        self._known: dict[tuple[str, str], None] = {}
        self._counter = env.meter.counter(
            "trellis_invariant_violations_total",
            "What must always hold and was found not to, in two rounds in a row.",
            {"id": IDS},
        )

    async def run(self) -> None:
        """For ever."""
        while True:
            await self._clock.sleep(self._every)
            if self._caches.sets.synced and self._caches.pods.synced:
                await self.audit()

    async def audit(self) -> tuple[Violation, ...]:
        """One round; returns what is known not to hold since this one."""
        found: dict[tuple[str, str], Violation] = {}
        for number, violations in enumerate(self._looks()):
            for violation in violations:
                found.setdefault((violation.id, violation.object), violation)
            if number % _AT_ONCE == _AT_ONCE - 1:
                await self._clock.sleep(0)
        lasting = {key: one for key, one in found.items() if key in self._suspects}
        new = tuple(one for key, one in lasting.items() if key not in self._known)
        self._suspects = dict.fromkeys(found)
        self._known = dict.fromkeys(lasting)
        for violation in new:
            self._counter.labels(violation.id).inc()
            _log.error(
                "invariant violated",
                id=violation.id,
                object=violation.object,
                problem=violation.text,
            )
        return new

    def _looks(self) -> Iterator[Iterator[Violation]]:
        """One look an object, so that a round can pause between any two."""
        caches = self._caches
        for found in caches.sets:
            yield of_set(found)
        for group in caches.groups:
            yield of_group(caches, group)
        for gang in caches.gangs:
            yield of_gang(caches, gang)
        for clique in caches.cliques:
            yield of_clique(caches, clique)
        for children in (caches.services, caches.autoscalers, caches.roles, caches.bindings):
            for child in children:
                yield of_child(caches, child)
