# SPDX-License-Identifier: Apache-2.0
"""An operator that dies before or after any write of an update loses none of it."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.virtual import run
from tests.unit.workloads.rolling.nodes import Nodes
from tests.unit.workloads.rolling.show import ALL, Show
from tests.unit.workloads.sets import a_clique, a_group, a_set_body
from tests.unit.workloads.stage import a_stage
from trellis.api.grove.podclique import PodClique
from trellis.api.grove.podcliqueset import PodCliqueSet
from trellis.embedded.simulation.crashing import died, everywhere, lived

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from trellis.embedded.simulation.crashing import Point

LONG_ENOUGH = 40.0
# Each death is in a cluster of its own: too many of them for one test.
PARTS = 4


def small(strategy: str) -> dict[str, Any]:
    """A clique, and a group of two replicas, each in a gang of its own."""
    body = a_set_body(
        "llm",
        a_clique("a", 1),
        a_clique("b", 1),
        groups=(a_group("x", "b", replicas=2),),
    )
    body["spec"]["updateStrategy"] = {"type": strategy}
    return body


@asynccontextmanager
async def an_edited_set(strategy: str) -> AsyncIterator[Show]:
    """It ran; then nobody looked after it, and its templates were changed."""
    stage = await a_stage()
    await stage.make(PodCliqueSet, small(strategy))
    nodes = Nodes(stage)
    running = asyncio.create_task(nodes.run())
    try:
        async with stage.operator(*ALL):
            await stage.settle(10)
        show = Show(stage, nodes)
        nodes.begin()
        await show.edit("a", "b")
        yield show
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


async def settled() -> None:
    await asyncio.sleep(LONG_ENOUGH)


async def ending(show: Show) -> dict[str, Any]:
    status = (await show.set())["status"]
    return {
        "outdated": len(await show.outdated()),
        "pods": len(await show.pods()),
        "ready": sum(show.nodes.ready().values()),
        "ended": "updateEndedAt" in status["updateProgress"],
        "updating": status["updateProgress"].get("currentlyUpdating", []),
        "updated": status["updatedReplicas"],
        "observed": status["observedGeneration"],
        "hash": status["currentGenerationHash"],
        "reached": sorted(
            (one["metadata"]["name"], one["status"]["currentPodCliqueSetGenerationHash"])
            for one in await show.stage.all(PodClique)
        ),
        "down": max(show.nodes.down.values(), default=0),
    }


async def dies_at(strategy: str, point: Point) -> dict[str, Any]:
    async with an_edited_set(strategy) as show:
        program = show.stage.program(*ALL)
        assert await died(program, show.stage.watched, settled, point)
        return await ending(show)


async def lives(strategy: str) -> tuple[list[str], dict[str, Any]]:
    async with an_edited_set(strategy) as show:
        calls = await lived(show.stage.program(*ALL), show.stage.watched, settled)
        return calls, await ending(show)


@cache
def a_life(strategy: str) -> tuple[list[str], dict[str, Any]]:
    """All calls of one that does not die, and how that ends."""
    return run(lives(strategy))


def between_writes(calls: list[str]) -> list[Point]:
    """After each of them, and before the first. Before one is after the one before."""
    points = [
        point
        for point in everywhere(calls)
        if not calls[point.call].startswith("GET") and "/events" not in calls[point.call]
    ]
    return [points[0], *(point for point in points if point.after)]


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("strategy", ["RollingRecreate", "OnDelete"])
def test_a_death_between_any_two_writes_ends_the_same(strategy: str, part: int) -> None:
    calls, expected = a_life(strategy)
    assert expected["outdated"] == (0 if strategy == "RollingRecreate" else 3)
    assert expected["ended"]
    assert expected["down"] <= 1
    for point in between_writes(calls)[part::PARTS]:
        found = run(dies_at(strategy, point))
        assert found == expected, f"{point}: {calls[point.call]}"
