# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import asyncio

from tests.support.virtual import virtual
from tests.unit.workloads.podclique.story import Story, a_running_story, pod_names
from trellis.api.core.pod import Pod
from trellis.api.grove.podclique import PodClique
from trellis.embedded.simulation.crashing import died, everywhere, lived
from trellis.workloads.podclique.reconciler import controller

LONG_ENOUGH = 60.0


async def a_story_of_replacement() -> Story:
    """Of two pods, one has failed and one is to be made anew; the ledger says so already."""
    story, clique, listed = await a_running_story(2)
    async with story.operator():
        pass
    await story.stage.end(listed[0])
    await story.list_pods(clique, pod_names(clique, 2, "anew"))
    return story


async def settled() -> None:
    await asyncio.sleep(LONG_ENOUGH)


async def ending(story: Story) -> list[tuple[str, str | None]]:
    """The pods there are, and how many failed before each."""
    pods = await story.stage.all(Pod)
    return sorted(
        (one["metadata"]["name"], one["metadata"].get("annotations", {}).get("trellis.dev/attempt"))
        for one in pods
    )


@virtual
async def test_a_death_before_or_after_any_write_ends_the_same() -> None:
    story = await a_story_of_replacement()
    calls = await lived(story.stage.program(controller), story.stage.watched, settled)
    expected = await ending(story)
    first, second = pod_names("llm-0-worker", 2, "anew")
    assert expected == sorted([(first, "1"), (second, None)])
    for point in everywhere(calls):
        written = calls[point.call]
        if written.startswith("GET") or "/events" in written:
            continue
        story = await a_story_of_replacement()
        program = story.stage.program(controller)
        assert await died(program, story.stage.watched, settled, point), f"{point}: {written}"
        assert await ending(story) == expected, f"{point}: {written}"


@virtual
async def test_two_operators_at_once_make_no_pod_twice() -> None:
    story, clique, listed = await a_running_story(8)
    async with story.operator(), story.operator():
        assert await story.pods() == sorted(listed)
        fresh = pod_names(clique, 8, "anew")
        await story.list_pods(clique, fresh)
        await story.stage.settle(30)
        assert await story.pods() == sorted(fresh)
        conditions = await story.stage.conditions(PodClique, clique)
        assert conditions["Stalled"][0] == "False"
