# SPDX-License-Identifier: Apache-2.0
"""An embedded cluster with its operator and an example, from the first moment to the last.

Who looks on is told what is waited for and what has happened; nothing is printed here.
"""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from trellis.app.local.example import Example, NotRunning
from trellis.app.local.operating import Beside, Companion, draw_ports, operating
from trellis.embedded.place import About
from trellis.embedded.running import Plan, Running, running
from trellis.kube import kubeconfig_writing
from trellis.runtime.racing import first

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from trellis.api.config.types import OperatorConfiguration

EXAMPLE_SECONDS = 30.0


class Onlooker(Protocol):
    def waits(self, what: str) -> None:
        """Something is waited for; it may be told again with how far it has come."""

    def happened(self, what: str) -> None:
        """Something is done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What is to stand, and where its files go. Without a configuration there is no operator."""

    plan: Plan
    name: str
    kubeconfig: Path
    folder: Path
    configuration: OperatorConfiguration | None = None
    example: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """A cluster that is ready. `example` is None where there is none, or it was there before."""

    cluster: Running
    operator: Companion | None
    example: Example | None
    order: Order
    seen: asyncio.Task[None] | None = None
    """Ends when the example runs."""

    @property
    def about(self) -> About:
        data = self.order.plan.data
        return About(
            server=self.cluster.server,
            kubeconfig=str(self.order.kubeconfig),
            nodes=self.cluster.nodes,
            gpus=self.cluster.gpus,
            operator=self.operator is not None,
            example=self.example.name if self.example else "",
            data=str(data) if data else "",
        )

    async def failure(self) -> Exception:
        """Waits until a part ends without being told to, and returns why."""
        if self.operator is None:
            return await self.cluster.failure()
        return await first(self.cluster.failure(), self.operator.failure())

    async def operator_is_ready(self, onlooker: Onlooker) -> None:
        """Raises NotReady, with what it says is missing, if that takes too long."""
        if self.operator is None:
            return
        onlooker.waits("the operator")
        await self.cluster.parts.unless_broken(self.operator.ready())
        onlooker.happened("the operator is ready")
        if self.example is not None:
            await self.example.start(self.cluster.client())

    async def example_runs(self, onlooker: Onlooker) -> None:
        """Raises NotRunning, with what the cluster says, if that takes too long."""
        if self.example is None or self.seen is None:
            return
        onlooker.waits(f"the example, {self.example.described}")
        waiting = asyncio.wait({self.seen}, timeout=EXAMPLE_SECONDS)
        done, _ = await self.cluster.parts.unless_broken(waiting)
        if not done:
            why = await self.example.what_holds_it_up(self.cluster.client())
            late = f"does not run after {EXAMPLE_SECONDS:.0f} s"
            raise NotRunning(f"{self.example.described}: {late}: {why}")
        self.seen.result()


@asynccontextmanager
async def standing(order: Order, onlooker: Onlooker) -> AsyncIterator[Standing]:
    """For the length of a block. It begins when the nodes are ready; the operator soon is."""
    plan = replace(
        order.plan, progress=lambda what, done, total: onlooker.waits(f"{what}: {done} of {total}")
    )
    onlooker.waits("the API")
    async with AsyncExitStack() as stack:
        cluster = await stack.enter_async_context(running(plan))
        if cluster.note:
            onlooker.happened(f"note: {cluster.note}")
        onlooker.happened(f"the API answers at {cluster.server}")
        text = cluster.kubeconfig(name=order.name)
        kubeconfig_writing.write(order.kubeconfig, text)
        stack.callback(kubeconfig_writing.remove, order.kubeconfig, text)
        example = await _begun(order, cluster)
        seen = _watched(example, cluster, onlooker, stack) if example else None
        # First what a person looks at first: while definitions are installed, nothing else is done.
        await _nodes(cluster, onlooker)
        operator = await _operator(order, cluster, onlooker, stack)
        yield Standing(cluster=cluster, operator=operator, example=example, order=order, seen=seen)


async def _begun(order: Order, cluster: Running) -> Example | None:
    """In a cluster of before, what users made of the example is theirs."""
    if not (order.example and cluster.fresh):
        return None
    if order.configuration is not None:
        # Nobody knows its kind yet; it is started when the operator is ready.
        return Example.podcliqueset()
    example = Example.job()
    await example.start(cluster.client())
    return example


def _watched(
    example: Example, cluster: Running, onlooker: Onlooker, stack: AsyncExitStack
) -> asyncio.Task[None]:
    """From the beginning, so that what happens is told when it does."""
    watching = example.until_running(cluster.client(), onlooker.happened)
    task = asyncio.create_task(watching, name="the example")
    stack.callback(task.cancel)
    return task


async def _operator(
    order: Order, cluster: Running, onlooker: Onlooker, stack: AsyncExitStack
) -> Companion | None:
    if order.configuration is None:
        return None
    onlooker.waits("the definitions and rights of the operator")
    client = cluster.client()
    beside = Beside(
        client=client,
        server=cluster.server,
        authority=cluster.authority,
        folder=order.folder,
        route=cluster.core.callers.serve,
    )
    work = operating(beside, order.configuration, draw_ports(client))
    return await stack.enter_async_context(work)


async def _nodes(cluster: Running, onlooker: Onlooker) -> None:
    if not cluster.nodes:
        return
    onlooker.waits(f"{cluster.nodes} nodes to be ready")
    await cluster.ready()
    onlooker.happened(f"{cluster.nodes} nodes with {cluster.gpus} GPUs are ready")
