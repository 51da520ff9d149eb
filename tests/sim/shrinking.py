# SPDX-License-Identifier: Apache-2.0
"""From a story that fails to the shortest one that still fails in the same way."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from tests.sim.story import Order

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.sim.story import Story
    from tests.sim.telling import Report

T = TypeVar("T")

_MOST_TELLINGS = 250
_SIMPLER: tuple[dict[str, Any], ...] = (
    {"instances": 1},
    {"lease": False},
    {"order": Order.DRAWN},
    {"skews": ()},
    {"embedded": False},
    {"news_delay": 0.02},
)


def shrunk(story: Story, told: Callable[[Story], Report], most: int = _MOST_TELLINGS) -> Story:
    """Fewer faults first, then fewer deeds, then a simpler world, until nothing can go."""
    report = told(story)
    shrinker = _Shrinker(told, frozenset(one.id for one in report.findings), most)
    if not shrinker.ids:
        return story
    while True:
        smaller = story
        for what in ("faults", "encores", "acts"):
            smaller = shrinker.fewer(smaller, what)
        smaller = shrinker.simpler(smaller)
        if smaller == story:
            return smaller
        story = smaller


@dataclass(slots=True)
class _Shrinker:
    told: Callable[[Story], Report]
    ids: frozenset[str]
    left: int
    known: dict[Story, bool] = field(default_factory=dict)

    def fewer(self, story: Story, what: str) -> Story:
        """As delta debugging does: halves are left out, then quarters, down to one at a time."""
        entries: tuple[Any, ...] = getattr(story, what)
        size = max(len(entries) // 2, 1)
        while entries:
            for kept in _without(entries, size):
                smaller = msgspec.structs.replace(story, **{what: kept})
                if self._fails(smaller):
                    story, entries = smaller, kept
                    break
            else:
                if size == 1:
                    return story
                size = max(size // 2, 1)
            size = min(size, max(len(entries), 1))
        return story

    def simpler(self, story: Story) -> Story:
        for change in _SIMPLER:
            smaller = msgspec.structs.replace(story, **change)
            if smaller != story and self._fails(smaller):
                story = smaller
        return story

    def _fails(self, story: Story) -> bool:
        if self.left <= 0:
            return False
        self.left -= 1
        return any(finding.id in self.ids for finding in self.told(story).findings)


def _without(entries: tuple[T, ...], size: int) -> Iterator[tuple[T, ...]]:
    for start in range(0, len(entries), size):
        yield entries[:start] + entries[start + size :]
