# SPDX-License-Identifier: Apache-2.0
"""The transport over the network: HTTP/1.1 on connections that are kept for the next request.

Watches have connections of their own, so that they never hold one that a request waits for.
"""

from __future__ import annotations

import asyncio
import io
from contextlib import asynccontextmanager
from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote, urlencode, urlsplit

import aiohttp
from yarl import URL

from trellis.kube import tls
from trellis.kube.credentials import basic
from trellis.kube.errors import Unreadable
from trellis.kube.faults import FAULTS, meaning, send_once
from trellis.kube.transport import Response

if TYPE_CHECKING:
    import ssl
    from collections.abc import AsyncIterator, Mapping

    from trellis.kube.access import Access
    from trellis.kube.credentials import Certificate, Identity
    from trellis.kube.errors import KubeError
    from trellis.kube.transport import Pairs, Request

CONNECT_SECONDS = 10.0
# Well below the 90 s after which the API server closes an idle connection by itself.
KEEP_SECONDS = 20.0
LONGEST_ANSWER = 256 << 20
# What may arrive on a connection before it is read.
_BUFFER = 1 << 20
# aiohttp writes bytes in one go, and warns above this.
_ONE_GO = 1 << 20
_UNLIMITED = aiohttp.ClientTimeout(total=None, connect=CONNECT_SECONDS)


class Network:
    """A `Transport` to the server of one access. To be made where an event loop runs."""

    def __init__(self, access: Access, *, longest_answer: int = LONGEST_ANSWER) -> None:
        self._access = access
        self._longest = longest_answer
        self._requests = _session()
        self._streams = _session()
        self._proxy, self._proxy_headers = _proxy(access.proxy)
        self._tls: ssl.SSLContext | None = None
        self._tls_for: Certificate | None = None

    async def request(self, request: Request) -> Response:
        try:
            async with await self._open(self._requests, request) as answer:
                body = await self._body(request, answer)
                return Response(status=answer.status, headers=_headers(answer), body=body)
        except FAULTS as error:
            raise self.meaning(request, error) from None

    @asynccontextmanager
    async def stream(self, request: Request) -> AsyncIterator[_Stream]:
        try:
            answer = await self._open(self._streams, request)
        except FAULTS as error:
            raise self.meaning(request, error) from None
        try:
            yield _Stream(self, request, answer)
        finally:
            # Half read: nothing else can use this connection.
            answer.close()

    async def close(self) -> None:
        await self._requests.close()
        await self._streams.close()

    async def _open(
        self, session: aiohttp.ClientSession, request: Request
    ) -> aiohttp.ClientResponse:
        """Up to the head of the answer; once more when fresh credentials may be had."""
        credentials = self._access.credentials
        identity = await credentials.identity()
        answer = await self._send(session, request, identity)
        if answer.status != 401:
            return answer
        try:
            newer = await credentials.renewed(identity)
        except BaseException:
            answer.close()
            raise
        if newer == identity:
            return answer
        answer.release()
        return await self._send(session, request, newer)

    async def _send(
        self, session: aiohttp.ClientSession, request: Request, identity: Identity
    ) -> aiohttp.ClientResponse:
        if session is self._requests:
            return await self._head(session, request, identity, _limits(request.timeout))
        # aiohttp's own limit would count until a stream's last byte.
        async with asyncio.timeout(request.timeout):
            return await self._head(session, request, identity, _UNLIMITED)

    async def _head(
        self,
        session: aiohttp.ClientSession,
        request: Request,
        identity: Identity,
        limits: aiohttp.ClientTimeout,
    ) -> aiohttp.ClientResponse:
        body = request.body
        return await session.request(
            request.method,
            self._url(request),
            data=io.BytesIO(body) if body and len(body) > _ONE_GO else body,
            headers=[*request.headers, *self._access.impersonation, *identity.headers],
            timeout=limits,
            ssl=self._secured(identity.certificate),
            server_hostname=self._access.trust.server_name or None,
            proxy=self._proxy,
            proxy_headers=self._proxy_headers,
            # Wherever it would lead, the credentials are not for there.
            allow_redirects=False,
        )

    def _url(self, request: Request) -> URL:
        query = _encoded(request.query)
        target = f"{request.path}?{query}" if query else request.path
        return URL(self._access.server + target, encoded=True)

    def _secured(self, certificate: Certificate | None) -> ssl.SSLContext | bool:
        """One context for as long as the certificate stays, because connections are kept by it."""
        if self._access.server.startswith("http:"):
            return True
        if self._tls is None or self._tls_for != certificate:
            self._tls = tls.context(self._access.trust, certificate)
            self._tls_for = certificate
        return self._tls

    async def _body(self, request: Request, answer: aiohttp.ClientResponse) -> bytes:
        parts: list[bytes] = []
        size = 0
        announced = answer.content_length or 0
        if announced <= self._longest:
            async for part in answer.content.iter_any():
                parts.append(part)
                size += len(part)
                if size > self._longest:
                    break
        if max(size, announced) > self._longest:
            answer.close()
            raise Unreadable(f"{request}: an answer of more than {self._longest} bytes")
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def meaning(self, request: Request, error: Exception) -> KubeError:
        if isinstance(error, aiohttp.ClientConnectorCertificateError):
            # The authority may have been replaced on disk since it was read.
            self._tls = None
        return meaning(request, self._access.server, error)


class _Stream:
    def __init__(self, network: Network, request: Request, answer: aiohttp.ClientResponse) -> None:
        self._network = network
        self._request = request
        self._answer = answer
        self.status = answer.status
        self.headers = _headers(answer)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for chunk in self._answer.content.iter_any():
                yield chunk
        except FAULTS as error:
            raise self._network.meaning(self._request, error) from None


def _session() -> aiohttp.ClientSession:
    return aiohttp.ClientSession(
        # The gate bounds requests, the caller bounds watches.
        connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=KEEP_SECONDS),
        cookie_jar=aiohttp.DummyCookieJar(),
        middlewares=(send_once,),
        # Compression costs the server more than a local network gains by it.
        skip_auto_headers=("Accept-Encoding", "Content-Type"),
        auto_decompress=False,
        read_bufsize=_BUFFER,
    )


@lru_cache(maxsize=64)
def _limits(total: float) -> aiohttp.ClientTimeout:
    return aiohttp.ClientTimeout(total=total, connect=min(CONNECT_SECONDS, total / 2))


@lru_cache(maxsize=256)
def _encoded(query: Pairs) -> str:
    """Kept, because writes all have the same."""
    return urlencode(query, quote_via=quote)


def _headers(answer: aiohttp.ClientResponse) -> Mapping[str, str]:
    return {name.lower(): value for name, value in answer.headers.items()}


def _proxy(url: str) -> tuple[str | None, dict[str, str] | None]:
    """A password in the URL becomes a header, so that no error can show it."""
    if not url:
        return None, None
    parts = urlsplit(url)
    bare = parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
    if not parts.username:
        return bare, None
    [(_, credentials)] = basic(unquote(parts.username), unquote(parts.password or ""))
    return bare, {"Proxy-Authorization": credentials}
