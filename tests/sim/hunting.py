# SPDX-License-Identifier: Apache-2.0
"""The order in which stories are told to find a bug soon: drawn ones and scenarios by turns.

Nothing here knows which bug is hunted.
"""

from __future__ import annotations

from itertools import count, islice
from typing import TYPE_CHECKING

from tests.sim.drawing import drawn
from tests.sim.exhaustive import Unwell, basis, densely, everywhere, judged
from tests.sim.mutants import Found
from tests.sim.scenarios import SCENARIOS
from tests.sim.telling import Report, tell
from tests.sim.watching.finding import Finding
from tests.support.virtual import dice

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.sim.exhaustive import Basis
    from tests.sim.story import Story

_SEED = "seed "


def hunt(most: int) -> Found:
    """Until something is found, or so many stories were told."""
    told = 0
    for report in islice(_reports(), most):
        told += 1
        if report.findings:
            return Found(schedules=told, story=report.story.name, finding=str(report.findings[0]))
    return Found(schedules=told)


def retell(name: str) -> Found:
    """The one story that is called so: a scenario, as it is or with faults, or that of a seed."""
    if name.startswith(_SEED):
        report = tell(drawn(int(name.removeprefix(_SEED))))
    else:
        report = _of_scenario(name)
    return Found(
        schedules=1, story=name, finding=str(report.findings[0]) if report.findings else ""
    )


def _of_scenario(name: str) -> Report:
    known = max((one for one in SCENARIOS if name.startswith(one)), key=len)
    if name == known:
        return _as_it_is(SCENARIOS[known])[0]
    base = basis(SCENARIOS[known])
    for story in densely(base):
        if story.name == name:
            return tell(story)
    return next(judged(base, story) for story in everywhere(base) if story.name == name)


def _as_it_is(story: Story) -> tuple[Report, Basis | None]:
    try:
        return Report(story), basis(story)
    except Unwell as error:
        # Not even without a fault.
        return Report(story, [Finding("as it is", str(error))]), None


def _reports() -> Iterator[Report]:
    """First every scenario as it is: many bugs need no more. Then all sorts of stories by turns."""
    bases = []
    for story in SCENARIOS.values():
        report, base = _as_it_is(story)
        yield report
        if base is not None:
            bases.append(base)
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
