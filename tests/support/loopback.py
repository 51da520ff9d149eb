# SPDX-License-Identifier: Apache-2.0
"""Servers on loopback that do to a client what real ones do only on bad days."""

from __future__ import annotations

import asyncio
import contextlib
import json
import ssl
import tempfile
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from random import Random
from typing import TYPE_CHECKING, Any

from trellis.instruments.clock import SystemClock
from trellis.kube.access import Access
from trellis.kube.client import Client
from trellis.kube.credentials import Identity, Stored
from trellis.kube.network import Network
from trellis.kube.tls import Trust
from trellis.webhooks.certificates import Subject

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from trellis.webhooks.certificates import Authority

    Reply = Callable[["Heard", asyncio.StreamWriter], Awaitable[None]]

CHUNKED = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"


@dataclass(frozen=True, slots=True)
class Heard:
    """One request as it arrived."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Loopback:
    url: str
    heard: list[Heard] = field(default_factory=list)
    connections: int = 0
    open: int = 0


def http(status: int, body: Any = b"", **headers: str) -> bytes:
    """A complete answer; what is not bytes goes as JSON."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    given = {"content-length": str(len(content)), "content-type": "application/json", **headers}
    lines = [f"HTTP/1.1 {status} Whatever", *(f"{name}: {value}" for name, value in given.items())]
    return "\r\n".join([*lines, "", ""]).encode() + content


def chunk(content: bytes) -> bytes:
    return f"{len(content):x}\r\n".encode() + content + b"\r\n"


@asynccontextmanager
async def loopback(reply: Reply, tls: ssl.SSLContext | None = None) -> AsyncIterator[Loopback]:
    """For the length of a block. The reply closes the writer if the connection is to end."""
    seen = Loopback("")
    talking: list[asyncio.Task[None]] = []

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        seen.connections += 1
        seen.open += 1
        try:
            while not writer.is_closing() and (heard := await _hear(reader)):
                seen.heard.append(heard)
                await reply(heard, writer)
                await writer.drain()
        except ConnectionError:
            pass
        finally:
            seen.open -= 1
            writer.close()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        talking.append(asyncio.create_task(talk(reader, writer)))

    server = await asyncio.start_server(accept, "127.0.0.1", 0, ssl=tls)
    port = server.sockets[0].getsockname()[1]
    seen.url = f"{'https' if tls else 'http'}://127.0.0.1:{port}"
    try:
        yield seen
    finally:
        server.close()
        for task in talking:
            task.cancel()
        await asyncio.gather(*talking, return_exceptions=True)


async def _hear(reader: asyncio.StreamReader) -> Heard | None:
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
    except asyncio.IncompleteReadError:
        return None
    first, *lines = head.strip().split("\r\n")
    method, target, _ = first.split(" ")
    headers = {name.lower(): value.strip() for name, _, value in (x.partition(":") for x in lines)}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Heard(method, target, headers, body)


def server_tls(
    authority: Authority, *hosts: str, clients: Authority | None = None
) -> ssl.SSLContext:
    """For a server under these names, with clients of that authority alone if it is given."""
    made = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    pair = authority.issue(Subject(name="server", hosts=hosts), datetime.now(UTC))
    with tempfile.NamedTemporaryFile() as file:
        file.write(pair.certificate + pair.key)
        file.flush()
        made.load_cert_chain(file.name)
    if clients:
        made.verify_mode = ssl.CERT_REQUIRED
        made.load_verify_locations(cadata=clients.pair.certificate.decode())
    return made


def an_access(server: str, **given: Any) -> Access:
    nobody = Stored(Identity, SystemClock())
    return Access(
        **{"server": server, "trust": Trust(where="test"), "credentials": nobody, **given}
    )


@asynccontextmanager
async def networked(access: Access, **given: Any) -> AsyncIterator[Client]:
    network = Network(access, **given)
    try:
        yield Client(network, SystemClock(), Random(0))  # noqa: S311
    finally:
        await network.close()


async def closed(writer: asyncio.StreamWriter) -> None:
    """The connection is gone for good, whatever was to be sent."""
    writer.transport.abort()
    with contextlib.suppress(ConnectionError):
        await writer.wait_closed()
