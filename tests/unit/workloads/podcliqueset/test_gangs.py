# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from tests.unit.workloads.podcliqueset.builders import WHEN, a_condition, a_gang
from tests.unit.workloads.sets import a_set
from trellis.api.conditions import READY, STALLED
from trellis.api.grove.podcliqueset import GANG_STATUSES_LIMIT
from trellis.api.labels import managed
from trellis.api.scheduler.podgang import (
    DISRUPTION_TARGET,
    INITIALIZED,
    PENDING,
    RUNNING,
    SCHEDULED,
    STARTING,
    UNHEALTHY,
)
from trellis.workloads.podcliqueset.gangs import gangs

SET = a_set("llm")
UID = SET.metadata.uid


def test_the_broken_come_first_then_what_does_not_run_and_then_names_decide() -> None:
    broken = a_condition(UNHEALTHY)
    found = [
        a_gang(SET, "d"),
        a_gang(SET, "c", RUNNING, broken),
        a_gang(SET, "b", PENDING),
        a_gang(SET, "a"),
        a_gang(SET, "e", STARTING),
        a_gang(SET, "f", PENDING, broken),
    ]
    seen = gangs(found, UID)
    assert [one.name for one in seen.told] == ["c", "f", "b", "e", "a", "d"]
    assert str(seen) == "gangs: 3 Running, 1 Starting, 2 Pending, 2 unhealthy"


def test_a_broken_gang_is_told_of_however_many_are_pending() -> None:
    waiting = [a_gang(SET, f"llm-{index}", PENDING) for index in range(GANG_STATUSES_LIMIT)]
    seen = gangs([*waiting, a_gang(SET, "llm-99", STARTING, a_condition(UNHEALTHY))], UID)
    assert seen.told[0].name == "llm-99"
    assert len(seen.told) == GANG_STATUSES_LIMIT


def test_only_the_conditions_are_told_that_say_why_a_gang_is_unwell() -> None:
    well = [a_condition(SCHEDULED), a_condition(READY), a_condition(UNHEALTHY, "False")]
    unwell = [
        a_condition(SCHEDULED, "False"),
        a_condition(READY, "False"),
        a_condition(INITIALIZED),
        a_condition(UNHEALTHY),
        a_condition(DISRUPTION_TARGET, "False"),
    ]
    seen = gangs([a_gang(SET, "a", RUNNING, *well), a_gang(SET, "b", PENDING, *unwell)], UID)
    assert {one.name: [each.type for each in one.conditions] for one in seen.told} == {
        "a": [],
        "b": [READY, UNHEALTHY],
    }


def test_gangs_of_others_and_those_that_go_are_not_told_of() -> None:
    going = a_gang(SET, "going")
    going = structs.replace(
        going, metadata=structs.replace(going.metadata, deletion_timestamp=WHEN)
    )
    other = a_gang(a_set("llm", metadata={"uid": "another"}), "other")
    seen = gangs([going, other], UID)
    assert seen.told == ()
    assert str(seen) == "no gangs yet"


def test_a_gang_that_another_operator_left_for_its_pods_is_not_told_of() -> None:
    left = a_gang(SET, "llm-0-1772366400", PENDING)
    left = structs.replace(left, metadata=structs.replace(left.metadata, labels=managed("llm")))
    seen = gangs([left, a_gang(SET, "llm-0")], UID)
    assert [one.name for one in seen.told] == ["llm-0"]
    assert str(seen) == "gangs: 1 Running"


@given(st.lists(st.sampled_from((RUNNING, STARTING, PENDING, "Failed")), max_size=200))
def test_the_list_is_bounded_the_counts_are_whole_and_no_unwell_one_is_left_out_for_a_well_one(
    phases: list[str],
) -> None:
    found = [a_gang(SET, f"llm-{index}", phase) for index, phase in enumerate(phases)]
    seen = gangs(found, UID)
    assert len(seen.told) == min(len(phases), GANG_STATUSES_LIMIT)
    assert dict(seen.phases) == {phase: phases.count(phase) for phase in dict.fromkeys(phases)}
    unwell = sum(phase != RUNNING for phase in phases)
    told = [one.phase != RUNNING for one in seen.told]
    assert sum(told) == min(unwell, GANG_STATUSES_LIMIT)
    assert told == sorted(told, reverse=True)


def test_of_those_that_are_stuck_the_first_of_the_unwell_are_named() -> None:
    stuck = a_condition(STALLED)
    found = [
        a_gang(SET, "b", PENDING, stuck),
        a_gang(SET, "a", PENDING, stuck),
        a_gang(SET, "moving", PENDING, a_condition(STALLED, "False")),
        a_gang(SET, "well", RUNNING, stuck),
    ]
    assert [one.metadata.name for one in gangs(found, UID).stalled] == ["a", "b"]
    many = [a_gang(SET, str(index), PENDING, stuck) for index in range(9)]
    assert len(gangs(many, UID).stalled) == 5
