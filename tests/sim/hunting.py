# SPDX-License-Identifier: Apache-2.0
"""The order in which stories are told to find a bug soon: drawn ones and scenarios by turns.

Nothing here knows which bug is hunted.
"""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

from tests.sim.drawing import drawn
from tests.sim.exhaustive import Unwell, basis, densely, everywhere, judged
from tests.sim.mutants import Found
from tests.sim.scenarios import SCENARIOS
from tests.sim.telling import Report, tell
from tests.support.virtual import dice

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.sim.story import Story


def hunt(most: int) -> Found:
    """Until something is found, or so many stories were told."""
    told = 0
    try:
        for report in _reports():
            told += 1
            if report.findings:
                return Found(
                    schedules=told, story=report.story.name, finding=str(report.findings[0])
                )
            if told >= most:
                break
    except Unwell as error:
        # Not even without a fault.
        return Found(schedules=told + 1, story="a scenario as it is", finding=str(error))
    return Found(schedules=told)


def _reports() -> Iterator[Report]:
    """First every scenario as it is: many bugs need no more. Then all sorts of stories by turns."""
    bases = []
    for story in SCENARIOS.values():
        bases.append(basis(story))
        yield Report(story)
    crowded = _in_drawn_order([story for base in bases for story in densely(base)])
    places = [_in_drawn_order(list(everywhere(base))) for base in bases]
    for seed in count():
        if seed < len(crowded):
            yield tell(crowded[seed])
        yield tell(drawn(seed))
        number, turn = seed % len(bases), seed // len(bases)
        if turn < len(places[number]):
            yield judged(bases[number], places[number][turn])


def _in_drawn_order(stories: list[Story]) -> list[Story]:
    dice(len(stories)).shuffle(stories)
    return stories
