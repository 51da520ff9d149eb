# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.virtual import START
from tests.unit.workloads.podclique.builders import NO_GANG, NOW, a_pod, a_scene, pod_name
from trellis.api.annotation import AFTER_DEPARTURE, ATTEMPT, PLACEMENT
from trellis.api.conditions import Motion
from trellis.api.core.pod import FAILED, SUCCEEDED
from trellis.api.reasons import objects, pending
from trellis.runtime.converged import NameConflict
from trellis.workloads.podclique.desired import plan

if TYPE_CHECKING:
    from trellis.api.core.pod import Pod
    from trellis.workloads.podclique.desired import Plan
    from trellis.workloads.podclique.state import State

CLIQUE = "llm-0-worker"
FIRST, SECOND = pod_name(CLIQUE, 0), pod_name(CLIQUE, 1)
NEXT = pod_name(CLIQUE, 0, FIRST)


def made(planned: Plan) -> list[str]:
    return [birth.name for birth in planned.create]


def gone(planned: Plan) -> list[str]:
    return [pod.metadata.name for pod in planned.delete]


def a_failed_pod(name: str = FIRST, index: int = 0, **more: object) -> Pod:
    return a_pod(name, index, phase=FAILED, ready=False, **more)


def test_all_that_is_listed_and_missing_is_made_in_the_order_of_indices() -> None:
    planned = plan(a_scene(2).state)
    assert made(planned) == [FIRST, SECOND]
    assert planned.hold is None


def test_nothing_is_to_be_done_when_all_that_is_listed_is_there() -> None:
    scene = a_scene(2, pods=(a_pod(FIRST, 0), a_pod(SECOND, 1)))
    assert plan(scene.state) == plan(a_scene(0).state)
    assert not made(plan(scene.state))
    assert not gone(plan(scene.state))


def test_what_is_not_listed_goes_and_what_is_going_already_is_left_to_go() -> None:
    pods = (
        a_pod(FIRST, 0),
        a_pod(SECOND, 1),
        a_pod("stray", 7),
        a_pod("leaving", 8, deleted=NOW),
    )
    assert gone(plan(a_scene(2, pods=pods).state)) == ["stray"]


def test_a_pod_that_hangs_in_its_end_does_not_keep_the_next_from_being_made() -> None:
    scene = a_scene(1, names=(NEXT,), pods=(a_pod(FIRST, 0, deleted=NOW),))
    assert made(plan(scene.state)) == [NEXT]


def test_the_next_waits_for_the_departure_where_the_clique_says_so() -> None:
    patient = {AFTER_DEPARTURE: "true"}
    scene = a_scene(1, names=(NEXT,), pods=(a_pod(FIRST, 0, deleted=NOW),), annotations=patient)
    assert made(plan(scene.state)) == []
    assert made(plan(scene.but(pods=()).state)) == [NEXT]


def test_a_failed_pod_does_not_depart_and_is_not_waited_for() -> None:
    scene = a_scene(1, names=(NEXT,), pods=(a_failed_pod(),), annotations={AFTER_DEPARTURE: "true"})
    assert made(plan(scene.state)) == [NEXT]


def test_a_failed_pod_goes_when_the_one_after_it_is_there_and_not_before() -> None:
    scene = a_scene(1, names=(NEXT,), pods=(a_failed_pod(),))
    assert gone(plan(scene.state)) == []
    replaced = scene.but(pods=(a_failed_pod(), a_pod(NEXT, 0)))
    assert gone(plan(replaced.state)) == [FIRST]


def test_a_failed_pod_whose_index_is_no_more_goes_at_once() -> None:
    scene = a_scene(1, names=(FIRST,), pods=(a_pod(FIRST, 0), a_failed_pod(SECOND, 1)))
    assert gone(plan(scene.state)) == [SECOND]


def test_a_listed_pod_is_never_deleted_even_if_it_has_failed_or_succeeded() -> None:
    pods = (a_failed_pod(), a_pod(SECOND, 1, phase=SUCCEEDED, ready=False))
    assert not gone(plan(a_scene(2, pods=pods).state))


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        pytest.param((), 0, id="the first of its index"),
        pytest.param((a_failed_pod(),), 1, id="after one that failed at once"),
        pytest.param((a_failed_pod(annotations={ATTEMPT: "3"}),), 4, id="after four in a row"),
        pytest.param(
            (a_failed_pod(annotations={ATTEMPT: "3"}, since=START + timedelta(hours=1)),),
            0,
            id="after one that had run for an hour",
        ),
        pytest.param((a_pod(FIRST, 0, deleted=NOW),), 0, id="after one that was deleted"),
        pytest.param((a_failed_pod(annotations={ATTEMPT: "9" * 30}),), 1, id="after nonsense"),
    ],
)
def test_a_pod_says_how_many_failed_before_it(before: tuple[Pod, ...], expected: int) -> None:
    (birth,) = plan(a_scene(1, names=(NEXT,), pods=before).state).create
    assert birth.attempt == expected


def test_no_more_are_made_than_are_wanted_although_more_are_listed() -> None:
    scene = a_scene(3, spec={"replicas": 2}, pods=(a_pod(SECOND, 1),))
    assert made(plan(scene.state)) == [FIRST]


def test_nothing_is_touched_while_there_is_no_ledger() -> None:
    planned = plan(a_scene(1, names=None, pods=(a_pod("groves-own", 0),)).state)
    assert (made(planned), gone(planned)) == ([], [])
    assert planned.hold is not None
    assert planned.hold.reason is pending.GANG_MISSING


def test_why_there_is_no_gang_is_passed_on() -> None:
    planned = plan(a_scene(1, names=None, status=NO_GANG).state)
    assert planned.hold is not None
    assert planned.hold.reason is objects.QUOTA_REFUSED
    assert planned.hold.message == "PodGang: exceeded quota"
    assert planned.hold.motion is Motion.STUCK


def test_all_go_where_none_are_wanted_with_or_without_a_gang() -> None:
    scene = a_scene(1, spec={"replicas": 0}, pods=(a_pod(FIRST, 0),))
    for found in (scene, scene.but(names=None)):
        assert gone(plan(found.state)) == [FIRST]
        assert plan(found.state).hold is None


def test_none_are_made_while_placement_says_wait_and_what_is_surplus_still_goes() -> None:
    waiting = {PLACEMENT: "wait"}
    scene = a_scene(1, names=(NEXT,), pods=(a_pod(FIRST, 0),), gang_annotations=waiting)
    planned = plan(scene.state)
    assert (made(planned), gone(planned)) == ([], [FIRST])
    assert planned.hold is not None
    assert planned.hold.reason is pending.WAITING_FOR_PLACEMENT


def test_placement_that_says_wait_is_no_trouble_for_what_is_there() -> None:
    scene = a_scene(1, pods=(a_pod(FIRST, 0),), gang_annotations={PLACEMENT: "wait"})
    assert plan(scene.state).hold is None


def test_pods_are_pinned_as_far_as_the_verdict_reaches() -> None:
    verdict = {PLACEMENT: f'{{"{CLIQUE}": [["n1", 1], ["n2", 1]]}}'}
    scene = a_scene(3, gang_annotations=verdict)
    assert [birth.node for birth in plan(scene.state).create] == ["n1", "n2", ""]


def test_a_replacement_is_pinned_where_its_index_was() -> None:
    verdict = {PLACEMENT: f'{{"{CLIQUE}": [["n1", 1], ["n2", 1]]}}'}
    scene = a_scene(2, gang_annotations=verdict, pods=(a_pod(FIRST, 0),))
    assert [birth.node for birth in plan(scene.state).create] == ["n2"]


def test_a_gang_of_somebody_else_is_a_name_conflict() -> None:
    known = a_scene(1, names=None).state
    state = type(known)(
        clique=known.clique,
        pods=known.pods,
        owner=known.owner,
        outline=known.outline,
        member=known.member,
        most=known.most,
        conflict=NameConflict("llm-0", "PodCliqueSet other"),
    )
    planned = plan(state)
    assert made(planned) == []
    assert planned.hold is not None
    assert planned.hold.reason is objects.NAME_CONFLICT
    assert "PodCliqueSet other" in planned.hold.message


NAMES = [pod_name(CLIQUE, index, before) for index in range(4) for before in ("", "x", "y")]


@st.composite
def states(draw: st.DrawFn) -> State:
    ledger = tuple(
        pod_name(CLIQUE, index, draw(st.sampled_from(["", "x", "y"])))
        for index in sorted(draw(st.sets(st.integers(0, 3))))
    )
    present = draw(st.sets(st.sampled_from(NAMES)))
    pods = tuple(
        a_pod(
            name,
            int(name.split("-")[3]),
            phase=draw(st.sampled_from(["Running", "Failed", "Pending", "Succeeded"])),
            deleted=draw(st.sampled_from([None, NOW])),
        )
        for name in sorted(present)
    )
    replicas = draw(st.integers(0, 4))
    return a_scene(
        4,
        names=draw(st.sampled_from([None, ledger])),
        pods=pods,
        spec={"replicas": replicas},
        annotations={AFTER_DEPARTURE: draw(st.sampled_from(["true", "false"]))},
    ).state


@given(states())
def test_only_listed_names_are_made_and_no_listed_pod_is_ever_deleted(state: State) -> None:
    planned, listed = plan(state), set(state.listed.values())
    present = {pod.metadata.name for pod in state.pods}
    assert set(made(planned)) <= listed - present
    assert not set(gone(planned)) & listed
    assert set(gone(planned)) <= present


@given(states())
def test_there_are_never_more_pods_than_are_wanted(state: State) -> None:
    planned = plan(state)
    live = {pod.metadata.name for pod in state.pods if not pod.metadata.deleting}
    kept = live & set(state.listed.values())
    assert len(planned.create) <= max(0, state.replicas - len(kept))


@given(states())
def test_every_index_is_made_at_most_once(state: State) -> None:
    indices = [birth.index for birth in plan(state).create]
    assert len(indices) == len(set(indices))
