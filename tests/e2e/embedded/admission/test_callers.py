# SPDX-License-Identifier: Apache-2.0
"""Webhooks behind real sockets and certificates, in the words of the real server."""

from __future__ import annotations

import asyncio
import base64
import ssl
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from aiohttp import web

from tests.unit.embedded.admission.builders import seen
from trellis.embedded.admission.answers import Unusable
from trellis.embedded.admission.callers import Callers
from trellis.embedded.admission.hooks import Client
from trellis.webhooks.certificates import Authority, Subject

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

NOW = datetime.now(UTC)
OURS = Authority.create("ours", NOW)
OTHER = Authority.create("other", NOW)
SIZES = {"/large": 1 << 20, "/huge": 5 << 20}


@pytest.fixture
async def callers() -> AsyncIterator[Callers]:
    made = Callers()
    yield made
    await made.close()


class Served:
    """What a server was asked, and by how many connections."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.requests: list[web.Request] = []
        self.bodies: list[bytes] = []
        self.connections: set[object] = set()

    def client(self, authority: Authority = OURS, path: str = "/hook") -> Client:
        return Client.of(
            "hook", {"url": f"https://127.0.0.1:{self.port}{path}", **bundle(authority)}
        )


def bundle(authority: Authority) -> dict[str, str]:
    return {"caBundle": base64.b64encode(authority.pair.certificate).decode()}


@asynccontextmanager
async def server(folder: Path, *hosts: str, now: datetime = NOW) -> AsyncIterator[Served]:
    pair = OURS.issue(Subject(name="hook", hosts=hosts or ("127.0.0.1",)), now)
    file = folder / "pair.pem"
    file.write_bytes(pair.certificate + b"\n" + pair.key)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    asked = Served(0)

    async def answer(request: web.Request) -> web.Response:
        asked.requests.append(request)
        asked.bodies.append(await request.read())
        asked.connections.add(request.transport)
        if request.path == "/slow":
            await asyncio.Event().wait()
        if request.path == "/gone":
            assert request.transport is not None
            request.transport.abort()
        codes = {"/redirect": 302, "/broken": 500}
        return web.Response(
            status=codes.get(request.path, 200),
            text="fine" * SIZES.get(request.path, 1),
            content_type="text/plain",
        )

    application = web.Application()
    application.router.add_post("/{path:.*}", answer)
    runner = web.AppRunner(application, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context)
    await site.start()
    asked.port = runner.addresses[0][1]
    try:
        yield asked
    finally:
        await runner.cleanup()


async def refused(callers: Callers, client: Client, seconds: int = 10) -> str:
    with pytest.raises(Unusable) as problem:
        await callers.call(client, b"{}", seconds)
    return str(problem.value)


def golden(title: str, served: Served) -> str:
    message: str = seen("webhook_failures", title)["message"]
    said = message.partition('failed calling webhook "hook": ')[2]
    return said.replace("<webhook>", f"127.0.0.1:{served.port}")


async def test_a_review_is_posted_as_the_real_server_does(callers: Callers, tmp_path: Path) -> None:
    async with server(tmp_path) as served:
        assert await callers.call(served.client(), b'{"a": 1}', 2) == b"fine"
        (request,) = served.requests
        assert (request.method, request.path_qs) == ("POST", "/hook?timeout=2s")
        assert served.bodies == [b'{"a": 1}']
        assert {
            name: request.headers[name]
            for name in ("Accept", "Accept-Encoding", "Content-Type", "User-Agent")
        } == {
            "Accept": "application/json, */*",
            "Accept-Encoding": "gzip",
            "Content-Type": "application/json",
            "User-Agent": "kube-apiserver-admission",
        }


async def test_a_large_answer_is_read_whole_and_a_huge_one_refused(
    callers: Callers, tmp_path: Path
) -> None:
    async with server(tmp_path) as served:
        assert len(await callers.call(served.client(path="/large"), b"{}", 10)) == 4 << 20
        assert "its answer exceeds" in await refused(callers, served.client(path="/huge"))


async def test_a_connection_is_used_again(callers: Callers, tmp_path: Path) -> None:
    async with server(tmp_path) as served:
        for _ in range(3):
            await callers.call(served.client(), b"{}", 2)
        assert len(served.connections) == 1


async def test_a_webhook_that_nobody_serves_fails(callers: Callers) -> None:
    client = Client.of("hook", {"url": "https://127.0.0.1:1/hook"})
    assert await refused(callers, client) == golden("a webhook that nobody serves fails", Served(0))


async def test_a_certificate_of_another_authority_fails(callers: Callers, tmp_path: Path) -> None:
    async with server(tmp_path) as served:
        title = "a webhook whose certificate another authority signed fails"
        assert await refused(callers, served.client(OTHER, "/served")) == golden(title, served)
        assert not served.requests


async def test_a_certificate_for_another_host_fails(callers: Callers, tmp_path: Path) -> None:
    async with server(tmp_path, "elsewhere.example") as served:
        said = await refused(callers, served.client())
        assert "x509: certificate is not valid for 127.0.0.1" in said


async def test_a_certificate_that_is_over_fails(callers: Callers, tmp_path: Path) -> None:
    long_ago = NOW - timedelta(days=4000)
    async with server(tmp_path, now=long_ago) as served:
        said = await refused(callers, served.client())
        assert "x509: certificate has expired or is not yet valid" in said


async def test_a_webhook_that_does_not_answer_in_time_fails(
    callers: Callers, tmp_path: Path
) -> None:
    async with server(tmp_path) as served:
        said = await refused(callers, served.client(path="/slow"), seconds=1)
        assert said.endswith('/slow?timeout=1s": context deadline exceeded')


async def test_a_webhook_that_hangs_up_fails(callers: Callers, tmp_path: Path) -> None:
    async with server(tmp_path) as served:
        assert (await refused(callers, served.client(path="/gone"))).endswith('": EOF')


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("/redirect", "the server responded with the status code 302"),
        ("/broken", 'an error on the server ("fine") has prevented'),
    ],
    ids=str,
)
async def test_an_answer_that_is_no_success_fails(
    callers: Callers, tmp_path: Path, path: str, said: str
) -> None:
    async with server(tmp_path) as served:
        assert said in await refused(callers, served.client(path=path))
        assert len(served.requests) == 1


async def test_a_service_is_answered_for_at_an_address_under_its_own_name(
    callers: Callers, tmp_path: Path
) -> None:
    service = {"namespace": "team", "name": "hook", "path": "/here"}
    client = Client.of("hook", {"service": service, **bundle(OURS)})
    async with server(tmp_path, "hook.team.svc") as served:
        callers.serve("team", "hook", "127.0.0.1", served.port)
        assert await callers.call(client, b"{}", 2) == b"fine"
        assert served.requests[0].path_qs == "/here?timeout=2s"


async def test_a_bundle_that_is_no_certificate_fails(callers: Callers) -> None:
    client = Client.of("hook", {"url": "https://127.0.0.1:1/hook", "caBundle": "bm90aGluZw=="})
    assert "unable to parse bytes as PEM block" in await refused(callers, client)
