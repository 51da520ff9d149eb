# SPDX-License-Identifier: Apache-2.0
"""The simulation finds every bug that is planted, by the story that found it first."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import pytest

from tests.sim.mutants import MOST_SCHEDULES, ROOT, DoesNotFit, Mutant, met, mutants, read

if TYPE_CHECKING:
    from pathlib import Path

ALL = {mutant.name: mutant for mutant in mutants()}
PAGE = ROOT / "docs" / "fault-simulation.md"


def test_there_are_enough_mutants() -> None:
    assert len(ALL) >= 30


@pytest.mark.parametrize("mutant", ALL.values(), ids=list(ALL))
def test_a_mutant_fits_the_source_and_says_what_it_is(mutant: Mutant) -> None:
    text = (ROOT / mutant.path).read_text()
    changed = mutant.applied(text)
    assert changed != text
    ast.parse(changed)
    assert len(mutant.why) > 10


@pytest.mark.parametrize("mutant", ALL.values(), ids=list(ALL))
def test_a_planted_bug_is_found_by_the_story_that_it_names(mutant: Mutant, tmp_path: Path) -> None:
    found = met(mutant, tmp_path)
    assert found.finding, f"{mutant.name} got away: hunt it with `mutants --only {mutant.name}`"


def test_the_page_says_of_every_mutant_how_soon_it_was_found_and_it_was_soon() -> None:
    rows = [line.split("|") for line in PAGE.read_text().splitlines() if line.startswith("| `")]
    schedules = {name.strip(" `"): int(count) for _, name, _, count, *_ in rows}
    assert set(schedules) == set(ALL)
    assert max(schedules.values()) <= MOST_SCHEDULES


def test_a_patch_that_no_longer_fits_is_an_error() -> None:
    patch = "# why\n--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-gone\n+new\n"
    with pytest.raises(DoesNotFit):
        read("old", patch).applied("something else\n")
