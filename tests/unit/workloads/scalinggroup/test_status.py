# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from msgspec import structs

from tests.unit.workloads.scalinggroup.builders import NOON, a_state, breach, rolls_of
from trellis.api.conditions import Motion, Pass, find
from trellis.api.grove.podcliqueset import PodCliqueSetStatus
from trellis.api.grove.updates import ReplicaProgress, SetProgress
from trellis.api.reasons import objects
from trellis.runtime.converged import Converged
from trellis.workloads.scalinggroup.desired import Plan, excess, lacking, plan
from trellis.workloads.scalinggroup.status import told, written
from trellis.workloads.sharing import Unresolved
from trellis.workloads.trouble import Trouble

if TYPE_CHECKING:
    from trellis.api.grove.scalinggroup import PodCliqueScalingGroupStatus
    from trellis.workloads.scalinggroup.state import State

Json = dict[str, Any]

SEEN = Pass(3, NOON)
DONE = Plan(have=(), want=(), settled=(), complete=True)
TROUBLE = Trouble(reason=objects.NAME_CONFLICT, message="x belongs to nobody")


def after(state: State, found: Trouble | None = None) -> PodCliqueScalingGroupStatus:
    return told(state, plan(state, rolls_of(state)), rolls_of(state), found, SEEN).status


def standing(status: PodCliqueScalingGroupStatus) -> State:
    """A group that is well now, with the status of an earlier pass."""
    state = a_state()
    return replace(state, group=structs.replace(state.group, status=status))


def condition(status: PodCliqueScalingGroupStatus, type_: str) -> tuple[str, str]:
    found = find(status.conditions, type_)
    assert found is not None, type_
    return found.status, found.reason


def test_a_group_that_is_well_says_so() -> None:
    status = after(a_state())

    assert (status.replicas, status.scheduled_replicas) == (2, 2)
    assert (status.available_replicas, status.updated_replicas) == (2, 2)
    assert status.selector == (
        "app.kubernetes.io/managed-by=grove-operator,app.kubernetes.io/part-of=llm,"
        "grove.io/podcliquescalinggroup=llm-0-pd"
    )
    assert status.observed_generation == 3
    assert status.last_errors == ()
    assert condition(status, "Ready") == ("True", "AllReplicasAvailable")
    assert condition(status, "Reconciling") == ("False", "AllReplicasAvailable")
    assert condition(status, "Stalled") == ("False", "AllReplicasAvailable")
    assert condition(status, "MinAvailableBreached") == (
        "False",
        "SufficientAvailablePodCliqueScalingGroupReplicas",
    )
    assert find(status.conditions, "GangTerminationInProgress") is None


@pytest.mark.parametrize(
    ("replicas", "least", "down", "expected"),
    [
        (2, 1, [0], "False"),
        (2, 1, [0, 1], "True"),
        (2, 2, [1], "True"),
        (1, 2, [], "False"),
        (1, 2, [0], "True"),
        (0, 2, [], "False"),
    ],
    ids=[
        "enough are left",
        "none is left",
        "fewer than needed are left",
        "scaled below its minimum, and all are well",
        "scaled below its minimum, and one is not",
        "scaled to zero",
    ],
)
def test_the_minimum_is_breached_when_fewer_are_well_than_are_needed_and_wanted(
    replicas: int, least: int, down: list[int], expected: str
) -> None:
    broken: Json = {"conditions": [breach(True)]}
    state = a_state(replicas, least, live={f"llm-0-pd-{index}-worker": broken for index in down})

    assert condition(after(state), "MinAvailableBreached")[0] == expected


@pytest.mark.parametrize(
    ("live", "expected"),
    [
        ({"llm-0-pd-1-worker": None}, ("False", "CreatingChildren", "True", "False")),
        (
            {"llm-0-pd-1-worker": {"scheduledReplicas": 0}},
            ("False", "InsufficientScheduledPodCliqueScalingGroupReplicas", "True", "False"),
        ),
        (
            {"llm-0-pd-1-worker": {"readyReplicas": 0}},
            ("False", "ReplicasUnavailable", "True", "False"),
        ),
    ],
    ids=["being made", "without nodes", "starting"],
)
def test_what_is_missing_is_said_in_one_word(
    live: dict[str, Json | None], expected: tuple[str, str, str, str]
) -> None:
    status = after(a_state(live=live))

    ready, reason = condition(status, "Ready")
    assert (
        ready,
        reason,
        condition(status, "Reconciling")[0],
        condition(status, "Stalled")[0],
    ) == expected


def test_a_group_scaled_to_zero_is_ready() -> None:
    status = after(a_state(0))

    assert condition(status, "Ready") == ("True", "ScaledToZero")
    assert status.observed_generation == 3


def test_the_generation_is_observed_once_all_members_are_there_and_as_wanted() -> None:
    missing = after(a_state(live={"llm-0-pd-1-worker": None}, observedGeneration=2))
    in_trouble = after(a_state(observedGeneration=2), TROUBLE)

    assert missing.observed_generation == 2
    assert in_trouble.observed_generation == 2
    assert after(a_state(observedGeneration=2)).observed_generation == 3


def test_the_templates_are_reached_once_its_update_has_ended() -> None:
    state = a_state(currentPodCliqueSetGenerationHash="v1-before")
    progress = {"updateStartedAt": "2026-01-01T11:00:00Z", "podCliqueSetGenerationHash": "v1-next"}
    rolling = a_state(currentPodCliqueSetGenerationHash="v1-before", updateProgress=progress)
    turn = SetProgress(currently_updating=(ReplicaProgress(replica_index=0),))
    owning = structs.replace(rolling.owner, status=PodCliqueSetStatus(update_progress=turn))
    behind = replace(rolling, owner=owning)

    assert (
        after(state).current_pod_clique_set_generation_hash == state.place.outline.generation_hash
    )
    assert after(behind).current_pod_clique_set_generation_hash == "v1-before"


def test_trouble_is_told_in_conditions_errors_and_an_event() -> None:
    state = a_state()
    tells = told(state, DONE, rolls_of(state), TROUBLE, SEEN)

    assert condition(tells.status, "Ready") == ("False", "NameConflict")
    assert condition(tells.status, "Stalled") == ("True", "NameConflict")
    (error,) = tells.status.last_errors
    assert (error.code, error.description) == ("NameConflict", "x belongs to nobody")
    (note,) = tells.notes
    assert (note.reason, note.type) == ("NameConflict", "Warning")


def test_the_same_trouble_is_told_once_and_a_clean_pass_clears_it() -> None:
    first = a_state()
    status = after(first, TROUBLE)
    again = standing(status)

    later = told(again, DONE, rolls_of(again), TROUBLE, Pass(3, NOON.replace(hour=13)))

    assert later.status == status
    assert later.notes == ()
    assert after(again).last_errors == ()


def test_trouble_that_may_pass_is_no_standstill() -> None:
    retrying = Trouble(reason=objects.RETRYING, message="503", motion=Motion.MOVING)

    status = after(a_state(), retrying)

    assert condition(status, "Reconciling") == ("True", "Retrying")
    assert condition(status, "Stalled")[0] == "False"


def test_replicas_that_are_made_anew_are_named_until_they_are_available() -> None:
    state = a_state(recycled={"llm-0-pd-1-leader": NOON})

    status = after(state)

    found = find(status.conditions, "GangTerminationInProgress")
    assert found is not None
    assert (found.status, found.message) == ("True", "being made anew: 1")
    assert find(after(standing(status)).conditions, "GangTerminationInProgress") is None


@pytest.mark.parametrize(
    ("before", "replicas", "lost"),
    [(2, 2, True), (0, 2, False), (2, 0, False)],
    ids=["all lost", "none had any", "scaled to zero"],
)
def test_losing_all_nodes_is_an_event(before: int, replicas: int, lost: bool) -> None:
    nodeless: Json = {"scheduledReplicas": 0}
    live: dict[str, Json | None] = {f"llm-0-pd-{index}-leader": nodeless for index in range(2)}

    state = a_state(replicas, live=live, scheduledReplicas=before)
    tells = told(state, DONE, rolls_of(state), None, SEEN)

    assert [note.reason for note in tells.notes] == ["AllScheduledReplicasLost"] * lost


def test_what_was_written_is_one_event_of_each_kind_with_a_count() -> None:
    names = tuple(f"llm-0-pd-{index}-worker" for index in range(7))
    group = a_state().group

    notes = list(written(group, Converged(created=names, deleted=names[:1])))

    assert [(note.reason, note.text) for note in notes] == [
        (
            "PodCliqueCreateSuccessful",
            "made 7 PodCliques (llm-0-pd-0-worker, llm-0-pd-1-worker, llm-0-pd-2-worker, "
            "llm-0-pd-3-worker, llm-0-pd-4-worker, …)",
        ),
        (
            "PodCliqueScalingGroupReplicaDeleteSuccessful",
            "deleted 1 PodCliques (llm-0-pd-0-worker): replicas are 2",
        ),
    ]


def test_nothing_written_is_no_event() -> None:
    assert list(written(a_state().group, Converged(patched=("a",)))) == []


def test_too_many_replicas_are_told_with_the_setting_that_forbids_them() -> None:
    state = replace(a_state(2), most=1)

    assert state.is_excessive
    assert excess(state).message == (
        "spec.replicas is 2, more than the 1 that trellis.limits.groupReplicas of the operator's "
        "configuration allows; scale it in"
    )


def test_a_claim_template_that_is_not_there_is_trouble() -> None:
    assert lacking(()) is None
    found = lacking((Unresolved("default/gpu", "is not there"),))
    assert found is not None
    assert found.reason.token == "ClaimTemplateMissing"
    assert "default/gpu" in found.message
