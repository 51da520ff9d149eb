# SPDX-License-Identifier: Apache-2.0
"""Everybody around the gang controller: who makes sets, PodCliques, scaling groups and pods."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import msgspec

from tests.unit.workloads.sets import a_clique, a_group, a_set_body
from tests.unit.workloads.stage import NAMESPACE, Body, Stage, a_stage
from trellis.api.core.pod import Pod
from trellis.api.grove.podclique import PodClique
from trellis.api.grove.podcliqueset import PodCliqueSet
from trellis.api.grove.scalinggroup import PodCliqueScalingGroup
from trellis.api.labels import (
    GANG_GATE,
    POD_CLIQUE,
    POD_GANG,
    POD_INDEX,
    Component,
    common,
    of_set_replica,
)
from trellis.api.meta import Object, encode, owner
from trellis.api.names import pod_index_of
from trellis.api.scheduler.podgang import PodGang
from trellis.workloads.ledger import all_listed_names
from trellis.workloads.members import clique as as_made
from trellis.workloads.outline import Member, Outline
from trellis.workloads.podgang.reconciler import controller

if TYPE_CHECKING:
    from collections.abc import Iterable
    from contextlib import AbstractAsyncContextManager


ONE = a_set_body("one", a_clique("w", 3, 2))
W = "one-0-w"


def wl2_body(name: str = "wl2", **more: Any) -> Body:
    """pc-a 2/1; sg-x of 2, at least 1, each pc-b 1/1 and pc-c 3/1."""
    return a_set_body(
        name,
        a_clique("pc-a", 2, 1),
        a_clique("pc-b", 1, 1),
        a_clique("pc-c", 3, 1),
        groups=(a_group("sg-x", "pc-b", "pc-c", replicas=2, least=1),),
        **more,
    )


class Troupe:
    """One set and all that is made for it but its gangs."""

    def __init__(self, stage: Stage, body: Body) -> None:
        self.stage = stage
        self._body = body

    def operator(self) -> AbstractAsyncContextManager[None]:
        return self.stage.operator(controller)

    async def begin(self) -> None:
        self.set = _typed(await self.stage.make(PodCliqueSet, self._body), PodCliqueSet)

    @property
    def outline(self) -> Outline:
        return Outline(self.set)

    async def make_alone(self, replica: int = 0) -> None:
        await self.make_cliques(self.outline.alone(replica), self.set)

    async def make_group(self, replicas: int, replica: int = 0) -> None:
        """The scaling group of that replica, without its members."""
        (template,) = self.outline.groups.values()
        name = self.outline.group_name(replica, template)
        labels = common(self.set.metadata.name, name, Component.SCALING_GROUP)
        body = {
            "metadata": {
                "name": name,
                "namespace": NAMESPACE,
                "labels": labels | of_set_replica(self.set.metadata.name, replica),
                "ownerReferences": [json.loads(msgspec.json.encode(owner(self.set)))],
            },
            "spec": {
                "replicas": replicas,
                "minAvailable": template.min_available,
                "cliqueNames": list(template.clique_names),
            },
        }
        self.group = _typed(
            await self.stage.make(PodCliqueScalingGroup, body), PodCliqueScalingGroup
        )

    async def make_members(self, *indices: int, replica: int = 0) -> None:
        (template,) = self.outline.groups.values()
        for index in indices:
            members = self.outline.grouped(replica, template, index)
            await self.make_cliques(members, self.group)

    async def make_cliques(self, members: Iterable[Member], controller: Object) -> None:
        for member in members:
            body = json.loads(encode(as_made(self.outline, member, controller, None)))
            await self.stage.make(PodClique, body)

    async def make_pods(self, gang: str, *, skip: int = 0, gates: Iterable[str] = ()) -> list[str]:
        """The pods that a gang lists and that are not there, gated; but for so many of them."""
        found = _typed(await self.stage.get(PodGang, gang), PodGang)
        there = await self.stage.names(Pod)
        missing = [
            (clique, name)
            for clique, names in all_listed_names(found).items()
            for name in names
            if name not in there
        ]
        for clique, name in missing[: len(missing) - skip]:
            index = pod_index_of(name)
            await self.make_pod(clique, name, 0 if index is None else index, gates=gates)
        return [name for _, name in missing]

    async def make_pod(
        self, clique: str, name: str, index: int, *, gates: Iterable[str] = (), gang: str = ""
    ) -> None:
        """`gang` is the one that it names, if not that of its PodClique."""
        found = _typed(await self.stage.get(PodClique, clique), PodClique)
        labels = found.metadata.labels
        gated = [*gates, GANG_GATE]
        body = {
            "metadata": {
                "name": name,
                "labels": {
                    **labels,
                    POD_GANG: gang or labels[POD_GANG],
                    POD_CLIQUE: clique,
                    POD_INDEX: str(index),
                },
                "ownerReferences": [json.loads(msgspec.json.encode(owner(found)))],
                "finalizers": ["example.com/seen"],
            },
            "spec": {
                "containers": [{"name": "main", "image": "none"}],
                "schedulingGates": [{"name": gate} for gate in gated],
            },
        }
        await self.stage.make(Pod, body)

    async def bind(self, *pods: str) -> None:
        """Once they may be."""
        await self.stage.settle(0.1)
        for pod in pods:
            await self.stage.bind(pod)
        await self.stage.settle()

    async def ready(self, *pods: str) -> None:
        for pod in pods:
            await self.stage.ready(pod)
        await self.stage.settle()

    async def gated(self) -> list[str]:
        """The pods that our gate holds back."""
        found = await self.stage.all(Pod)
        return [
            pod["metadata"]["name"]
            for pod in found
            if {"name": GANG_GATE} in pod["spec"].get("schedulingGates", [])
        ]

    async def listed(self, gang: str) -> dict[str, list[str]]:
        found = _typed(await self.stage.get(PodGang, gang), PodGang)
        return {clique: list(names) for clique, names in all_listed_names(found).items()}

    async def phase(self, gang: str) -> str:
        return str((await self.stage.get(PodGang, gang)).get("status", {}).get("phase", ""))

    async def breach(self, clique: str, *, up: str | None, since: str | None) -> None:
        """As the PodClique controller would say that it was up first then, and broke then."""
        condition = {
            "type": "MinAvailableBreached",
            "status": "True" if since else "False",
            "reason": "Test",
            "message": "",
            "lastTransitionTime": since or up,
        }
        status = {"firstAvailableTime": up, "conditions": [condition]}
        await self.stage.patch(PodClique, clique, {"status": status}, part="status")


def _typed(body: Body, kind: type[Any]) -> Any:
    return msgspec.json.decode(json.dumps(body), type=kind)


async def a_troupe(body: Body | None = None) -> Troupe:
    troupe = Troupe(await a_stage(), body or wl2_body())
    await troupe.begin()
    return troupe


async def a_base(troupe: Troupe) -> None:
    """All PodCliques of the base gang of the second workload."""
    await troupe.make_alone()
    await troupe.make_group(1)
    await troupe.make_members(0)
    await troupe.stage.settle()


async def a_gang(body: Body | None = None) -> Troupe:
    """Of a set of one clique."""
    troupe = await a_troupe(body or ONE)
    await troupe.make_alone()
    return troupe
