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
# One of each sort, of those that are found soon: a dropped precondition, forgotten watches, writes
# in the wrong order, what is gone and stays, bad transitions.
SAMPLE = (
    "replicas-are-never-removed",
    "unlisted-pods-stay",
    "delete-by-name",
    "gangs-do-not-hear-of-cliques",
    "cliques-do-not-hear-of-gangs",
    "create-before-delete",
    "conditions-always-move",
    "failed-pods-stay",
    "deletions-are-forgotten",
    "ledger-lists-an-index-twice",
    "relist-keeps-the-gone",
    "scaled-gang-does-not-wait",
)
FEW = 30
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


@pytest.mark.parametrize("name", SAMPLE)
def test_a_planted_bug_is_found(name: str, tmp_path: Path) -> None:
    found = hunted(ALL[name], tmp_path, FEW)
    assert found.finding, f"{name} got away in {found.schedules} schedules"


def test_the_page_says_of_every_mutant_how_soon_it_was_found() -> None:
    rows = [line for line in PAGE.read_text().splitlines() if line.startswith("| `")]
    assert {row.split("`")[1] for row in rows} >= set(ALL)


def test_a_patch_that_no_longer_fits_is_an_error() -> None:
    patch = "# why\n--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-gone\n+new\n"
    with pytest.raises(DoesNotFit):
        read("old", patch).applied("something else\n")
