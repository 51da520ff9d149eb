# SPDX-License-Identifier: Apache-2.0
"""Options and fixtures that every suite on a cluster shares."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.cluster import LAB, Cluster, cluster
from tests.support.namespaces import fresh_namespace
from trellis.lab.errors import LabError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.support.api import Api


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("trellis")
    group.addoption(
        "--cluster",
        default=LAB,
        help="where cluster suites run: `lab` (the default), `embedded` or a kubeconfig's path",
    )
    group.addoption(
        "--kubernetes", default=None, help="a release of the lab other than the pinned one"
    )


@pytest.fixture(scope="session", name="cluster")
async def _cluster(request: pytest.FixtureRequest) -> AsyncIterator[Cluster]:
    """The cluster of this run. That it cannot be had is a failure, never a skip."""
    target = request.config.getoption("--cluster")
    try:
        async with cluster(target, request.config.getoption("--kubernetes")) as found:
            yield found
            if failure := found.failed():
                raise failure
    except LabError as error:
        pytest.fail(str(error), pytrace=False)


@pytest.fixture
def api(cluster: Cluster) -> Api:
    return cluster.api


@pytest.fixture
async def namespace(cluster: Cluster) -> AsyncIterator[str]:
    """A namespace for this test alone, in which pods can be made; it goes with the test."""
    async with fresh_namespace(cluster.api) as name:
        yield name
