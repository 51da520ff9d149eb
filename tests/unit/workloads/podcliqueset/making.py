# SPDX-License-Identifier: Apache-2.0
"""What other controllers would do for a set, and what is asked of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from tests.unit.workloads.sets import POD_SPEC, a_clique, a_set_body
from trellis.api.grove.podclique import PodClique
from trellis.api.grove.podcliqueset import PodCliqueSet
from trellis.api.grove.scalinggroup import PodCliqueScalingGroup
from trellis.api.grove.template import IN_ORDER
from trellis.api.labels import Component, common
from trellis.api.meta import owner, to_builtins
from trellis.api.scheduler.podgang import PodGang
from trellis.workloads.outline import Outline

if TYPE_CHECKING:
    from tests.unit.workloads.stage import Stage

Json = dict[str, Any]


async def the_set(stage: Stage) -> Json:
    return await stage.get(PodCliqueSet, "llm")


async def status(stage: Stage) -> Json:
    found: Json = (await the_set(stage)).get("status", {})
    return found


async def make_well(stage: Stage) -> None:
    """As the controllers of PodCliques and scaling groups would, when all pods are up."""
    outline = Outline(
        msgspec.json.decode(msgspec.json.encode(await the_set(stage)), type=PodCliqueSet)
    )
    for found in await stage.all(PodClique):
        count = found["spec"]["replicas"]
        reached = found["metadata"]["labels"]["grove.io/pod-template-hash"]
        told = {"replicas": count, "readyReplicas": count, "updatedReplicas": count}
        told |= {"scheduleGatedReplicas": 0, "scheduledReplicas": count}
        patch = {"status": {**told, "currentPodTemplateHash": reached}}
        await stage.patch(PodClique, found["metadata"]["name"], patch, part="status")
    for found in await stage.all(PodCliqueScalingGroup):
        count = found["spec"]["replicas"]
        told = {"replicas": count, "availableReplicas": count, "updatedReplicas": count}
        told |= {"scheduledReplicas": count}
        patch = {"status": {**told, "currentPodCliqueSetGenerationHash": outline.generation_hash}}
        await stage.patch(PodCliqueScalingGroup, found["metadata"]["name"], patch, part="status")


async def make_gang(stage: Stage, name: str, phase: str) -> None:
    found = msgspec.json.decode(msgspec.json.encode(await the_set(stage)), type=PodCliqueSet)
    labels = common("llm", name, Component.POD_GANG)
    metadata = {"name": name, "labels": labels, "ownerReferences": [to_builtins(owner(found))]}
    await stage.make(PodGang, {"metadata": metadata, "spec": {"podgroups": []}})
    await stage.patch(PodGang, name, {"status": {"phase": phase}}, part="status")


def in_turn(**more: Any) -> Json:
    lead = a_clique("lead", podSpec=POD_SPEC | {"serviceAccountName": "leaders"})
    worker = a_clique("worker", podSpec=POD_SPEC | {"serviceAccountName": "workers"})
    return a_set_body("llm", lead, worker, startup=IN_ORDER, **more)
