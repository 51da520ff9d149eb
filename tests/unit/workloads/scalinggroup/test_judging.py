# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from tests.unit.workloads.members.builders import stored
from tests.unit.workloads.scalinggroup.builders import (
    EARLIER,
    NOON,
    a_live,
    a_scaling_group,
    a_state,
    breach,
    the_set,
)
from trellis.workloads.outline import Outline
from trellis.workloads.scalinggroup.judging import Judged, judged, said

if TYPE_CHECKING:
    from datetime import datetime

Json = dict[str, Any]

FINE = {"well", "scheduled", "available", "current", "updated"}


def facts(one: Judged) -> set[str]:
    return {name for name in (*FINE, "recovering") if getattr(one, name)}


@pytest.mark.parametrize(
    ("leader", "expected"),
    [
        ({}, FINE),
        (None, set()),
        ({"readyReplicas": 0}, FINE - {"available", "updated"}),
        ({"scheduledReplicas": 0}, FINE - {"scheduled", "available", "updated"}),
        ({"conditions": [breach(True)]}, FINE - {"well"}),
        ({"conditions": []}, FINE - {"well"}),
        ({"updatedReplicas": 0}, FINE - {"current", "updated"}),
        ({"currentPodTemplateHash": "v1-old"}, FINE - {"current", "updated"}),
        ({"currentPodCliqueSetGenerationHash": "v1-old"}, FINE),
    ],
    ids=[
        "all is well",
        "a member is not there",
        "not ready",
        "without a node",
        "below its minimum",
        "has said nothing of its minimum",
        "pods of an old template",
        "an older template",
        "of a set of which others have changed",
    ],
)
def test_a_replica_is_what_the_worst_of_its_members_is(
    leader: Json | None, expected: set[str]
) -> None:
    first, second = judged(a_state(live={"llm-0-pd-0-leader": leader}))

    assert facts(first) == expected
    assert facts(second) == FINE


def test_a_member_may_be_short_of_pods_as_long_as_it_holds_its_minimum() -> None:
    short = {"replicas": 1, "scheduledReplicas": 1, "readyReplicas": 1, "updatedReplicas": 1}

    assert facts(judged(a_state(live={"llm-0-pd-0-worker": short}))[0]) == FINE


def test_a_member_scaled_to_zero_needs_nothing() -> None:
    outline = Outline(the_set())
    group = a_scaling_group(outline.set)
    state = a_state(1)
    (replica,) = state.replicas
    seat, other = replica.seats
    counts = ("replicas", "scheduledReplicas", "readyReplicas", "updatedReplicas")
    idle = {**dict.fromkeys(counts, 0), "conditions": []}
    empty = a_live(group, outline, seat.member, status=idle, spec={"replicas": 0})
    idling = replace(replica, seats=(replace(seat, live=empty), other))

    assert facts(judged(replace(state, replicas=(idling,)))[0]) == FINE


@pytest.mark.parametrize(
    ("stamp", "recovering"),
    [(EARLIER, True), (EARLIER.replace(hour=10), False), (NOON, True)],
    ids=["in the very second it was up", "long before it was up", "after it was up"],
)
def test_a_replica_that_was_made_anew_recovers_until_it_was_available_since(
    stamp: datetime, recovering: bool
) -> None:
    state = a_state(1, recycled={"llm-0-pd-0-leader": stamp})

    found = judged(state)[0]

    assert found.recovering is recovering
    assert found.well is not recovering


def test_what_a_group_is_judged_by_is_told_from_what_is_none_of_its_business() -> None:
    outline = Outline(the_set())
    group = a_scaling_group(outline.set)
    member = outline.grouped(0, outline.groups["pd"], 0)[0]
    live = a_live(group, outline, member)

    same = a_live(group, outline, member, status={"scheduleGatedReplicas": 4, "lastErrors": []})
    other = [
        a_live(group, outline, member, status={"readyReplicas": 0}),
        a_live(group, outline, member, status={"conditions": [breach(True)]}),
        a_live(group, outline, member, metadata={"generation": 2}),
        stored(live, labels={"a": "b"}, status={}),
    ]

    assert said(same) == said(live)
    assert all(said(one) != said(live) for one in other)
