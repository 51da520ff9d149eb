# SPDX-License-Identifier: Apache-2.0
"""What is tested end to end is also told where everything can go wrong."""

from __future__ import annotations

import pytest

from tests.sim.counterparts import COUNTERPARTS, ONLY_END_TO_END, told_in
from tests.sim.scenarios import SCENARIOS


@pytest.mark.parametrize("file", COUNTERPARTS)
def test_every_story_of_a_file_has_a_scenario_or_a_reason(file: str) -> None:
    known = {*COUNTERPARTS[file], *ONLY_END_TO_END}
    missing = [name for name in told_in(file) if name not in known]
    assert not missing, f"name a scenario for these in tests/sim/counterparts.py: {missing}"


@pytest.mark.parametrize("file", COUNTERPARTS)
def test_what_is_named_is_there(file: str) -> None:
    assert set(COUNTERPARTS[file]) <= set(told_in(file))
    named = {one for names in COUNTERPARTS[file].values() for one in names}
    assert named <= set(SCENARIOS)


def test_reasons_are_given_for_tests_that_there_are() -> None:
    assert set(ONLY_END_TO_END) <= {name for file in COUNTERPARTS for name in told_in(file)}
