# SPDX-License-Identifier: Apache-2.0
"""A set on a stage with the PodClique controller alone: the story plays all the others."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from tests.unit.workloads.sets import a_clique, a_set_body
from tests.unit.workloads.stage import Body, Stage, a_stage
from trellis.api import names
from trellis.api.core.pod import Pod
from trellis.api.grove.podclique import PodClique
from trellis.api.grove.podcliqueset import PodCliqueSet
from trellis.api.grove.scalinggroup import PodCliqueScalingGroup
from trellis.api.labels import Component, common
from trellis.api.meta import encode, owner
from trellis.api.scheduler.podgang import PodGang
from trellis.workloads.members import clique as as_made
from trellis.workloads.outline import Outline
from trellis.workloads.podclique.reconciler import controller

if TYPE_CHECKING:
    from collections.abc import Iterable
    from contextlib import AbstractAsyncContextManager

    from trellis.api.meta import Object
    from trellis.workloads.means import Means
    from trellis.workloads.outline import Member


T = TypeVar("T")


@dataclass
class Story:
    stage: Stage
    outline: Outline

    def operator(self, means: Means | None = None) -> AbstractAsyncContextManager[None]:
        return self.stage.operator(controller, means=means)

    def member(self, clique: str, replica: int = 0) -> Member:
        return next(one for one in self.outline.alone(replica) if one.template.name == clique)

    async def make_clique(self, member: Member, above: Object | None = None) -> str:
        """The PodClique as its own controller would make it."""
        body = json.loads(encode(as_made(self.outline, member, above or self.outline.set, None)))
        await self.stage.make(PodClique, body)
        return member.name

    async def make_group(self, member: Member) -> PodCliqueScalingGroup:
        assert member.group is not None
        assert member.place.group is not None
        template = member.group
        body = {
            "metadata": {
                "name": member.place.group.full_name,
                "labels": common(self.outline.name, template.name, Component.SCALING_GROUP),
                "ownerReferences": [_reference(self.outline.set)],
            },
            "spec": {
                "replicas": template.replicas,
                "minAvailable": template.min_available,
                "cliqueNames": list(template.clique_names),
            },
        }
        made = await self.stage.make(PodCliqueScalingGroup, body)
        return _as_read(PodCliqueScalingGroup, made)

    async def make_gang(self, gang: str = "llm-0", **more: Any) -> None:
        """An empty one, as the gang controller would write it."""
        annotations = more.pop("annotations", {})
        labels = more.pop("labels", common(self.outline.name, gang, Component.POD_GANG))
        metadata = {
            "name": gang,
            "labels": labels,
            "annotations": annotations,
            "ownerReferences": [more.pop("owner", _reference(self.outline.set))],
        }
        await self.stage.make(PodGang, {"metadata": metadata, "spec": {"podgroups": []}})

    async def list_pods(self, clique: str, pods: Iterable[str], gang: str = "llm-0") -> None:
        """Writes the ledger of one PodClique."""
        found = await self.stage.get(PodGang, gang)
        others = [one for one in found["spec"]["podgroups"] if one["name"] != clique]
        references = [{"namespace": "default", "name": name} for name in pods]
        group = {"name": clique, "podReferences": references, "minReplicas": 1}
        await self.stage.patch(PodGang, gang, {"spec": {"podgroups": [*others, group]}})

    async def status(self, clique: str) -> Body:
        found: Body = (await self.stage.get(PodClique, clique)).get("status", {})
        return found

    async def pod(self, name: str) -> Body:
        return await self.stage.get(Pod, name)

    async def pods(self) -> list[str]:
        return await self.stage.names(Pod)


def pod_names(clique: str, count: int, incarnation: str = "") -> list[str]:
    """Names as a ledger would have them."""
    return [
        names.pod(clique, index, names.pod_suffix(clique, str(index), incarnation))
        for index in range(count)
    ]


async def a_story(*cliques: Body, **more: Any) -> Story:
    """A set that is stored, without anything that is made for it."""
    stage = await a_stage()
    body = a_set_body("llm", *(cliques or (a_clique("worker", 2),)), **more)
    del body["metadata"]["namespace"]
    stored = await stage.make(PodCliqueSet, body)
    return Story(stage, Outline(_as_read(PodCliqueSet, stored)))


async def a_running_story(replicas: int = 2, **more: Any) -> tuple[Story, str, list[str]]:
    """One clique with its gang and a full ledger: the story, the clique, and the listed names."""
    spec = {key: more.pop(key) for key in ("least", "podSpec", "annotations") if key in more}
    story = await a_story(a_clique("worker", replicas, **spec), **more)
    clique = await story.make_clique(story.member("worker"))
    listed = pod_names(clique, replicas)
    await story.make_gang()
    await story.list_pods(clique, listed)
    return story, clique, listed


def _as_read(kind: type[T], body: Body) -> T:
    return msgspec.json.decode(msgspec.json.encode(body), type=kind)


def _reference(found: Object) -> Body:
    return msgspec.to_builtins(owner(found), str_keys=True)  # type: ignore[no-any-return]
