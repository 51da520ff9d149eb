# SPDX-License-Identifier: Apache-2.0
"""A set that names no scheduler, and an operator that is started anew with another default one.

Gangs for KAI keep their ledger elsewhere than others: no pod may get lost or doubled by the move.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.virtual import virtual
from tests.unit.workloads.kubelets import kubelets
from tests.unit.workloads.sets import a_clique, a_set_body
from tests.unit.workloads.stage import a_stage
from trellis.api.annotation import POD_LEDGER
from trellis.api.config.types import OperatorConfiguration, SchedulerProfile, Schedulers
from trellis.api.core.pod import Pod
from trellis.api.grove.podclique import PodClique
from trellis.api.grove.podcliqueset import PodCliqueSet
from trellis.api.scheduler.podgang import PodGang
from trellis.workloads.podclique.reconciler import controller as podcliques
from trellis.workloads.podcliqueset.reconciler import controllers as podcliquesets
from trellis.workloads.podgang.reconciler import controller as podgangs

if TYPE_CHECKING:
    from tests.unit.workloads.stage import Stage

ALL = (podcliquesets, podgangs, podcliques)
KAI, OTHER = "kai-scheduler", "default-scheduler"
W = "llm-0-w"


def by_default(scheduler: str) -> OperatorConfiguration:
    profiles = (SchedulerProfile(name=KAI),)
    return OperatorConfiguration(
        scheduler=Schedulers(profiles=profiles, default_profile_name=scheduler)
    )


async def a_set_of_three(scheduler: str) -> Stage:
    stage = await a_stage()
    stage.configuration = by_default(scheduler)
    body = a_set_body("llm", a_clique("w", 3, 1))
    body["metadata"]["labels"] = {"kai.scheduler/queue": "research"}
    await stage.make(PodCliqueSet, body)
    return stage


async def uids(stage: Stage) -> dict[str, str]:
    return {pod["metadata"]["name"]: pod["metadata"]["uid"] for pod in await stage.all(Pod)}


@virtual
@pytest.mark.parametrize(
    ("first", "then"), [(KAI, OTHER), (OTHER, KAI)], ids=["away from KAI", "to KAI"]
)
async def test_pods_stay_and_are_replaced_and_scaled_as_ever(first: str, then: str) -> None:
    stage = await a_set_of_three(first)
    async with kubelets(stage):
        async with stage.operator(*ALL):
            await stage.settle()
        before = await uids(stage)
        assert len(before) == 3
        stage.configuration = by_default(then)
        async with stage.operator(*ALL):
            await stage.settle()
            assert await uids(stage) == before
            noted = (await stage.get(PodGang, "llm-0"))["metadata"]["annotations"]
            assert (POD_LEDGER in noted) == (then == KAI)
            lost = next(iter(before))
            await stage.end(lost)
            await stage.settle(120)
            after = await uids(stage)
            assert lost not in after
            assert len(after) == 3
            await stage.patch(PodClique, W, {"spec": {"replicas": 5}})
            await stage.settle()
            assert len(await uids(stage)) == 5
