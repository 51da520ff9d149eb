# SPDX-License-Identifier: Apache-2.0
"""Updates to templates of which no pod can be made, by all controllers together."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from tests.support.virtual import virtual
from tests.unit.workloads.refusals import allowing, refusing
from tests.unit.workloads.rolling.show import a_show, alone, wl
from trellis.api.conditions import find, is_true
from trellis.api.core.priorityclass import PriorityClass
from trellis.api.grove.podclique import PodClique
from trellis.api.grove.podcliqueset import PodCliqueSet
from trellis.api.grove.scalinggroup import PodCliqueScalingGroup
from trellis.instruments.metrics import Meter
from trellis.runtime.cache import Cache
from trellis.runtime.informer import Informer

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tests.unit.workloads.rolling.show import Show
    from tests.unit.workloads.stage import Body

A, X = "llm-0-a", "llm-0-x"
GHOST = {"metadata": {"name": "ghost"}, "value": 7}
Part = type[PodClique] | type[PodCliqueScalingGroup]


def for_both(word: str, of_clique: str, of_group: str) -> pytest.MarkDecorator:
    """Once for the clique and once for the group, each with a word of its own."""
    cases = [(PodClique, A, of_clique), (PodCliqueScalingGroup, X, of_group)]
    return pytest.mark.parametrize(("kind", "name", word), cases)


async def ask_for_ghost(show: Show) -> None:
    asked = {"spec": {"template": {"priorityClassName": "ghost"}}}
    await show.stage.patch(PodCliqueSet, "llm", asked)


@virtual
async def test_nothing_that_is_ready_goes_for_a_priority_class_that_is_missing() -> None:
    async with a_show(wl()) as show:
        await ask_for_ghost(show)
        await show.stage.settle(60)
        assert show.nodes.gone == []


@virtual
@for_both("noun", "pods", "replicas")
async def test_what_waits_for_a_priority_class_serves_and_says_so(
    kind: Part, name: str, noun: str
) -> None:
    async with a_show(wl()) as show:
        await ask_for_ghost(show)
        await show.stage.settle(60)
        conditions = await show.stage.conditions(kind, name)
        missing = ("True", "PriorityClassMissing")
        assert (conditions["UpdateInProgress"], conditions["Stalled"]) == (missing, missing)
        assert conditions["Ready"][0] == "True"
        message = await show.stage.message(kind, name, "UpdateInProgress")
        assert message == (
            f"2 {noun} have an older template and stay, because nothing could be made in their "
            "place: PriorityClass ghost does not exist"
        )
        told = [reason for reason, _ in await show.stage.events(name)]
        assert told.count("PriorityClassMissing") == 1
        show.stage.forget()
        await show.stage.settle(60)
        assert show.stage.writes() == []


@virtual
async def test_an_update_goes_on_as_soon_as_its_priority_class_comes() -> None:
    async with a_show(wl()) as show:
        await ask_for_ghost(show)
        await show.stage.settle(60)
        await show.stage.make(PriorityClass, GHOST)
        await show.stage.settle(5)
        renewed = {name.rpartition("-")[0] for name in show.nodes.gone}
        assert any(name.startswith(A) for name in renewed)
        assert any(name.startswith(X) for name in renewed)
        await show.until_ended()
        await show.stage.settle(10)
        assert await show.outdated() == []
        for kind, name in ((PodCliqueSet, "llm"), (PodClique, A), (PodCliqueScalingGroup, X)):
            assert (await show.stage.conditions(kind, name))["Stalled"][0] == "False"
            assert "lastErrors" not in (await show.stage.get(kind, name))["status"]


@virtual
async def test_a_change_back_ends_what_waits_for_a_priority_class_and_nothing_goes() -> None:
    async with a_show(wl()) as show:
        await ask_for_ghost(show)
        await show.stage.settle(60)
        back = {"spec": {"template": {"priorityClassName": None}}}
        await show.stage.patch(PodCliqueSet, "llm", back)
        await show.until_ended()
        assert show.nodes.gone == []


@virtual
async def test_a_pod_that_is_refused_is_said_to_be_one_that_cannot_be_made() -> None:
    async with a_show(wl()) as show:
        show.stage.watched.before = refusing("/pods", "pods is forbidden: exceeded quota: small")
        await show.edit("a")
        await show.stage.settle(20)
        conditions = await show.stage.conditions(PodClique, A)
        assert conditions["UpdateInProgress"] == ("True", "QuotaRefused")
        message = await show.stage.message(PodClique, A, "UpdateInProgress")
        assert message.startswith("1 pods have an older template; pod 1 cannot be made: ")
        assert "exceeded quota: small" in message
        assert "to be Ready" not in message
        show.stage.watched.before = allowing
        await show.until_ended()


@virtual
@for_both("clique", "a", "b")
async def test_what_has_passed_its_deadline_is_stalled_until_it_goes_on(
    kind: Part, name: str, clique: str
) -> None:
    body = wl()
    template, late = body["spec"]["template"], {"progressDeadline": "30s"}
    template["cliques"][0]["rollingUpdate"] = late
    template["podCliqueScalingGroups"][0]["rollingUpdate"] = late
    async with a_show(body) as show:
        show.nodes.starts = lambda _: False
        await show.edit(clique)
        await show.stage.settle(20)
        assert (await show.stage.conditions(kind, name))["Stalled"][0] == "False"
        await show.stage.settle(40)
        conditions = await show.stage.conditions(kind, name)
        overdue = ("True", "ProgressDeadlineExceeded")
        assert (conditions["UpdateInProgress"], conditions["Stalled"]) == (overdue, overdue)
        (error,) = (await show.stage.get(kind, name))["status"]["lastErrors"]
        assert error["code"] == "ProgressDeadlineExceeded"
        told = [reason for reason, _ in await show.stage.events(name)]
        assert told.count("ProgressDeadlineExceeded") == 1
        show.nodes.starts = lambda _: True
        show.nodes.look()
        await show.until_ended()
        await show.stage.settle(10)
        assert (await show.stage.conditions(kind, name))["Stalled"][0] == "False"
        assert "lastErrors" not in (await show.stage.get(kind, name))["status"]


async def refused(show: Show) -> None:
    show.stage.watched.before = refusing("/pods", "pods is forbidden: exceeded quota: small")
    await show.edit("a")


async def late_clique(show: Show) -> None:
    show.nodes.starts = lambda _: False
    await show.edit("a")


async def late_group(show: Show) -> None:
    show.nodes.starts = lambda _: False
    await show.edit("b")


async def mend(show: Show) -> None:
    show.stage.watched.before = allowing
    show.nodes.starts = lambda _: True
    show.nodes.look()
    await show.stage.make(PriorityClass, GHOST)


@virtual
@pytest.mark.parametrize(
    ("hinder", "reason", "words"),
    [
        pytest.param(
            ask_for_ghost,
            "PriorityClassMissing",
            f"PodClique {A}: 2 pods have an older template and stay",
            id="a missing class",
        ),
        pytest.param(refused, "QuotaRefused", f"PodClique {A}: ", id="a refusal"),
        pytest.param(
            late_clique,
            "ProgressDeadlineExceeded",
            f"PodClique {A}: Nothing has moved",
            id="the deadline of a clique",
        ),
        pytest.param(
            late_group,
            "ProgressDeadlineExceeded",
            f"PodClique {X}-1-b: Nothing has moved",
            id="the deadline of a group",
        ),
    ],
)
async def test_a_set_says_that_its_update_cannot_go_on_until_it_does(
    hinder: Callable[[Show], Awaitable[None]], reason: str, words: str
) -> None:
    body = wl()
    template, late = body["spec"]["template"], {"progressDeadline": "30s"}
    template["cliques"][0]["rollingUpdate"] = late
    template["podCliqueScalingGroups"][0]["rollingUpdate"] = late
    async with a_show(body) as show:
        await hinder(show)
        await show.stage.settle(25 if reason == "QuotaRefused" else 60)
        conditions = await show.stage.conditions(PodCliqueSet, "llm")
        assert conditions["Stalled"] == conditions["UpdateInProgress"] == ("True", reason)
        assert conditions["Ready"][0] == "True"
        for told in ("Stalled", "UpdateInProgress"):
            assert words in await show.stage.message(PodCliqueSet, "llm", told)
        assert reason in [one["code"] for one in (await show.set())["status"]["lastErrors"]]
        events = [each for each, _ in await show.stage.events("llm")]
        assert events.count(reason) == 1
        await mend(show)
        await show.until_ended()
        await show.stage.settle(10)
        conditions = await show.stage.conditions(PodCliqueSet, "llm")
        assert (conditions["Stalled"][0], conditions["UpdateInProgress"][0]) == ("False", "False")
        assert "lastErrors" not in (await show.set())["status"]


@virtual
async def test_what_a_set_waits_for_is_named_all_the_way_down() -> None:
    async with a_show(wl()) as show:
        show.nodes.schedules = lambda _: False
        await show.edit("b")
        await show.stage.settle(60)
        group = await show.stage.message(PodCliqueScalingGroup, X, "UpdateInProgress")
        assert f"; PodClique {X}-1-b: 0 of 1 pods are ready, 0 have a node" in group
        found = await show.stage.message(PodCliqueSet, "llm", "UpdateInProgress")
        assert found == (
            f"Replica 0 of the set is being updated; waiting for PodCliqueScalingGroup {X}: {group}"
        )
        assert (await show.stage.conditions(PodCliqueSet, "llm"))["Stalled"][0] == "False"


async def ask_for_none(show: Show) -> None:
    await show.stage.patch(PodCliqueSet, "llm", {"spec": {"template": {"priorityClassName": None}}})


async def ask_for_what_starts(show: Show) -> None:
    show.nodes.starts = lambda _: True
    await show.edit("a")


def late_alone() -> Body:
    """It needs all its pods, so that it lacks one for as long as one does not start."""
    body = alone()
    body["spec"]["template"]["cliques"][0]["rollingUpdate"] = {"progressDeadline": "30s"}
    return body


@pytest.mark.parametrize(
    ("body", "hinder", "think_again"),
    [
        pytest.param(wl(), ask_for_ghost, ask_for_none, id="a missing class"),
        pytest.param(late_alone(), late_clique, ask_for_what_starts, id="a minimum"),
    ],
)
@virtual
async def test_a_newer_template_is_not_said_to_fail_for_what_the_last_one_did(
    body: Body,
    hinder: Callable[[Show], Awaitable[None]],
    think_again: Callable[[Show], Awaitable[None]],
) -> None:
    async with a_show(body) as show:
        await hinder(show)
        await show.stage.settle(60)
        assert (await show.stage.conditions(PodCliqueSet, "llm"))["Stalled"][0] == "True"
        stalled: list[tuple[int, str]] = []

        def note(old: PodCliqueSet | None, new: PodCliqueSet | None, *, fresh: bool) -> None:  # noqa: ARG001
            if new is not None and is_true(new.status.conditions, "Stalled"):
                found = find(new.status.conditions, "Stalled")
                stalled.append((found.observed_generation if found else 0, new.metadata.name))

        cache = Cache(PodCliqueSet.resource, PodCliqueSet)
        cache.subscribe(note)
        watching = asyncio.create_task(Informer(cache, show.stage.client, Meter()).run())
        await show.stage.settle(1)
        before = (await show.set())["metadata"]["generation"]
        await think_again(show)
        await show.until_ended()
        watching.cancel()
        assert {generation for generation, _ in stalled} <= {before}
