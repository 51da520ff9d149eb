# SPDX-License-Identifier: Apache-2.0
"""The network transport keeps what `transport.py` promises, against servers that misbehave."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from tests.support.loopback import (
    CHUNKED,
    Heard,
    an_access,
    chunk,
    closed,
    http,
    loopback,
    networked,
    server_tls,
)
from tests.support.waiting import eventually
from trellis.instruments.clock import SystemClock
from trellis.kube.credentials import Certificate, Identity, Stored, bearer
from trellis.kube.errors import (
    Ambiguous,
    KubeError,
    Unauthorized,
    Unreachable,
    Unreadable,
    Untrusted,
)
from trellis.kube.network import Network
from trellis.kube.retry import MOST_ATTEMPTS
from trellis.kube.tls import Trust
from trellis.kube.transport import Request, Transport
from trellis.webhooks.certificates import Authority, Subject

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.loopback import Reply

SECRET = "hunter2hunter2"


def a_request(method: str = "GET", timeout: float = 10, body: bytes | None = None) -> Request:
    return Request(method=method, path="/things", body=body, timeout=timeout)


async def answers(_: Heard, writer: asyncio.StreamWriter) -> None:
    writer.write(http(200, {"ok": True}))


async def hangs_up(_: Heard, writer: asyncio.StreamWriter) -> None:
    await closed(writer)


async def cuts_off(_: Heard, writer: asyncio.StreamWriter) -> None:
    writer.write(http(200, b"x" * 100)[:-50])
    await writer.drain()
    await closed(writer)


async def cuts_a_chunk_off(_: Heard, writer: asyncio.StreamWriter) -> None:
    writer.write(CHUNKED + chunk(b"x" * 100)[:-50])
    await writer.drain()
    await closed(writer)


async def stays_silent(*_: object) -> None:
    await asyncio.Event().wait()


async def talks_something_else(_: Heard, writer: asyncio.StreamWriter) -> None:
    writer.write(b"SSH-2.0-OpenSSH_9.9\r\n\r\n")


async def announces_too_much(_: Heard, writer: asyncio.StreamWriter) -> None:
    writer.write(http(200, b"x")[:-1].replace(b"length: 1", b"length: 99999"))


async def never_ends(_: Heard, writer: asyncio.StreamWriter) -> None:
    writer.write(CHUNKED)
    writer.write(chunk(b"x" * 1000) * 1000)


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "PATCH", "DELETE"])
@pytest.mark.parametrize(
    ("reply", "want"),
    [
        pytest.param(hangs_up, Ambiguous, id="hangs up"),
        pytest.param(cuts_off, Ambiguous, id="cuts its answer off"),
        pytest.param(cuts_a_chunk_off, Ambiguous, id="cuts a chunk off"),
        pytest.param(talks_something_else, Unreadable, id="speaks no HTTP"),
        pytest.param(announces_too_much, Unreadable, id="announces too much"),
        pytest.param(never_ends, Unreadable, id="never ends"),
    ],
)
async def test_each_failure_after_sending_has_its_meaning_and_is_sent_once(
    reply: Reply, want: type[KubeError], method: str
) -> None:
    async with (
        loopback(reply) as server,
        networked(an_access(server.url), longest_answer=10_000) as client,
    ):
        # On a connection that was kept, aiohttp would by itself send some methods again.
        with pytest.raises(want):
            await client.transport.request(a_request(method))
    assert len(server.heard) == 1


async def test_a_kept_connection_that_dies_under_a_deletion_is_not_tried_again() -> None:
    async def once(heard: Heard, writer: asyncio.StreamWriter) -> None:
        await (answers if heard.method == "GET" else hangs_up)(heard, writer)

    async with loopback(once) as server, networked(an_access(server.url)) as client:
        await client.transport.request(a_request())
        with pytest.raises(Ambiguous, match="connection was lost before the answer was complete"):
            await client.transport.request(a_request("DELETE"))
    assert [heard.method for heard in server.heard] == ["GET", "DELETE"]
    assert server.connections == 1


async def test_a_server_that_does_not_answer_in_time_leaves_it_open() -> None:
    async with loopback(stays_silent) as server, networked(an_access(server.url)) as client:
        with pytest.raises(Ambiguous, match="no complete answer within 0 s"):
            await client.transport.request(a_request("POST", timeout=0.2))


async def test_where_nobody_listens_nothing_was_sent() -> None:
    async with loopback(answers) as server:
        pass
    async with networked(an_access(server.url)) as client:
        with pytest.raises(Unreachable, match=f"^{server.url} cannot be reached: "):
            await client.transport.request(a_request("POST"))


async def test_a_read_is_tried_again_until_the_server_is_back() -> None:
    hangs = iter([True, True, False])

    async def comes_back(heard: Heard, writer: asyncio.StreamWriter) -> None:
        await (hangs_up if next(hangs) else answers)(heard, writer)

    async with loopback(comes_back) as server, networked(an_access(server.url)) as client:
        assert (await client.send(a_request())).status == 200
    assert len(server.heard) == 3


async def test_a_write_to_nowhere_is_tried_again_for_it_never_left() -> None:
    async with loopback(answers) as server:
        pass
    async with networked(an_access(server.url)) as client:
        with pytest.raises(Unreachable):
            await client.send(a_request("POST"))
        assert client.gate.under_way == 0
    assert MOST_ATTEMPTS > 1


async def test_connections_are_kept() -> None:
    async with loopback(answers) as server, networked(an_access(server.url)) as client:
        for _ in range(20):
            await client.transport.request(a_request())
        assert server.connections == 1


async def test_a_cancelled_request_closes_its_connection() -> None:
    async with loopback(stays_silent) as server, networked(an_access(server.url)) as client:
        task = asyncio.create_task(client.transport.request(a_request()))
        await eventually(lambda: _value(len(server.heard) == 1), "the request")
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await client.transport.close()


async def _value(value: bool) -> bool:
    return value


async def test_a_redirect_is_not_followed() -> None:
    async def elsewhere(_: Heard, writer: asyncio.StreamWriter) -> None:
        writer.write(http(302, b"", location="http://127.0.0.1:1/steal"))

    async with loopback(elsewhere) as server, networked(an_access(server.url)) as client:
        assert (await client.transport.request(a_request())).status == 302


async def test_a_large_body_goes_through() -> None:
    async with loopback(answers) as server, networked(an_access(server.url)) as client:
        await client.transport.request(a_request("POST", body=b"x" * (3 << 20)))
    assert len(server.heard[0].body) == 3 << 20


async def test_what_is_asked_arrives_as_it_was_asked() -> None:
    access_headers = (("Impersonate-User", "jane"), ("Impersonate-Group", "g"))
    async with loopback(answers) as server:
        access = an_access(server.url + "/k8s/clusters/c-1", impersonation=access_headers)
        async with networked(access) as client:
            await client.transport.request(
                Request(
                    method="PATCH",
                    path="/api/v1/x%3Fy",
                    query=(("labelSelector", "a in (b, c),!d"), ("continue", "a+b/c=")),
                    headers=(("Content-Type", "application/merge-patch+json"),),
                    body=b"{}",
                    timeout=5,
                )
            )
    [heard] = server.heard
    assert heard.target == (
        "/k8s/clusters/c-1/api/v1/x%3Fy"
        "?labelSelector=a%20in%20%28b%2C%20c%29%2C%21d&continue=a%2Bb%2Fc%3D"
    )
    assert heard.headers["content-type"] == "application/merge-patch+json"
    assert heard.headers["impersonate-user"] == "jane"
    assert "accept-encoding" not in heard.headers
    assert "cookie" not in heard.headers


async def checks_token(heard: Heard, writer: asyncio.StreamWriter) -> None:
    known = heard.headers.get("authorization") == "Bearer new"
    writer.write(http(200 if known else 401, {"kind": "Status", "reason": "Unauthorized"}))


@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_a_refused_token_is_read_anew_once(tmp_path: Path, method: str) -> None:
    file = tmp_path / "token"
    file.write_text("old")
    read = lambda: Identity(bearer(file.read_text(), str(file)))  # noqa: E731
    credentials = Stored(read, SystemClock())
    async with (
        loopback(checks_token) as server,
        networked(an_access(server.url, credentials=credentials)) as client,
    ):
        with pytest.raises(Unauthorized):
            await client.send(a_request(method))
        assert len(server.heard) == 1
        file.write_text("new")
        assert (await client.send(a_request(method))).status == 200
        assert len(server.heard) == 3
        async with client.transport.stream(a_request()) as stream:
            assert stream.status == 200


@pytest.mark.parametrize(
    "reply", [hangs_up, stays_silent, talks_something_else, checks_token, never_ends]
)
async def test_no_error_ever_shows_the_token(reply: Reply) -> None:
    credentials = Stored(lambda: Identity(bearer(SECRET, "")), SystemClock())
    async with (
        loopback(reply) as server,
        networked(an_access(server.url, credentials=credentials), longest_answer=10_000) as client,
    ):
        with pytest.raises(KubeError) as raised:
            await client.send(a_request("POST", timeout=0.3))
        assert SECRET in server.heard[0].headers["authorization"]
    shown = f"{raised.value} {raised.value!r} {raised.value.__cause__}"
    assert SECRET not in shown


NOW = datetime.now(UTC)


@pytest.fixture(scope="module")
def authority() -> Authority:
    return Authority.create("loopback", NOW)


async def test_a_server_is_believed_by_its_authority_and_name(authority: Authority) -> None:
    trust = Trust(where="ca", authority=authority.pair.certificate)
    named = Trust(where="ca", authority=authority.pair.certificate, server_name="inside.example")
    async with loopback(answers, server_tls(authority, "inside.example")) as server:
        async with networked(an_access(server.url, trust=named)) as client:
            assert (await client.transport.request(a_request())).status == 200
        async with networked(an_access(server.url, trust=trust)) as client:
            with pytest.raises(Untrusted, match="its certificate is not trusted"):
                await client.transport.request(a_request())
        async with networked(
            an_access(server.url, trust=Trust(where="ca", insecure=True))
        ) as client:
            assert (await client.transport.request(a_request())).status == 200


async def test_an_authority_replaced_on_disk_is_found(authority: Authority, tmp_path: Path) -> None:
    file = tmp_path / "ca.crt"
    file.write_bytes(Authority.create("another", NOW).pair.certificate)
    trust = Trust(where="ca", authority_file=file)
    async with (
        loopback(answers, server_tls(authority, "127.0.0.1")) as server,
        networked(an_access(server.url, trust=trust)) as client,
    ):
        with pytest.raises(Unreachable):
            await client.transport.request(a_request())
        file.write_bytes(authority.pair.certificate)
        assert (await client.transport.request(a_request())).status == 200


async def test_a_renewed_client_certificate_is_presented(authority: Authority) -> None:
    strangers = Authority.create("strangers", NOW)
    current = strangers

    def certificate() -> Identity:
        pair = current.issue(Subject(name="me"), NOW)
        return Identity((), Certificate(pair.certificate, pair.key))

    trust = Trust(where="ca", authority=authority.pair.certificate)
    tls = server_tls(authority, "127.0.0.1", clients=authority)
    async with loopback(answers, tls) as server:
        for current in (strangers, authority):
            credentials = Stored(certificate, SystemClock())
            async with networked(
                an_access(server.url, trust=trust, credentials=credentials)
            ) as client:
                if current is authority:
                    assert (await client.transport.request(a_request())).status == 200
                else:
                    with pytest.raises(KubeError):
                        await client.transport.request(a_request())


async def test_a_proxy_leads_to_the_server_and_learns_only_its_own_password(
    authority: Authority,
) -> None:
    async with loopback(answers, server_tls(authority, "127.0.0.1")) as server:

        async def forwards(heard: Heard, writer: asyncio.StreamWriter) -> None:
            if heard.headers.get("proxy-authorization") != "Basic bWU6cEBzcw==":
                writer.write(http(407))
                return
            host, _, port = heard.target.partition(":")
            inner_reader, inner_writer = await asyncio.open_connection(host, int(port))
            writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
            outer = writer.transport.get_protocol()._stream_reader  # type: ignore[attr-defined]
            await asyncio.gather(_pump(outer, inner_writer), _pump(inner_reader, writer))

        trust = Trust(where="ca", authority=authority.pair.certificate)
        async with loopback(forwards) as proxy:
            address = proxy.url.removeprefix("http://")
            given = {"trust": trust, "credentials": Stored(_secret, SystemClock())}
            good = an_access(server.url, proxy=f"http://me:p%40ss@{address}", **given)
            async with networked(good) as client:
                assert (await client.transport.request(a_request())).status == 200
            assert "authorization" not in proxy.heard[0].headers
            bad = an_access(server.url, proxy=f"http://me:wrong@{address}", **given)
            async with networked(bad) as client:
                with pytest.raises(Unreachable, match="the proxy answered 407") as raised:
                    await client.transport.request(a_request())
            assert "wrong" not in str(raised.value)


def _secret() -> Identity:
    return Identity(bearer(SECRET, ""))


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(65536):
        writer.write(data)
        await writer.drain()
    writer.close()


async def test_a_stream_is_read_as_it_comes_and_ends_as_it_ends() -> None:
    go_on = asyncio.Event()

    async def streams(_: Heard, writer: asyncio.StreamWriter) -> None:
        writer.write(CHUNKED + chunk(b"one"))
        await writer.drain()
        await go_on.wait()
        writer.write(chunk(b"two") + b"0\r\n\r\n")

    async with (
        loopback(streams) as server,
        networked(an_access(server.url)) as client,
        client.transport.stream(a_request()) as stream,
    ):
        parts = aiter(stream)
        assert await anext(parts) == b"one"
        go_on.set()
        assert await anext(parts) == b"two"
        with pytest.raises(StopAsyncIteration):
            await anext(parts)


async def test_leaving_a_stream_closes_its_connection() -> None:
    async def streams(_: Heard, writer: asyncio.StreamWriter) -> None:
        writer.write(CHUNKED + chunk(b"one"))
        await writer.drain()

    async with loopback(streams) as server, networked(an_access(server.url)) as client:
        async with client.transport.stream(a_request()) as stream:
            assert await anext(aiter(stream)) == b"one"
            assert server.open == 1
        await eventually(lambda: _value(server.open == 0), "the connection to close")


async def read_to_end(transport: Transport) -> None:
    async with transport.stream(a_request()) as stream:
        async for _ in stream:
            pass


@pytest.mark.parametrize("reply", [cuts_a_chunk_off, hangs_up])
async def test_a_stream_that_is_cut_off_says_so(reply: Reply) -> None:
    async with loopback(reply) as server, networked(an_access(server.url)) as client:
        with pytest.raises(Ambiguous):
            await read_to_end(client.transport)


async def test_a_stream_that_does_not_begin_in_time_is_given_up() -> None:
    async with loopback(stays_silent) as server, networked(an_access(server.url)) as client:
        with pytest.raises(Ambiguous, match="no complete answer within"):
            async with client.transport.stream(a_request(timeout=0.2)):
                pass


async def test_a_closed_network_leaves_nothing_open() -> None:
    async with loopback(answers) as server:
        network = Network(an_access(server.url))
        await network.request(a_request())
        await network.close()
        await eventually(lambda: _value(server.open == 0), "the connection to close")
