# SPDX-License-Identifier: Apache-2.0
"""Templates that come back, strategies that change, and updates while there is too little room."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.virtual import virtual
from tests.unit.workloads.rolling.show import HASH, ON_DELETE, ROLLING, a_show, alone, wl
from tests.unit.workloads.sets import a_clique, a_group, a_set_body
from trellis.api.core.pod import Pod
from trellis.api.grove.podclique import PodClique
from trellis.api.grove.podcliqueset import PodCliqueSet

if TYPE_CHECKING:
    from tests.unit.workloads.rolling.show import Show
    from tests.unit.workloads.stage import Body

A, X = "llm-0-a", "llm-0-x"
RECYCLED = "PodCliqueSetReplicaDeleteSuccessful"


async def template(show: Show) -> Body:
    found = (await show.set())["spec"]["template"]
    assert isinstance(found, dict)
    return found


async def take_back(show: Show, earlier: Body) -> None:
    await show.stage.patch(PodCliqueSet, "llm", {"spec": {"template": earlier}})


async def lose_one_of(show: Show, *cliques: str) -> None:
    for name in cliques:
        await show.stage.delete(Pod, (await show.pods(name))[0]["metadata"]["name"])
    await show.stage.settle(10)


@virtual
async def test_a_template_that_comes_back_by_hand_is_rolled_one_replica_after_the_other() -> None:
    group = a_group("x", "b", replicas=3)
    async with a_show(a_set_body("llm", a_clique("b", 2, 1), groups=(group,))) as show:
        await show.edit("b")
        await show.until_ended()
        rolled = await template(show)
        await show.switch(ON_DELETE)
        await show.edit("b")
        await show.stage.settle(5)
        await lose_one_of(show, *(f"{X}-{index}-b" for index in range(3)))
        await take_back(show, rolled)
        await show.stage.settle(5)
        assert len(await show.outdated()) == 3
        show.nodes.begin()
        await show.switch(ROLLING)
        await show.until_ended()
        assert await show.outdated() == []
        assert show.nodes.down == {X: 1, "llm": 1}


@virtual
async def test_what_is_taken_back_in_the_middle_must_be_up_before_the_next_replica_goes() -> None:
    async with a_show(a_set_body("llm", a_clique("a", 2, 1), replicas=3)) as show:
        first = await template(show)
        show.nodes.starts = lambda pod: not pod.metadata.name.startswith("llm-1-")
        await show.edit("a")
        await show.stage.settle(30)
        assert [one["replicaIndex"] for one in (await show.progress())["currentlyUpdating"]] == [1]
        await take_back(show, first)
        await show.stage.settle(60)
        progress = await show.progress()
        assert "updateEndedAt" not in progress
        assert [one["replicaIndex"] for one in progress["currentlyUpdating"]] == [1]
        show.nodes.starts = lambda _: True
        show.nodes.look()
        await show.until_ended()
        assert show.nodes.down == {"llm": 1}
        assert await show.outdated() == []
        assert {pod["spec"]["containers"][0]["image"][-2:] for pod in await show.pods()} == {":1"}


@virtual
async def test_a_group_that_was_rolled_before_falls_while_another_clique_is_rolled() -> None:
    body = wl(terminationDelay="30s")
    async with a_show(body) as show:
        await show.edit("b")
        await show.until_ended()
        show.nodes.starts = lambda _: False
        await show.edit("a")
        await show.stage.settle(5)
        show.nodes.schedules = lambda _: False
        await lose_one_of(show, f"{X}-0-b", f"{X}-1-b")
        assert RECYCLED not in [reason for reason, _ in await show.stage.events("llm")]
        await show.stage.settle(60)
        assert RECYCLED in [reason for reason, _ in await show.stage.events("llm")]


@pytest.mark.parametrize("strategy", [ON_DELETE, ROLLING], ids=["switched late", "from the start"])
@virtual
async def test_a_pod_without_room_does_not_keep_the_others_from_being_renewed(
    strategy: Body,
) -> None:
    async with a_show(alone(4, least=1, strategy=strategy)) as show:
        show.nodes.schedules = lambda pod: not pod.metadata.name.startswith(f"{A}-3-")
        if strategy == ON_DELETE:
            await show.edit("a")
            await show.stage.settle(5)
        lost = next(pod for pod in await show.pods(A) if f"{A}-3-" in pod["metadata"]["name"])
        await show.stage.delete(Pod, lost["metadata"]["name"])
        await show.stage.settle(15)
        assert (await show.clique(A))["status"]["readyReplicas"] == 3
        show.nodes.begin()
        await (show.switch(ROLLING) if strategy == ON_DELETE else show.edit("a"))
        await show.until_ended()
        assert await show.outdated() == []
        assert show.nodes.least == {A: 2}
        assert (await show.clique(A))["status"]["updatedReplicas"] == 4


@virtual
async def test_a_clique_that_grows_without_room_is_rolled_all_the_same() -> None:
    async with a_show(alone(3, least=1)) as show:
        show.nodes.schedules = lambda pod: pod.metadata.name[len(A) + 1] in "012"
        await show.edit("a")
        await show.stage.settle(3)
        await show.stage.patch(PodClique, A, {"spec": {"replicas": 5}})
        await show.until_ended()
        assert await show.outdated() == []
        assert show.nodes.least == {A: 2}


@pytest.mark.parametrize("all_of_them", [False, True], ids=["one", "all"])
@virtual
async def test_pods_that_do_not_say_their_template_stay_until_the_next_update(
    all_of_them: bool,
) -> None:
    async with a_show(alone(3)) as show:
        silent = [pod["metadata"]["name"] for pod in await show.pods()][: 3 if all_of_them else 1]
        for name in silent:
            await show.stage.patch(Pod, name, {"metadata": {"labels": {HASH: None}}})
        await show.stage.settle(30)
        assert show.nodes.gone == []
        assert (await show.clique(A))["status"]["updatedReplicas"] == 3
        await show.edit("a")
        await show.until_ended()
        assert set(silent) <= set(show.nodes.gone)
        assert set(await show.hashes(A)) == {await show.wanted(A)}
        assert show.nodes.least == {A: 2}
