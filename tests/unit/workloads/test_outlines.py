# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest
from msgspec import structs

from tests.unit.workloads.sets import a_set
from trellis.api.grove.podcliqueset import PodCliqueSetStatus
from trellis.workloads.outlines import Outlines


def test_a_set_of_which_only_the_status_moves_is_unfolded_once() -> None:
    outlines = Outlines()
    found = a_set("llm")
    first = outlines.of(found)

    metadata = structs.replace(found.metadata, resource_version="99")
    moved = structs.replace(found, metadata=metadata, status=PodCliqueSetStatus(replicas=1))

    assert outlines.of(moved) is first
    assert first.generation_hash is outlines.of(moved).generation_hash


@pytest.mark.parametrize(
    "change",
    [{"generation": 2}, {"labels": {"a": "b"}}, {"annotations": {"a": "b"}}],
    ids=["spec", "labels", "annotations"],
)
def test_a_set_that_says_something_else_is_unfolded_anew(change: dict[str, Any]) -> None:
    outlines = Outlines()
    found = a_set("llm")
    first = outlines.of(found)

    changed = structs.replace(found, metadata=structs.replace(found.metadata, **change))

    assert outlines.of(changed) is not first
    assert outlines.of(changed).set is changed


def test_sets_of_one_name_are_told_apart_by_uid() -> None:
    outlines = Outlines()

    first, second = (outlines.of(a_set("llm", metadata={"uid": uid})) for uid in ("a", "b"))

    assert first is not second


def test_the_sets_not_looked_at_for_longest_are_forgotten() -> None:
    outlines = Outlines(most=2)
    sets = [a_set("llm", metadata={"uid": uid}) for uid in "abc"]
    first = outlines.of(sets[0])
    outlines.of(sets[1])
    assert outlines.of(sets[0]) is first

    outlines.of(sets[2])

    assert len(outlines) == 2
    assert outlines.of(sets[0]) is first
