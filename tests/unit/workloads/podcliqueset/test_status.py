# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from msgspec import structs

from tests.unit.workloads.podcliqueset.builders import WHEN, World, a_condition, a_gang
from tests.unit.workloads.sets import a_clique, a_group, a_set
from trellis.api.conditions import READY, RECONCILING, STALLED, Motion, Pass
from trellis.api.grove.updates import UPDATE_IN_PROGRESS
from trellis.api.reasons import CATALOGUE, objects
from trellis.workloads.pacing import differs
from trellis.workloads.podcliqueset.gangs import gangs
from trellis.workloads.podcliqueset.status import State, told
from trellis.workloads.trouble import Trouble

if TYPE_CHECKING:
    from trellis.api.grove.podcliqueset import PodCliqueSet, PodCliqueSetStatus

NOW = WHEN
LATER = WHEN + timedelta(minutes=5)
SET = a_set("llm", a_clique("worker", 2), replicas=2, metadata={"generation": 7})
TAKEN = Trouble(reason=objects.NAME_CONFLICT, message="Service: llm-0 belongs to nobody")
FAILING = Trouble(reason=objects.RETRYING, message="PodClique: 503", motion=Motion.MOVING)


def a_state(world: World | None = None, **more: Any) -> State:
    world = world or World(SET)
    found = more.pop("set", world.outline.set)
    return State(
        set=found,
        outline=world.outline,
        seen=world.look(),
        gangs=gangs([a_gang(found, "llm-0"), a_gang(found, "llm-1")], found.metadata.uid),
        **more,
    )


def conditions(status: PodCliqueSetStatus) -> dict[str, tuple[str, str]]:
    return {one.type: (one.status, one.reason) for one in status.conditions}


def behind() -> World:
    world = World(SET)
    del world.cliques["llm-1-worker"]
    return world


def unready() -> World:
    world = World(SET)
    world.clique("llm-1-worker", ready_replicas=1)
    return world


def at_zero() -> World:
    world = World(SET)
    for name in world.cliques:
        world.scale_clique(name, 0)
    return world


def held_up() -> World:
    """All that is needed is there; a second replica of the group is not, and cannot be made."""
    world = World(a_set("llm", a_clique("m"), groups=(a_group("g", "m"),)))
    world.scale_group("llm-0-g", 2)
    stuck = structs.replace(a_condition(STALLED, reason="NameConflict"), observed_generation=1)
    world.group("llm-0-g", conditions=(stuck,))
    return world


NO_REPLICAS = World(a_set("llm", replicas=0))


@pytest.mark.parametrize(
    ("state", "ready", "moving", "stuck", "reason"),
    [
        pytest.param(a_state(), "True", "False", "False", "AllReplicasAvailable", id="well"),
        pytest.param(
            a_state(behind()), "False", "True", "False", "CreatingChildren", id="not all is made"
        ),
        pytest.param(
            a_state(unserved="Service llm-0"),
            "False",
            "True",
            "False",
            "CreatingChildren",
            id="a Service is of before",
        ),
        pytest.param(
            a_state(held_up()),
            "False",
            "False",
            "True",
            "NameConflict",
            id="not all can be made, though all that is needed runs",
        ),
        pytest.param(
            a_state(unready()), "False", "True", "False", "ReplicasUnavailable", id="not all ready"
        ),
        pytest.param(
            a_state(at_zero()), "True", "False", "False", "ScaledToZero", id="all at zero"
        ),
        pytest.param(
            a_state(NO_REPLICAS), "True", "False", "False", "ScaledToZero", id="no replicas"
        ),
        pytest.param(
            a_state(NO_REPLICAS, remains=3),
            "True",
            "True",
            "False",
            "ScaledToZero",
            id="no replicas are wanted and some still go",
        ),
        pytest.param(
            a_state(troubles=(FAILING, TAKEN)),
            "False",
            "False",
            "True",
            "NameConflict",
            id="a name is taken: the worst of all troubles counts",
        ),
        pytest.param(
            a_state(troubles=(FAILING,)),
            "True",
            "True",
            "False",
            "Retrying",
            id="what is well stays so while something is tried again",
        ),
        pytest.param(
            a_state(behind(), troubles=(FAILING,)),
            "False",
            "True",
            "False",
            "Retrying",
            id="what is not well does not become so",
        ),
        pytest.param(
            a_state(unready(), missing_classes=("gold",)),
            "False",
            "False",
            "True",
            "PriorityClassMissing",
            id="a class is missing and pods are yet to be made",
        ),
        pytest.param(
            a_state(missing_classes=("gold",)),
            "True",
            "False",
            "False",
            "AllReplicasAvailable",
            id="a class is missing and nobody needs it any more",
        ),
    ],
)
def test_how_a_set_is(state: State, ready: str, moving: str, stuck: str, reason: str) -> None:
    status = told(state, Pass(7, NOW)).status
    assert conditions(status) == {
        READY: (ready, reason),
        RECONCILING: (moving, reason),
        STALLED: (stuck, reason),
        UPDATE_IN_PROGRESS: ("False", "NoUpdate"),
    }
    assert reason in CATALOGUE


def test_counts_hashes_and_the_selector_are_told() -> None:
    status = told(a_state(unready()), Pass(7, NOW)).status
    assert (status.replicas, status.available_replicas, status.updated_replicas) == (2, 1, 1)
    assert status.current_generation_hash == World(SET).outline.generation_hash
    assert status.hpa_pod_selector == (
        "app.kubernetes.io/managed-by=grove-operator,app.kubernetes.io/part-of=llm"
    )
    assert [one.name for one in status.pod_gang_statuses] == ["llm-0", "llm-1"]
    message = next(one.message for one in status.conditions if one.type == READY)
    assert message == (
        "1 of 2 replicas are available; gangs: 2 Running; "
        "waiting for PodClique llm-1-worker (1 of 2 pods ready)"
    )


def seen_before(**status: Any) -> PodCliqueSet:
    return structs.replace(SET, status=structs.replace(SET.status, **status))


def test_a_generation_is_observed_when_every_child_bears_its_template() -> None:
    before = seen_before(observed_generation=6)
    assert told(a_state(behind(), set=before), Pass(7, NOW)).status.observed_generation == 6
    assert told(a_state(unready(), set=before), Pass(7, NOW)).status.observed_generation == 7


def test_what_others_wrote_into_the_status_stays() -> None:
    foreign = a_condition("TopologyLevelsUnavailable", "False")
    before = seen_before(conditions=(foreign,))
    status = told(a_state(set=before), Pass(7, NOW)).status
    assert status.conditions[0] == foreign


def test_errors_keep_their_time_are_bounded_and_go_when_all_is_clean() -> None:
    first = told(a_state(troubles=(TAKEN,)), Pass(7, NOW)).status
    assert [(one.code, one.observed_at) for one in first.last_errors] == [("NameConflict", NOW)]

    before = structs.replace(SET, status=first)
    many = tuple(replace(TAKEN, message=f"Service: llm-{index} taken") for index in range(500))
    again = told(a_state(set=before, troubles=(TAKEN, *many)), Pass(7, LATER)).status
    assert len(again.last_errors) == 5
    assert again.last_errors[0].observed_at == NOW

    assert told(a_state(set=before), Pass(7, LATER)).status.last_errors == ()


def test_a_settled_set_is_never_written_again() -> None:
    status = told(a_state(), Pass(7, NOW)).status
    before = structs.replace(SET, status=status)
    assert not differs(before, told(a_state(set=before), Pass(7, LATER)).status)


def test_a_set_that_gets_stuck_is_told_of_once() -> None:
    first = told(a_state(troubles=(TAKEN,)), Pass(7, NOW))
    assert [(note.reason, note.type) for note in first.notes] == [("NameConflict", "Warning")]
    before = structs.replace(SET, status=first.status)
    assert told(a_state(set=before, troubles=(TAKEN,)), Pass(7, LATER)).notes == ()
    assert told(a_state(troubles=(FAILING,)), Pass(7, NOW)).notes == ()
