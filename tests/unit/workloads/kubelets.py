# SPDX-License-Identifier: Apache-2.0
"""Nodes and their scheduler, as far as pods are concerned: what may start is bound and ready."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, suppress
from enum import Enum, auto
from typing import TYPE_CHECKING

from trellis.api.core.pod import PENDING, Pod
from trellis.instruments.metrics import Meter
from trellis.kube.errors import NotFound
from trellis.runtime.cache import Cache
from trellis.runtime.informer import Informer

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from tests.unit.workloads.stage import Stage


class Fate(Enum):
    """How far a pod comes."""

    PENDING = auto()
    BOUND = auto()
    READY = auto()


def _well(_: Pod) -> Fate:
    return Fate.READY


class Kubelets:
    """`fate` may be changed at any time; it is asked when a pod changes, or on `look`."""

    def __init__(self, stage: Stage, fate: Callable[[Pod], Fate] = _well) -> None:
        self.fate = fate
        self._stage = stage
        self._pods = Cache(Pod.resource, Pod)
        self._changed: asyncio.Queue[Pod] = asyncio.Queue()
        self._pods.subscribe(self._on_change)

    def look(self) -> None:
        """Asks anew about every pod there is."""
        for pod in self._pods:
            self._changed.put_nowait(pod)

    async def run(self) -> None:
        informer = Informer(self._pods, self._stage.client, Meter())
        async with asyncio.TaskGroup() as group:
            group.create_task(informer.run())
            while True:
                with suppress(NotFound):
                    await self._serve(await self._changed.get())

    def _on_change(self, old: Pod | None, new: Pod | None, *, fresh: bool) -> None:  # noqa: ARG002
        if new is not None:
            self._changed.put_nowait(new)

    async def _serve(self, pod: Pod) -> None:
        name, bound = pod.metadata.name, bool(pod.spec.node_name)
        if pod.metadata.deleting:
            await self._stage.delete(Pod, name, grace=0)
        elif not bound and not pod.gates and self.fate(pod) is not Fate.PENDING:
            await self._stage.bind(name)
        elif bound and pod.status.phase == PENDING and self.fate(pod) is Fate.READY:
            await self._stage.ready(name)


@asynccontextmanager
async def kubelets(stage: Stage, fate: Callable[[Pod], Fate] = _well) -> AsyncIterator[Kubelets]:
    """They are there for the length of a block."""
    made = Kubelets(stage, fate)
    running = asyncio.create_task(made.run())
    try:
        yield made
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
