# SPDX-License-Identifier: Apache-2.0
"""Nodes on which pods take their time to start and to go, and somebody who watches every change."""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING

from trellis.api.core.pod import PENDING, Pod
from trellis.api.labels import (
    PART_OF,
    POD_CLIQUE,
    SCALING_GROUP,
    SCALING_GROUP_REPLICA_INDEX,
    SET_REPLICA_INDEX,
)
from trellis.instruments.metrics import Meter
from trellis.kube.errors import Conflict, NotFound
from trellis.runtime.cache import Cache
from trellis.runtime.informer import Informer
from trellis.workloads.pods import has_no_room, is_leaving, is_ready

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from tests.unit.workloads.stage import Stage

STARTING, STOPPING = 2.0, 1.0


class Nodes:
    """`schedules` and `starts` say which pods get a node, and become Ready; `look` asks anew.

    `born` and `gone` are the names of pods in the order in which they came and went; `least` is by
    PodClique how few pods of it were Ready at any moment since `begin`. `down` are the most
    replicas of the set, and of each scaling group by its name, that lacked a pod at one moment.
    """

    def __init__(self, stage: Stage) -> None:
        self.schedules: Callable[[Pod], bool] = lambda _: True
        self.starts: Callable[[Pod], bool] = lambda _: True
        self.born: list[str] = []
        self.gone: list[str] = []
        self.least: dict[str, int] = {}
        self.down: Counter[str] = Counter()
        self._full: Counter[str] = Counter()
        self._units: dict[str, tuple[str, ...]] = {}
        self._stage = stage
        self._pods = Cache(Pod.resource, Pod)
        self._pods.subscribe(self._on_change)
        self._tasks: set[asyncio.Task[None]] = set()

    async def run(self) -> None:
        await Informer(self._pods, self._stage.client, Meter()).run()

    def begin(self) -> None:
        self.born.clear()
        self.gone.clear()
        self._full = self.ready()
        self.least = dict(self._full)
        self.down = Counter()
        self._units = {
            pod.metadata.labels[POD_CLIQUE]: tuple(_units(pod.metadata.labels))
            for pod in self._pods
        }

    def look(self) -> None:
        for pod in self._pods:
            self._serve(pod)

    def ready(self) -> Counter[str]:
        """How many pods of each PodClique are Ready, and not on their way out."""
        found = (pod for pod in self._pods if is_ready(pod) and not is_leaving(pod))
        return Counter(pod.metadata.labels[POD_CLIQUE] for pod in found)

    def _on_change(self, old: Pod | None, new: Pod | None, *, fresh: bool) -> None:  # noqa: ARG002
        if old is None and new is not None:
            self.born.append(new.metadata.name)
        if old is not None and new is None:
            self.gone.append(old.metadata.name)
        ready = self.ready()
        for clique in self.least:
            self.least[clique] = min(self.least[clique], ready[clique])
        down = (clique for clique, full in self._full.items() if ready[clique] < full)
        units = {unit for clique in down for unit in self._units[clique]}
        for kind, count in Counter(unit.rpartition("/")[0] for unit in units).items():
            self.down[kind] = max(self.down[kind], count)
        if new is not None:
            self._serve(new)

    def _serve(self, pod: Pod) -> None:
        task = asyncio.get_running_loop().create_task(self._act(pod))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _act(self, pod: Pod) -> None:
        name, bound = pod.metadata.name, bool(pod.spec.node_name)
        with suppress(NotFound, Conflict):
            if pod.metadata.deleting:
                await asyncio.sleep(STOPPING)
                await self._stage.delete(Pod, name, grace=0)
            elif not bound and not pod.gates:
                await self._place(pod)
            elif bound and pod.status.phase == PENDING and self.starts(pod):
                await asyncio.sleep(STARTING)
                await self._stage.ready(name)

    async def _place(self, pod: Pod) -> None:
        if self.schedules(pod):
            await self._stage.bind(pod.metadata.name)
        elif not has_no_room(pod):
            await self._stage.refuse(pod.metadata.name)


def _units(labels: Mapping[str, str]) -> Iterator[str]:
    """The replica of the set, and that of the scaling group, that a pod is in."""
    yield f"{labels[PART_OF]}/{labels[SET_REPLICA_INDEX]}"
    if group := labels.get(SCALING_GROUP):
        yield f"{group}/{labels[SCALING_GROUP_REPLICA_INDEX]}"
