# SPDX-License-Identifier: Apache-2.0
"""The four end-to-end test cases of GREP-291, and the ways between its two strategies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e.workloads.builders import (
    SHORT_DELAY,
    a_clique,
    a_pod_spec,
    a_set,
    on_delete,
    workload_on_delete,
)
from tests.e2e.workloads.updating import (
    ON_DELETE,
    ROLLING,
    all_updated,
    change,
    disturbed,
    group_replica,
    kill,
    least_ready,
    made,
    most_down,
    of,
    replaced,
    trigger_of,
    uids,
    until_counted,
    until_held,
    until_told,
    until_updated,
)
from tests.e2e.workloads.witness import watching
from tests.e2e.workloads.world import CLIQUES, GROUPS, PODS, SETS, condition, name_of, uid_of
from tests.support.api import PATCHES, Request

if TYPE_CHECKING:
    from tests.e2e.workloads.world import Json, World

GROUP = "wl-0-sg-x"
WORKERS = "wl-0-w"


async def workers(world: World, **clique: Any) -> list[Json]:
    await world.make(SETS, on_delete(a_set("wl", a_clique("w", 4, 1, **clique))))
    pods = await world.until_ready(4)
    await world.until_up("wl")
    return pods


def one_a_node() -> Json:
    """So large that no two fit one node."""
    spec = a_pod_spec()
    spec["containers"][0]["resources"] = {"requests": {"cpu": "40"}}
    return spec


async def grouped(world: World) -> list[Json]:
    await world.make(SETS, workload_on_delete())
    pods = await world.until_ready(10)
    await world.until_up("wl")
    return pods


async def switch(world: World, strategy: str) -> tuple[int, str]:
    """To another strategy and nothing else: the generation, and the warning that came with it."""
    answer = await world.api.send(
        Request(
            method="PATCH",
            path=world.path(SETS, "wl"),
            body={"spec": {"updateStrategy": {"type": strategy}}},
            headers={"Content-Type": PATCHES["merge"]},
        )
    )
    assert answer.status == 200, answer.content
    return answer.body["metadata"]["generation"], answer.headers.get("Warning", "")


async def test_case_1_from_a_change_to_scaling_in(world: World) -> None:
    pods = await workers(world)
    async with watching(world, PODS) as seen:
        await until_told(world, "wl", await change(world, "wl", "w"))
        await until_counted(world, CLIQUES, WORKERS, 0, 4)
    assert disturbed(seen) == set()

    updated = await kill(world, pods[0])
    assert trigger_of(updated) == "1"
    await until_counted(world, CLIQUES, WORKERS, 1, 4)

    await world.scale(CLIQUES, WORKERS, 2)
    left = await world.until_ready(2)
    assert uid_of(updated) in uids(left), "outdated ones go first"
    await until_counted(world, CLIQUES, WORKERS, 1, 2)

    clique = await world.get(CLIQUES, WORKERS)
    progress, reached = clique["status"]["updateProgress"], clique["status"]
    assert (
        progress["podTemplateHash"] == updated["metadata"]["labels"]["grove.io/pod-template-hash"]
    )
    assert reached["currentPodTemplateHash"] != progress["podTemplateHash"]
    whole = (await world.get(SETS, "wl"))["status"]
    assert whole["currentGenerationHash"] == progress["podCliqueSetGenerationHash"]
    assert condition(await world.get(SETS, "wl"), "UpdateInProgress")["status"] == "False"

    (outdated,) = [pod for pod in left if not trigger_of(pod)]
    await kill(world, outdated)
    await until_counted(world, CLIQUES, WORKERS, 2, 2)
    reached_all = (await world.get(CLIQUES, WORKERS))["status"]
    assert reached_all["currentPodTemplateHash"] == progress["podTemplateHash"]


async def test_case_2_a_node_fails_and_strategies_change(world: World) -> None:
    pods = await workers(world, podSpec=one_a_node())
    failed = pods[0]["spec"]["nodeName"]
    away = {"key": "kubernetes.io/hostname", "operator": "NotIn", "values": [failed]}
    terms = {"nodeSelectorTerms": [{"matchExpressions": [away]}]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
    path = "/spec/template/cliques/0/spec/podSpec/affinity"
    patch = [{"op": "add", "path": path, "value": affinity}]
    changed = await world.api.do("PATCH", world.path(SETS, "wl"), patch, patch="json")
    await until_told(world, "wl", changed["metadata"]["generation"])
    found = await kill(world, pods[0])
    assert found["spec"]["nodeName"] != failed
    outdated = uids(pods[1:])
    assert outdated <= await world.uids()
    await until_counted(world, CLIQUES, WORKERS, 1, 4)

    async with watching(world, PODS) as seen:
        generation, warning = await switch(world, ROLLING)
        await until_updated(world, "wl", generation)
    assert "3" in warning, "it says how many pods will be replaced"
    assert disturbed(seen) == outdated, "exactly those that were left"
    assert least_ready(seen, WORKERS) == 3


async def test_case_2_scaling_in_with_templates_of_several_ages(world: World) -> None:
    """Among pods that are as healthy, the outdated ones go first, of whatever age."""
    pods = await workers(world)
    await until_told(world, "wl", await change(world, "wl", "w", to="1"))
    older = await kill(world, pods[0])
    await until_told(world, "wl", await change(world, "wl", "w", to="2"))
    newest = await kill(world, pods[1])
    assert (trigger_of(older), trigger_of(newest)) == ("1", "2")
    await until_counted(world, CLIQUES, WORKERS, 1, 4)
    await world.scale(CLIQUES, WORKERS, 1)
    (left,) = await world.until_ready(1)
    assert uid_of(left) == uid_of(newest)


async def test_case_3_a_replica_of_a_scaling_group_is_deleted_by_hand(world: World) -> None:
    pods = await grouped(world)
    async with watching(world, PODS) as seen:
        await until_told(world, "wl", await change(world, "wl", "pc-b", "pc-c"))
        await until_counted(world, GROUPS, GROUP, 0, 2)
    assert disturbed(seen) == set()

    struck = [pod for pod in pods if group_replica(pod) == (GROUP, "1")]
    async with watching(world, PODS) as seen:
        for clique in ("pc-b", "pc-c"):
            await world.delete(CLIQUES, f"{GROUP}-1-{clique}")
        await world.until_gone(struck)
        await world.until_ready(10)
        await until_counted(world, GROUPS, GROUP, 1, 2)
    assert disturbed(seen) & uids(pods) == uids(struck), "and nobody else goes"
    assert {trigger_of(pod) for pod in made(seen, lambda _: True)} == {"1"}


async def test_case_3_scaling_in_a_group_takes_the_highest_replica(world: World) -> None:
    """Whatever template it has: there must be no holes."""
    pods = await grouped(world)
    await world.scale(GROUPS, GROUP, 3)
    await world.until_ready(14)
    await until_told(world, "wl", await change(world, "wl", "pc-b", "pc-c"))
    await world.scale(GROUPS, GROUP, 4)
    await world.until_ready(18)
    await until_counted(world, GROUPS, GROUP, 1, 4)
    await world.scale(GROUPS, GROUP, 2)
    assert uids(await world.until_ready(10)) == uids(pods)
    await until_counted(world, GROUPS, GROUP, 0, 2)


async def test_case_4_the_strategy_is_one_for_cliques_and_groups(world: World) -> None:
    pods = await grouped(world)
    async with watching(world, PODS) as seen:
        found = await until_told(world, "wl", await change(world, "wl", "pc-a", "pc-b", "pc-c"))
        await until_counted(world, CLIQUES, "wl-0-pc-a", 0, 2)
        await until_counted(world, GROUPS, GROUP, 0, 2)
    assert disturbed(seen) == set()
    assert found["status"]["updatedReplicas"] == 0

    for clique in ("wl-0-pc-a", f"{GROUP}-0-pc-b", f"{GROUP}-0-pc-c"):
        for pod in of(pods, clique):
            assert trigger_of(await kill(world, pod)) == "1"
    await until_counted(world, CLIQUES, "wl-0-pc-a", 2, 2)
    await until_counted(world, GROUPS, GROUP, 1, 2)
    outdated = [pod for pod in pods if group_replica(pod) == (GROUP, "1")]
    assert uids(outdated) <= await world.uids()

    async with watching(world, PODS) as seen:
        generation, _ = await switch(world, ROLLING)
        await until_updated(world, "wl", generation)
    assert disturbed(seen) == uids(outdated), "of groups too, only what is outdated is rolled"
    assert most_down(seen, group_replica, only={(GROUP, "0"), (GROUP, "1")}) == 1
    await all_updated(world, "pc-a", "pc-b", "pc-c")


async def test_a_switch_to_on_delete_ends_a_roll_where_it_is(world: World) -> None:
    await world.make(SETS, a_set("wl", a_clique("w", 3, 1)))
    await world.until_ready(3)
    await world.until_up("wl")
    async with watching(world, PODS) as seen:
        await world.cordon()
        await change(world, "wl", "w")
        held = await until_held(seen)
        generation, _ = await switch(world, ON_DELETE)
        found = await until_told(world, "wl", generation)
        await world.uncordon()
        await replaced(world, {**held, "metadata": {**held["metadata"], "uid": ""}})
        await until_counted(world, CLIQUES, WORKERS, 1, 3)
    assert "currentlyUpdating" not in found["status"]["updateProgress"]
    assert len(disturbed(seen)) == 1, "the pod in flight is finished, and no other begun"


async def test_what_watches_over_gangs_is_not_off_because_of_on_delete(world: World) -> None:
    body = on_delete(a_set("wl", a_clique("w", 3, 3), terminationDelay=SHORT_DELAY))
    await world.make(SETS, body)
    pods = await world.until_ready(3)
    await world.until_up("wl")
    await until_told(world, "wl", await change(world, "wl", "w"))
    await world.cordon()
    await world.delete(PODS, name_of(pods[0]))
    await world.until_gone(pods)
    await world.uncordon()
    assert {trigger_of(pod) for pod in await world.until_ready(3)} == {"1"}


@pytest.mark.parametrize("strategy", ["Coherent", "RollingUpdate", "Recreate"])
async def test_other_strategies_are_refused_with_those_that_there_are(
    world: World, strategy: str
) -> None:
    body = a_set("wl", a_clique("w"))
    body["spec"]["updateStrategy"] = {"type": strategy}
    answer = await world.refused(SETS, body)
    assert answer.status == 422
    said = answer.body["message"]
    assert all(word in said for word in (ROLLING, ON_DELETE, strategy)), said
