# SPDX-License-Identifier: Apache-2.0
"""The toy's kind on the cluster under test, and the toy itself in this process or in others."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e.runtime.toy import DEFINITION, Toy, a_client, a_process
from tests.support.waiting import eventually

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.support.api import Api
    from tests.support.cluster import Cluster
    from trellis.kube.client import Client
    from trellis.runtime.env import Env
    from trellis.runtime.process import Process

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


async def define(api: Api) -> None:
    """Makes the toy's kind known; ready when it is served."""
    path = f"{DEFINITIONS}/boxes.toys.trellis.dev"
    if not await api.exists(path):
        await api.do("POST", DEFINITIONS, DEFINITION)

    async def served() -> bool:
        return await api.exists("/apis/toys.trellis.dev/v1/boxes")

    await eventually(served, "boxes to be served")


@pytest.fixture(name="boxes")
async def _boxes(api: Api, namespace: str) -> str:
    """The path of this test's boxes."""
    await define(api)
    return f"/apis/toys.trellis.dev/v1/namespaces/{namespace}/boxes"


@pytest.fixture
async def client(cluster: Cluster) -> AsyncIterator[Client]:
    async with a_client(cluster.kubeconfig) as admin:
        yield admin


@dataclass(frozen=True, slots=True)
class Running:
    """The toy, running in this process without an election."""

    client: Client
    toy: Toy
    env: Env
    process: Process

    def writes(self) -> float:
        """Writes to objects so far, as the toy counts them."""
        verbs = [
            (cache.resource.full_name, verb)
            for cache in (self.toy.boxes, self.toy.cards)
            for verb in ("create", "patch", "delete", "status")
        ]
        values = (
            self.env.meter.value("trellis_writes_total", resource=resource, verb=verb)
            for resource, verb in verbs
        )
        return sum(value or 0.0 for value in values)


@asynccontextmanager
async def running(cluster: Cluster, namespace: str) -> AsyncIterator[Running]:
    async with a_client(cluster.kubeconfig) as client:
        toy = Toy(namespace)
        process, env = a_process(client, toy, None)
        stop = asyncio.Event()
        task = asyncio.create_task(process.run(stop))
        try:
            yield Running(client, toy, env, process)
        finally:
            stop.set()
            await task


@pytest.fixture
async def toy(cluster: Cluster, namespace: str, boxes: str) -> AsyncIterator[Running]:
    del boxes
    async with running(cluster, namespace) as found:
        yield found


async def put_box(api: Api, boxes: str, name: str, cards: int) -> Any:
    return await api.do(
        "POST",
        boxes,
        {
            "apiVersion": "toys.trellis.dev/v1",
            "kind": "Box",
            "metadata": {"name": name},
            "spec": {"cards": cards},
        },
    )


async def cards_of(api: Api, namespace: str, name: str) -> list[str]:
    found = await api.do("GET", f"/api/v1/namespaces/{namespace}/configmaps")
    names = (item["metadata"]["name"] for item in found["items"])
    return sorted(each for each in names if each.startswith(f"{name}-"))


async def until_cards(api: Api, namespace: str, name: str, count: int) -> None:
    async def enough() -> bool:
        return len(await cards_of(api, namespace, name)) == count

    await eventually(enough, f"{name} to have {count} cards")


async def until_status(api: Api, path: str, **status: Any) -> None:
    async def so() -> bool:
        stored = (await api.do("GET", path)).get("status", {})
        return {name: stored.get(name) for name in status} == status

    await eventually(so, f"the status {status} of {path}")
