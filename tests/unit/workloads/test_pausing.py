# SPDX-License-Identifier: Apache-2.0
"""When an update keeps gangs from being made anew."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import msgspec
import pytest

from tests.support.virtual import START
from tests.unit.workloads.members.builders import stored
from tests.unit.workloads.sets import a_clique, a_group, a_set_body
from trellis.api.annotation import RELEASED
from trellis.api.grove.podcliqueset import PodCliqueSet
from trellis.workloads.members import clique
from trellis.workloads.outline import Outline
from trellis.workloads.pausing import NONE, Pause, pause
from trellis.workloads.updates import release

BEGAN, ENDED = "2026-01-01T00:00:00Z", "2026-01-01T00:01:00Z"


def a_set(strategy: str = "RollingRecreate", **progress: Any) -> PodCliqueSet:
    body = a_set_body("llm", a_clique("a"), a_clique("b"), groups=(a_group("x", "b"),))
    body["metadata"] |= {"uid": "uid-llm", "resourceVersion": "1", "generation": 1}
    body["spec"]["updateStrategy"] = {"type": strategy}
    body["status"] = {"updateProgress": progress} if progress else {}
    return msgspec.json.decode(msgspec.json.encode(body), type=PodCliqueSet)


EARLIER = a_set(updateStartedAt="2025-12-31T00:00:00Z", updateEndedAt=BEGAN)


def paused(owner: PodCliqueSet, name: str, mark: str = "", **progress: Any) -> Pause:
    outline = Outline(owner)
    group = outline.groups["x"]
    members = {"a": outline.alone(0)[0], "b": outline.grouped(0, group, 0)[0]}
    found = members[name]
    hashes = {"podCliqueSetGenerationHash": "g", "podTemplateHash": "h"}
    status = {"updateProgress": {**hashes, **progress}} if progress else {}
    known = {"current": release(owner, outline, group), "earlier": release(EARLIER, outline, group)}
    released = {RELEASED: known[mark]} if mark else {}
    live = stored(clique(outline, found, owner, None), status=status, annotations=released)
    return pause(owner, outline, found, live)


TURN: dict[str, Any] = {"updateStartedAt": BEGAN, "currentlyUpdating": [{"replicaIndex": 0}]}
OTHERS_TURN: dict[str, Any] = {"updateStartedAt": BEGAN, "currentlyUpdating": [{"replicaIndex": 1}]}


def test_without_an_update_nothing_is() -> None:
    assert paused(a_set(), "a") == NONE
    assert paused(a_set(), "b", "current") == NONE


def test_what_is_being_updated_is_and_what_stands_beside_it_is_not() -> None:
    assert paused(a_set(**TURN), "a", updateStartedAt=BEGAN).lasts
    assert not paused(a_set(**TURN), "a").lasts


@pytest.mark.parametrize(
    ("whole", "mark", "lasts"),
    [
        (TURN, "current", True),
        (TURN, "earlier", False),
        (TURN, "", False),
        (OTHERS_TURN, "current", False),
    ],
    ids=["released", "by an earlier update to the same templates", "not released", "done"],
)
def test_a_released_replica_is_whatever_is_new_in_it(
    whole: dict[str, Any], mark: str, lasts: bool
) -> None:
    assert paused(a_set(**whole), "b", mark).lasts is lasts


def test_what_was_broken_before_counts_from_the_end_of_the_update() -> None:
    found = paused(a_set(), "a", updateStartedAt=BEGAN, updateEndedAt=ENDED)
    assert not found.lasts
    assert found.counts_from(START) == START + timedelta(minutes=1)
    later = START + timedelta(hours=1)
    assert found.counts_from(later) == later


def test_an_update_by_hand_moves_nothing() -> None:
    found = paused(a_set("OnDelete"), "a", updateStartedAt=ENDED, updateEndedAt=ENDED)
    assert found.counts_from(START) == START


def test_a_released_replica_counts_from_the_switch_that_ended_its_update() -> None:
    owner = a_set("OnDelete", updateStartedAt=BEGAN, updateEndedAt=ENDED)
    found = paused(owner, "b", "current")
    assert not found.lasts
    assert found.counts_from(START) == START + timedelta(minutes=1)
