# SPDX-License-Identifier: Apache-2.0
"""Grove's scenarios OD1 to OD9: with OnDelete nothing goes for a template change, and what is made
from then on has the new template."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.e2e.workloads.builders import a_clique, a_set, on_delete, workload_on_delete
from tests.e2e.workloads.updating import (
    ON_DELETE,
    ROLLING,
    TRIGGER,
    all_updated,
    change,
    disturbed,
    kill,
    made,
    of,
    trigger_of,
    uids,
    until_counted,
    until_live,
    until_told,
    until_updated,
)
from tests.e2e.workloads.witness import watching
from tests.e2e.workloads.world import CLIQUES, GROUPS, PODS, SETS, uid_of
from tests.support.nodes import NODES

if TYPE_CHECKING:
    from tests.e2e.workloads.world import Json, World

A, B, C = "pc-a", "pc-b", "pc-c"
GROUP = "wl-0-sg-x"
SIZE = 10
# Not where an update is up to people.
OF_THE_OPERATOR = {
    SETS: "currentlyUpdating",
    CLIQUES: "readyPodsSelectedToUpdate",
    GROUPS: "readyReplicaIndicesSelectedToUpdate",
}


async def started(world: World, replicas: int = 1) -> list[Json]:
    body = workload_on_delete()
    body["spec"]["replicas"] = replicas
    await world.make(SETS, body)
    pods = await world.until_ready(SIZE * replicas)
    await world.until_up("wl")
    return pods


async def test_od1_a_change_of_a_clique_deletes_nothing(world: World) -> None:
    await started(world)
    async with watching(world, PODS) as pods:
        generation = await change(world, "wl", A)
        found = await until_told(world, "wl", generation)
        await until_counted(world, CLIQUES, "wl-0-pc-a", 0, 2)
    assert disturbed(pods) == set()
    assert made(pods, lambda _: True) == []
    progress = found["status"]["updateProgress"]
    assert progress["updateStartedAt"] == progress["updateEndedAt"]
    for kind, field in OF_THE_OPERATOR.items():
        for one in await world.all(kind):
            assert field not in one["status"].get("updateProgress", {})


async def test_od2_a_pod_that_is_deleted_comes_back_with_the_new_template(world: World) -> None:
    pods = await started(world)
    lost, kept = of(pods, "wl-0-pc-a")
    await until_told(world, "wl", await change(world, "wl", A))
    async with watching(world, CLIQUES) as cliques:
        found = await kill(world, lost)
        await cliques.until(lambda one: one["status"]["updatedReplicas"] == 1, "one updated pod")
    assert (trigger_of(found), trigger_of(kept)) == ("1", "")
    clique = await world.get(CLIQUES, "wl-0-pc-a")
    target = clique["status"]["updateProgress"]["podTemplateHash"]
    hashes = {uid_of(pod): pod["metadata"]["labels"] for pod in await world.pods("wl-0-pc-a")}
    assert hashes[uid_of(found)]["grove.io/pod-template-hash"] == target
    assert hashes[uid_of(kept)]["grove.io/pod-template-hash"] != target
    assert clique["status"]["currentPodTemplateHash"] != target, "one of them has not reached it"


async def test_od3_scaling_in_takes_the_outdated_pod(world: World) -> None:
    pods = await started(world)
    lost, outdated = of(pods, "wl-0-pc-a")
    await until_told(world, "wl", await change(world, "wl", A))
    updated = await kill(world, lost)
    await world.scale(CLIQUES, "wl-0-pc-a", 1)
    await world.until_gone([outdated])
    assert uids(await world.pods("wl-0-pc-a")) == {uid_of(updated)}
    await until_counted(world, CLIQUES, "wl-0-pc-a", 1, 1)


async def test_od4_a_change_in_a_scaling_group_deletes_nothing(world: World) -> None:
    await started(world)
    async with watching(world, PODS) as pods:
        await until_told(world, "wl", await change(world, "wl", B))
        await until_counted(world, GROUPS, GROUP, 0, 2)
    assert disturbed(pods) == set()
    progress = (await world.get(GROUPS, GROUP))["status"]["updateProgress"]
    assert progress["updateStartedAt"] == progress["updateEndedAt"]
    for replica in (0, 1):
        spec = (await world.get(CLIQUES, f"{GROUP}-{replica}-pc-b"))["spec"]["podSpec"]
        assert spec["containers"][0]["env"][0]["name"] == TRIGGER, "members are patched as well"


async def test_od5_a_pod_of_a_scaling_group_comes_back_with_the_new_template(world: World) -> None:
    pods = await started(world)
    lost, *others = of(pods, f"{GROUP}-0-pc-c")
    await until_told(world, "wl", await change(world, "wl", C))
    assert trigger_of(await kill(world, lost)) == "1"
    assert uids(others) <= await world.uids()
    await until_counted(world, CLIQUES, f"{GROUP}-0-pc-c", 1, 3)


async def test_od6_one_of_each_is_deleted_after_a_change_of_all(world: World) -> None:
    pods = await started(world)
    await until_told(world, "wl", await change(world, "wl", A, B, C))
    lost = [of(pods, clique)[0] for clique in ("wl-0-pc-a", f"{GROUP}-0-pc-b", f"{GROUP}-1-pc-c")]
    for pod in lost:
        assert trigger_of(await kill(world, pod)) == "1"
    left = uids(pods) - uids(lost)
    assert left <= await world.uids(), "nobody else is touched"


async def test_od7_no_replica_of_the_set_is_touched(world: World) -> None:
    await started(world, 2)
    async with watching(world, PODS) as pods:
        await until_told(world, "wl", await change(world, "wl", A, B, C))
        for replica in (0, 1):
            await until_counted(world, CLIQUES, f"wl-{replica}-pc-a", 0, 2)
            await until_counted(world, GROUPS, f"wl-{replica}-sg-x", 0, 2)
    assert disturbed(pods) == set()
    assert made(pods, lambda _: True) == []


async def test_od8_a_pod_leaves_a_failed_node_and_the_others_stay(world: World) -> None:
    await world.make(SETS, on_delete(a_set("wl", a_clique(A, 5, 1))))
    pods = await world.until_ready(5)
    await world.until_up("wl")
    lost, *others = pods
    failed = (await world.api.do("GET", f"{NODES}/{lost['spec']['nodeName']}"))["metadata"]
    host = failed["labels"]["kubernetes.io/hostname"]
    away = {"key": "kubernetes.io/hostname", "operator": "NotIn", "values": [host]}
    terms = {"nodeSelectorTerms": [{"matchExpressions": [away]}]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
    path = "/spec/template/cliques/0/spec/podSpec/affinity"
    patch = [{"op": "add", "path": path, "value": affinity}]
    changed = await world.api.do("PATCH", world.path(SETS, "wl"), patch, patch="json")
    async with watching(world, PODS) as seen:
        await until_told(world, "wl", changed["metadata"]["generation"])
        found = await kill(world, lost)
    assert found["spec"]["nodeName"] != lost["spec"]["nodeName"]
    assert found["spec"]["affinity"] == affinity
    assert disturbed(seen) == {uid_of(lost)}
    assert uids(others) <= await world.uids()


async def test_od9_only_what_changes_under_rolling_recreate_is_rolled(world: World) -> None:
    await started(world)
    async with watching(world, PODS) as pods:
        await until_told(world, "wl", await change(world, "wl", A, to="1"))
    assert disturbed(pods) == set()

    async with watching(world, PODS) as pods:
        rolling = {"type": ROLLING}
        generation = await change(world, "wl", A, to="2", updateStrategy=rolling)
        await until_updated(world, "wl", generation)
    assert disturbed(pods) == uids(of(pods.before, "wl-0-pc-a"))
    await all_updated(world, A, to="2")

    async with watching(world, PODS) as pods:
        generation = await change(world, "wl", A, to="3", updateStrategy={"type": ON_DELETE})
        await until_told(world, "wl", generation)
        await until_counted(world, CLIQUES, "wl-0-pc-a", 0, 2)
    assert disturbed(pods) == set()
    await until_live(world, SIZE)
