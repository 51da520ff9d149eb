# SPDX-License-Identifier: Apache-2.0
"""Everybody around the controller of groups: who makes sets and groups, who tells of members."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import msgspec

from tests.unit.workloads.scalinggroup.builders import GROUP, Json, group_body
from tests.unit.workloads.sets import a_clique, a_group, a_set_body
from trellis.api.grove.podclique import PodClique
from trellis.api.grove.podcliqueset import PodCliqueSet
from trellis.api.grove.scalinggroup import PodCliqueScalingGroup
from trellis.workloads.outline import Outline

if TYPE_CHECKING:
    from tests.unit.workloads.stage import Stage

OTHER_IMAGE = {"containers": [{"name": "main", "image": "registry.example/app:2"}]}


def members(*indices: int) -> list[str]:
    return sorted(f"{GROUP}-{index}-{name}" for index in indices for name in ("leader", "worker"))


def the_set_body(replicas: int = 1, pods: Json | None = None, **group: Any) -> Json:
    spec: Json = {} if pods is None else {"podSpec": pods}
    return a_set_body(
        "llm",
        a_clique("leader", 1, **spec),
        a_clique("worker", 2, least=1),
        groups=(a_group("pd", "leader", "worker", replicas=2, **group),),
        replicas=replicas,
    )


async def a_group_on(
    stage: Stage, replicas: int = 2, least: int = 1, of_set: Json | None = None, **metadata: Any
) -> PodCliqueSet:
    """A set and its group, as the controller of the set's replica would have made it."""
    body = await stage.make(PodCliqueSet, of_set or the_set_body())
    made = _read(body)
    await stage.make(PodCliqueScalingGroup, group_body(made, replicas, least, **metadata))
    return made


async def tell(stage: Stage, *names: str, **status: Any) -> None:
    """What the controller of PodCliques would say of these."""
    outline = Outline(_read(await stage.get(PodCliqueSet, "llm")))
    for name in names:
        found = await stage.get(PodClique, name)
        count = found["spec"]["replicas"]
        told = {
            "replicas": count,
            "readyReplicas": count,
            "scheduledReplicas": count,
            "updatedReplicas": count,
            "firstAvailableTime": now(stage),
            "currentPodTemplateHash": found["metadata"]["labels"]["grove.io/pod-template-hash"],
            "currentPodCliqueSetGenerationHash": outline.generation_hash,
            "conditions": [_breached(stage, False)],
        }
        await stage.patch(PodClique, name, {"status": told | status}, part="status")


async def status_of(stage: Stage) -> Json:
    found: Json = (await stage.get(PodCliqueScalingGroup, GROUP)).get("status", {})
    return found


def now(stage: Stage, later: float = 0) -> str:
    moment = stage.client.clock.now() + timedelta(seconds=later)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def _read(body: Json) -> PodCliqueSet:
    return msgspec.json.decode(msgspec.json.encode(body), type=PodCliqueSet)


def _breached(stage: Stage, fact: bool) -> Json:
    return {
        "type": "MinAvailableBreached",
        "status": str(fact),
        "reason": "Because",
        "message": "",
        "lastTransitionTime": now(stage),
    }
