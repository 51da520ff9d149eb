# SPDX-License-Identifier: Apache-2.0
"""Pods whose name was replaced in the ledger, and who lost the label that they are read by."""

from __future__ import annotations

import pytest

from tests.support.virtual import virtual
from tests.unit.workloads.podclique.story import Story, a_running_story
from trellis.api.annotation import PLACEMENT
from trellis.api.core.pod import Pod
from trellis.api.grove.podclique import PodClique
from trellis.api.labels import MANAGED_BY
from trellis.api.scheduler.podgang import PodGang
from trellis.workloads.ledger import name_before, next_name
from trellis.workloads.verdict import WAIT


async def a_story_that_moved_on() -> tuple[Story, str, str, str]:
    """A clique of one pod, whose ledger goes on to the next name while nobody looks."""
    story, clique, _ = await a_running_story(1)
    uid = (await story.stage.get(PodClique, clique))["metadata"]["uid"]
    first = next_name(uid, clique, 0)
    await story.list_pods(clique, [first])
    async with story.operator():
        await story.stage.settle(1)
    second = next_name(uid, clique, 0, first)
    await story.list_pods(clique, [second])
    return story, clique, first, second


@virtual
async def test_a_pod_out_of_sight_goes_before_the_one_in_its_place_comes() -> None:
    story, _, first, second = await a_story_that_moved_on()
    await story.stage.patch(Pod, first, {"metadata": {"labels": None}})
    story.stage.forget()
    async with story.operator():
        await story.stage.settle(1)
        assert await story.pods() == [second]
    assert _pod_writes(story) == [f"PATCH pods/{first}", f"DELETE pods/{first}", "POST pods"]


@virtual
async def test_what_is_gone_is_asked_for_once_after_a_start_and_never_where_it_was_seen_to_go() -> (
    None
):
    story, clique, first, second = await a_story_that_moved_on()
    await story.stage.delete(Pod, first)
    story.stage.forget()
    async with story.operator():
        await story.stage.settle(1)
        assert await story.pods() == [second]
        assert _asked(story) == [first]
        uid = (await story.stage.get(PodClique, clique))["metadata"]["uid"]
        third = next_name(uid, clique, 0, second)
        await story.list_pods(clique, [third])
        await story.stage.settle(1)
        assert await story.pods() == [third]
        assert _asked(story) == [first]


@virtual
async def test_where_a_ledger_was_lost_its_first_name_comes_after_a_pod_out_of_sight() -> None:
    story, clique, first, second = await a_story_that_moved_on()
    async with story.operator():
        await story.stage.settle(1)
        assert await story.pods() == [second]
    await story.stage.patch(Pod, second, {"metadata": {"labels": {MANAGED_BY: None}}})
    await story.list_pods(clique, [first])
    story.stage.forget()
    async with story.operator():
        await story.stage.settle(1)
        assert await story.pods() == [first]
    assert _pod_writes(story) == [f"PATCH pods/{second}", f"DELETE pods/{second}", "POST pods"]


async def a_story_of_foreign_names() -> tuple[Story, str, str, str]:
    """A clique that took over what was listed before it was there: its uid tells of no name."""
    story, clique, (first,) = await a_running_story(1)
    async with story.operator():
        await story.stage.settle(1)
    uid = (await story.stage.get(PodClique, clique))["metadata"]["uid"]
    return story, clique, first, next_name(uid, clique, 0, first)


@virtual
async def test_after_a_foreign_name_the_pod_out_of_sight_is_found_by_whoever_saw_the_ledger() -> (
    None
):
    story, clique, first, second = await a_story_of_foreign_names()
    async with story.operator():
        await story.stage.settle(1)
        story.stage.forget()
        await story.stage.patch(Pod, first, {"metadata": {"labels": None}})
        await story.list_pods(clique, [second])
        await story.stage.settle(1)
        assert await story.pods() == [second]
    assert _asked(story)[0] == first


@virtual
async def test_after_a_foreign_name_the_pod_out_of_sight_is_found_after_a_start() -> None:
    story, clique, first, second = await a_story_of_foreign_names()
    await story.stage.patch(Pod, first, {"metadata": {"labels": {MANAGED_BY: None}}})
    await story.list_pods(clique, [second])
    story.stage.forget()
    async with story.operator():
        await story.stage.settle(1)
        assert await story.pods() == [second]
    assert _pod_writes(story) == [f"PATCH pods/{first}", f"DELETE pods/{first}", "POST pods"]


@virtual
async def test_a_ledger_that_moved_on_twice_before_a_pod_was_made_forgets_nobody() -> None:
    story, clique, first, second = await a_story_of_foreign_names()
    uid = (await story.stage.get(PodClique, clique))["metadata"]["uid"]
    third = next_name(uid, clique, 0, second)
    verdict = {"metadata": {"annotations": {PLACEMENT: WAIT}}}
    async with story.operator():
        await story.stage.settle(1)
        await story.stage.patch(PodGang, "llm-0", verdict)
        await story.stage.patch(Pod, first, {"metadata": {"labels": None}})
        await story.list_pods(clique, [second])
        await story.stage.settle(1)
        await story.list_pods(clique, [third])
        await story.stage.settle(1)
        assert await story.pods() == [first]
        await story.stage.patch(PodGang, "llm-0", {"metadata": {"annotations": {PLACEMENT: None}}})
        await story.stage.settle(1)
        assert await story.pods() == [third]


def _pod_writes(story: Story) -> list[str]:
    return [write for write in story.stage.writes() if "pods" in write.split("/")[0]]


def _asked(story: Story) -> list[str]:
    paths = [one.path for one in story.stage.watched.requests if one.method == "GET"]
    return [path.rpartition("/")[2] for path in paths if "/pods/" in path]


@pytest.mark.parametrize("steps", [0, 1, 2, 40])
def test_the_name_before_is_found_however_far_a_ledger_has_moved_on(steps: int) -> None:
    name, before = next_name("uid", "llm-0-w", 3), ""
    for _ in range(steps):
        name, before = next_name("uid", "llm-0-w", 3, name), name
    assert name_before("uid", "llm-0-w", 3, name) == before


def test_nobody_can_tell_what_came_before_a_name_that_others_gave() -> None:
    assert name_before("uid", "llm-0-w", 3, "llm-0-w-x2zb9") is None
