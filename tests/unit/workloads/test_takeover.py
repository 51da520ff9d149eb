# SPDX-License-Identifier: Apache-2.0
"""A tree that Grove made is taken over by all controllers together, wherever they die meanwhile.

What Grove makes in full, and what becomes of it on real servers, is in tests/e2e/workloads.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from tests.support.virtual import virtual
from tests.unit.workloads.sets import POD_SPEC, a_clique, a_group, a_set_body
from tests.unit.workloads.stage import NAMESPACE, a_stage
from trellis.api.core.pod import Pod
from trellis.api.grove.podclique import PodClique
from trellis.api.grove.podcliqueset import PodCliqueSet
from trellis.api.grove.scalinggroup import PodCliqueScalingGroup
from trellis.api.scheduler.podgang import PodGang
from trellis.embedded.simulation.crashing import died, everywhere, lived
from trellis.workloads.podclique.reconciler import controller as podcliques
from trellis.workloads.podcliqueset.reconciler import controllers as podcliquesets
from trellis.workloads.podgang.reconciler import controller as podgangs
from trellis.workloads.scalinggroup.reconciler import controller as scalinggroups

if TYPE_CHECKING:
    from tests.unit.workloads.stage import Stage

Json = dict[str, Any]

LONG_ENOUGH = 20.0
ALL = (podcliquesets, scalinggroups, podgangs, podcliques)
EPOCH = ("llm-0-1772366400", "llm-0-1772366400-g-1")
PLAIN = ("llm-0", "llm-0-g-0")
REPLICA = {"grove.io/podcliqueset-replica-index": "0"}


def owned(owner: Json, name: str, **labels: str) -> Json:
    reference = {key: owner[key] for key in ("apiVersion", "kind")}
    reference |= {key: owner["metadata"][key] for key in ("name", "uid")}
    managed = {
        "app.kubernetes.io/managed-by": "grove-operator",
        "app.kubernetes.io/part-of": "llm",
    }
    return {
        "name": name,
        "labels": {**managed, **labels},
        "ownerReferences": [{**reference, "controller": True}],
    }


async def a_tree_of_groves(base: str, scaled: str) -> Stage:
    """A clique of two, and a group of two replicas of which the second is in a gang of its own.

    Gangs have these names. Grove has listed one pod of each clique so far.
    """
    stage = await a_stage()
    group = a_group("g", "m", replicas=2)
    body = a_set_body("llm", a_clique("w", 2), a_clique("m"), groups=(group,))
    made = await stage.make(PodCliqueSet, body)
    spec = {"replicas": 2, "minAvailable": 1, "cliqueNames": ["m"]}
    metadata = owned(made, "llm-0-g", **REPLICA)
    grouped = await stage.make(PodCliqueScalingGroup, {"metadata": metadata, "spec": spec})
    gangs = {
        base: {
            "llm-0-w": await make_clique(stage, made, "llm-0-w", base, 2),
            "llm-0-g-0-m": await make_clique(stage, grouped, "llm-0-g-0-m", base, 1, **member(0)),
        },
        scaled: {
            "llm-0-g-1-m": await make_clique(stage, grouped, "llm-0-g-1-m", scaled, 1, **member(1))
        },
    }
    for name, members in gangs.items():
        groups = [
            {
                "name": clique,
                "minReplicas": len(pods),
                "podReferences": [{"namespace": NAMESPACE, "name": pod} for pod in pods[:1]],
            }
            for clique, pods in members.items()
        ]
        await stage.make(PodGang, {"metadata": owned(made, name), "spec": {"podgroups": groups}})
    return stage


def member(index: int) -> dict[str, str]:
    return {
        "grove.io/podcliquescalinggroup": "llm-0-g",
        "grove.io/podcliquescalinggroup-replica-index": str(index),
    }


async def make_clique(
    stage: Stage, owner: Json, name: str, gang: str, count: int, **labels: str
) -> list[str]:
    """With pods that run. Returns their names."""
    marks = {**REPLICA, **labels, "grove.io/podgang": gang, "grove.io/pod-template-hash": "7f9c"}
    spec = {"roleName": "r", "replicas": count, "minAvailable": count, "podSpec": POD_SPEC}
    clique = await stage.make(PodClique, {"metadata": owned(owner, name, **marks), "spec": spec})
    names = []
    for index in range(count):
        metadata = owned(clique, f"{name}-x2zb{index}", **marks, **{"grove.io/podclique": name})
        pod = {**POD_SPEC, "hostname": f"{name}-{index}", "subdomain": "llm-0"}
        await stage.make(Pod, {"metadata": metadata, "spec": pod})
        await stage.bind(metadata["name"])
        await stage.ready(metadata["name"])
        names.append(metadata["name"])
    return names


async def versions(stage: Stage) -> dict[str, str]:
    pods = await stage.all(Pod)
    return {pod["metadata"]["name"]: pod["metadata"]["resourceVersion"] for pod in pods}


async def ending(stage: Stage) -> Json:
    """All that must be the same, whatever happened on the way."""
    gangs = {one["metadata"]["name"]: one for one in await stage.all(PodGang)}
    return {
        "ready": (await stage.conditions(PodCliqueSet, "llm"))["Ready"],
        "updated": (await stage.get(PodCliqueSet, "llm"))["status"]["updatedReplicas"],
        "gangs": {name: one["spec"]["podgroups"] for name, one in gangs.items()},
        "phases": {name: one.get("status", {}).get("phase") for name, one in gangs.items()},
    }


async def settled() -> None:
    await asyncio.sleep(LONG_ENOUGH)


async def assert_no_death_matters(names: tuple[str, str]) -> None:
    stage = await a_tree_of_groves(*names)
    before = await versions(stage)
    calls = await lived(stage.program(*ALL), stage.watched, settled)
    expected = await ending(stage)
    assert await versions(stage) == before
    assert expected["ready"] == ("True", "AllReplicasAvailable")
    assert expected["updated"] == 1
    assert set(expected["gangs"]) == {*PLAIN, *names}
    for point in everywhere(calls):
        written = calls[point.call]
        # No pod is made or deleted for what a status says.
        if written.startswith("GET") or "/events" in written or written.endswith("/status"):
            continue
        stage = await a_tree_of_groves(*names)
        before = await versions(stage)
        program = stage.program(*ALL)
        assert await died(program, stage.watched, settled, point), f"{point}: {written}"
        assert await versions(stage) == before, f"{point}: {written}"
        assert await ending(stage) == expected, f"{point}: {written}"


@virtual
async def test_a_death_before_or_after_any_write_of_a_takeover_touches_no_pod() -> None:
    await assert_no_death_matters(PLAIN)


@virtual
async def test_nor_does_it_where_gangs_are_named_by_an_epoch() -> None:
    await assert_no_death_matters(EPOCH)


@virtual
async def test_what_was_taken_over_is_not_written_again() -> None:
    stage = await a_tree_of_groves(*EPOCH)
    async with stage.operator(*ALL):
        await stage.settle()
        stage.forget()
        await stage.settle(600)
        assert stage.writes() == []
    async with stage.operator(*ALL):
        await stage.settle(600)
        assert stage.writes() == []
