# SPDX-License-Identifier: Apache-2.0
"""Requests read from bytes, however they are cut."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trellis.embedded.front.reading import (
    BODY_LIMIT,
    DRAIN_LIMIT,
    HEAD_LIMIT,
    Arrived,
    Reader,
    Unreadable,
)

if TYPE_CHECKING:
    from trellis.embedded.exchange import Ask

GET = (
    b"GET /api/v1/pods?limit=5&labelSelector=a%3Db&empty= HTTP/1.1\r\nHost: a\r\nAccept: x\r\n\r\n"
)
POST = b"POST /api HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello"
CHUNKED = (
    b"PUT /x HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n"
)


def read(*pieces: bytes) -> list[Arrived]:
    reader = Reader(lambda: None)
    for piece in pieces:
        reader.feed(piece)
    return list(reader.arrived)


def asks(*pieces: bytes) -> list[Ask]:
    return [each.ask for each in read(*pieces)]


def test_a_request_is_read() -> None:
    (found,) = asks(GET)
    assert (found.method, found.path) == ("GET", "/api/v1/pods")
    assert found.query == (("limit", "5"), ("labelSelector", "a=b"), ("empty", ""))
    assert found.headers == {"host": "a", "accept": "x"}
    assert found.body == b""


def test_a_path_stays_as_it_came() -> None:
    (found,) = asks(b"GET /api/a%2Fb%20c/../d HTTP/1.1\r\n\r\n")
    assert found.path == "/api/a%2Fb%20c/../d"


def test_an_address_in_full_is_its_path() -> None:
    (found,) = asks(b"GET http://127.0.0.1:80/api?x=1 HTTP/1.1\r\n\r\n")
    assert (found.path, found.query) == ("/api", (("x", "1"),))


def test_a_method_may_be_any_word() -> None:
    found = asks(b"FROB /x HTTP/1.1\r\n\r\n", GET, b"Frob-it /y HTTP/1.1\r\n\r\n")
    assert [each.method for each in found] == ["FROB", "GET", "Frob-it"]


def test_headers_that_repeat_are_joined() -> None:
    (found,) = asks(b"GET / HTTP/1.1\r\nImpersonate-Group: a\r\nimpersonate-group: b\r\n\r\n")
    assert found.headers["impersonate-group"] == "a, b"


def test_bodies_come_whole_or_in_chunks() -> None:
    assert [each.body for each in asks(POST, CHUNKED)] == [b"hello", b"hello world"]


@given(st.lists(st.integers(min_value=0, max_value=len(GET + POST + CHUNKED)), max_size=12))
def test_where_the_bytes_are_cut_makes_no_difference(cuts: list[int]) -> None:
    whole = GET + POST + CHUNKED
    places = sorted({0, len(whole), *cuts})
    pieces = [whole[start:end] for start, end in pairwise(places)]
    assert asks(*pieces) == asks(whole)


@pytest.mark.parametrize(
    ("head", "chunked", "last"),
    [
        (b"GET / HTTP/1.1\r\n\r\n", True, False),
        (b"GET / HTTP/1.1\r\nConnection: close\r\n\r\n", True, True),
        (b"GET / HTTP/1.0\r\n\r\n", False, True),
        (b"GET / HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n", True, True),
    ],
    ids=["1.1", "close", "1.0", "upgrade"],
)
def test_how_an_answer_is_framed_follows_the_request(
    head: bytes, chunked: bool, last: bool
) -> None:
    (found,) = read(head)
    assert (found.chunked, found.last) == (chunked, last)


def test_nothing_is_read_after_an_upgrade() -> None:
    upgrade = b"GET / HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n\x00\x01binary"
    assert len(read(upgrade)) == 1


def test_a_client_that_waits_is_told_to_go_on() -> None:
    told: list[int] = []
    reader = Reader(lambda: told.append(1))
    reader.feed(b"POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n")
    assert told == [1]
    assert reader.inside
    reader.feed(b"ok")
    assert not reader.inside


@pytest.mark.parametrize("size", [BODY_LIMIT, BODY_LIMIT + 1])
def test_a_body_beyond_the_limit_is_not_kept(size: int) -> None:
    (found,) = read(b"POST / HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % size, b" " * size)
    assert found.too_large is (size > BODY_LIMIT)
    assert len(found.ask.body) == (0 if found.too_large else size)
    assert not found.last


def test_a_body_that_is_far_too_large_is_not_even_read() -> None:
    reader = Reader(lambda: None)
    with pytest.raises(Unreadable):
        reader.feed(b"POST / HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % (DRAIN_LIMIT + 1))
    (found,) = reader.arrived
    assert found.too_large
    assert found.last


def test_chunks_without_end_are_cut_off() -> None:
    reader = Reader(lambda: None)
    reader.feed(b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n")
    chunk = b"100000\r\n" + b" " * (1 << 20) + b"\r\n"
    with pytest.raises(Unreadable):  # noqa: PT012 - one of the chunks is one too many
        for _ in range(20):
            reader.feed(chunk)
    assert reader.arrived[0].too_large


BAD = {
    "no HTTP": (b"hello there\r\n\r\n", 400),
    "HTTP/2": (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400),
    "TLS": (b"\x16\x03\x01\x00\xa5\x01\x00\x00\xa1\x03\x03", 400),
    "two lengths": (b"POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400),
    "a length and chunks": (
        b"POST / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        400,
    ),
    "too many headers": (b"GET / HTTP/1.1\r\na: " + b"x" * (HEAD_LIMIT + 1) + b"\r\n\r\n", 431),
    "too long an address": (b"GET /" + b"x" * (HEAD_LIMIT + 1) + b" HTTP/1.1\r\n\r\n", 431),
}


@pytest.mark.parametrize("case", BAD)
def test_unreadable(case: str) -> None:
    data, status = BAD[case]
    with pytest.raises(Unreadable) as problem:
        read(data)
    assert problem.value.status == status


@given(st.binary(max_size=300))
def test_any_bytes_are_read_or_unreadable_and_nothing_else(data: bytes) -> None:
    for start in (b"", b"GET /", b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"):
        try:
            read(start + data)
        except Unreadable as problem:
            assert problem.status in (400, 413, 431)  # noqa: PT017 - either way is fine
