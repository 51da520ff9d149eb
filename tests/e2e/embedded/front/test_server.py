# SPDX-License-Identifier: Apache-2.0
"""The HTTP server on a loopback socket."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from io import BytesIO
from typing import TYPE_CHECKING

import aiohttp
import pytest

from trellis.embedded.exchange import Answer, Ask
from trellis.embedded.front import NotLoopback, Server
from trellis.embedded.front.reading import BODY_LIMIT, DRAIN_LIMIT
from trellis.lab.pki import Keys

if TYPE_CHECKING:
    from pathlib import Path

JSON = (("Content-Type", "application/json"),)
Handle = Callable[[Ask], Awaitable[Answer]]


async def echo(ask: Ask) -> Answer:
    return Answer(200, ask.body or ask.path.encode(), JSON)


class Ticks:
    """A feed that a test fills; it counts what was taken from it."""

    def __init__(self) -> None:
        self.queue: asyncio.Queue[bytes | None] = asyncio.Queue()
        self.taken = 0
        self.closed = asyncio.Event()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while (data := await self.queue.get()) is not None:
            self.taken += 1
            yield data

    def close(self) -> None:
        self.closed.set()
        self.queue.put_nowait(None)


@asynccontextmanager
async def serving(handle: Handle, tls: ssl.SSLContext | None = None) -> AsyncIterator[Server]:
    server = Server(handle, tls=tls)
    await server.start()
    try:
        yield server
    finally:
        await server.stop(0.5)


@asynccontextmanager
async def wire(server: Server) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    try:
        yield reader, writer
    finally:
        writer.close()


async def one_answer(reader: asyncio.StreamReader) -> tuple[bytes, bytes]:
    head = await reader.readuntil(b"\r\n\r\n")
    length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
    return head, await reader.readexactly(length)


async def test_a_client_asks_again_and_again_on_one_connection() -> None:
    async with serving(echo) as server, aiohttp.ClientSession() as session:
        for place in range(3):
            async with session.get(f"http://127.0.0.1:{server.port}/{place}") as answer:
                assert (answer.status, await answer.text()) == (200, f"/{place}")


async def test_requests_sent_at_once_are_answered_in_order() -> None:
    slow_first = asyncio.Event()

    async def handle(ask: Ask) -> Answer:
        if ask.path == "/0":
            await slow_first.wait()
        return Answer(200, ask.path.encode(), JSON)

    async with serving(handle) as server, wire(server) as (reader, writer):
        writer.write(b"".join(b"GET /%d HTTP/1.1\r\n\r\n" % place for place in range(40)))
        await writer.drain()
        slow_first.set()
        bodies = [(await one_answer(reader))[1] for _ in range(40)]
    assert bodies == [b"/%d" % place for place in range(40)]


async def test_a_stream_comes_in_chunks_until_its_end() -> None:
    ticks = Ticks()

    async def handle(_: Ask) -> Answer:
        return Answer(200, ticks, JSON)

    async with serving(handle) as server, aiohttp.ClientSession() as session:
        async with session.get(f"http://127.0.0.1:{server.port}/") as answer:
            assert answer.headers["Transfer-Encoding"] == "chunked"
            for line in (b"one\n", b"two\n"):
                ticks.queue.put_nowait(line)
                assert await answer.content.readline() == line
            ticks.queue.put_nowait(None)
            assert await answer.content.read() == b""
        async with session.get(f"http://127.0.0.1:{server.port}/") as again:
            assert again.status == 200


async def test_a_client_that_goes_closes_its_stream() -> None:
    ticks = Ticks()

    async def handle(_: Ask) -> Answer:
        return Answer(200, ticks, JSON)

    async with serving(handle) as server:
        async with wire(server) as (reader, writer):
            writer.write(b"GET / HTTP/1.1\r\n\r\n")
            ticks.queue.put_nowait(b"first\n")
            await reader.readuntil(b"first\n")
        await asyncio.wait_for(ticks.closed.wait(), 5)


async def test_a_client_that_does_not_read_stops_its_feed_and_nobody_elses() -> None:
    ticks = Ticks()

    async def handle(ask: Ask) -> Answer:
        return Answer(200, ticks if ask.path == "/watch" else b"ok", JSON)

    async with serving(handle) as server, wire(server) as (reader, writer):
        writer.write(b"GET /watch HTTP/1.1\r\n\r\n")
        many = 400
        for _ in range(many):
            ticks.queue.put_nowait(b"x" * (1 << 18))
        async with aiohttp.ClientSession() as session:
            # The other client is answered all the while; the feed has come to rest.
            before = -1
            while before != ticks.taken or ticks.taken == 0:
                before = ticks.taken
                for _ in range(20):
                    async with session.get(f"http://127.0.0.1:{server.port}/") as answer:
                        assert await answer.text() == "ok"
        assert ticks.taken < many // 2
        ticks.queue.put_nowait(None)
        size = 0
        while size < many << 18:
            data = await reader.read(1 << 20)
            assert data
            size += len(data)
    assert ticks.taken == many


async def test_an_old_client_gets_a_stream_that_ends_with_the_connection() -> None:
    ticks = Ticks()

    async def handle(_: Ask) -> Answer:
        return Answer(200, ticks, JSON)

    async with serving(handle) as server, wire(server) as (reader, writer):
        writer.write(b"GET / HTTP/1.0\r\n\r\n")
        ticks.queue.put_nowait(b"line\n")
        ticks.queue.put_nowait(None)
        found = await reader.read()
    assert found.endswith(b"\r\n\r\nline\n")


async def test_a_client_that_waits_before_its_body_is_told_to_go_on() -> None:
    async with serving(echo) as server, wire(server) as (reader, writer):
        writer.write(b"POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n")
        assert await reader.readuntil(b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"
        writer.write(b"ok")
        assert (await one_answer(reader))[1] == b"ok"


async def test_a_body_beyond_the_limit_is_413_and_the_connection_lives_on() -> None:
    async with serving(echo) as server, aiohttp.ClientSession() as session:
        url = f"http://127.0.0.1:{server.port}/"
        async with session.post(url, data=BytesIO(b" " * (BODY_LIMIT + 1))) as answer:
            assert answer.status == 413
            found = await answer.json()
            assert found["message"] == "Request entity too large: limit is 3145728"
            assert found["reason"] == "RequestEntityTooLarge"
        async with session.post(url, data=BytesIO(b"x" * BODY_LIMIT)) as answer:
            assert len(await answer.read()) == BODY_LIMIT


async def test_a_body_that_is_far_too_large_is_413_at_once_and_the_end() -> None:
    async with serving(echo) as server, wire(server) as (reader, writer):
        writer.write(b"POST / HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % (DRAIN_LIMIT + 1))
        head, _ = await one_answer(reader)
        assert head.startswith(b"HTTP/1.1 413 ")
        assert await reader.read() == b""


async def test_head_has_no_body() -> None:
    async with serving(echo) as server, wire(server) as (reader, writer):
        writer.write(b"HEAD /abc HTTP/1.1\r\n\r\nGET /abc HTTP/1.1\r\n\r\n")
        head = await reader.readuntil(b"\r\n\r\n")
        assert b"Content-Length: 4\r\n" in head
        assert (await one_answer(reader))[1] == b"/abc"


@pytest.mark.parametrize(
    ("data", "status"),
    [(b"nonsense\r\n\r\n", b"400"), (b"GET / HTTP/1.1\r\na: " + b"x" * (2 << 20), b"431")],
    ids=["no HTTP", "too many headers"],
)
async def test_what_cannot_be_read_is_said_and_ends_the_connection(
    data: bytes, status: bytes
) -> None:
    async with serving(echo) as server, wire(server) as (reader, writer):
        writer.write(data)
        found = await reader.read()
    assert found.startswith(b"HTTP/1.1 " + status)


async def test_a_defect_of_whoever_answers_is_500_and_not_the_end() -> None:
    async def broken(ask: Ask) -> Answer:
        if ask.path == "/bad":
            raise RuntimeError("a defect")
        return Answer(200, b"ok", JSON)

    async with serving(broken) as server, wire(server) as (reader, writer):
        writer.write(b"GET /bad HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\n\r\n")
        head, body = await one_answer(reader)
        assert head.startswith(b"HTTP/1.1 500 ")
        assert b"defect" not in body
        assert (await one_answer(reader))[1] == b"ok"


async def test_stopping_lets_an_answer_finish_and_ends_streams() -> None:
    ticks, go_on, begun = Ticks(), asyncio.Event(), asyncio.Event()

    async def handle(ask: Ask) -> Answer:
        if ask.path == "/watch":
            return Answer(200, ticks, JSON)
        begun.set()
        await go_on.wait()
        return Answer(200, b"finished", JSON)

    server = Server(handle)
    await server.start()
    async with wire(server) as (slow, slow_writer), wire(server) as (watch, watch_writer):
        slow_writer.write(b"GET / HTTP/1.1\r\n\r\n")
        watch_writer.write(b"GET /watch HTTP/1.1\r\n\r\n")
        await begun.wait()
        await watch.readuntil(b"\r\n\r\n")
        stopping = asyncio.create_task(server.stop(5))
        assert await watch.read() == b"0\r\n\r\n"
        go_on.set()
        head, body = await one_answer(slow)
        assert (body, b"Connection: close" in head) == (b"finished", True)
        await stopping
    with pytest.raises(ConnectionRefusedError):
        await asyncio.open_connection("127.0.0.1", server.port)


async def test_stopping_does_not_wait_for_ever() -> None:
    async def never(_: Ask) -> Answer:
        await asyncio.Event().wait()
        raise AssertionError

    server = Server(never)
    await server.start()
    async with wire(server) as (reader, writer):
        writer.write(b"GET / HTTP/1.1\r\n\r\n")
        await writer.drain()
        await server.stop(0.1)
        with pytest.raises((ConnectionError, asyncio.IncompleteReadError)):
            await reader.readexactly(1)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.com"])  # noqa: S104
async def test_an_address_that_others_can_reach_is_refused_unless_meant(host: str) -> None:
    with pytest.raises(NotLoopback, match=host):
        await Server(echo).start(host)


async def test_tls_speaks_http_1_alone(tmp_path: Path) -> None:
    keys = Keys(tmp_path, datetime.now(UTC))
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(tmp_path / "kube-apiserver.crt", tmp_path / "kube-apiserver.key")
    client = ssl.create_default_context(cadata=keys.authority.pair.certificate.decode())
    client.set_alpn_protocols(["h2", "http/1.1"])
    async with serving(echo, tls) as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port, ssl=client)
        assert writer.get_extra_info("ssl_object").selected_alpn_protocol() == "http/1.1"
        writer.write(b"GET /secure HTTP/1.1\r\n\r\n")
        assert (await one_answer(reader))[1] == b"/secure"
        writer.close()
