# SPDX-License-Identifier: Apache-2.0
"""Gang termination: Grove's scenarios GT1 to GT6 step by step, then what must hold in general."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.workloads.podgang.builders import NOW, a_member, a_podclique, a_status, ago, wl2
from trellis.workloads.podgang.recycle import (
    Decision,
    GroupHealth,
    Health,
    ReplicaHealth,
    Unit,
    decide,
    health,
    is_breached,
)

DELAY = timedelta(seconds=10)
UP = "up"
NEVER = "never"
Life = str | float


def of(clique: str, life: Life) -> Health:
    """A number is for how many seconds it has been broken."""
    if life == UP:
        return Health(clique=clique)
    if life == NEVER:
        return Health(clique=clique, is_down=True)
    return Health(clique=clique, is_down=True, broken_since=ago(float(life)))


def a_replica(pc_a: Life, *units: tuple[Life, Life], least: int = 1) -> ReplicaHealth:
    """pc-a alone, and sg-x with pc-b and pc-c in each replica."""
    made = tuple(
        Unit(index=index, members=(of(f"sg-x-{index}-pc-b", b), of(f"sg-x-{index}-pc-c", c)))
        for index, (b, c) in enumerate(units)
    )
    group = GroupHealth(name="sg-x", minimum=min(least, len(made)), units=made)
    return ReplicaHealth(alone=(of("pc-a", pc_a),), groups=(group,))


def outcome(decision: Decision) -> str:
    if decision.whole is not None:
        return "whole"
    return " ".join(f"{each.group}-{each.index}" for each in decision.units) or "nothing"


@dataclass(frozen=True)
class Step:
    title: str
    replica: ReplicaHealth
    expected: str
    next: float | None = None
    """Seconds until the next deadline."""


STEPS = [
    Step(
        "GT1 a clique that needs both its pods lost one",
        a_replica(3, (UP, UP), (UP, UP), least=2),
        "nothing",
        7,
    ),
    Step("GT1 and has not recovered in time", a_replica(10, (UP, UP), (UP, UP), least=2), "whole"),
    Step(
        "GT2 a group that needs both its replicas lost a pod",
        a_replica(UP, (UP, 3), (UP, UP), least=2),
        "nothing",
        7,
    ),
    Step("GT2 and has not recovered in time", a_replica(UP, (UP, 10), (UP, UP), least=2), "whole"),
    Step(
        "GT3 a clique that needs one of its two pods has one",
        a_replica(UP, (UP, UP), (UP, UP)),
        "nothing",
    ),
    Step("GT3 it has lost the second too", a_replica(11, (UP, UP), (UP, UP)), "whole"),
    Step(
        "GT4 a replica of a group keeps its minimum", a_replica(UP, (UP, UP), (UP, UP)), "nothing"
    ),
    Step("GT4 it has lost it, and the other is well", a_replica(UP, (UP, 10), (UP, UP)), "sg-x-0"),
    Step(
        "GT4 made anew and not up again, it starts nothing",
        a_replica(UP, (NEVER, NEVER), (UP, UP)),
        "nothing",
    ),
    Step(
        "GT4 but is no help when the other breaks",
        a_replica(UP, (NEVER, NEVER), (UP, 4)),
        "nothing",
        6,
    ),
    Step("GT4 so that everything falls", a_replica(UP, (NEVER, NEVER), (UP, 10)), "whole"),
    Step(
        "GT5 only the replica that broke is made anew", a_replica(UP, (UP, 30), (UP, UP)), "sg-x-0"
    ),
    Step("GT5 and likewise the other one", a_replica(UP, (UP, UP), (30, 20)), "sg-x-1"),
    Step(
        "GT6 a scaled replica that keeps its minimum", a_replica(UP, (UP, UP), (UP, UP)), "nothing"
    ),
    Step(
        "at the first start nothing is broken that ever worked",
        a_replica(NEVER, (NEVER, NEVER)),
        "nothing",
    ),
    Step(
        "two replicas fall at their own times",
        a_replica(UP, (12, UP), (UP, 4), (UP, UP)),
        "sg-x-0",
        6,
    ),
    Step("two replicas fall at once", a_replica(UP, (12, UP), (UP, 14), (UP, UP)), "sg-x-0 sg-x-1"),
    Step("all fall together", a_replica(99, (99, UP), (UP, 99)), "whole"),
    Step(
        "a group lacks its minimum since the one more than it can spare",
        a_replica(UP, (UP, 12), (UP, 4)),
        "nothing",
        6,
    ),
    Step(
        "a replica whose group just lost its minimum is not made anew alone",
        a_replica(UP, (UP, 10), (UP, 0)),
        "nothing",
        10,
    ),
    Step(
        "no sooner than what was up broke",
        a_replica(UP, (UP, 4), (NEVER, UP), least=2),
        "nothing",
        6,
    ),
    Step("a group of none lacks nothing", a_replica(UP), "nothing"),
]


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.title)
def test_what_is_made_anew(step: Step) -> None:
    decision = decide(step.replica, DELAY, NOW)
    assert outcome(decision) == step.expected
    left = None if decision.next is None else (decision.next - NOW).total_seconds()
    assert left == step.next


def test_a_decision_names_who_broke_first_since_when_and_until_when() -> None:
    (threat,) = decide(a_replica(UP, (3, 4), (UP, UP)), DELAY, NOW).threats
    assert (threat.clique, threat.since, threat.deadline) == ("sg-x-0-pc-c", ago(4), ago(-6))
    assert (threat.group, threat.index, threat.is_whole) == ("sg-x", 0, False)


def test_a_decision_knows_when_the_last_of_all_that_falls_was_up() -> None:
    early, late, other = (
        Health(clique=name, is_down=True, broken_since=ago(20), up_since=ago(seconds))
        for name, seconds in (("early", 90), ("late", -300), ("other", 60))
    )
    units = (Unit(index=0, members=(early, late)), Unit(index=1, members=(other,)))
    spared = GroupHealth(name="sg-x", minimum=0, units=units)
    found = decide(ReplicaHealth(groups=(spared,)), DELAY, NOW).units
    assert [threat.up_since for threat in found] == [ago(-300), ago(60)]
    alone = decide(ReplicaHealth(alone=(early,), groups=(spared,)), DELAY, NOW).whole
    needed = decide(ReplicaHealth(groups=(replace(spared, minimum=2),)), DELAY, NOW).whole
    assert alone is not None
    assert needed is not None
    assert alone.up_since == needed.up_since == ago(-300)


def test_a_whole_replica_is_not_judged_while_a_clique_of_its_own_is_being_put_back() -> None:
    broken = a_replica(UP, (UP, 99), (UP, UP))
    partial = ReplicaHealth(alone=(of("pc-a", 99),), groups=broken.groups, is_complete=False)
    assert outcome(decide(partial, DELAY, NOW)) == "sg-x-0"
    none_spare = a_replica(UP, (UP, 99), (UP, 99)).groups
    partial = ReplicaHealth(groups=none_spare, is_complete=False)
    assert decide(partial, DELAY, NOW) == Decision()


def test_a_replica_of_a_group_that_lacks_a_clique_is_down() -> None:
    lacking = Unit(index=0, members=(of("sg-x-0-pc-b", UP),), is_complete=False)
    broken = Unit(index=1, members=(of("sg-x-1-pc-b", 10),))
    group = GroupHealth(name="sg-x", minimum=1, units=(lacking, broken))
    assert outcome(decide(ReplicaHealth(groups=(group,)), DELAY, NOW)) == "whole"


@pytest.mark.parametrize(
    ("up", "broken", "recycled", "replicas", "expected"),
    [
        pytest.param(ago(90), None, None, 2, (False, None), id="it holds its minimum"),
        pytest.param(ago(90), ago(5), None, 2, (True, ago(5)), id="it held it until then"),
        pytest.param(None, ago(5), None, 2, (True, None), id="it never held it"),
        pytest.param(None, None, None, 2, (True, None), id="it is still starting"),
        pytest.param(ago(90), ago(5), ago(60), 2, (True, None), id="not since it was made anew"),
        pytest.param(ago(60), ago(5), ago(60), 2, (True, None), id="nor in the same second"),
        pytest.param(ago(50), ago(5), ago(60), 2, (True, ago(5)), id="it did since"),
        pytest.param(None, ago(5), None, 0, (False, None), id="of none, none can be missing"),
        pytest.param(ago(90), ago(5), None, 0, (False, None), id="not even if it says so"),
    ],
)
def test_how_a_podclique_is(
    up: datetime | None,
    broken: datetime | None,
    recycled: datetime | None,
    replicas: int,
    expected: tuple[bool, datetime | None],
) -> None:
    clique = a_podclique(wl2(), a_member(), replicas, a_status(up, broken))
    found = health(clique, recycled)
    assert (found.is_down, found.broken_since) == expected
    assert is_breached(clique) is (broken is not None)


LIVES = st.one_of(st.sampled_from([UP, NEVER]), st.integers(0, 20))


@st.composite
def replicas(draw: st.DrawFn) -> ReplicaHealth:
    units = draw(st.lists(st.tuples(LIVES, LIVES), max_size=4))
    return a_replica(draw(LIVES), *units, least=draw(st.integers(1, 4)))


@given(replicas())
def test_nothing_falls_that_was_not_broken_for_the_whole_delay(replica: ReplicaHealth) -> None:
    decision = decide(replica, DELAY, NOW)
    members = [each for group in replica.groups for unit in group.units for each in unit.members]
    broken = [each for each in (*replica.alone, *members) if each.broken_since is not None]
    if decision.whole or decision.units:
        assert any((each.broken_since or NOW) + DELAY <= NOW for each in broken)
    if not broken:
        assert decision == Decision()


@given(replicas())
def test_a_group_never_falls_below_its_minimum_by_what_is_made_anew_alone(
    replica: ReplicaHealth,
) -> None:
    decision = decide(replica, DELAY, NOW)
    fallen = {(threat.group, threat.index) for threat in decision.units}
    for group in replica.groups:
        left = [
            unit for unit in group.units if unit.is_well and (group.name, unit.index) not in fallen
        ]
        if any(name == group.name for name, _ in fallen):
            assert len(left) >= group.minimum


@given(replicas(), st.integers(0, 30))
def test_what_is_broken_and_stays_so_falls_at_its_deadline_and_not_before(
    replica: ReplicaHealth, seconds: int
) -> None:
    decision = decide(replica, DELAY, NOW)
    later = decide(replica, DELAY, NOW + timedelta(seconds=seconds))
    due = [
        threat for threat in decision.threats if threat.deadline <= NOW + timedelta(seconds=seconds)
    ]
    assert bool(due or decision.whole or decision.units) == bool(later.whole or later.units)
