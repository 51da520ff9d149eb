# SPDX-License-Identifier: Apache-2.0
"""Listens, and ends connections that say nothing. Loopback only, unless told otherwise."""

from __future__ import annotations

import asyncio
import ipaddress
from typing import TYPE_CHECKING

from trellis.embedded.front.connection import Connection, Handle

if TYPE_CHECKING:
    import ssl

LOOPBACK = "127.0.0.1"
IDLE_SECONDS = 180.0
# A request that does not come to its end.
READING_SECONDS = 32.0
SWEEP_SECONDS = 5.0
MOST_CONNECTIONS = 16384
BACKLOG = 1024


class NotLoopback(ValueError):
    """An address that others can reach was given, and nothing says that this is meant."""


class Server:
    """Answers what comes with `handle`. Start it once; `port` is where it listens then."""

    def __init__(self, handle: Handle, *, tls: ssl.SSLContext | None = None) -> None:
        self._handle = handle
        self._tls = tls
        self._connections: set[Connection] = set()
        self._server: asyncio.Server | None = None
        self._sweeper: asyncio.Task[None] | None = None
        self.port = 0

    async def start(self, host: str = LOOPBACK, port: int = 0, *, exposed: bool = False) -> None:
        if not exposed and not _is_loopback(host):
            raise NotLoopback(
                f"{host} can be reached from other machines, and this server is not made for "
                "that; say so explicitly if you mean it, or take 127.0.0.1"
            )
        if self._tls is not None:
            self._tls.set_alpn_protocols(["http/1.1"])
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(
            self._connected, host, port, ssl=self._tls, backlog=BACKLOG
        )
        self.port = self._server.sockets[0].getsockname()[1]
        self._sweeper = loop.create_task(self._sweep())

    async def stop(self, seconds: float = 2.0) -> None:
        """Takes nothing new, ends streams, waits a while for the rest, and cuts what is left."""
        if self._server is None:
            return
        self._server.close()
        if self._sweeper is not None:
            self._sweeper.cancel()
        for connection in list(self._connections):
            connection.stop()
        loop = asyncio.get_running_loop()
        deadline = loop.time() + seconds
        while self._connections and loop.time() < deadline:
            await asyncio.sleep(0.01)
        for connection in list(self._connections):
            connection.abort()
        await asyncio.sleep(0)
        self._server = None

    def _connected(self) -> asyncio.BaseProtocol:
        if len(self._connections) >= MOST_CONNECTIONS:
            return _Surplus()
        return Connection(self._handle, self._connections)

    async def _sweep(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(SWEEP_SECONDS)
            now = loop.time()
            for connection in list(self._connections):
                if connection.stalled(now, IDLE_SECONDS, READING_SECONDS):
                    connection.abort()


class _Surplus(asyncio.Protocol):
    """One connection too many: it is closed at once."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        transport.close()


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
