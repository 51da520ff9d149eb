# SPDX-License-Identifier: Apache-2.0
"""When an update began and ended, by what was said of it before and what is so now. Pure.

There is none before the first template change. With OnDelete one ends with the very moment it
begins, so that what watches over gangs is never off because of it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from trellis.api.grove.updates import ON_DELETE
from trellis.api.meta import to_seconds

if TYPE_CHECKING:
    from datetime import datetime

    from trellis.api.grove.updates import CliqueProgress, GroupProgress, SetProgress


@dataclass(frozen=True, slots=True)
class Span:
    """`begins`: that it is another one than before. Times alone, cut to seconds, cannot tell."""

    started: datetime
    ended: datetime | None = None
    begins: bool = field(default=False, compare=False)

    @property
    def is_open(self) -> bool:
        return self.ended is None


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """What is so now. `changed`: the templates are not those that the last update was about.

    `outdated`: something is, and may be renewed. `ended`: nothing is left to do.
    """

    strategy: str
    changed: bool
    outdated: bool
    ended: bool


def span_of(progress: SetProgress | GroupProgress | CliqueProgress | None) -> Span | None:
    if progress is None or progress.update_started_at is None:
        return None
    return Span(progress.update_started_at, progress.update_ended_at)


def span(before: Span | None, turn: Turn, now: datetime) -> Span | None:
    """The update that is under way, or the last one; None: there never was any."""
    moment, by_hand = to_seconds(now), turn.strategy == ON_DELETE
    is_open = before is not None and before.is_open
    if turn.changed or (turn.outdated and not by_hand and not is_open):
        return Span(moment, moment if by_hand or turn.ended else None, begins=True)
    if before is not None and is_open and (by_hand or turn.ended):
        # Clocks of two operators may differ: nothing ends before it began.
        return Span(before.started, max(moment, before.started))
    return before


def is_over(progress: GroupProgress | CliqueProgress | None, found: Span) -> bool:
    """Whether nothing more is to be said of it: it had ended, and none has begun since."""
    return not found.begins and not found.is_open and span_of(progress) == found
