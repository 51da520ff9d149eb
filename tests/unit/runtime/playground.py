# SPDX-License-Identifier: Apache-2.0
"""A cluster of balls in memory, a cache that follows it, and the means to write to it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from tests.support.memory_api import MemoryApi
from tests.support.virtual import VirtualClock, dice
from tests.unit.runtime.builders import BALLS, Ball
from trellis.instruments.metrics import Meter
from trellis.kube.client import Client
from trellis.runtime.barrier import Barrier
from trellis.runtime.cache import Cache
from trellis.runtime.informer import Informer
from trellis.runtime.writes import Writes


@dataclass
class Playground:
    """`allowed`: whether anything may be written."""

    api: MemoryApi = field(default_factory=MemoryApi)
    meter: Meter = field(default_factory=Meter)
    allowed: bool = True

    async def prepare(self) -> None:
        client = Client(self.api, VirtualClock(), dice(1))
        self.cache: Cache[Ball] = Cache(BALLS, Ball)
        self.barrier = Barrier()
        self.writes = Writes(client, self.barrier, self.meter, lambda: self.allowed)
        informer = Informer(self.cache, client, self.meter)
        self.feeding = asyncio.get_running_loop().create_task(informer.run())
        await self.cache.until_synced()
