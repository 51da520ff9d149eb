# SPDX-License-Identifier: Apache-2.0
"""How old a view may be that somebody decides on: what was true before that, everybody knows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.sim.faults import Kind
from tests.sim.story import Where

if TYPE_CHECKING:
    from tests.sim.story import Fault, Story

# By then a connection that went silent has been given up (L-05).
_FOUND_OUT_SECONDS = 50.0
# From what is heard to what is written, with nothing going wrong.
_THOUGHT_SECONDS = 2.0
# What a process reads first may be as old as this.
_LAG_SECONDS = 3.0
# What a fault strikes may have been on its way for so long.
_ON_ITS_WAY_SECONDS = 0.5
# After each of these somebody reads anew.
_RESTARTS = ("bounce", "lose_history")
_READ_ANEW = frozenset(
    {
        Kind.CRASH_BEFORE,
        Kind.CRASH_AFTER,
        Kind.CRASH,
        Kind.GONE,
        Kind.CUT,
        Kind.ENDED,
        Kind.EXPIRED,
        Kind.MERGED,
        Kind.TROUBLED,
        Kind.GARBLED,
    }
)


def lasting(fault: Fault) -> float:
    """For how many seconds it is felt."""
    return _FOUND_OUT_SECONDS if fault.kind == Kind.SILENT else fault.amount


class Hearing:
    """Every fault that strikes makes views older for a while; those that overlap add up."""

    def __init__(self, story: Story) -> None:
        restarts = story.lease or any(act.what in _RESTARTS for act in story.acts)
        self._usual = _THOUGHT_SECONDS + 2 * story.news_delay + (_LAG_SECONDS if restarts else 0.0)
        self.shared = story.instances > 1
        """Whether there are several operators, who do not hear of each other at once."""
        self.contested = self.shared and not story.lease
        """Whether several of them act at the same time."""
        self._poor: list[tuple[float, float]] = []
        """From when until when views may be older than usual."""

    def struck(self, fault: Fault, now: float) -> None:
        if fault.where is not Where.HOOK:
            lag = _LAG_SECONDS if fault.kind in _READ_ANEW else _ON_ITS_WAY_SECONDS
            self._poor.append((now - lag, now + lasting(fault) + self._usual))

    def known(self, now: float) -> float:
        """Whoever writes something now has heard of all that happened before then."""
        known = now - self._usual
        for since, until in sorted(self._poor, key=lambda one: -one[1]):
            if until >= known:
                known = min(known, since)
        return known
