# SPDX-License-Identifier: Apache-2.0
"""Every manifest that Grove's users have is admitted, and stored as Grove would store it."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from tests.support.virtual import run
from tests.unit.workloads.admission.corpus import changed
from tests.unit.workloads.admission.good import configured, good
from tests.unit.workloads.admission.world import Answered, a_world, at

SETS = "podcliquesets"
CASES = good()
each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case["case"])


async def outcomes() -> dict[str, tuple[Answered, Answered]]:
    """Of each, how it was made, and how it was written again as it stood."""
    found = {}
    for enabled in ({}, {"kai": True}, {"topology": True}):
        world = await a_world(configured(enabled))
        for case in (each for each in CASES if each.get("with", {}) == enabled):
            manifest = case["manifest"]
            first = await world.ask("POST", at(SETS), manifest)
            name = at(SETS, manifest["metadata"]["name"])
            version = first.body.get("metadata", {}).get("resourceVersion", "")
            again = changed(manifest, {"/metadata/resourceVersion": version}, [])
            found[case["case"]] = first, await world.ask("PUT", name, again)
    return found


@cache
def answers() -> dict[str, tuple[Answered, Answered]]:
    return run(outcomes())


@each_case
def test_a_good_manifest_is_stored_with_its_defaults(case: dict[str, Any]) -> None:
    first, _ = answers()[case["case"]]
    assert first.status == 201, first.body
    wanted = changed(case["manifest"], case["adds"], [])
    assert first.body["spec"] == wanted["spec"]


@each_case
def test_the_manifest_written_again_changes_nothing(case: dict[str, Any]) -> None:
    first, again = answers()[case["case"]]
    assert again.status == 200, again.body
    assert again.body["spec"] == first.body["spec"]
    assert again.body["metadata"]["generation"] == first.body["metadata"]["generation"]
