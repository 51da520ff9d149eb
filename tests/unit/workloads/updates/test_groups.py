# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from datetime import timedelta

import pytest

from tests.unit.workloads.updates.builders import (
    NEW,
    NOW,
    OLD,
    a_group,
    a_member,
    a_replica,
    ago,
    missing,
    pending,
    ready,
    unready,
    waiting,
    well,
)
from trellis.api.grove.updates import ON_DELETE
from trellis.api.reasons import objects
from trellis.workloads.updates import GroupState, Why, next_step, outlook


def taken(state: GroupState) -> tuple[int, ...]:
    step = next_step(state)
    return step.indices if step else ()


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        pytest.param(a_group(well(0), well(1), well(2)), (2,), id="one, the highest"),
        pytest.param(a_group(well(0), well(1), most=2), (0, 1), id="as many as may be"),
        pytest.param(a_group(well(0), well(1, new=True)), (0,), id="only what is outdated"),
        pytest.param(
            a_group(well(0), a_replica(1, a_member(pending(0, NEW), new=True))),
            (),
            id="none while a rolled one starts",
        ),
        pytest.param(
            a_group(well(0), a_replica(1, a_member(ready(0, OLD), new=True))),
            (),
            id="none while the pods of a released one are about to go",
        ),
        pytest.param(
            a_group(
                well(0),
                a_replica(1, a_member(ready(0)), a_member(unready(0))),
                a_replica(2, a_member(pending(0, NEW), new=True)),
            ),
            (1,),
            id="at once where one member has been down for long",
        ),
        pytest.param(
            a_group(
                well(0),
                a_replica(1, a_member(unready(0, down=1), was_available=False)),
                a_replica(2, a_member(pending(0, NEW), new=True)),
            ),
            (1,),
            id="at once where one never was available",
        ),
        pytest.param(
            a_group(
                well(0),
                a_replica(1, a_member(ready(0), missing(1), needed=2)),
                a_replica(2, a_member(pending(0, NEW), new=True)),
            ),
            (),
            id="a pod that was just lost breaks nothing",
        ),
        pytest.param(
            a_group(
                well(0),
                a_replica(1, a_member(ready(0), unready(1, failed=True, down=2), needed=2)),
                a_replica(2, a_member(pending(0, NEW), new=True)),
            ),
            (),
            id="nor does one that has just failed",
        ),
        pytest.param(
            a_group(
                a_replica(0, a_member(ready(0, OLD), carries=True, current=frozenset({NEW}))),
                a_replica(1, a_member(ready(0, NEW), carries=True, current=frozenset({NEW}))),
            ),
            (0,),
            id="replicas that have the spec and old pods, since somebody switched",
        ),
        pytest.param(
            a_group(a_replica(0, a_member(ready(0, NEW), new=True), a_member(ready(0))), well(1)),
            (0,),
            id="first what was begun and not finished",
        ),
        pytest.param(
            a_group(well(0), a_replica(1, a_member(needed=0))), (1,), id="a member of no pods"
        ),
    ],
)
def test_the_replicas_that_go_now(state: GroupState, expected: tuple[int, ...]) -> None:
    assert taken(state) == expected


def test_what_is_outdated_and_not_taken_keeps_its_specs() -> None:
    found = outlook(a_group(well(0), well(1), well(2), well(3, new=True)))
    assert (found.active, found.held) == ((2,), (0, 1))


def test_before_its_turn_every_outdated_replica_keeps_its_specs() -> None:
    found = outlook(a_group(well(0), well(1), well(2, new=True), its_turn=False))
    assert (found.step, found.ended, found.held) == (None, False, (0, 1))


def test_by_hand_no_replica_keeps_its_specs_and_none_goes() -> None:
    broken = a_replica(1, a_member(pending(0), was_available=False))
    found = outlook(a_group(well(0), broken, strategy=ON_DELETE))
    assert (found.step, found.ended, found.held) == (None, True, ())


@pytest.mark.parametrize(
    ("at_start", "ended"), [pytest.param(1, True, id="as before"), pytest.param(2, False, id="not")]
)
def test_it_ends_when_as_many_are_available_as_at_the_start(at_start: int, ended: bool) -> None:
    down = a_replica(1, a_member(pending(0, NEW), new=True))
    assert outlook(a_group(well(0, new=True), down, at_start=at_start)).ended is ended


def test_a_replica_settles_when_its_slowest_member_has() -> None:
    settle = {"settle": timedelta(seconds=60)}
    slow = a_member(ready(0, NEW, since=ago(20)), new=True)
    quick = a_member(ready(0, NEW, since=ago(90)), new=True)
    found = outlook(a_group(a_replica(0, quick, slow), well(1), budget=settle))
    assert found.step is None
    assert found.again == NOW + timedelta(seconds=40)


def test_a_member_holds_its_minimum_with_the_pods_that_became_ready_first() -> None:
    settle = {"settle": timedelta(seconds=60)}
    pods = (ready(0, NEW, since=ago(90)), ready(1, NEW, since=ago(1)))
    group = a_group(a_replica(0, a_member(*pods, new=True)), well(1), budget=settle)
    assert taken(group) == (1,)


def test_it_looks_again_when_a_replica_has_been_down_for_ten_seconds() -> None:
    down = a_replica(1, a_member(unready(0, down=4)))
    starting = a_replica(2, a_member(missing(0), new=True))
    found = outlook(a_group(well(0), down, starting))
    assert found.step is None
    assert found.again == NOW + timedelta(seconds=6)


@pytest.mark.parametrize(
    ("at_start", "expected"),
    [
        pytest.param(2, (1,), id="it was not up before"),
        pytest.param(3, (), id="one that was up is not again"),
    ],
)
def test_a_replica_that_finds_no_room_is_waited_for_only_in_place_of_another(
    at_start: int, expected: tuple[int, ...]
) -> None:
    stuck = a_replica(2, a_member(waiting(0, NEW), new=True))
    assert taken(a_group(well(0), well(1), stuck, at_start=at_start)) == expected


def test_what_is_ready_costs_budget_even_if_nobody_has_noted_that_it_was_up() -> None:
    assert taken(a_group(well(0), well(1), well(2, was_available=False))) == (2,)


def test_where_nothing_could_be_made_in_its_place_only_a_broken_replica_goes() -> None:
    obstacle = Why(objects.PRIORITY_CLASS_MISSING, "PriorityClass ghost does not exist")
    broken = a_replica(2, a_member(ready(0)), a_member(unready(0)))
    assert taken(a_group(well(0), well(1), broken, most=3, obstacle=obstacle)) == (2,)
    found = outlook(a_group(well(0), well(1), most=2, obstacle=obstacle))
    assert (found.step, found.held) == (None, (0, 1))
    assert found.hindrance == found.why
