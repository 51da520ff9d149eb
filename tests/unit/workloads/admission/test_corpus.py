# SPDX-License-Identifier: Apache-2.0
"""Every bad manifest is refused by the server, schema and webhooks together, and told why."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from tests.support.virtual import run
from tests.unit.workloads.admission.corpus import a_clique, a_set, bad, changed
from tests.unit.workloads.admission.world import Answered, World, a_world, at

SETS = "podcliquesets"
CASES = bad()
BASE = "the base itself"
SCALED = {
    "podcliquesets": a_set("scaled"),
    "podcliques": {
        "apiVersion": "grove.io/v1alpha1",
        "kind": "PodClique",
        "metadata": {"name": "scaled"},
        "spec": a_clique("scaled", minAvailable=2)["spec"],
    },
    "podcliquescalinggroups": {
        "apiVersion": "grove.io/v1alpha1",
        "kind": "PodCliqueScalingGroup",
        "metadata": {"name": "scaled"},
        "spec": {"replicas": 2, "minAvailable": 2, "cliqueNames": ["a"]},
    },
}


async def outcome(world: World, case: dict[str, Any], number: int) -> Answered:
    if "scale" in case:
        body = {"spec": {"replicas": case["scale"]["replicas"]}}
        path = at(case["scale"]["of"], "scaled", "scale")
        return await world.ask("PATCH", path, body, patch="merge")
    if "body" in case:
        return await world.send(at(SETS), case["body"].encode())
    if "update" in case or "undo" in case:
        stored = await world.made(at(SETS), a_set(f"base-{number}"))
        wanted = changed(stored, case.get("update", {}), case.get("undo", []))
        return await world.ask("PUT", at(SETS, f"base-{number}"), wanted)
    wanted = changed(a_set(), case.get("at", {}), case.get("drop", []))
    return await world.ask("POST", at(SETS), wanted)


async def outcomes() -> dict[str, Answered]:
    world = await a_world()
    for plural, body in SCALED.items():
        await world.made(at(plural), body)
    found = {case["case"]: await outcome(world, case, number) for number, case in enumerate(CASES)}
    # Last, under the name that most of them had: none may have been stored.
    return found | {BASE: await world.ask("POST", at(SETS), a_set())}


@cache
def answers() -> dict[str, Answered]:
    """One server hears them all: a refusal that leaves something behind would be seen in others."""
    return run(outcomes())


def test_the_corpus_is_as_large_as_promised_and_says_nothing_twice() -> None:
    assert len({case["case"] for case in CASES}) == len(CASES) >= 150


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["case"])
def test_a_bad_manifest_is_refused_with_its_field(case: dict[str, Any]) -> None:
    answer = answers()[case["case"]]
    assert 400 <= answer.status < 500, answer.body
    assert answer.names(case["field"]), answer.body
    assert len(answer.body["message"]) < 8000 + 2 * len(str(case))
    assert "Traceback" not in answer.body["message"]


def test_the_base_itself_is_well() -> None:
    answer = answers()[BASE]
    assert (answer.status, answer.warnings) == (201, ())
