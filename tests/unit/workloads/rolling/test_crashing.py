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
from tests.unit.workloads.rolling.show import ALL, ON_DELETE, ROLLING, Show
from tests.unit.workloads.sets import a_clique, a_group, a_set_body
from tests.unit.workloads.stage import a_stage
from trellis.api.grove.podclique import PodClique
from trellis.api.grove.podcliqueset import PodCliqueSet
from trellis.embedded.simulation.crashing import died, everywhere, lived

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from trellis.embedded.simulation.crashing import Point

LONG_ENOUGH = 40.0
ROLLS, BY_HAND = "rolling", "by hand"
FROM_HAND, TO_HAND = "by hand, then rolling", "rolling, then by hand"
STORIES = {ROLLS: ROLLING, BY_HAND: ON_DELETE, FROM_HAND: ROLLING, TO_HAND: ON_DELETE}
"""How the set is updated in the end."""
# Each death is in a cluster of its own: too many of them for one test.
PARTS = 4


def small(strategy: dict[str, str]) -> dict[str, Any]:
    """A clique, and a group of two replicas, each in a gang of its own."""
    body = a_set_body(
        "llm",
        a_clique("a", 1),
        a_clique("b", 1),
        groups=(a_group("x", "b", replicas=2),),
    )
    body["spec"]["updateStrategy"] = strategy
    return body


@asynccontextmanager
async def an_edited_set(story: str) -> AsyncIterator[Show]:
    """It ran; then nobody looked after it, and it was changed as the story says."""
    stage = await a_stage()
    await stage.make(PodCliqueSet, small(ON_DELETE if story in (BY_HAND, FROM_HAND) else ROLLING))
    nodes = Nodes(stage)
    running = asyncio.create_task(nodes.run())
    show = Show(stage, nodes)
    try:
        async with stage.operator(*ALL):
            await stage.settle(10)
            nodes.begin()
            if story in (FROM_HAND, TO_HAND):
                # A step that has been taken hangs where it is.
                nodes.starts = lambda _: False
                await show.edit("a", "b")
                await stage.settle(5)
        nodes.starts = lambda _: True
        nodes.look()
        if story in (FROM_HAND, TO_HAND):
            await show.switch(STORIES[story])
        else:
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


async def dies_at(story: str, point: Point) -> dict[str, Any]:
    async with an_edited_set(story) as show:
        program = show.stage.program(*ALL)
        assert await died(program, show.stage.watched, settled, point)
        return await ending(show)


async def lives(story: str) -> tuple[list[str], dict[str, Any]]:
    async with an_edited_set(story) as show:
        calls = await lived(show.stage.program(*ALL), show.stage.watched, settled)
        return calls, await ending(show)


@cache
def a_life(story: str) -> tuple[list[str], dict[str, Any]]:
    """All calls of one that does not die, and how that ends."""
    return run(lives(story))


def between_writes(calls: list[str]) -> list[Point]:
    """After each of them, and before the first. Before one is after the one before."""
    points = [
        point
        for point in everywhere(calls)
        if not calls[point.call].startswith("GET") and "/events" not in calls[point.call]
    ]
    return [points[0], *(point for point in points if point.after)]


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("story", STORIES)
def test_a_death_between_any_two_writes_ends_the_same(story: str, part: int) -> None:
    calls, expected = a_life(story)
    assert expected["outdated"] == {ROLLS: 0, BY_HAND: 3, FROM_HAND: 0, TO_HAND: 1}[story]
    assert expected["ended"]
    assert expected["down"] <= 1
    for point in between_writes(calls)[part::PARTS]:
        found = run(dies_at(story, point))
        assert found == expected, f"{point}: {calls[point.call]}"
