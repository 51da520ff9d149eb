# SPDX-License-Identifier: Apache-2.0
"""The goldens as they lie in the repository: complete, normalised, and sharp."""

from __future__ import annotations

import pytest

from tests.conformance import goldens
from tests.conformance.runner import all_probes, normalised
from tests.support.sharpness import unseen

MINORS = sorted(folder.name for folder in goldens.FOLDER.iterdir())
PINNED = "1.36"
ENOUGH = 250


def test_there_are_enough_probes_and_each_has_a_golden_of_the_pinned_minor() -> None:
    keys = {entry.key for entry in all_probes()}
    assert len(keys) >= ENOUGH
    assert keys == set(goldens.read(PINNED))


@pytest.mark.parametrize("minor", MINORS)
def test_every_golden_saw_something(minor: str) -> None:
    assert not [key for key, observations in goldens.read(minor).items() if not observations]


@pytest.mark.parametrize("minor", MINORS)
def test_normalising_a_golden_again_changes_nothing(minor: str) -> None:
    changed = [
        key
        for key, observations in goldens.read(minor).items()
        if goldens.text(observations) != goldens.text(normalised(observations, {}))
    ]
    assert not changed


@pytest.mark.parametrize("minor", MINORS)
def test_anything_wrong_is_seen(minor: str) -> None:
    # A sample; tests/e2e/test_sharpness.py takes the time to look at all of them.
    assert not unseen(minor, every=5)
