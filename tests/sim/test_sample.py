# SPDX-License-Identifier: Apache-2.0
"""A sample of what can be told: a few seeds, a few places of every scenario, all that once failed.

Thousands more are told by `python -m tests.sim run` and `python -m tests.sim scenarios`.
"""

from __future__ import annotations

import pytest

from tests.sim.drawing import drawn
from tests.sim.exhaustive import basis, everywhere, judged
from tests.sim.regressions import Kept, all_kept
from tests.sim.scenarios import SCENARIOS
from tests.sim.telling import EVENTFUL_FAULTS, EVENTFUL_STEPS, tell
from tests.support.virtual import dice

# In the last one the set is deleted before much has happened.
SEEDS = (*range(1000, 1024), 4_001_668)
PLACES = 3


@pytest.mark.parametrize("seed", SEEDS, ids=lambda seed: f"seed {seed}")
def test_a_drawn_story_ends_well(seed: int) -> None:
    report = tell(drawn(seed))
    assert not report.findings, report.story.told()
    assert report.steps >= EVENTFUL_STEPS
    assert len(report.struck) >= EVENTFUL_FAULTS


@pytest.mark.parametrize("name", sorted(SCENARIOS))
def test_a_scenario_ends_well_and_alike_wherever_something_goes_wrong(name: str) -> None:
    base = basis(SCENARIOS[name])
    places = list(everywhere(base))
    for story in dice(len(places)).sample(places, PLACES):
        report = judged(base, story)
        assert not report.findings, story.name


@pytest.mark.parametrize("kept", [pytest.param(kept, id=name) for name, kept in all_kept()])
def test_what_once_failed_ends_well(kept: Kept) -> None:
    report = tell(kept.story)
    assert not report.findings, kept.story.told()


def test_there_are_enough_scenarios() -> None:
    assert len(SCENARIOS) >= 15
