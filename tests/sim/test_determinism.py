# SPDX-License-Identifier: Apache-2.0
"""The same seed is the same story, to the byte: in one process, and in another one."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.sim.drawing import drawn
from tests.sim.mutants import ROOT
from tests.sim.story import Order, Story, decoded, encoded
from tests.sim.telling import Manner, tell

_TRACES = """
from tests.sim.drawing import drawn
from tests.sim.telling import tell
for seed in (3, 300):
    print(seed, tell(drawn(seed)).trace)
"""


@pytest.mark.parametrize("seed", [3, 37, 302], ids=lambda seed: f"seed {seed}")
def test_a_story_told_twice_is_the_same_line_by_line(seed: int) -> None:
    one, other = (tell(drawn(seed), Manner(aloud=True)) for _ in range(2))
    assert one.lines == other.lines
    assert one.trace == other.trace


def test_a_story_is_the_same_whatever_order_sets_of_strings_have() -> None:
    told = [
        subprocess.run(
            [sys.executable, "-c", _TRACES],
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": order},
            capture_output=True,
            check=True,
        ).stdout
        for order in ("1", "2")
    ]
    assert told[0] == told[1]


def test_seeds_differ() -> None:
    assert tell(drawn(3)).trace != tell(drawn(4)).trace


def test_a_story_survives_being_written_down() -> None:
    story = drawn(12)
    assert decoded(encoded(story)) == story


def test_some_stories_are_told_by_priorities_and_some_by_two_operators() -> None:
    stories = [drawn(seed) for seed in range(60)]
    assert {story.order for story in stories} == set(Order)
    assert {story.instances for story in stories} == {1, 2}
    assert any(story.lease for story in stories)


def test_the_story_of_nothing_ends_well() -> None:
    assert not tell(Story(name="nothing")).findings
