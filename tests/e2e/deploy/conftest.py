# SPDX-License-Identifier: Apache-2.0
"""A cluster with everything in `deploy/install.yaml`, and nobody who serves its webhooks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.cluster import OURS, Cluster, cluster
from tests.support.waiting import eventually
from trellis.api.schema.kinds import KINDS
from trellis.app.manifests.__main__ import FOLDER
from trellis.app.manifests.bundle import INSTALL
from trellis.app.manifests.installation import Installation
from trellis.lab.errors import LabError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.support.api import Api

FILE = FOLDER / INSTALL
INSTALLATION = Installation()


@pytest.fixture(scope="session")
async def installed(request: pytest.FixtureRequest) -> AsyncIterator[Cluster]:
    """A cluster of its own: what is installed fails closed, and others write topologies."""
    target = request.config.getoption("--cluster")
    if target not in OURS:
        pytest.skip("a cluster of somebody's own may run an operator of these names")
    try:
        async with cluster(target, request.config.getoption("--kubernetes")) as found:
            await found.kubectl("apply", "-f", str(FILE))
            await _until_served(found)
            yield found
    except LabError as error:
        pytest.fail(str(error), pytrace=False)


async def _until_served(found: Cluster) -> None:
    names = {f"{one.type.resource.plural}.{one.type.resource.group}" for one in KINDS}

    async def served() -> bool:
        return names <= set((await found.kubectl("api-resources", "-o", "name")).split())

    await eventually(served, "the API server to serve every kind")


@pytest.fixture(scope="session")
async def operator(installed: Cluster) -> Api:
    """The API as the operator sees it."""
    arguments = ("create", "token", INSTALLATION.name, "-n", INSTALLATION.namespace)
    return installed.api.with_token((await installed.kubectl(*arguments)).strip())
