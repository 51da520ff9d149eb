# SPDX-License-Identifier: Apache-2.0
"""One story told once for each place where something can go wrong in it.

The three patterns that most bugs of operators need nothing else for: the process dies before or
after a call, what it reads is old from a call on, and something happens that it never sees.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from tests.sim.ends import differences
from tests.sim.faults import Kind
from tests.sim.story import Fault, Where
from tests.sim.telling import Manner, tell
from tests.sim.watching.finding import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.sim.ends import End
    from tests.sim.story import Story
    from tests.sim.telling import Report

_DOWN_SECONDS = 1.0
_STALE_SECONDS = 6.0
_WITHHELD_SECONDS = 6.0
_DENSE_SECONDS = 1.0
_APART = 4
_READS = ("GET", "WATCH")
# What differs from the end without faults is looked at where nothing else is wrong.
_MOST_DIFFERENCES = 5

AT_CALLS = (Kind.CRASH_BEFORE, Kind.CRASH_AFTER, Kind.STALE, Kind.AMBIGUOUS)
AT_EVENTS = (Kind.WITHHELD, Kind.EXPIRED)
_AMOUNTS = {
    Kind.CRASH_BEFORE: _DOWN_SECONDS,
    Kind.CRASH_AFTER: _DOWN_SECONDS,
    Kind.STALE: _STALE_SECONDS,
    Kind.WITHHELD: _WITHHELD_SECONDS,
}


@dataclass(frozen=True, slots=True)
class Basis:
    """A scenario as it goes when nothing is wrong: its places, and its end."""

    story: Story
    calls: tuple[str, ...]
    events: int
    end: End


class Unwell(AssertionError):
    """The scenario fails with nothing going wrong at all."""


def basis(story: Story, manner: Manner | None = None) -> Basis:
    report = tell(story, manner)
    if report.findings or report.end is None:
        raise Unwell(f"{story.name}: {'; '.join(map(str, report.findings))}")
    return Basis(story, tuple(report.calls), report.events, report.end)


def everywhere(base: Basis) -> Iterator[Story]:
    """The scenario with one fault, for every fault and every place."""
    for number, call in enumerate(base.calls):
        for kind in AT_CALLS:
            if kind is Kind.CRASH_BEFORE or not call.startswith(_READS):
                yield _with(base.story, Where.CALL, number, kind)
    for number in range(base.events):
        for kind in AT_EVENTS:
            yield _with(base.story, Where.EVENT, number, kind)


def densely(base: Basis) -> Iterator[Story]:
    """The scenario with one kind of fault again and again, for every kind."""
    for kind in AT_CALLS:
        places = [n for n, call in enumerate(base.calls) if not call.startswith(_READS)]
        yield _throughout(base.story, Where.CALL, places, kind)
    for kind in AT_EVENTS:
        yield _throughout(base.story, Where.EVENT, list(range(base.events)), kind)


def judged(base: Basis, story: Story, manner: Manner | None = None) -> Report:
    """Tells it and holds its end against the one without faults (D-01)."""
    report = tell(story, manner)
    if not report.findings and report.end is not None and not story.racing:
        for text in list(differences(base.end, report.end))[:_MOST_DIFFERENCES]:
            report.findings.append(Finding("D-01", text))
    return report


def _throughout(story: Story, where: Where, places: list[int], kind: Kind) -> Story:
    seconds = min(_AMOUNTS.get(kind, 0.0), _DENSE_SECONDS)
    faults = [Fault(where, number, kind, seconds) for number in places[1::_APART]]
    named = f"{story.name}: {kind} again and again"
    # Nobody can say any more who is there in time to be scaled, or to fall.
    return msgspec.structs.replace(story.with_faults(*faults), name=named, fallen=(), pods={})


def _with(story: Story, where: Where, number: int, kind: Kind) -> Story:
    fault = Fault(where, number, kind, _AMOUNTS.get(kind, 0.0))
    named = f"{story.name}: {kind} at {where} {number}"
    return msgspec.structs.replace(story.with_faults(fault), name=named)
