# SPDX-License-Identifier: Apache-2.0
"""`trellis operator` as a process of its own, as a user starts it."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import aiohttp
import yaml

from tests.support.waiting import eventually

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

TRELLIS = Path(sys.executable).with_name("trellis")


@dataclass(frozen=True, slots=True)
class Ports:
    webhooks: int
    health: int
    metrics: int

    @property
    def servers(self) -> dict[str, Any]:
        """The section `server` of a configuration, on loopback alone."""
        named = {"webhooks": self.webhooks, "healthProbes": self.health, "metrics": self.metrics}
        return {name: {"bindAddress": "127.0.0.1", "port": port} for name, port in named.items()}


def free_ports() -> Ports:
    held = [socket.socket() for _ in range(3)]
    for one in held:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in held]
    for one in held:
        one.close()
    return Ports(*ports)


def a_configuration(folder: Path, ports: Ports, **sections: Any) -> Path:
    file = folder / "config.yaml"
    content = {
        "apiVersion": "operator.config.grove.io/v1alpha1",
        "kind": "OperatorConfiguration",
        "server": ports.servers,
        **sections,
    }
    file.write_text(yaml.safe_dump(content))
    return file


def a_kubeconfig(folder: Path, server: str, **cluster: Any) -> Path:
    """Of a user with a token."""
    file = folder / "kubeconfig"
    content = {
        "current-context": "it",
        "clusters": [{"name": "it", "cluster": {"server": server, **cluster}}],
        "users": [{"name": "me", "user": {"token": "a-token-of-ours"}}],
        "contexts": [{"name": "it", "context": {"cluster": "it", "user": "me"}}],
    }
    file.write_text(yaml.safe_dump(content))
    return file


@dataclass(frozen=True, slots=True)
class Ended:
    """`cpu` is in seconds, the start of Python among them."""

    code: int
    lines: list[str]
    cpu: float


class Operator:
    """A process that has been started."""

    def __init__(self, folder: Path, *arguments: str | Path) -> None:
        self._output = folder / "output"
        with self._output.open("w") as output:
            self._process = subprocess.Popen(
                [TRELLIS, "operator", *arguments], stdout=output, stderr=output
            )

    @property
    def output(self) -> list[str]:
        return self._output.read_text().splitlines()

    @property
    def running(self) -> bool:
        return self._process.poll() is None

    def cpu(self) -> float:
        """Seconds that it has computed so far."""
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def open_files(self) -> int:
        return len(list(Path(f"/proc/{self._process.pid}/fd").iterdir()))

    def send(self, signal: int) -> None:
        self._process.send_signal(signal)

    async def ended(self) -> Ended:
        """Waits for its end."""
        _, status, usage = await asyncio.to_thread(os.wait4, self._process.pid, 0)
        self._process.returncode = os.waitstatus_to_exitcode(status)
        cpu = usage.ru_utime + usage.ru_stime
        return Ended(self._process.returncode, self.output, cpu)

    async def why_not_ready(self, ports: Ports) -> str:
        try:
            async with (
                aiohttp.ClientSession() as session,
                session.get(f"http://127.0.0.1:{ports.health}/readyz") as answer,
            ):
                return "" if answer.status == 200 else await answer.text()
        except aiohttp.ClientConnectionError:
            assert self.running, self.output
            return "does not listen yet"

    async def until_ready(self, ports: Ports) -> None:
        async def ready() -> bool:
            return not await self.why_not_ready(ports)

        await eventually(ready, "the operator to be ready", patience=60)

    def kill(self) -> None:
        """If it still runs."""
        if self._process.returncode is None:
            self._process.kill()
            self._process.wait()


@asynccontextmanager
async def operator(folder: Path, *arguments: str | Path) -> AsyncIterator[Operator]:
    """For the length of a block."""
    started = Operator(folder, *arguments)
    try:
        yield started
    finally:
        started.kill()
