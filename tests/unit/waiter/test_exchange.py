# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.loopback import CHUNKED, chunk, http
from trellis.waiter.events import Unreadable
from trellis.waiter.exchange import BODY_BYTES, answer

LINES = [b'{"a":1}', b'{"b":2}', b'{"c":3}']


def heard(content: bytes) -> asyncio.StreamReader:
    """A connection on which this arrived, and that was closed then."""
    reader = asyncio.StreamReader()
    reader.feed_data(content)
    reader.feed_eof()
    return reader


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(http(200, b"hello"), id="of a known length"),
        pytest.param(CHUNKED + chunk(b"hel") + chunk(b"lo") + chunk(b""), id="in chunks"),
        pytest.param(b"HTTP/1.1 200 OK\r\n\r\nhello", id="until the connection ends"),
    ],
)
async def test_a_body_is_read(content: bytes) -> None:
    found = await answer(heard(content))
    assert (found.status, await found.content()) == (200, b"hello")


async def test_headers_are_found_in_any_case() -> None:
    found = await answer(heard(http(429, b"{}", **{"Retry-After": "3"})))
    assert (found.status, found.headers["retry-after"]) == (429, "3")


@given(st.lists(st.integers(1, 30), max_size=6))
def test_lines_are_whole_wherever_chunks_are_cut(cuts: list[int]) -> None:
    text = b"\n".join(LINES) + b"\n\n"
    body, rest = CHUNKED, text
    for cut in cuts:
        body, rest = body + (chunk(rest[:cut]) if rest[:cut] else b""), rest[cut:]
    body += (chunk(rest) if rest else b"") + chunk(b"")

    async def read() -> list[bytes]:
        found = await answer(heard(body))
        return [line async for line in found.lines()]

    assert asyncio.run(read()) == LINES


@pytest.mark.parametrize(
    ("content", "error"),
    [
        pytest.param(b"", EOFError, id="nothing"),
        pytest.param(b"HTTP/1.1 200 OK\r\nA: b\r\n", EOFError, id="half a head"),
        pytest.param(b"SSH-2.0-x y\r\n\r\n", Unreadable, id="another protocol"),
        pytest.param(b"HTTP/1.1 OK\r\n\r\n", Unreadable, id="no status"),
        pytest.param(
            b"HTTP/1.1 200 OK\r\nX: " + b"x" * 70_000,
            asyncio.LimitOverrunError,
            id="an endless head",
        ),
        pytest.param(CHUNKED + b"5\r\nhel", EOFError, id="half a chunk"),
        pytest.param(CHUNKED + b"-5\r\nhello\r\n", Unreadable, id="a chunk below zero"),
        pytest.param(CHUNKED + b"ffffffffff\r\n", Unreadable, id="a chunk without end"),
        pytest.param(
            b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n", Unreadable, id="too long"
        ),
        pytest.param(
            b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * (BODY_BYTES + 1), Unreadable, id="no end of it"
        ),
    ],
)
async def test_what_is_no_answer_is_told_apart(content: bytes, error: type[Exception]) -> None:
    reader = asyncio.StreamReader(limit=64 << 10)
    reader.feed_data(content)
    reader.feed_eof()

    async def read() -> bytes:
        return await (await answer(reader)).content()

    with pytest.raises(error):
        await read()
