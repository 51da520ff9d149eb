# SPDX-License-Identifier: Apache-2.0
"""Clients of the cluster under test, as whoever a kubeconfig makes them."""

from __future__ import annotations

import os
from contextlib import asynccontextmanager
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from tests.support.cluster import LAB
from tests.support.cluster import cluster as new_cluster
from trellis.instruments.clock import SystemClock
from trellis.kube.access import Surroundings
from trellis.kube.connect import connected, find_access

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from contextlib import AbstractAsyncContextManager
    from pathlib import Path

    from tests.support.cluster import Cluster
    from trellis.kube.client import Client

    As = Callable[..., AbstractAsyncContextManager[Client]]


@asynccontextmanager
async def client_by(kubeconfig: Path) -> AsyncIterator[Client]:
    clock = SystemClock()
    access = find_access(Surroundings(clock=clock, environ=os.environ), file=kubeconfig)
    async with connected(access, clock, Random(0)) as client:  # noqa: S311
        yield client


@pytest.fixture
async def client(cluster: Cluster) -> AsyncIterator[Client]:
    """The admin's."""
    async with client_by(cluster.kubeconfig) as admin:
        yield admin


@pytest.fixture
def client_as(cluster: Cluster, tmp_path: Path) -> As:
    """A client of another user, by fields of a kubeconfig's user; `keep` adds to the admin's."""

    def made(*, keep: bool = False, **user: Any) -> AbstractAsyncContextManager[Client]:
        config = yaml.safe_load(cluster.kubeconfig.read_text())
        entry = config["users"][0]
        fields = {name.replace("_", "-"): value for name, value in user.items()}
        entry["user"] = {**(entry["user"] if keep else {}), **fields}
        file = tmp_path / "kubeconfig"
        file.write_text(yaml.safe_dump(config))
        return client_by(file)

    return made


@pytest.fixture(scope="module")
async def own_cluster(request: pytest.FixtureRequest) -> AsyncIterator[Cluster]:
    """A lab of a module alone, to be broken."""
    if request.config.getoption("--cluster") != LAB:
        pytest.skip("breaks the control plane, and this run is on another cluster")
    async with new_cluster(LAB, request.config.getoption("--kubernetes")) as found:
        yield found
