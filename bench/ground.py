# SPDX-License-Identifier: Apache-2.0
"""The lab with an audit log, simulated nodes, and the operator beside it."""

from __future__ import annotations

import asyncio
import os
import random
import sys
import tempfile
import time
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from trellis.api.config.types import OperatorConfiguration
from trellis.api.core.node import Node
from trellis.api.meta import Resource
from trellis.app.local.operating import Beside, draw_ports, operating
from trellis.instruments.clock import SystemClock
from trellis.kube.access import Surroundings
from trellis.kube.connect import connected, find_access
from trellis.lab.build import built
from trellis.lab.cluster import Place, running
from trellis.lab.components import Settings
from trellis.lab.source import source
from trellis.runtime.notes import SECONDS_EACH

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator
    from contextlib import AbstractAsyncContextManager

    from trellis.app.local.operating import Companion
    from trellis.kube.client import Client
    from trellis.lab.cluster import Lab

NODES = 120
PATIENCE_SECONDS = 900.0
# Until all that is told of what has happened is told: how often an event was seen comes last, and
# that is looked at as often as it may be told.
SETTLING_SECONDS = 2 * SECONDS_EACH + 2.0
NAMESPACES = Resource("", "v1", "Namespace", "namespaces", namespaced=False)


@dataclass(frozen=True, slots=True)
class Ground:
    lab: Lab
    client: Client

    def operator(self) -> AbstractAsyncContextManager[Companion]:
        """Another one each time; not ready yet."""
        lab = self.lab
        beside = Beside(
            client=self.client, server=lab.server, authority=lab.authority, folder=lab.folder
        )
        return operating(beside, OperatorConfiguration(), draw_ports(self.client))


@asynccontextmanager
async def grounded(title: str) -> AsyncIterator[Ground]:
    """A lab whose nodes are ready, for the length of a block."""
    binary = built(source())
    settings = Settings(kubernetes=binary.kubernetes, audit=True)
    print(f"{title}, Kubernetes {binary.kubernetes}, {NODES} simulated nodes")
    async with running(binary, settings, Place()) as lab, _client(lab) as client, _nodes(lab):
        yield Ground(lab, client)


@asynccontextmanager
async def _client(lab: Lab) -> AsyncIterator[Client]:
    clock = SystemClock()
    access = find_access(Surroundings(clock=clock, environ=os.environ), file=lab.kubeconfig)
    dice = random.Random()  # noqa: S311  jitter, no secrets
    async with connected(access, clock, dice) as client:
        yield client


@asynccontextmanager
async def _nodes(lab: Lab) -> AsyncIterator[None]:
    """In a process of their own, as `trellis sim nodes` runs them."""
    command = ("sim", "nodes", "--fleet", "dgx-1k", "--nodes", str(NODES))
    with tempfile.TemporaryFile() as output:
        process = await asyncio.create_subprocess_exec(
            Path(sys.executable).with_name("trellis"),
            *command,
            "--kubeconfig",
            lab.kubeconfig,
            stdout=output,
            stderr=output,
        )
        try:
            async with _client(lab) as client:
                await _until_nodes(client)
            yield
        finally:
            process.kill()
            await process.wait()


async def _until_nodes(client: Client) -> None:
    for _ in _ticks():
        found = (await client.of(Node.resource, Node).list()).objects
        if len(found) == NODES and all(one.is_ready for one in found):
            return
        await asyncio.sleep(0.1)
    sys.exit("bench: the nodes are not ready")


async def new_namespace(client: Client, name: str) -> None:
    await client.of(NAMESPACES, bytes).create({"metadata": {"name": name}})


async def until(done: Callable[[], bool], what: str) -> None:
    for _ in _ticks():
        if done():
            return
        await asyncio.sleep(0.01)
    sys.exit(f"bench: waited in vain for {what}")


def _ticks() -> Iterator[float]:
    began = time.monotonic()
    while (passed := time.monotonic() - began) < PATIENCE_SECONDS:
        yield passed


def cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def peak_megabytes(pid: int) -> int:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    peak = next(line for line in lines if line.startswith("VmHWM"))
    return int(peak.split()[1]) >> 10
