# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from msgspec import structs

from tests.unit.workloads.podgang.builders import NOW, a_gang, a_state, ago
from trellis.api.conditions import Condition, Pass
from trellis.api.reasons import objects
from trellis.api.scheduler.podgang import PodGang, PodGangStatus
from trellis.workloads.podgang.muster import Muster
from trellis.workloads.podgang.recycle import Threat
from trellis.workloads.podgang.status import (
    Standing,
    has_just_been_scheduled,
    is_new,
    is_on_its_way,
    notes,
    status,
)
from trellis.workloads.trouble import Trouble

SEEN = Pass(4, NOW)
WHOLE = Threat(clique="wl2-0-pc-a", since=ago(4), deadline=ago(-6))
REFUSAL = Trouble(reason=objects.FORBIDDEN, message="Pod: patch p-0: not allowed")
UNIT = Threat(clique="c", since=ago(4), deadline=ago(-3), group="wl2-0-sg-x", index=1)


def a_muster(present: int = 3, scheduled: int = 0, ready: int = 0, minimum: int = 2) -> Muster:
    return Muster(
        clique="c",
        minimum=minimum,
        listed=3,
        present=present,
        scheduled=scheduled,
        ready=ready,
    )


COMING = Standing(musters=(a_muster(present=1),))
WAITING = Standing(musters=(a_muster(),))
STARTING = Standing(musters=(a_muster(scheduled=2), a_muster(scheduled=3, ready=2)))
RUNNING = Standing(musters=(a_muster(scheduled=2, ready=2), a_muster(scheduled=3, ready=3)))
BROKEN = Standing(musters=(a_muster(scheduled=1),), threats=(WHOLE, UNIT))


def after(standing: Standing, before: PodGangStatus | None = None) -> PodGangStatus:
    gang = structs.replace(a_gang(a_state()), status=before or PodGangStatus())
    return status(gang, standing, SEEN)


def told(found: PodGangStatus) -> dict[str, tuple[str, str]]:
    return {one.type: (one.status, one.reason) for one in found.conditions}


def with_status(found: PodGangStatus) -> PodGang:
    return structs.replace(a_gang(a_state()), status=found)


@pytest.mark.parametrize(
    ("standing", "phase", "conditions"),
    [
        pytest.param(
            COMING,
            "Pending",
            {
                "Ready": ("False", "PodGangPodsCreationPending"),
                "Reconciling": ("True", "PodGangPodsCreationPending"),
                "Stalled": ("False", "PodGangPodsCreationPending"),
                "Initialized": ("False", "PodGangPodsCreationPending"),
                "Scheduled": ("False", "PodGangPodsCreationPending"),
                "Unhealthy": ("False", "NeverAvailable"),
                "DisruptionTarget": ("False", "NotDisrupted"),
            },
            id="its pods are being made",
        ),
        pytest.param(
            WAITING,
            "Pending",
            {
                "Ready": ("False", "InsufficientScheduledPods"),
                "Reconciling": ("True", "InsufficientScheduledPods"),
                "Stalled": ("False", "InsufficientScheduledPods"),
                "Initialized": ("True", "PodGangPodsCreated"),
                "Scheduled": ("False", "InsufficientScheduledPods"),
                "Unhealthy": ("False", "NeverAvailable"),
                "DisruptionTarget": ("False", "NotDisrupted"),
            },
            id="they are there and have no nodes",
        ),
        pytest.param(
            STARTING,
            "Starting",
            {
                "Ready": ("False", "GangStarting"),
                "Reconciling": ("True", "GangStarting"),
                "Stalled": ("False", "GangStarting"),
                "Initialized": ("True", "PodGangPodsCreated"),
                "Scheduled": ("True", "AllMinimaScheduled"),
                "Unhealthy": ("False", "NeverAvailable"),
                "DisruptionTarget": ("False", "NotDisrupted"),
            },
            id="all minima have nodes",
        ),
        pytest.param(
            RUNNING,
            "Running",
            {
                "Ready": ("True", "AllMinimaReady"),
                "Reconciling": ("False", "AllMinimaReady"),
                "Stalled": ("False", "AllMinimaReady"),
                "Initialized": ("True", "PodGangPodsCreated"),
                "Scheduled": ("True", "AllMinimaScheduled"),
                "Unhealthy": ("False", "GangHealthy"),
                "DisruptionTarget": ("False", "NotDisrupted"),
            },
            id="all minima are ready",
        ),
    ],
)
def test_a_gang_from_its_first_pod_to_its_last(
    standing: Standing, phase: str, conditions: dict[str, tuple[str, str]]
) -> None:
    found = after(standing)
    assert (found.phase, told(found)) == (phase, conditions)
    assert found.observed_generation == 4


@pytest.mark.parametrize(
    ("standing", "conditions"),
    [
        pytest.param(
            BROKEN,
            {
                "Ready": ("False", "GangBroken"),
                "Reconciling": ("True", "GangBroken"),
                "Unhealthy": ("True", "GangBroken"),
                "Initialized": ("True", "PodGangPodsCreated"),
            },
            id="it broke",
        ),
        pytest.param(
            Standing(musters=(a_muster(),), problem="no queue"),
            {
                "Ready": ("False", "KAIBackendMappingFailed"),
                "Reconciling": ("False", "KAIBackendMappingFailed"),
                "Stalled": ("True", "KAIBackendMappingFailed"),
                "Scheduled": ("False", "KAIBackendMappingFailed"),
            },
            id="it cannot be handed over",
        ),
        pytest.param(
            Standing(musters=(a_muster(),), refusal=REFUSAL),
            {
                "Ready": ("False", "Forbidden"),
                "Reconciling": ("False", "Forbidden"),
                "Stalled": ("True", "Forbidden"),
            },
            id="its gates cannot be lifted",
        ),
        pytest.param(
            Standing(musters=(a_muster(),), waits_for="wl2-0"),
            {"Scheduled": ("False", "WaitingForGang"), "Reconciling": ("True", "WaitingForGang")},
            id="its base gang comes first",
        ),
        pytest.param(
            Standing(musters=(a_muster(),), is_renewed=True),
            {"DisruptionTarget": ("True", "TerminationDelayExpired")},
            id="pods from before it was made anew are still leaving",
        ),
    ],
)
def test_what_is_wrong_with_a_gang(
    standing: Standing, conditions: dict[str, tuple[str, str]]
) -> None:
    found = told(after(standing, after(RUNNING)))
    assert {type_: found[type_] for type_ in conditions} == conditions


def test_the_deadline_is_told_as_a_time_and_the_first_one_counts() -> None:
    found = {one.type: one.message for one in after(BROKEN).conditions}
    assert found["Unhealthy"] == (
        "PodClique c lacks its minimum since 2026-01-01T00:59:56Z; unless it recovers, replica 1 "
        "of wl2-0-sg-x is made anew at 2026-01-01T01:00:03Z"
    )
    whole = after(Standing(musters=(a_muster(),), threats=(WHOLE,)))
    messages = {one.type: one.message for one in whole.conditions}
    assert "the whole replica of the set is made anew at 2026-01-01T01:00:06Z" in messages["Ready"]


def test_a_group_that_lacks_its_minimum_is_named_beside_the_clique_that_broke_first() -> None:
    lacking = replace(WHOLE, lacking="wl2-0-sg-x")
    found = after(Standing(musters=(a_muster(),), threats=(lacking,)))
    (message,) = (one.message for one in found.conditions if one.type == "Unhealthy")
    assert message == (
        "PodClique wl2-0-pc-a lacks its minimum, and scaling group wl2-0-sg-x does since "
        "2026-01-01T00:59:56Z; unless it recovers, the whole replica of the set is made anew at "
        "2026-01-01T01:00:06Z"
    )


@pytest.mark.parametrize(
    ("standing", "message"),
    [
        pytest.param(COMING, "not all pods of PodClique c are there", id="its pods are being made"),
        pytest.param(WAITING, "PodClique c has not its minimum on nodes", id="they have no nodes"),
        pytest.param(STARTING, "PodClique c has not its minimum ready", id="they start"),
    ],
)
def test_who_is_waited_for_is_named(standing: Standing, message: str) -> None:
    well = Muster(clique="a", minimum=1, listed=1, present=1, scheduled=1, ready=1)
    found = after(Standing(musters=(well, *standing.musters)))
    assert {one.type: one.message for one in found.conditions}["Ready"] == message


def test_once_all_pods_have_been_made_that_is_not_taken_back() -> None:
    found = told(after(COMING, after(RUNNING)))
    assert found["Initialized"] == ("True", "PodGangPodsCreated")
    assert found["Scheduled"] == ("False", "InsufficientScheduledPods")
    assert found["Unhealthy"] == ("False", "GangHealthy")


def test_what_others_say_of_a_gang_stays() -> None:
    theirs = Condition(type="Theirs", status="True", reason="Because", last_transition_time=NOW)
    before = PodGangStatus(conditions=(theirs,), placement_score=0.5)
    found = after(RUNNING, before)
    assert theirs in found.conditions
    assert found.placement_score == 0.5


def test_a_status_that_is_true_already_is_not_another_one() -> None:
    found = after(RUNNING)
    assert status(with_status(found), RUNNING, Pass(4, ago(-60))) == found


@pytest.mark.parametrize(
    ("standing", "before", "events"),
    [
        pytest.param(RUNNING, None, [], id="nothing is wrong"),
        pytest.param(BROKEN, RUNNING, ["GangBroken"], id="it broke"),
        pytest.param(BROKEN, BROKEN, [], id="that is known"),
        pytest.param(
            Standing(musters=(a_muster(),), problem="no queue"),
            None,
            ["KAIBackendMappingFailed"],
            id="it cannot be handed over",
        ),
        pytest.param(
            Standing(musters=(a_muster(),), problem="no queue"),
            Standing(musters=(a_muster(),), problem="no queue"),
            [],
            id="that is known too",
        ),
    ],
)
def test_events_are_for_what_a_person_should_look_at(
    standing: Standing, before: Standing | None, events: list[str]
) -> None:
    gang = with_status(after(before) if before else PodGangStatus())
    found: list[Any] = list(notes(gang, standing))
    assert [note.reason for note in found] == events
    assert all(note.type == "Warning" for note in found)


def test_only_what_was_never_told_of_and_is_merely_coming_may_wait() -> None:
    new, known = with_status(PodGangStatus()), with_status(after(COMING))
    assert is_new(new, COMING)
    assert not is_new(new, WAITING)
    assert not is_new(new, Standing(musters=(a_muster(present=1),), waits_for="wl2-0"))
    assert not is_new(new, STARTING)
    assert not is_new(new, BROKEN)
    assert not is_new(new, Standing(musters=(a_muster(),), problem="no queue"))
    assert not is_new(known, COMING)


@pytest.mark.parametrize(
    ("standing", "expected"),
    [
        pytest.param(COMING, True, id="its pods come"),
        pytest.param(WAITING, True, id="it waits for nodes"),
        pytest.param(STARTING, True, id="its pods start"),
        pytest.param(RUNNING, False, id="it runs"),
        pytest.param(BROKEN, False, id="it is broken"),
        pytest.param(
            Standing(musters=(a_muster(),), problem="no queue"), False, id="it is kept from it"
        ),
    ],
)
def test_a_gang_is_on_its_way_until_it_runs_unless_something_is_wrong(
    standing: Standing, *, expected: bool
) -> None:
    assert is_on_its_way(standing) is expected


def test_others_wait_to_hear_that_it_has_nodes() -> None:
    assert has_just_been_scheduled(with_status(after(WAITING)), STARTING)
    assert not has_just_been_scheduled(with_status(after(STARTING)), RUNNING)
    assert not has_just_been_scheduled(with_status(PodGangStatus()), WAITING)
