# SPDX-License-Identifier: Apache-2.0
"""Edits, switches, scaling and losses in any order, and in the end all is new and nothing hangs."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from tests.support.virtual import dice, run
from tests.unit.workloads.rolling.show import ON_DELETE, ROLLING, Show, a_show, wl
from trellis.api.core.pod import Pod
from trellis.api.grove.podclique import PodClique
from trellis.api.grove.scalinggroup import PodCliqueScalingGroup
from trellis.kube.errors import NotFound

if TYPE_CHECKING:
    from random import Random

STEPS = 14


async def edit(show: Show, chance: Random) -> None:
    await show.edit(*chance.sample("abc", chance.randint(1, 3)))


async def switch(show: Show, chance: Random) -> None:
    await show.switch(chance.choice([ON_DELETE, ROLLING]))


async def scale_set(show: Show, chance: Random) -> None:
    await show.edit(replicas=chance.randint(1, 2))


async def scale_clique(show: Show, chance: Random) -> None:
    spec = {"spec": {"replicas": chance.randint(0, 3)}}
    await show.stage.patch(PodClique, "llm-0-a", spec)


async def scale_group(show: Show, chance: Random) -> None:
    spec = {"spec": {"replicas": chance.randint(0, 3)}}
    await show.stage.patch(PodCliqueScalingGroup, "llm-0-x", spec)


async def lose_a_pod(show: Show, chance: Random) -> None:
    pods = await show.pods()
    if pods:
        await show.stage.delete(Pod, chance.choice(pods)["metadata"]["name"])


async def lose_a_clique(show: Show, chance: Random) -> None:
    await show.stage.delete(PodClique, chance.choice(await show.stage.names(PodClique)))


async def stand_still(show: Show, chance: Random) -> None:
    """Nothing starts for a while."""
    show.nodes.starts = lambda _: False
    await asyncio.sleep(chance.randint(1, 20))
    show.nodes.starts = lambda _: True
    show.nodes.look()


DEEDS = (
    edit,
    edit,
    edit,
    switch,
    switch,
    scale_set,
    scale_clique,
    scale_group,
    lose_a_pod,
    lose_a_clique,
    stand_still,
)


async def a_story(seed: int) -> None:
    chance = dice(seed)
    told: list[str] = []
    async with a_show(wl(2)) as show, show.stage.collector():
        for _ in range(STEPS):
            deed = chance.choice(DEEDS)
            told.append(deed.__name__)
            try:
                await deed(show, chance)
            except NotFound:
                # It is being made anew just now.
                told.append("missed")
            await asyncio.sleep(chance.choice([0, 0.25, 1, 3, 8, 20]))
        await show.switch(ROLLING)
        await asyncio.sleep(200)
        status = (await show.set())["status"]
        assert await show.outdated() == [], told
        assert status["updatedReplicas"] == status["replicas"], (told, status)
        assert status["observedGeneration"] == (await show.set())["metadata"]["generation"], told
        progress = status.get("updateProgress")
        assert progress is None or progress.get("updateEndedAt"), (told, status)
        assert progress is None or "currentlyUpdating" not in progress
        conditions = {one["type"]: one["status"] for one in status["conditions"]}
        assert conditions["UpdateInProgress"] == "False"
        assert conditions["Ready"] == "True"
        # And then nobody writes any more.
        show.stage.forget()
        await asyncio.sleep(60)
        assert show.stage.writes() == [], told


@pytest.mark.parametrize("seed", range(6))
def test_whatever_happens_the_end_is_new_and_quiet(seed: int) -> None:
    run(a_story(seed))
