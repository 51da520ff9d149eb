# SPDX-License-Identifier: Apache-2.0
"""A way to a server that can be shut, or lead to garbage, while somebody uses it."""

from __future__ import annotations

import asyncio
import contextlib
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


class Relay:
    """`connections` counts those that were made to it."""

    def __init__(self, target: str) -> None:
        self._target = urlsplit(target)
        self._server: asyncio.Server | None = None
        self._pipes: set[asyncio.Task[None]] = set()
        self._port = 0
        self.garbage = False
        self.connections = 0

    @property
    def url(self) -> str:
        return f"{self._target.scheme}://127.0.0.1:{self._port}"

    async def open(self) -> None:
        """Under the same address each time."""
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", self._port)
        self._port = self._server.sockets[0].getsockname()[1]

    async def shut(self) -> None:
        """Nobody listens any more, and whoever was connected is cut off."""
        if self._server:
            self._server.close()
        await self.cut()

    async def cut(self) -> None:
        for pipe in self._pipes:
            pipe.cancel()
        await asyncio.gather(*self._pipes, return_exceptions=True)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        pipe = asyncio.create_task(self._serve(reader, writer))
        self._pipes.add(pipe)
        pipe.add_done_callback(self._pipes.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            if self.garbage:
                await reader.read(1)
                writer.write(b"garbage\r\n\r\n")
                return
            back, forth = await asyncio.open_connection(self._target.hostname, self._target.port)
            try:
                await asyncio.gather(_copy(reader, forth), _copy(back, writer))
            finally:
                forth.transport.abort()
        finally:
            with contextlib.suppress(ConnectionError):
                await writer.drain()
            writer.close()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(ConnectionError):
        while content := await reader.read(1 << 16):
            writer.write(content)
            await writer.drain()
        writer.write_eof()


@asynccontextmanager
async def relay(target: str) -> AsyncIterator[Relay]:
    """To the server with that address, for the length of a block."""
    made = Relay(target)
    await made.open()
    try:
        yield made
    finally:
        await made.shut()
