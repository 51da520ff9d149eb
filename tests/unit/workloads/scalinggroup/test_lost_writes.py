# SPDX-License-Identifier: Apache-2.0
"""Writes of the controller that get lost, before they happen or after."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.virtual import virtual
from tests.unit.workloads.scalinggroup.builders import GROUP
from tests.unit.workloads.scalinggroup.neighbours import (
    a_group_on,
    members,
    status_of,
    the_set_body,
)
from tests.unit.workloads.sharing.sets import a_spec, for_all
from tests.unit.workloads.stage import a_stage
from trellis.api.core.resourceclaim import ResourceClaim
from trellis.api.grove.podclique import PodClique
from trellis.kube.errors import Ambiguous, Unreachable
from trellis.runtime.loop import HELD_SECONDS
from trellis.workloads.scalinggroup.reconciler import controller

if TYPE_CHECKING:
    from trellis.kube.transport import Request

# A claim, four members, a status.
_WRITES = 6


@pytest.mark.parametrize("lost", [Unreachable, Ambiguous], ids=["before", "after"])
@pytest.mark.parametrize("number", range(_WRITES))
@virtual
async def test_whichever_write_fails_it_ends_the_same(
    number: int, lost: type[Unreachable | Ambiguous]
) -> None:
    stage = await a_stage()
    body = the_set_body(resourceSharing=[for_all("gpu")])
    body["spec"]["template"]["resourceClaimTemplates"] = [
        {"name": "gpu", "templateSpec": a_spec("gpus")}
    ]
    await a_group_on(stage, of_set=body)
    seen = 0

    def fail(request: Request) -> None:
        nonlocal seen
        if request.method == "GET" or "/events" in request.path:
            return
        seen += 1
        if seen == number + 1:
            raise lost("the network is gone")

    if lost is Ambiguous:
        stage.watched.after = fail
    else:
        stage.watched.before = fail
    async with stage.operator(controller):
        await stage.settle(2 * HELD_SECONDS)
        assert seen > number
        assert await stage.names(PodClique) == members(0, 1)
        assert await stage.names(ResourceClaim) == [f"{GROUP}-all-gpu"]
        status = await status_of(stage)
        assert "lastErrors" not in status
        assert status["observedGeneration"] == 1
        stage.forget()
        await stage.settle(60)
        assert stage.writes() == []
