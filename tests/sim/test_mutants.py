# SPDX-License-Identifier: Apache-2.0
"""The simulation finds bugs that are planted: a few of them here, all with `mutants`."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import pytest

from tests.sim.mutants import ROOT, DoesNotFit, Mutant, hunted, mutants, read

if TYPE_CHECKING:
    from pathlib import Path

ALL = {mutant.name: mutant for mutant in mutants()}
# One of each sort: a dropped precondition, a forgotten watch, writes in the wrong order, a bad
# transition.
SAMPLE = (
    "delete-by-name",
    "gangs-do-not-hear-of-cliques",
    "create-before-delete",
    "failed-pods-stay",
)
FEW = 60


def test_there_are_enough_mutants() -> None:
    assert len(ALL) >= 30


@pytest.mark.parametrize("mutant", ALL.values(), ids=list(ALL))
def test_a_mutant_fits_the_source_and_says_what_it_is(mutant: Mutant) -> None:
    text = (ROOT / mutant.path).read_text()
    changed = mutant.applied(text)
    assert changed != text
    ast.parse(changed)
    assert len(mutant.why) > 10


@pytest.mark.parametrize("name", SAMPLE)
def test_a_planted_bug_is_found(name: str, tmp_path: Path) -> None:
    found = hunted(ALL[name], tmp_path, FEW)
    assert found.finding, f"{name} got away in {found.schedules} schedules"


def test_a_patch_that_no_longer_fits_is_an_error() -> None:
    patch = "# why\n--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-gone\n+new\n"
    with pytest.raises(DoesNotFit):
        read("old", patch).applied("something else\n")
