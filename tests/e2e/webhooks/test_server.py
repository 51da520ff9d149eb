# SPDX-License-Identifier: Apache-2.0
"""The admission server on the wire, as the API server meets it and as others might."""

from __future__ import annotations

import asyncio
import gzip
import logging
from dataclasses import dataclass, field
from io import BytesIO
from typing import TYPE_CHECKING

import aiohttp
import pytest
import uvloop

from tests.e2e.webhooks.serving import (
    JSON,
    LOOPBACK,
    SUBJECT,
    Serving,
    client,
    review,
    serving,
    trusting,
)
from tests.support.reviews import UID, Gate, a_body, a_thing
from tests.support.waiting import eventually
from trellis.instruments.clock import SystemClock
from trellis.webhooks.certificates import Authority
from trellis.webhooks.identity import Identity
from trellis.webhooks.intake import Limits
from trellis.webhooks.server import Listen
from trellis.webhooks.verdict import ALLOWED, Verdict

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from trellis.webhooks.review import Review

AUTHORITY = Authority.create("first", SystemClock().now())
SUCCESSOR = Authority.create("second", SystemClock().now())
MIB = 1 << 20


def allow(_: Review) -> Verdict:
    return ALLOWED


@pytest.fixture
async def served() -> AsyncIterator[Serving]:
    async with serving({"/things": allow}) as made:
        made.use(AUTHORITY)
        yield made


@pytest.fixture
async def session() -> AsyncIterator[aiohttp.ClientSession]:
    async with client(AUTHORITY) as made:
        yield made


async def test_a_review_is_answered_on_a_connection_that_stays(
    served: Serving, session: aiohttp.ClientSession
) -> None:
    async with session.post(served.url() + "?timeout=3s", data=a_body(), headers=JSON) as answer:
        assert answer.status == 200
        assert answer.content_type == "application/json"
        assert (await answer.json())["response"] == {"uid": UID, "allowed": True}
        assert "Connection" not in answer.headers
        assert answer.version == aiohttp.HttpVersion11


async def chunks(body: bytes) -> AsyncIterator[bytes]:
    for start in range(0, len(body), 64 << 10):
        yield body[start : start + (64 << 10)]


def large(size: int) -> bytes:
    room = size - len(a_body(object=a_thing(fill="")))
    return a_body(object=a_thing(fill="x" * room))


@dataclass(frozen=True, kw_only=True)
class Sent:
    method: str = "POST"
    path: str = "/things"
    headers: dict[str, str] = field(default_factory=lambda: JSON)
    body: bytes = b"{}"


@pytest.mark.parametrize(
    ("sent", "status", "said"),
    [
        pytest.param(Sent(path="/other"), 404, "no webhook is served", id="the path"),
        pytest.param(Sent(method="GET"), 405, "POST only", id="the method"),
        pytest.param(
            Sent(headers={"Content-Type": "text/plain"}), 415, "must be application/json", id="type"
        ),
        pytest.param(Sent(body=b"{"), 400, "cannot be read", id="no JSON"),
        pytest.param(Sent(body=b""), 400, "cannot be read", id="nothing at all"),
        pytest.param(Sent(), 400, "is not served here", id="no review"),
        pytest.param(Sent(body=b"[" * 100_000), 400, "nested deeper", id="100,000 levels deep"),
        pytest.param(
            Sent(body=large(3 * MIB + 1)), 413, "the 3145728 bytes allowed", id="3 MiB and a byte"
        ),
        pytest.param(
            Sent(
                headers=JSON | {"Content-Encoding": "gzip"},
                body=gzip.compress(b" " * 100 * MIB),
            ),
            400,
            "cannot be read",
            id="what would be 100 MiB once decompressed",
        ),
    ],
)
async def test_what_is_no_review_is_refused_in_one_line(
    served: Serving, session: aiohttp.ClientSession, sent: Sent, status: int, said: str
) -> None:
    async with session.request(
        sent.method, served.url(sent.path), data=BytesIO(sent.body), headers=sent.headers
    ) as answer:
        text = await answer.text()
    assert (answer.status, answer.content_type) == (status, "text/plain")
    assert said in text
    assert text.count("\n") == 1
    assert (await review(session, served.url())).status == 200, "the server goes on"


async def test_3_mib_are_heard_and_a_byte_more_is_too_much_even_when_not_announced(
    served: Serving, session: aiohttp.ClientSession
) -> None:
    assert (await review(session, served.url(), BytesIO(large(3 * MIB)))).status == 200
    assert (await review(session, served.url(), chunks(large(3 * MIB)))).status == 200
    assert (await review(session, served.url(), chunks(large(3 * MIB + 1)))).status == 413
    assert served.count("refused_total", cause="BodyTooLarge") == 1


async def raw(served: Serving, sent: bytes) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    reader, writer = await asyncio.open_connection(
        LOOPBACK, served.server.port, ssl=trusting(AUTHORITY)
    )
    writer.write(sent)
    await writer.drain()
    return reader, writer


@pytest.mark.parametrize(
    "sent",
    [
        pytest.param(b"NONSENSE\r\n\r\n", id="no request line"),
        pytest.param(b"POST /things HTTP/1.1\r\nContent-Length: -1\r\n\r\n", id="a length below 0"),
        pytest.param(
            b"POST /things HTTP/1.1\r\nHost: a\r\nX: " + b"x" * 20_000 + b"\r\n\r\n",
            id="a header without end",
        ),
    ],
)
async def test_broken_http_is_a_bad_request_and_a_line_in_the_log(
    served: Serving, caplog: pytest.LogCaptureFixture, sent: bytes
) -> None:
    with caplog.at_level(logging.DEBUG, "trellis.webhooks.wire"):
        reader, writer = await raw(served, sent)
        answer = await reader.read()
        writer.close()
    assert answer.startswith(b"HTTP/1.0 400") or answer.startswith(b"HTTP/1.1 400")
    assert b"Traceback" not in answer
    assert all(record.exc_info is None for record in caplog.records)
    assert not [record for record in caplog.records if record.levelno > logging.INFO]


async def test_a_chunked_body_that_is_broken_is_refused(served: Serving) -> None:
    head = b"POST /things HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
    reader, writer = await raw(served, head + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n")
    answer = await reader.read()
    writer.close()
    assert b" 400 " in answer.splitlines()[0]


async def test_a_body_that_does_not_come_is_given_up(caplog: pytest.LogCaptureFixture) -> None:
    async with serving({"/things": allow}, Limits(budget_seconds=0.2)) as served:
        served.use(AUTHORITY)
        head = b"POST /things HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
        reader, writer = await raw(served, head + b"Content-Length: 100\r\n\r\n{")
        assert b" 408 " in await reader.readline()
        writer.close()
    assert not caplog.records


async def test_a_client_that_leaves_in_the_middle_is_no_trouble(
    served: Serving, session: aiohttp.ClientSession, caplog: pytest.LogCaptureFixture
) -> None:
    head = b"POST /things HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
    _, writer = await raw(served, head + b"Content-Length: 100\r\n\r\n{")

    async def taken() -> bool:
        return served.intake.in_flight == 1

    async def given_back() -> bool:
        return served.intake.in_flight == 0

    await eventually(taken, "the review to be taken")
    writer.transport.abort()
    await eventually(given_back, "its place to be given back")
    assert (await review(session, served.url())).status == 200
    assert not caplog.records


async def test_above_the_cap_a_review_is_turned_away(session: aiohttp.ClientSession) -> None:
    gate = Gate()
    async with serving({"/things": gate}, Limits(in_flight=2, budget_seconds=60)) as served:
        served.use(AUTHORITY)
        held = [asyncio.create_task(review(session, served.url())) for _ in range(2)]
        await gate.holding(2)
        turned_away = await review(session, served.url())
        assert (turned_away.status, turned_away.headers["Retry-After"]) == (429, "1")
        gate.open()
        assert [(await one).status for one in held] == [200, 200]


async def test_a_new_certificate_is_used_at_once_and_no_connection_is_cut() -> None:
    """One client keeps its connection from before; the other can only trust the new authority."""
    gate = Gate()
    async with (
        serving({"/things": allow, "/gate": gate}, Limits(budget_seconds=60)) as served,
        client(AUTHORITY) as before,
        client(SUCCESSOR) as after,
    ):
        served.use(AUTHORITY)
        under_way = asyncio.create_task(review(before, served.url("/gate")))
        await gate.holding(1)
        served.use(SUCCESSOR)
        assert (await review(after, served.url())).status == 200
        gate.open()
        answer = await under_way
        assert (answer.status, answer.headers["Connection"]) == (200, "close")
        with pytest.raises(aiohttp.ClientConnectorCertificateError):
            await review(before, served.url())
        kept = await review(after, served.url())
        assert "Connection" not in kept.headers


def test_the_loop_of_production_exchanges_certificates_just_so() -> None:
    async def exchanged() -> list[tuple[int, str | None]]:
        async with (
            serving({"/things": allow}) as served,
            client(AUTHORITY) as before,
            client(SUCCESSOR) as after,
        ):
            served.use(AUTHORITY)
            answers = [await review(before, served.url()) for _ in range(2)]
            served.use(SUCCESSOR)
            answers += [await review(one, served.url()) for one in (before, after)]
        return [(answer.status, answer.headers.get("Connection")) for answer in answers]

    assert uvloop.run(exchanged()) == [(200, None), (200, None), (200, "close"), (200, None)]


async def test_readiness_names_what_is_missing() -> None:
    now = SystemClock().now()
    async with serving({"/things": allow}) as served:
        assert served.server.why_not_ready() == "there is no certificate yet"
        pair = AUTHORITY.issue(SUBJECT, now)
        served.certificate.use(Identity(pair, SUCCESSOR.pair.certificate), now)
        assert "no authority in the published bundle" in served.server.why_not_ready()
        served.use(AUTHORITY)
        assert served.server.ready()
    assert served.server.why_not_ready() == "the admission server is stopping"


async def test_when_no_handler_returns_any_more_it_is_not_ready(
    session: aiohttp.ClientSession,
) -> None:
    gate = Gate()
    async with serving({"/things": gate}, Limits(workers=1, budget_seconds=0.2)) as served:
        served.use(AUTHORITY)
        assert (await review(session, served.url())).status == 500
        assert "held by a handler" in served.server.why_not_ready()
        gate.open()

        async def ready() -> bool:
            return served.server.ready()

        await eventually(ready, "the worker to come back")


async def test_a_stop_lets_reviews_end_and_takes_no_more(session: aiohttp.ClientSession) -> None:
    gate = Gate()
    async with serving({"/things": gate}, Limits(budget_seconds=60)) as served:
        served.use(AUTHORITY)
        port = served.server.port
        held = [asyncio.create_task(review(session, served.url())) for _ in range(3)]
        await gate.holding(3)
        stopping = asyncio.create_task(served.server.stop())
        while served.server.ready():
            await asyncio.sleep(0)
        gate.open()
        answers = [await one for one in held]
        await stopping
        with pytest.raises(ConnectionRefusedError):
            await asyncio.open_connection(LOOPBACK, port)
    assert [(answer.status, answer.headers["Connection"]) for answer in answers] == [
        (200, "close")
    ] * 3


class HeldClock(SystemClock):
    """Whoever sleeps is held until it is let go."""

    def __init__(self) -> None:
        self.slept: list[float] = []
        self.let_go = asyncio.Event()

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        await self.let_go.wait()


async def test_while_it_lingers_reviews_are_taken_and_their_connections_closed(
    session: aiohttp.ClientSession,
) -> None:
    clock = HeldClock()
    listen = Listen(host=LOOPBACK, port=0, linger_seconds=5)
    async with serving({"/things": allow}, listen=listen, clock=clock) as served:
        served.use(AUTHORITY)
        stopping = asyncio.create_task(served.server.stop())
        await asyncio.sleep(0)
        answer = await review(session, served.url())
        assert (answer.status, answer.headers["Connection"]) == (200, "close")
        assert served.server.why_not_ready() == "the admission server is stopping"
        clock.let_go.set()
        await stopping
    assert clock.slept[0] == 5


async def test_a_stop_is_bounded_whatever_a_handler_does(session: aiohttp.ClientSession) -> None:
    gate = Gate()
    listen = Listen(host=LOOPBACK, port=0, linger_seconds=0, drain_seconds=0.1)
    async with serving({"/things": gate}, Limits(budget_seconds=60), listen) as served:
        served.use(AUTHORITY)
        held = asyncio.create_task(review(session, served.url()))
        await gate.holding(1)
        await served.server.stop()
        with pytest.raises(aiohttp.ClientError):
            await held
        gate.open()
