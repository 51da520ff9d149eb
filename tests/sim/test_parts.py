# SPDX-License-Identifier: Apache-2.0
"""The parts of the simulation that decide: drawing, shrinking, telling ends apart, keeping."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from tests.sim.__main__ import main
from tests.sim.drawing import drawn
from tests.sim.ends import differences
from tests.sim.faults import Kind
from tests.sim.grammar import ENTRIES, fields
from tests.sim.loops import SimLoop, TimeStandsStill
from tests.sim.regressions import Kept, all_kept, keep
from tests.sim.running import Tally, told_to_the_end
from tests.sim.shrinking import shrunk
from tests.sim.story import Act, Fault, Order, Story, Where
from tests.sim.telling import Report
from tests.sim.watching.finding import Finding
from tests.support.virtual import dice

if TYPE_CHECKING:
    from pathlib import Path


def _report(story: Story, *findings: Finding) -> Report:
    return Report(story, findings=list(findings))


def test_a_story_is_shrunk_to_what_makes_it_fail() -> None:
    culprit = Fault(Where.CALL, 7, Kind.AMBIGUOUS)
    story = Story(
        name="long",
        acts=tuple(Act(n, "apply", {}) for n in range(6)),
        faults=(*(Fault(Where.CALL, n, Kind.LOST) for n in range(20, 30)), culprit),
        instances=2,
    )

    def told(one: Story) -> Report:
        fails = culprit in one.faults and any(act.at == 3 for act in one.acts)
        return _report(one, *([Finding("I-04", "twins")] if fails else []))

    small = shrunk(story, told)
    assert small.faults == (culprit,)
    assert [act.at for act in small.acts] == [3]
    assert small.instances == 1


def test_a_story_that_fails_otherwise_is_not_taken_for_a_shorter_one() -> None:
    story = Story(name="two", faults=(Fault(Where.CALL, 1, Kind.LOST),))

    def told(one: Story) -> Report:
        return _report(one, Finding("I-04" if one.faults else "L-01", "either"))

    assert shrunk(story, told) == story


@pytest.mark.parametrize("order", Order, ids=lambda order: order.name.lower())
def test_who_comes_back_for_ever_in_one_moment_breaks_the_story_off(order: Order) -> None:
    async def restless() -> None:
        await asyncio.sleep(1.5)
        while True:
            await asyncio.sleep(1e-15)

    with (
        asyncio.Runner(loop_factory=lambda: SimLoop(order, dice(1))) as runner,
        pytest.raises(TimeStandsStill, match=r"turns at 1\.500 s"),
    ):
        runner.run(restless())


def test_ends_that_differ_are_told_apart_by_where_they_do() -> None:
    one = {"pods": {"red/a Running": 2}, "services red/a": {"spec": {"ports": [1]}}}
    other = {"pods": {"red/a Running": 1}, "services red/a": {"spec": {"ports": [1]}}}
    assert list(differences(one, other)) == ["pods.red/a Running: 2 without faults, 1 with"]


def test_the_grammar_knows_the_fields_of_the_schema() -> None:
    paths = {field.path for field in fields()}
    assert ("replicas",) in paths
    assert ("template", "cliques", ENTRIES, "spec", "minAvailable") in paths
    assert ("template", "podCliqueScalingGroups", ENTRIES, "replicas") in paths


def test_drawn_stories_hold_every_kind_of_fault_and_many_deeds() -> None:
    stories = [drawn(seed) for seed in range(150)]
    assert {fault.kind for story in stories for fault in story.faults} == set(Kind)
    assert len({act.what for story in stories for act in story.acts}) >= 15


def test_what_is_kept_can_be_read_again(tmp_path: Path) -> None:
    kept = Kept(story=drawn(5), found=("I-04: twins",))
    keep(kept, "seed-5", tmp_path)
    assert list(all_kept(tmp_path)) == [("seed-5", kept)]


def test_the_last_line_of_a_run_has_all_figures(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--seeds", "1000-1001"]) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.startswith("2 schedules in ")
    assert last.endswith("0 violations")


def test_what_is_kept_is_replayed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = keep(Kept(story=Story(name="nothing"), found=()), "nothing", tmp_path)
    assert main(["replay", str(file)]) == 0
    assert "nothing, seed 0" in capsys.readouterr().out


def test_a_story_that_breaks_off_is_a_violation() -> None:
    def told(_: Story) -> Report:
        raise ZeroDivisionError("by nothing")

    tally = Tally()
    tally.add(told_to_the_end(Story(name="seed 7"), told))
    assert tally.failed == ["seed 7"]
    assert dict(tally.violations) == {"simulation": 1}


def test_tallies_add_up() -> None:
    one, other = Tally(), Tally()
    story = Story(name="seed 1")
    one.add(Report(story, steps=10))
    failing = Report(story, steps=7, findings=[Finding("I-04", "twins")])
    failing.faults[Kind.CUT] = 3
    other.add(failing)
    one.merge(other)
    assert (one.schedules, one.steps, one.fewest_steps) == (2, 17, 7)
    assert (one.failed, one.fewest_faults) == (["seed 1"], 0)


def test_replay_tells_the_story(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", "1000"]) == 0
    told = capsys.readouterr().out
    assert "operator-0 starts" in told
    assert "from here on nothing goes wrong" in told
