# SPDX-License-Identifier: Apache-2.0
"""Template changes as Grove's scenarios make them, and what pods did meanwhile, as watches saw."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Any

from tests.e2e.workloads.world import (
    CLIQUES,
    GROUPS,
    PODS,
    SETS,
    clique_of,
    condition,
    is_ready,
    is_true,
    uid_of,
)
from tests.support.waiting import eventually

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable

    from tests.e2e.workloads.witness import Witness
    from tests.e2e.workloads.world import World

Json = dict[str, Any]

TRIGGER = "UPDATE_TRIGGER"
HASH = "grove.io/pod-template-hash"
POD_INDEX = "grove.io/podclique-pod-index"
SET_REPLICA = "grove.io/podcliqueset-replica-index"
GROUP = "grove.io/podcliquescalinggroup"
GROUP_REPLICA = "grove.io/podcliquescalinggroup-replica-index"
ROLLING, ON_DELETE = "RollingRecreate", "OnDelete"


def label(pod: Json, key: str) -> str:
    return str(pod["metadata"]["labels"].get(key, ""))


def slot(pod: Json) -> tuple[str, str]:
    """The place of a pod, which whoever replaces it takes."""
    return clique_of(pod), label(pod, POD_INDEX)


def group_replica(pod: Json) -> tuple[str, str]:
    return label(pod, GROUP), label(pod, GROUP_REPLICA)


def set_replica(pod: Json) -> str:
    return label(pod, SET_REPLICA)


def trigger_of(pod: Json) -> str:
    """What the last change that a pod has was called; empty if it has none."""
    env = pod["spec"]["containers"][0].get("env", [])
    return next((str(one["value"]) for one in env if one["name"] == TRIGGER), "")


def of(pods: Iterable[Json], *cliques: str) -> list[Json]:
    return [pod for pod in pods if clique_of(pod) in cliques]


async def change(world: World, name: str, *cliques: str, to: str = "1", **spec: Any) -> int:
    """The templates of these cliques, all in one go; returns the generation.

    `spec` are fields of the set's spec to be changed with them.
    """
    found = await world.get(SETS, name)
    templates = found["spec"]["template"]["cliques"]
    path = "/spec/template/cliques/{}/spec/podSpec/containers/0/env"
    patch: list[Json] = [
        {"op": "add", "path": path.format(place), "value": [{"name": TRIGGER, "value": to}]}
        for place, template in enumerate(templates)
        if template["name"] in cliques
    ]
    patch += [{"op": "add", "path": f"/spec/{key}", "value": value} for key, value in spec.items()]
    changed: Json = await world.api.do("PATCH", world.path(SETS, name), patch, patch="json")
    return int(changed["metadata"]["generation"])


def is_over(found: Json, generation: int) -> bool:
    """Whether the update to that generation has ended: all that may have it has it."""
    status = found["status"]
    return (
        status["observedGeneration"] >= generation
        and not is_true(found, "UpdateInProgress")
        and bool(status["updateProgress"]["updateEndedAt"])
    )


async def until_updated(world: World, name: str, generation: int, replicas: int = 1) -> Json:
    """As Grove's scenarios mean it: every replica of the set is, and the update has ended."""

    def holds(found: Json) -> bool:
        return is_over(found, generation) and found["status"]["updatedReplicas"] == replicas

    return await world.until(SETS, name, holds, f"{replicas} updated replicas")


async def until_told(world: World, name: str, generation: int) -> Json:
    """With OnDelete: every PodClique has the template and has counted its pods."""
    found = await world.until(SETS, name, partial(is_over, generation=generation), "to have ended")

    def counted(one: Json) -> bool:
        return bool(one["status"]["observedGeneration"] == one["metadata"]["generation"])

    for kind in (CLIQUES, GROUPS):
        for part in await world.all(kind, f"app.kubernetes.io/part-of={name}"):
            await world.until(kind, part["metadata"]["name"], counted, "to have counted")
    return found


async def until_held(pods: Witness, to: str = "1") -> Json:
    """With all nodes closed: the first pod of a change has been made, and finds no node."""

    def holds(pod: Json) -> bool:
        return trigger_of(pod) == to and condition(pod, "PodScheduled").get("status") == "False"

    return await pods.until(holds, "a pod of the change that finds no node")


async def until_live(world: World, count: int) -> None:
    async def look() -> bool:
        return len(await world.pods()) == count

    await eventually(look, f"{count} live pods")


def most_down(pods: Witness, unit: Callable[[Json], Hashable], *, only: set[Hashable]) -> int:
    """How many of these units lacked a pod that is ready at the same time, at worst.

    They were whole when the watch began.
    """
    sizes = Counter(unit(pod) for pod in pods.before)
    worst = 0
    for there in pods.states():
        ready = Counter(unit(pod) for pod in there if is_ready(pod))
        worst = max(worst, sum(ready[one] < sizes[one] for one in only))
    return worst


def least_ready(pods: Witness, clique: str) -> int:
    """How many pods of a PodClique were ready, at worst."""
    return min(sum(map(is_ready, of(there, clique))) for there in pods.states())


def disturbed(pods: Witness) -> set[str]:
    """The uids of pods that were told to go, or are gone."""
    return {
        event.uid
        for event in pods.events
        if event.kind == "DELETED" or "deletionTimestamp" in event.object["metadata"]
    }


def made(pods: Witness, holds: Callable[[Json], object]) -> list[Json]:
    """The pods that were made while it was watched, of which that holds, as they were born."""
    return [one.object for one in pods.events if one.kind == "ADDED" and holds(one.object)]


def uids(pods: Iterable[Json]) -> set[str]:
    return {uid_of(pod) for pod in pods}


async def all_updated(world: World, *cliques: str, to: str = "1") -> None:
    """Every live pod of cliques that end so has the change, and the hash of its PodClique."""
    hashes = {
        one["metadata"]["name"]: one["metadata"]["labels"][HASH] for one in await world.all(CLIQUES)
    }
    for pod in await world.pods():
        if clique_of(pod).endswith(cliques):
            assert trigger_of(pod) == to, f"{pod['metadata']['name']} is outdated"
        assert label(pod, HASH) == hashes[clique_of(pod)]


async def replaced(world: World, lost: Json) -> Json:
    """The pod that has the place of one that is gone, once it is ready."""

    async def look() -> list[Json]:
        pods = [pod for pod in await world.pods(clique_of(lost)) if slot(pod) == slot(lost)]
        return [pod for pod in pods if uid_of(pod) != uid_of(lost) and is_ready(pod)]

    (found,) = await eventually(look, f"another pod in the place of {slot(lost)}")
    return found


async def kill(world: World, pod: Json) -> Json:
    await world.delete(PODS, pod["metadata"]["name"])
    return await replaced(world, pod)


def counts(found: Json) -> tuple[int, int]:
    """Updated, and all."""
    return found["status"]["updatedReplicas"], found["status"]["replicas"]


async def until_counted(world: World, kind: str, name: str, updated: int, total: int) -> None:
    def holds(found: Json) -> bool:
        return counts(found) == (updated, total)

    await world.until(kind, name, holds, f"{updated} of {total} updated")
