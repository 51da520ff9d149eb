# SPDX-License-Identifier: Apache-2.0
"""The example of GREP-291 to the letter: a node fails under eight workers, and OnDelete leaves all
that are not on it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from tests.e2e.workloads.updating import disturbed, kill, uids, until_counted, until_told
from tests.e2e.workloads.witness import watching
from tests.e2e.workloads.world import CLIQUES, PODS, SETS, name_of
from tests.support.nodes import NODES

if TYPE_CHECKING:
    from tests.e2e.workloads.world import World

Json = dict[str, Any]

MANIFEST = Path(__file__).parent / "manifests" / "training-workload.yaml"
NAME = "training-workload"
CLIQUE = "training-workload-0-worker"
FAILED = "failed-node-1"
EXCLUDED = "kubernetes.io/hostname"


def terms(body: Json) -> list[Json]:
    """Where its workers may run."""
    (clique,) = body["spec"]["template"]["cliques"]
    affinity = clique["spec"]["podSpec"]["affinity"]["nodeAffinity"]
    (term,) = affinity["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    found: list[Json] = term["matchExpressions"]
    return found


def before_the_failure() -> Json:
    body: Json = yaml.safe_load(MANIFEST.read_text())
    expressions = terms(body)
    expressions[:] = [one for one in expressions if one["key"] != EXCLUDED]
    return body


async def label(world: World, node: str, key: str, value: str) -> None:
    patch = {"metadata": {"labels": {key: value}}}
    await world.api.do("PATCH", f"{NODES}/{node}", patch, patch="merge")


async def test_pods_on_healthy_nodes_run_on_and_the_others_move(world: World) -> None:
    for node in (await world.api.do("GET", NODES))["items"]:
        await label(world, name_of(node), "node.kubernetes.io/instance-type", "gpu-node")
    apply = ("apply", "-f", "-")
    await world.cluster.kubectl(*apply, stdin=yaml.safe_dump(before_the_failure()))
    pods = await world.until_ready(8)
    await world.until_up(NAME)

    node = pods[0]["spec"]["nodeName"]
    await label(world, node, EXCLUDED, FAILED)
    struck = [pod for pod in pods if pod["spec"]["nodeName"] == node]
    async with watching(world, PODS) as seen:
        await world.cluster.kubectl("apply", "-f", str(MANIFEST))
        generation = (await world.get(SETS, NAME))["metadata"]["generation"]
        await until_told(world, NAME, generation)
        await until_counted(world, CLIQUES, CLIQUE, 0, 8)
        assert disturbed(seen) == set(), "nobody goes because of it"
        for pod in struck:
            found = await kill(world, pod)
            assert found["spec"]["nodeName"] != node
            assert EXCLUDED in str(found["spec"]["affinity"])
        await until_counted(world, CLIQUES, CLIQUE, len(struck), 8)
    assert disturbed(seen) == uids(struck)

    updated = await world.uids() - uids(pods)
    await world.scale(CLIQUES, CLIQUE, len(struck))
    left = await world.until_ready(len(struck))
    assert uids(left) == updated, "what is left has the new affinity"
