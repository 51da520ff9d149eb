# SPDX-License-Identifier: Apache-2.0
"""One GET over HTTP/1.1 on a connection of its own: its status, and its body as it arrives.

Only what API servers do is understood. Nothing is waited for without a limit, and nothing is kept
beyond one.
"""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any, TypeVar

from trellis.waiter.events import Unreadable

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Coroutine, Mapping

    from trellis.waiter.access import Access

T = TypeVar("T")

CONNECT_SECONDS = 10.0
# Watches tell at least once a minute how far they have come.
SILENCE_SECONDS = 90.0
CLOSE_SECONDS = 1.0
HEAD_BYTES = 64 << 10
BODY_BYTES = 8 << 20


class Answer:
    """`headers` by names in lower case."""

    def __init__(
        self, status: int, headers: Mapping[str, str], reader: asyncio.StreamReader
    ) -> None:
        self.status = status
        self.headers = headers
        self._reader = reader
        self._over = False

    async def content(self) -> bytes:
        """All of a body that is not large."""
        found = b""
        while piece := await self._piece():
            found += piece
            _limited(len(found))
        return found

    async def lines(self) -> AsyncGenerator[bytes, None]:
        """Each line as soon as it is whole."""
        rest = b""
        while piece := await self._piece():
            *whole, rest = (rest + piece).split(b"\n")
            _limited(len(rest))
            for line in whole:
                if line.strip():
                    yield line

    async def _piece(self) -> bytes:
        """What has arrived of the body; nothing at its end."""
        if self._over:
            return b""
        if self.headers.get("transfer-encoding", "").lower() == "chunked":
            return await self._chunk()
        if length := self.headers.get("content-length", ""):
            self._over = True
            return await _in_time(self._reader.readexactly(_limited(_number(length, 10))))
        return await _in_time(self._reader.read(HEAD_BYTES))

    async def _chunk(self) -> bytes:
        head = await _in_time(self._reader.readuntil(b"\r\n"))
        size = _limited(_number(head.partition(b";")[0].strip().decode("latin-1"), 16))
        self._over = not size
        piece = await _in_time(self._reader.readexactly(size + 2))
        return piece[:size]


@asynccontextmanager
async def asked(access: Access, target: str) -> AsyncIterator[Answer]:
    """For the length of a block. Raises OSError, EOFError, ValueError or Unreadable when lost."""
    token = await access.token()
    async with asyncio.timeout(CONNECT_SECONDS):
        reader, writer = await asyncio.open_connection(
            access.address.host, access.address.port, ssl=await access.trust(), limit=HEAD_BYTES
        )
    try:
        writer.write(_request(access.address.text, target, token))
        await _in_time(writer.drain())
        yield await answer(reader)
    finally:
        await _closed(writer)


async def answer(reader: asyncio.StreamReader) -> Answer:
    """The head of what was answered; its body is still to be read."""
    head = await _in_time(reader.readuntil(b"\r\n\r\n"))
    first, *lines = head.decode("latin-1").rstrip("\r\n").split("\r\n")
    version, _, rest = first.partition(" ")
    if not version.startswith("HTTP/1."):
        raise Unreadable("not HTTP")
    pairs = (line.partition(":") for line in lines)
    headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
    return Answer(_number(rest[:3], 10), headers, reader)


def _request(host: str, target: str, token: str) -> bytes:
    lines = (
        f"GET {target} HTTP/1.1",
        f"Host: {host}",
        f"Authorization: Bearer {token}",
        "Accept: application/json",
        "User-Agent: trellis-wait",
        "Connection: close",
    )
    if any("\n" in line or "\r" in line for line in lines):
        raise ValueError("the token is more than one line")
    return "\r\n".join((*lines, "", "")).encode("ascii")


async def _in_time(work: Coroutine[Any, Any, T]) -> T:
    async with asyncio.timeout(SILENCE_SECONDS):
        return await work


async def _closed(writer: asyncio.StreamWriter) -> None:
    writer.close()
    with suppress(OSError, TimeoutError):
        async with asyncio.timeout(CLOSE_SECONDS):
            await writer.wait_closed()


def _number(text: str, base: int) -> int:
    if not text.isascii() or not text.isalnum():
        raise Unreadable("no number where one belongs")
    try:
        return int(text, base)
    except ValueError:
        raise Unreadable("no number where one belongs") from None


def _limited(size: int) -> int:
    if size > BODY_BYTES:
        raise Unreadable(f"an answer of more than {BODY_BYTES} bytes")
    return size
