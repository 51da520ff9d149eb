# SPDX-License-Identifier: Apache-2.0
"""What a PodClique tells in events, and how soon its status is told."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec import structs

from tests.unit.workloads.podclique.builders import (
    NOW,
    Scene,
    a_scene,
)
from tests.unit.workloads.podclique.fates import (
    CRASHED,
    LATER,
    PENDING,
    READY,
    STARTING,
    names,
    some_pods,
    told,
)
from tests.unit.workloads.sets import a_clique, a_set
from trellis.api.annotation import RECYCLED
from trellis.api.conditions import Motion
from trellis.api.grove.updates import CliqueProgress
from trellis.api.reasons import objects
from trellis.workloads.outline import Outline
from trellis.workloads.pacing import Haste
from trellis.workloads.podclique.census import census
from trellis.workloads.podclique.telling import haste, of_changes
from trellis.workloads.trouble import Trouble

if TYPE_CHECKING:
    from datetime import datetime


def notes(scene: Scene, now: datetime = NOW) -> list[str]:
    after = told(scene, now)
    return [note.reason for note in of_changes(scene.state, after, None)]


def test_that_the_last_pod_lost_its_node_is_an_event_once() -> None:
    up = told(a_scene(1, pods=some_pods(READY)))
    lost = a_scene(1, status=up)
    assert "AllScheduledReplicasLost" in notes(lost)
    assert notes(lost.but(status=told(lost))) == []
    assert "AllScheduledReplicasLost" not in notes(lost.but(spec={"replicas": 0}))


def test_a_breach_and_its_end_are_events_of_what_was_up() -> None:
    up = a_scene(1, pods=some_pods(READY))
    down = a_scene(1, pods=some_pods(CRASHED), status=told(up))
    assert notes(down) == ["InsufficientReadyPods"]
    assert notes(up.but(status=told(down))) == ["SufficientReadyPods"]
    starting = a_scene(1, pods=some_pods(PENDING))
    assert notes(a_scene(1, pods=some_pods(STARTING), status=told(starting))) == []


def test_that_it_recovers_is_an_event_of_what_was_made_anew_too() -> None:
    recycled = {RECYCLED: f'{{"*": "{LATER.strftime("%Y-%m-%dT%H:%M:%SZ")}"}}'}
    up = a_scene(1, pods=some_pods(READY))
    down = a_scene(1, pods=some_pods(CRASHED), status=told(up))
    anew = a_scene(1, status=told(down), gang_annotations=recycled)
    assert told(anew, LATER).first_available_time is None
    back = anew.but(pods=some_pods(READY), status=told(anew, LATER))
    assert notes(back, LATER) == ["SufficientReadyPods"]


def awaited(scene: Scene, now: datetime = LATER) -> bool:
    state = scene.state
    return haste(state, census(state), told(scene, now), None, now) is Haste.AT_ONCE


def test_gang_termination_waits_for_a_breach_of_what_was_up() -> None:
    up = a_scene(1, pods=some_pods(READY))
    assert awaited(a_scene(1, pods=some_pods(CRASHED), status=told(up)))
    starting = told(a_scene(1, pods=some_pods(PENDING)))
    assert not awaited(a_scene(1, pods=some_pods(STARTING), status=starting))


def test_a_breach_that_ends_with_an_update_is_told_with_its_last_step() -> None:
    up = a_scene(1, pods=some_pods(READY))
    down = told(a_scene(1, pods=some_pods(CRASHED), status=told(up)))
    began = CliqueProgress(
        update_started_at=NOW, pod_clique_set_generation_hash="new", pod_template_hash="new"
    )
    over = structs.replace(began, update_ended_at=LATER)
    back = a_scene(1, pods=some_pods(READY), status=structs.replace(down, update_progress=began))
    after = structs.replace(told(back, LATER), update_progress=over)
    found = haste(back.state, census(back.state), after, None, LATER)
    assert found is Haste.NEXT_STEP


@pytest.mark.parametrize("startup", ["CliqueStartupTypeInOrder", "CliqueStartupTypeAnyOrder"])
def test_waiters_wait_for_the_minimum_in_both_directions(startup: str) -> None:
    found = a_set("llm", a_clique("worker"), a_clique("after"), startup=startup)
    scene = Scene(found, Outline(found).alone(0)[0], names=tuple(names(1)))
    up = scene.but(pods=some_pods(READY), status=told(scene.but(pods=some_pods(STARTING))))
    down = scene.but(pods=some_pods(STARTING), status=told(up))
    # That it was up for the first time is told at once in any order: gang termination asks for it.
    assert awaited(up)
    assert awaited(down) == (startup == "CliqueStartupTypeInOrder")


@pytest.mark.parametrize(
    ("scene", "trouble", "expected"),
    [
        pytest.param(a_scene(2), None, Haste.WHEN_MORE_IS_KNOWN, id="its pods are on their way"),
        pytest.param(
            a_scene(2),
            Trouble(reason=objects.CREATING_CHILDREN, message="", motion=Motion.MOVING),
            Haste.WHEN_MORE_IS_KNOWN,
            id="it is not time for its pods yet",
        ),
        pytest.param(
            a_scene(2),
            Trouble(reason=objects.PRIORITY_CLASS_MISSING, message=""),
            Haste.SOON,
            id="somebody must do something",
        ),
        pytest.param(
            a_scene(2, pods=some_pods(PENDING)), None, Haste.AS_IT_GOES, id="it has a pod"
        ),
        pytest.param(
            a_scene(2, pods=some_pods(READY, PENDING)),
            Trouble(reason=objects.QUOTA_REFUSED, message=""),
            Haste.SOON,
            id="it is kept from what it lacks",
        ),
        pytest.param(
            a_scene(2, status=told(a_scene(2, pods=some_pods(PENDING)))),
            None,
            Haste.AS_IT_GOES,
            id="it has lost its pods",
        ),
        pytest.param(
            a_scene(
                2,
                1,
                pods=some_pods(READY, READY),
                status=told(a_scene(2, 1, pods=some_pods(READY, STARTING))),
            ),
            None,
            Haste.SOON,
            id="it lacks nothing any more",
        ),
    ],
)
def test_how_soon_a_clique_is_told_of_hangs_on_whether_more_is_to_come(
    scene: Scene, trouble: Trouble | None, expected: Haste
) -> None:
    state = scene.state
    assert haste(state, census(state), told(scene), trouble, LATER) is expected
