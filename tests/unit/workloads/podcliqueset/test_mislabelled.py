# SPDX-License-Identifier: Apache-2.0
"""What somebody labels as of another replica of its set stays whose it is, with all its pods."""

from __future__ import annotations

import asyncio
from contextlib import nullcontext
from typing import TYPE_CHECKING

import pytest

from tests.support.virtual import virtual
from tests.unit.workloads.kubelets import kubelets
from tests.unit.workloads.sets import a_clique, a_group, a_set_body
from tests.unit.workloads.stage import a_stage
from trellis.api.core.autoscaler import HorizontalPodAutoscaler
from trellis.api.core.pod import Pod
from trellis.api.core.service import Service
from trellis.api.grove.podclique import PodClique
from trellis.api.grove.podcliqueset import PodCliqueSet
from trellis.api.grove.scalinggroup import PodCliqueScalingGroup
from trellis.api.labels import SET_REPLICA_INDEX
from trellis.workloads.podclique.reconciler import controller as podcliques
from trellis.workloads.podcliqueset.reconciler import controllers as podcliquesets
from trellis.workloads.podgang.reconciler import controller as podgangs
from trellis.workloads.scalinggroup.reconciler import controller as scalinggroups

if TYPE_CHECKING:
    from tests.unit.workloads.stage import Stage
    from trellis.api.meta import Object

ALL = (podcliquesets, scalinggroups, podgangs, podcliques)
SCALED = {"minReplicas": 1, "maxReplicas": 5}


async def uids(stage: Stage, kind: type[Object]) -> dict[str, str]:
    return {one["metadata"]["name"]: one["metadata"]["uid"] for one in await stage.all(kind)}


async def a_set_of_two(stage: Stage) -> None:
    """Its clique and its group have been scaled since."""
    cliques = (a_clique("w", 2, autoScalingConfig=SCALED), a_clique("m"))
    body = a_set_body("llm", *cliques, groups=(a_group("g", "m"),), replicas=2)
    await stage.make(PodCliqueSet, body)
    await stage.settle()
    await stage.patch(PodClique, "llm-0-w", {"spec": {"replicas": 3}})
    await stage.patch(PodCliqueScalingGroup, "llm-0-g", {"spec": {"replicas": 3}})
    await stage.settle()


@virtual
@pytest.mark.parametrize("down", [False, True], ids=["before our eyes", "while nobody looks"])
@pytest.mark.parametrize("label", ["1", "7", "x"])
@pytest.mark.parametrize(
    ("kind", "name"),
    [
        pytest.param(PodClique, "llm-0-w", id="PodClique"),
        pytest.param(PodCliqueScalingGroup, "llm-0-g", id="PodCliqueScalingGroup"),
        pytest.param(HorizontalPodAutoscaler, "llm-0-w", id="HorizontalPodAutoscaler"),
        pytest.param(Service, "llm-0", id="Service"),
    ],
)
async def test_it_stays_with_all_its_pods_and_is_labelled_right(
    kind: type[Object], name: str, label: str, down: bool
) -> None:
    stage = await a_stage()
    async with kubelets(stage), stage.collector():
        async with stage.operator(*ALL):
            await a_set_of_two(stage)
        kept = {one: await uids(stage, one) for one in (kind, Pod)}
        async with nullcontext() if down else stage.operator(*ALL):
            await stage.patch(kind, name, {"metadata": {"labels": {SET_REPLICA_INDEX: label}}})
            await stage.settle()
        async with stage.operator(*ALL):
            await stage.settle()
            assert {one: await uids(stage, one) for one in (kind, Pod)} == kept
            found = await stage.get(kind, name)
            assert found["metadata"]["labels"][SET_REPLICA_INDEX] == "0"


@virtual
async def test_what_goes_while_it_is_labelled_wrong_comes_back() -> None:
    stage = await a_stage()
    async with stage.operator(podcliquesets):
        await a_set_of_two(stage)
        told = stage.watched.heard["/services"] = asyncio.Event()
        await stage.patch(Service, "llm-0", {"metadata": {"labels": {SET_REPLICA_INDEX: "1"}}})
        await stage.delete(Service, "llm-0")
        told.set()
        await stage.settle()
        assert "llm-0" in await stage.names(Service)


@virtual
async def test_it_goes_with_the_replica_that_has_its_name() -> None:
    stage = await a_stage()
    async with stage.operator(*ALL):
        await a_set_of_two(stage)
    await stage.patch(PodClique, "llm-1-w", {"metadata": {"labels": {SET_REPLICA_INDEX: "0"}}})
    await stage.patch(PodCliqueSet, "llm", {"spec": {"replicas": 1}})
    async with stage.operator(*ALL):
        await stage.settle()
        assert "llm-1-w" not in await stage.names(PodClique)
        assert "llm-0-w" in await stage.names(PodClique)
