# SPDX-License-Identifier: Apache-2.0
"""An API server on loopback that knows PodCliques alone, and has bad days on demand."""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from random import Random
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

from tests.support.loopback import CHUNKED, chunk, closed, http, loopback, server_tls
from trellis.webhooks.certificates import Authority

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable
    from pathlib import Path

    from tests.support.loopback import Heard, Loopback

    Turn = Callable[["Heard", asyncio.StreamWriter], Awaitable[None]]


class Recorded(Random):
    """Never makes anybody wait, and keeps the longest that it could have been."""

    def __init__(self) -> None:
        super().__init__(1)
        self.pauses: list[float] = []

    def uniform(self, a: float, b: float) -> float:
        self.pauses.append(b)
        return min(a, 0.01)


@dataclass
class Place:
    """Where a waiter finds what a kubelet gives it."""

    folder: Path
    server: Loopback
    authority: Authority
    asked: list[dict[str, str]] = field(default_factory=list)

    @property
    def environ(self) -> dict[str, str]:
        url = urlsplit(self.server.url)
        return {
            "KUBERNETES_SERVICE_HOST": url.hostname or "",
            "KUBERNETES_SERVICE_PORT": str(url.port),
            "TRELLIS_SERVICE_ACCOUNT": str(self.folder),
        }

    def token(self, content: str) -> None:
        (self.folder / "token").write_text(content)


def a_clique(ready: int, version: int, replicas: int = 2) -> dict[str, Any]:
    return {
        "metadata": {"name": "a", "resourceVersion": str(version)},
        "spec": {"replicas": replicas},
        "status": {"readyReplicas": ready},
    }


def listing(*cliques: dict[str, Any], version: int = 1) -> Turn:
    """Answers with this list."""
    body = {"metadata": {"resourceVersion": str(version)}, "items": list(cliques)}

    async def turn(_: Heard, writer: asyncio.StreamWriter) -> None:
        writer.write(http(200, body))

    return turn


def refusing(status: int, message: str = "no", **headers: str) -> Turn:
    async def turn(_: Heard, writer: asyncio.StreamWriter) -> None:
        writer.write(http(status, {"message": message}, **headers))

    return turn


def telling(*events: tuple[str, dict[str, Any]], then: str = "hold") -> Turn:
    """A watch: these events; after them it is held open, ended in order, or broken."""

    async def turn(_: Heard, writer: asyncio.StreamWriter) -> None:
        writer.write(CHUNKED)
        for kind, subject in events:
            line = json.dumps({"type": kind, "object": subject}).encode() + b"\n"
            # Cut in two, as a network may do.
            writer.write(chunk(line[:9]) + chunk(line[9:]))
        await writer.drain()
        if then == "hold":
            await asyncio.Event().wait()
        elif then == "end":
            writer.write(chunk(b""))
        else:
            await closed(writer)

    return turn


async def dropping(_: Heard, writer: asyncio.StreamWriter) -> None:
    """Hangs up without a word."""
    await closed(writer)


@asynccontextmanager
async def an_api(folder: Path, *turns: Turn) -> AsyncIterator[Place]:
    """Each request has its turn, whoever asks; the last turn is for all that follow."""
    authority = Authority.create("api", datetime.now(UTC))
    left = list(turns)
    asked: list[dict[str, str]] = []

    async def reply(heard: Heard, writer: asyncio.StreamWriter) -> None:
        query = {name: values[0] for name, values in parse_qs(urlsplit(heard.target).query).items()}
        asked.append(query | {"authorization": heard.headers["authorization"]})
        await (left.pop(0) if len(left) > 1 else left[0])(heard, writer)
        await writer.drain()
        writer.close()

    for name, content in (("token", "first"), ("namespace", "team")):
        (folder / name).write_text(content)
    (folder / "ca.crt").write_bytes(authority.pair.certificate)
    async with loopback(reply, tls=server_tls(authority, "127.0.0.1")) as server:
        yield Place(folder, server, authority, asked)
