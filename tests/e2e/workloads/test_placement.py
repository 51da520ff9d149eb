# SPDX-License-Identifier: Apache-2.0
"""The verdict of placement on a gang, written as placement will: pods wait, or are born pinned."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tests.e2e.workloads.builders import a_clique, a_set
from tests.e2e.workloads.witness import watching
from tests.e2e.workloads.world import CLIQUES, GANGS, PODS, SETS, clique_of, condition, name_of
from tests.support.nodes import NODES

if TYPE_CHECKING:
    from tests.e2e.workloads.world import Json, World

VERDICT = "trellis.dev/placement"
GATE = {"name": "grove.io/podgang-pending-creation"}
POD_INDEX = "grove.io/podclique-pod-index"
HOSTNAME = "kubernetes.io/hostname"
GANG, PINNED, FREE = "placed-0", "placed-0-pinned", "placed-0-free"


async def judge(world: World, verdict: str) -> None:
    await world.patch(GANGS, GANG, {"metadata": {"annotations": {VERDICT: verdict}}})


async def until_ready_says(world: World, kind: str, name: str, reason: str) -> None:
    def says(found: Json) -> bool:
        return bool(condition(found, "Ready")["reason"] == reason)

    await world.until(kind, name, says, f"to say {reason}")


async def test_pods_wait_for_the_verdict_and_are_born_where_it_says(world: World) -> None:
    """A class that comes late holds pods back until the gang, which is made before them, waits."""
    late = f"late-{world.namespace}"
    cliques = (a_clique("pinned", 2), a_clique("free", 1))
    await world.make(SETS, a_set("placed", *cliques, priorityClassName=late))
    await until_ready_says(world, CLIQUES, PINNED, "PriorityClassMissing")
    await judge(world, "wait")
    async with world.priority_class(late), watching(world, PODS) as seen:
        for clique in (PINNED, FREE):
            await until_ready_says(world, CLIQUES, clique, "WaitingForPlacement")
        await until_ready_says(world, SETS, "placed", "ReplicasUnavailable")
        assert not await world.all(PODS)

        nodes = [name_of(one) for one in (await world.api.do("GET", NODES))["items"]][:2]
        await judge(world, json.dumps({PINNED: [[node, 1] for node in nodes]}))
        pods = await world.until_ready(3)

    pinned = {pod["metadata"]["labels"][POD_INDEX]: pod for pod in pods if clique_of(pod) == PINNED}
    assert {index: pod["spec"]["nodeName"] for index, pod in pinned.items()} == {
        "0": nodes[0],
        "1": nodes[1],
    }
    born = [event.object for event in seen.events if event.kind == "ADDED"]
    gates = {name_of(pod): pod["spec"].get("schedulingGates", []) for pod in born}
    assert {name: GATE in held for name, held in gates.items()} == {
        name_of(pod): clique_of(pod) == FREE for pod in pods
    }
    for pod in pinned.values():
        assert pod["spec"]["nodeSelector"] == {HOSTNAME: pod["spec"]["nodeName"]}
