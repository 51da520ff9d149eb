# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from datetime import timedelta
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from tests.support.virtual import START
from tests.unit.workloads.podclique.builders import (
    NO_GANG,
    NOW,
    Scene,
    a_pod,
    a_scene,
)
from tests.unit.workloads.podclique.fates import (
    CLIQUE,
    CRASHED,
    GATED,
    LATER,
    NEW,
    PENDING,
    READY,
    STARTING,
    UNREADY,
    names,
    some_pods,
    told,
)
from tests.unit.workloads.sets import a_clique, a_group, a_set
from trellis.api.annotation import AFTER_DEPARTURE, ATTEMPT, HASH_ALIASES, RECYCLED
from trellis.api.conditions import Condition, Motion, find
from trellis.api.core.pod import FAILED, SUCCEEDED, Gate
from trellis.api.grove.podclique import PodCliqueStatus
from trellis.api.reasons import objects
from trellis.workloads.outline import Outline
from trellis.workloads.podclique.census import Census, census
from trellis.workloads.podclique.status import status
from trellis.workloads.podclique.updating import update_facts
from trellis.workloads.trouble import Trouble

BREACHED = "MinAvailableBreached"


def conditions(found: PodCliqueStatus) -> dict[str, tuple[str, str]]:
    return {one.type: (one.status, one.reason) for one in found.conditions}


def condition(found: PodCliqueStatus, kind: str) -> Condition:
    one = find(found.conditions, kind)
    assert one is not None
    return one


@pytest.mark.parametrize(
    ("pods", "expected"),
    [
        pytest.param((), Census(), id="none"),
        pytest.param((READY, READY), Census(replicas=2, scheduled=2, ready=2), id="all ready"),
        pytest.param(
            (READY, STARTING, GATED, PENDING),
            Census(replicas=4, scheduled=2, ready=1, gated=1),
            id="one of each",
        ),
        pytest.param(
            (READY, CRASHED, UNREADY),
            Census(replicas=3, scheduled=3, ready=1, broken=2),
            id="crashed, and not ready any more",
        ),
        pytest.param(
            (READY, {"deleted": NOW}, {"phase": FAILED}),
            Census(replicas=1, scheduled=1, ready=1),
            id="what is going or has failed does not count",
        ),
        pytest.param(
            ({"phase": SUCCEEDED, "ready": False},),
            Census(replicas=1, scheduled=1, succeeded=1),
            id="what has done its work",
        ),
        pytest.param(
            ({"node": "", "scheduled": True, "ready": False},),
            Census(replicas=1, scheduled=1),
            id="placed by the word of the scheduler",
        ),
    ],
)
def test_pods_are_counted(pods: tuple[dict[str, Any], ...], expected: Census) -> None:
    assert census(a_scene(len(pods) or 1, pods=some_pods(*pods)).state) == expected


def test_pods_that_are_not_listed_do_not_count() -> None:
    scene = a_scene(1, pods=(a_pod(names(1)[0], 0), a_pod("stray", 1)))
    assert census(scene.state).replicas == 1


def test_all_pods_count_while_there_is_no_ledger() -> None:
    scene = a_scene(2, names=None, pods=(a_pod("groves-a", 0), a_pod("groves-b", 1)))
    assert census(scene.state).ready == 2


def test_pods_with_the_hash_of_the_clique_or_an_alias_of_it_are_up_to_date() -> None:
    current = a_scene().outline.template_hashes["worker"]
    pods = some_pods(
        {"template_hash": current}, {"template_hash": "groves"}, {"template_hash": "old"}
    )
    aliases = {HASH_ALIASES: f'{{"{current}": ["groves"]}}'}
    found = told(a_scene(3, pods=pods, annotations=aliases))
    assert found.updated_replicas == 2
    assert found.current_pod_template_hash == ""


def test_hashes_are_reached_when_all_pods_have_them() -> None:
    scene = a_scene(1)
    current = scene.outline.template_hashes["worker"]
    found = told(scene.but(pods=some_pods({"template_hash": current})))
    assert found.current_pod_template_hash == current
    assert found.current_pod_clique_set_generation_hash == scene.outline.generation_hash


def test_the_hash_of_the_set_is_not_reached_while_the_clique_has_an_older_template() -> None:
    scene = a_scene(1)
    newer = a_set("llm", a_clique("worker", 1, podSpec={"containers": []}))
    state = scene.but(pods=some_pods({"template_hash": _label(scene)})).state
    behind = type(state)(
        clique=state.clique,
        pods=state.pods,
        owner=newer,
        outline=Outline(newer),
        most=state.most,
        member=Outline(newer).alone(0)[0],
        gang=state.gang,
        listed=state.listed,
    )
    counted = census(behind)
    found = status(behind, counted, update_facts(behind, counted, None, NOW), None, NOW)
    assert found.current_pod_template_hash == _label(scene)
    assert found.current_pod_clique_set_generation_hash == ""


def _label(scene: Scene) -> str:
    return str(scene.clique.metadata.labels["grove.io/pod-template-hash"])


def test_a_standalone_clique_has_a_selector_for_autoscalers_and_a_member_has_none() -> None:
    assert told(a_scene()).hpa_pod_selector == (
        "app.kubernetes.io/managed-by=grove-operator,app.kubernetes.io/part-of=llm,"
        "grove.io/podclique=llm-0-worker"
    )
    found = a_set("llm", a_clique("worker"), groups=(a_group("sg", "worker"),))
    outline = Outline(found)
    member = outline.grouped(0, outline.groups["sg"], 0)[0]
    assert told(Scene(found, member)).hpa_pod_selector == ""


@pytest.mark.parametrize(
    ("pods", "least", "scheduled", "breach"),
    [
        pytest.param(
            (PENDING, PENDING),
            2,
            ("False", "InsufficientScheduledPods"),
            ("True", "ScheduledReplicasBelowMinAvailable"),
            id="without nodes",
        ),
        pytest.param(
            (READY, PENDING),
            1,
            ("True", "SufficientScheduledPods"),
            ("False", "SufficientReadyPods"),
            id="the minimum ready",
        ),
        pytest.param(
            (STARTING, STARTING),
            2,
            ("True", "SufficientScheduledPods"),
            ("False", "SufficientReadyPods"),
            id="still starting",
        ),
        pytest.param(
            (READY, CRASHED),
            2,
            ("True", "SufficientScheduledPods"),
            ("True", "InsufficientReadyPods"),
            id="too many crashed",
        ),
        pytest.param(
            (READY, UNREADY),
            2,
            ("True", "SufficientScheduledPods"),
            ("True", "InsufficientReadyPods"),
            id="one lost its readiness",
        ),
        pytest.param(
            ({"phase": SUCCEEDED, "ready": False}, READY),
            2,
            ("True", "SufficientScheduledPods"),
            ("False", "SufficientReadyPods"),
            id="one has done its work",
        ),
    ],
)
def test_the_minimum_is_judged_as_grove_does(
    pods: tuple[dict[str, Any], ...],
    least: int,
    scheduled: tuple[str, str],
    breach: tuple[str, str],
) -> None:
    found = conditions(told(a_scene(2, least, pods=some_pods(*pods))))
    assert found["PodCliqueScheduled"] == scheduled
    assert found[BREACHED] == breach


@pytest.mark.parametrize("replicas", [0, 1])
def test_a_clique_scaled_below_its_minimum_needs_no_more_than_it_has(replicas: int) -> None:
    pods = some_pods(*[READY] * replicas)
    found = conditions(told(a_scene(2, 2, spec={"replicas": replicas}, pods=pods)))
    assert found[BREACHED] == ("False", "SufficientReadyPods")
    assert found["PodCliqueScheduled"] == ("True", "SufficientScheduledPods")


def test_the_time_at_which_it_was_first_up_is_kept() -> None:
    scene = a_scene(1)
    assert told(scene).first_available_time is None
    up = scene.but(pods=some_pods(READY))
    first = told(up)
    assert first.first_available_time == NOW
    assert told(up.but(status=first), LATER).first_available_time == NOW
    down = scene.but(pods=some_pods(CRASHED), status=first)
    assert told(down, LATER).first_available_time == NOW


def test_a_clique_without_pods_was_never_up() -> None:
    assert told(a_scene(1, spec={"replicas": 0})).first_available_time is None


def test_what_was_scaled_to_none_has_not_been_up_yet_when_it_is_wanted_again() -> None:
    up = PodCliqueStatus(first_available_time=START)
    scaled = told(a_scene(1, spec={"replicas": 0}, status=up))
    assert scaled.first_available_time is None
    again = told(a_scene(1, pods=some_pods(PENDING), status=scaled))
    assert "it has not been up yet" in condition(again, BREACHED).message


def test_after_a_recycle_it_is_up_anew_and_later_than_that() -> None:
    stamp = {RECYCLED: f'{{"{CLIQUE}": "{NOW.strftime("%Y-%m-%dT%H:%M:%SZ")}"}}'}
    before = PodCliqueStatus(first_available_time=START)
    recycled = a_scene(1, gang_annotations=stamp, status=before)
    assert told(recycled, NOW).first_available_time is None
    up = recycled.but(pods=some_pods(READY))
    assert told(up, LATER).first_available_time == LATER
    in_the_same_second = told(up, NOW).first_available_time
    assert in_the_same_second == NOW + timedelta(seconds=1)


def test_a_breach_tells_the_time_at_which_it_is_up() -> None:
    before = told(a_scene(1, pods=some_pods(READY)))
    broken = a_scene(1, pods=some_pods(CRASHED), status=before)
    found = condition(told(broken, LATER), BREACHED)
    assert found.last_transition_time == LATER
    assert "made anew with its gang at 2026-01-01T05:05:00Z" in found.message
    again = broken.but(status=told(broken, LATER))
    assert condition(told(again, LATER + timedelta(hours=1)), BREACHED) == found


def test_a_breach_of_what_was_never_up_has_no_consequence_and_says_so() -> None:
    found = condition(told(a_scene(1, pods=some_pods(PENDING))), BREACHED)
    assert "has not been up yet" in found.message


@pytest.mark.parametrize(
    ("pods", "more", "expected"),
    [
        pytest.param((NEW, NEW), {}, ("True", "False", "AllReplicasAvailable"), id="well"),
        pytest.param((READY, READY), {}, ("True", "True", "UpdateInProgress"), id="outdated"),
        pytest.param((READY,), {}, ("False", "True", "CreatingChildren"), id="one is missing"),
        pytest.param((GATED, GATED), {}, ("False", "True", "WaitingForGang"), id="gated"),
        pytest.param(
            (PENDING, PENDING), {}, ("False", "True", "InsufficientScheduledPods"), id="no nodes"
        ),
        pytest.param(
            (READY, STARTING), {}, ("False", "True", "BelowMinAvailable"), id="below its minimum"
        ),
        pytest.param(
            (READY, STARTING),
            {"least": 1},
            ("False", "True", "ReplicasUnavailable"),
            id="above its minimum",
        ),
        pytest.param(
            (READY, {"phase": SUCCEEDED, "ready": False}),
            {"least": 1},
            ("False", "False", "ReplicasUnavailable"),
            id="nothing more is to come",
        ),
        pytest.param(
            (), {"spec": {"replicas": 0}}, ("True", "False", "ScaledToZero"), id="none wanted"
        ),
        pytest.param(
            (READY,),
            {"spec": {"replicas": 0}},
            ("True", "True", "ScaledToZero"),
            id="none wanted, and one still there",
        ),
    ],
)
def test_how_it_is_in_one_word(
    pods: tuple[dict[str, Any], ...], more: dict[str, Any], expected: tuple[str, str, str]
) -> None:
    found = conditions(told(a_scene(2, pods=some_pods(*pods), **more)))
    ready, moving, reason = expected
    assert found["Ready"] == (ready, reason)
    assert found["Reconciling"] == (moving, reason)
    assert found["Stalled"] == ("False", reason)


def test_who_waits_for_a_pod_to_be_gone_names_it() -> None:
    scene = a_scene(2, pods=some_pods(READY, {"deleted": NOW}))
    assert condition(told(scene), "Ready").message == "1 of 2 pods are ready, 1 are there"
    asked = scene.but(annotations={AFTER_DEPARTURE: "true"})
    assert condition(told(asked), "Ready").message == (
        f"1 of 2 pods are ready, 1 are there; pod {names(2)[1]} is replaced when it is gone"
    )


def test_gates_of_others_are_named_when_ours_is_off() -> None:
    theirs = Gate(name="example.com/theirs")
    held, ours = some_pods(PENDING, {"gated": True})
    held = structs.replace(held, spec=structs.replace(held.spec, scheduling_gates=(theirs,)))
    found = condition(told(a_scene(1, pods=(held,))), "Ready")
    assert found.reason == "BelowMinAvailable"
    assert found.message == (
        "0 of 1 pods are ready, others are held back by scheduling gates: example.com/theirs"
    )
    assert condition(told(a_scene(2, pods=(held, ours))), "Ready").reason == "WaitingForGang"


def test_who_waits_for_the_next_try_says_until_when() -> None:
    failed: dict[str, Any] = {"phase": FAILED, "ready": False, "since": NOW}
    again = {**failed, "annotations": {ATTEMPT: "2"}}
    scene = a_scene(3, pods=some_pods(READY, again, {**again, "annotations": {ATTEMPT: "1"}}))
    found = condition(told(scene), "Ready")
    assert found.reason == "BelowMinAvailable"
    assert found.message == (
        "1 of 3 pods are ready, 2 failed again and are replaced from 2026-01-01T01:00:10Z on"
    )
    at_once = condition(told(a_scene(1, pods=some_pods(failed))), "Ready")
    assert at_once.reason == "CreatingChildren"


def test_trouble_is_told_and_forgotten_when_it_is_over() -> None:
    refused = Trouble(reason=objects.QUOTA_REFUSED, message="no more than 3 pods")
    scene = a_scene(1)
    found = told(scene, trouble=refused)
    assert conditions(found)["Stalled"] == ("True", "QuotaRefused")
    (error,) = found.last_errors
    assert (error.code, error.description) == ("QuotaRefused", "no more than 3 pods")
    again = told(scene.but(status=found), LATER, refused)
    assert again == found
    assert told(scene.but(status=found), LATER).last_errors == ()


def test_what_just_takes_its_time_is_no_error() -> None:
    waits = Trouble(reason=objects.CREATING_CHILDREN, message="wait", motion=Motion.MOVING)
    found = told(a_scene(1), trouble=waits)
    assert found.last_errors == ()
    assert conditions(found)["Reconciling"] == ("True", "CreatingChildren")


def test_what_others_wrote_into_the_status_stays() -> None:
    foreign = Condition(type="example.com/Seen", status="True", reason="Seen")
    before = PodCliqueStatus(conditions=(foreign,))
    assert foreign in told(a_scene(1, status=before)).conditions


def test_a_status_says_the_same_again_while_nothing_changes() -> None:
    scene = a_scene(2, pods=some_pods(READY, CRASHED))
    first = told(scene)
    again = told(scene.but(status=first), LATER)
    assert msgspec.json.encode(again) == msgspec.json.encode(first)


a_fate = st.fixed_dictionaries(
    {
        "phase": st.sampled_from(["Pending", "Running", "Failed", "Succeeded"]),
        "node": st.sampled_from(["", "n1"]),
        "ready": st.booleans(),
        "gated": st.booleans(),
        "scheduled": st.booleans(),
        "deleted": st.sampled_from([None, NOW]),
        "template_hash": st.sampled_from(["", "old", "new"]),
    }
)


@given(st.lists(a_fate, max_size=6), st.integers(0, 6), st.integers(0, 6))
def test_counts_make_sense_whatever_pods_say(
    fates: list[dict[str, Any]], replicas: int, least: int
) -> None:
    scene = a_scene(6, least, spec={"replicas": replicas}, pods=some_pods(*fates))
    found = told(scene)
    assert 0 <= found.ready_replicas <= found.scheduled_replicas <= found.replicas
    assert 0 <= found.updated_replicas <= found.replicas
    assert 0 <= found.schedule_gated_replicas <= found.replicas
    again = told(scene.but(status=found), LATER)
    assert again == found


@pytest.mark.parametrize(
    ("scene", "kept"),
    [
        pytest.param(a_scene(2, names=None), True, id="while there is no gang"),
        pytest.param(a_scene(2), False, id="when there is one"),
        pytest.param(a_scene(2, names=None, spec={"replicas": 0}), False, id="when none is needed"),
    ],
)
def test_why_there_is_no_gang_is_said_until_that_is_over(scene: Scene, kept: bool) -> None:
    found = told(scene.but(status=NO_GANG))
    assert ("PodGangRefused" in conditions(found)) == kept
