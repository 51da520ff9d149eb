# SPDX-License-Identifier: Apache-2.0
"""The operator as a child process beside a cluster of this machine: with the account that we ship,
and with its rights alone."""

from __future__ import annotations

import asyncio
import sys
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import msgspec

from trellis.api.config.types import Topology
from trellis.api.grove.clustertopology import TopologyLevel
from trellis.api.labels import HOSTNAME
from trellis.api.meta import Resource
from trellis.app.local.installing import called_at, install, shipped
from trellis.app.manifests.configuration import file_of
from trellis.app.manifests.installation import Installation
from trellis.instruments.ports import free_ports
from trellis.kube import kubeconfig_writing
from trellis.lab.process import Component
from trellis.runtime.racing import first, raised

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from trellis.api.config.types import OperatorConfiguration, Server
    from trellis.kube.client import Client
    from trellis.lab.errors import ComponentFailed

INSTALLATION = Installation()
LOOPBACK = "127.0.0.1"
# How the racks of a fleet are labelled, and those of most other clusters.
LEVELS = tuple(
    TopologyLevel(domain=domain, key=key)
    for domain, key in (
        ("zone", "topology.kubernetes.io/zone"),
        ("block", "topology.kubernetes.io/block"),
        ("rack", "topology.kubernetes.io/rack"),
        ("host", HOSTNAME),
    )
)
READY_SECONDS = 60.0
# Enough to let go of its lease. It would linger for reviews, which nobody sends any more.
STOP_SECONDS = 1.0
_POLL_SECONDS = 0.05
_YEAR_SECONDS = 365 * 24 * 3600
_ACCOUNTS = Resource("", "v1", "ServiceAccount", "serviceaccounts")


class NotReady(Exception):
    """The operator runs, and is not ready after all this time."""


@dataclass(frozen=True, slots=True)
class Ports:
    webhooks: int
    health: int
    metrics: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """The cluster that it works on, and how that one reaches the operator.

    `route` tells the cluster where a service is answered (namespace, name, host, port); without
    it, webhooks are called by address.
    """

    client: Client
    server: str
    authority: bytes
    folder: Path
    route: Callable[[str, str, str, int], None] | None = None


class _Grant(msgspec.Struct):
    token: str


class _TokenRequest(msgspec.Struct):
    resource: ClassVar = _ACCOUNTS

    status: _Grant


class Companion:
    """An operator that was started."""

    def __init__(self, component: Component, ports: Ports) -> None:
        self._component = component
        self._ports = ports

    @property
    def pid(self) -> int:
        return self._component.pid

    async def ready(self) -> None:
        """Raises NotReady, with what it says is missing, or why it ended."""
        try:
            async with asyncio.timeout(READY_SECONDS):
                await first(self._until_ready(), raised(self.failure()))
        except TimeoutError:
            why = await self._why_not()
            late = f"the operator is not ready after {READY_SECONDS:.0f} s"
            raise NotReady(f"{late}: {why}; its log is {self._component.log}") from None

    async def failure(self) -> ComponentFailed:
        """Waits until it ends without being told to, and returns how, with the end of its log."""
        return await self._component.failure()

    async def stop(self) -> None:
        await self._component.stop(STOP_SECONDS)

    async def _until_ready(self) -> None:
        while await self._why_not():
            await asyncio.sleep(_POLL_SECONDS)

    async def _why_not(self) -> str:
        """What it says at /readyz; empty once it is ready."""
        try:
            reader, writer = await asyncio.open_connection(LOOPBACK, self._ports.health)
        except OSError:
            return "the operator does not listen yet"
        try:
            writer.write(b"GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            head, _, body = (await reader.read()).decode(errors="replace").partition("\r\n\r\n")
        except OSError:
            return "the operator does not answer yet"
        finally:
            writer.close()
        return "" if head.split(" ")[1:2] == ["200"] else body.strip() or head[:80]


@asynccontextmanager
async def operating(
    beside: Beside, configuration: OperatorConfiguration, ports: Ports
) -> AsyncIterator[Companion]:
    """Installs what we ship and runs the operator for the length of a block."""
    await _install(beside, configuration, ports)
    config, kubeconfig = beside.folder / "operator.yaml", beside.folder / "operator.kubeconfig"
    config.write_text(file_of(at_loopback(configuration, ports)))
    token = await _token(beside.client)
    kubeconfig_writing.write(
        kubeconfig,
        kubeconfig_writing.with_token(
            "operator", beside.server, beside.authority, token, INSTALLATION.namespace
        ),
    )
    arguments = ("operator", "--config", config, "--kubeconfig", kubeconfig)
    command = (sys.executable, "-m", "trellis.cli", *arguments)
    log = beside.folder / "operator.log"
    companion = Companion(await Component.start("the operator", command, log), ports)
    try:
        yield companion
    finally:
        await companion.stop()


def default_configuration(configuration: OperatorConfiguration) -> OperatorConfiguration:
    """What is worth trying on one machine, where nobody has configured anything."""
    topology = Topology(enabled=True, levels=LEVELS)
    return msgspec.structs.replace(configuration, cluster_topology=topology)


def at_loopback(configuration: OperatorConfiguration, ports: Ports) -> OperatorConfiguration:
    """The same, listening where nobody else does, and nobody else can reach it."""
    servers = configuration.server
    return msgspec.structs.replace(
        configuration,
        server=msgspec.structs.replace(
            servers,
            webhooks=_at(servers.webhooks, ports.webhooks),
            health_probes=_at(servers.health_probes, ports.health),
            metrics=_at(servers.metrics, ports.metrics),
        ),
    )


def _at(server: Server, port: int) -> Server:
    return msgspec.structs.replace(server, bind_address=LOOPBACK, port=port)


async def _install(beside: Beside, configuration: OperatorConfiguration, ports: Ports) -> None:
    manifests = shipped(INSTALLATION, configuration)
    if beside.route is None:
        manifests = [called_at(manifest, ports.webhooks) for manifest in manifests]
    else:
        beside.route(INSTALLATION.namespace, INSTALLATION.name, LOOPBACK, ports.webhooks)
    await install(beside.client, manifests)


async def _token(client: Client) -> str:
    """For the account that we ship, as `kubectl create token` asks for it."""
    accounts = client.of(_ACCOUNTS, _TokenRequest, INSTALLATION.namespace)
    body = {
        "apiVersion": "authentication.k8s.io/v1",
        "kind": "TokenRequest",
        "spec": {"expirationSeconds": _YEAR_SECONDS},
    }
    return (await accounts.create_in(INSTALLATION.name, "token", body)).status.token


def draw_ports(client: Client) -> Ports:
    return Ports(*free_ports(3, client.rng))
