# SPDX-License-Identifier: Apache-2.0
"""A cluster for one suite alone, and the operator beside it with the rights that we ship."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest

from tests.e2e.app.operators import free_ports
from tests.e2e.embedded.nodes.simulation import a_client
from tests.support.cluster import OURS, Cluster, cluster
from trellis.api.config import OperatorConfiguration
from trellis.api.config.types import SchedulerProfile, Schedulers
from trellis.app.local.operating import Beside, Companion, Ports, operating
from trellis.lab.errors import LabError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

# As `deploy/` has it: whoever asks for KAI gets it, if it is there or not.
CONFIGURATION = OperatorConfiguration(
    scheduler=Schedulers(profiles=(SchedulerProfile(name="kai-scheduler"),))
)


@asynccontextmanager
async def own_cluster(request: pytest.FixtureRequest) -> AsyncIterator[Cluster]:
    """One of the kind that is asked for, without nodes and with nothing of ours in it."""
    target = request.config.getoption("--cluster")
    if target not in OURS:
        pytest.skip("a cluster of somebody's own may have real nodes, and an operator")
    try:
        async with cluster(target, request.config.getoption("--kubernetes")) as found:
            yield found
            if failure := found.failed():
                raise failure
    except LabError as error:
        pytest.fail(str(error), pytrace=False)


@asynccontextmanager
async def operated(found: Cluster, folder: Path) -> AsyncIterator[Companion]:
    """As `trellis up` starts it, with everything that `deploy/` has. It must not end meanwhile."""
    async with a_client(found) as client:
        beside = Beside(
            client=client, server=found.api.server, authority=_authority(found), folder=folder
        )
        # Not by the client's dice, which fall alike in every run of these tests.
        drawn = free_ports()
        ports = Ports(webhooks=drawn.webhooks, health=drawn.health, metrics=drawn.metrics)
        async with operating(beside, CONFIGURATION, ports) as companion:
            await companion.ready()
            ended = asyncio.create_task(companion.failure())
            yield companion
            if ended.done():
                raise ended.result()
            ended.cancel()


def _authority(found: Cluster) -> bytes:
    if found.lab is not None:
        return found.lab.authority
    assert found.embedded is not None
    return found.embedded.authority.encode()
