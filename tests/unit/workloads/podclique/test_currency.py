# SPDX-License-Identifier: Apache-2.0
"""Ledgers that have changed, while nobody has told the one who makes pods by them."""

from __future__ import annotations

import asyncio

import pytest

from tests.support.virtual import virtual
from tests.unit.workloads.podclique.story import Story, a_running_story
from trellis.api.core.pod import Pod
from trellis.api.grove.podclique import PodClique
from trellis.api.scheduler.podgang import PodGang
from trellis.workloads.departed import LAPSE_SECONDS
from trellis.workloads.ledger import next_name


async def a_story_with_its_own_names() -> tuple[Story, str, str, str]:
    story, clique, _ = await a_running_story(1)
    uid = (await story.stage.get(PodClique, clique))["metadata"]["uid"]
    first = next_name(uid, clique, 0)
    await story.list_pods(clique, [first])
    return story, clique, first, next_name(uid, clique, 0, first)


@virtual
async def test_no_pod_is_made_by_a_ledger_that_others_have_changed_since() -> None:
    story, clique, first, second = await a_story_with_its_own_names()
    async with story.operator():
        await story.stage.settle(1)
        told = story.stage.watched.heard["/podgangs"] = asyncio.Event()
        await story.list_pods(clique, [second])
        await story.stage.delete(Pod, first)
        await story.stage.settle(LAPSE_SECONDS + 5)
        assert await story.pods() == []
        told.set()
        await story.stage.settle(1)
        assert await story.pods() == [second]


@virtual
async def test_no_pod_is_made_by_the_ledger_of_a_gang_that_is_gone() -> None:
    story, _, first, _ = await a_story_with_its_own_names()
    async with story.operator():
        await story.stage.settle(1)
        story.stage.watched.heard["/podgangs"] = asyncio.Event()
        await story.stage.delete(PodGang, "llm-0")
        await story.stage.delete(Pod, first)
        await story.stage.settle(LAPSE_SECONDS + 5)
        assert await story.pods() == []


@pytest.mark.parametrize("pods", [1, 20])
@virtual
async def test_a_ledger_is_read_again_once_however_many_pods_are_made_by_it(pods: int) -> None:
    story, _, names = await a_running_story(pods)
    async with story.operator():
        await story.stage.settle(2)
        assert await story.pods() == sorted(names)
    asked = [one.path for one in story.stage.watched.requests if one.method == "GET"]
    assert len([path for path in asked if path.endswith("/podgangs/llm-0")]) == 1
