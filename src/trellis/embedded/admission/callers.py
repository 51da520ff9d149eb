# SPDX-License-Identifier: Apache-2.0
"""Carrying reviews to webhooks: functions of this process, or HTTPS servers.

An embedded cluster has no network of services: who answers for one is registered here. Nothing
goes through a proxy, no redirect is followed, and only a webhook's own URL leads elsewhere than
to this machine.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import ssl
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from trellis.embedded.admission.answers import Unusable
from trellis.embedded.admission.responses import answer_problem

if TYPE_CHECKING:
    import aiohttp

    from trellis.embedded.admission.hooks import Client, Service

Handler = Callable[[bytes], Awaitable[bytes]]
_AGENT = "kube-apiserver-admission"
_HEADERS = {
    "User-Agent": _AGENT,
    "Content-Type": "application/json",
    "Accept": "application/json, */*",
    "Accept-Encoding": "gzip",
}
_LARGEST_ANSWER = 16 << 20
_UNKNOWN_AUTHORITY = frozenset({2, 18, 19, 20, 21})
_MISMATCH = frozenset({62, 64})
_EXPIRED = frozenset({9, 10})
_CONTEXTS = 200


class Callers:
    """Handlers come first: by the webhook's name, then by service and path, then by address."""

    def __init__(self) -> None:
        self._by_webhook: dict[str, Handler] = {}
        self._by_service: dict[tuple[str, str, str], Handler] = {}
        self._addresses: dict[tuple[str, str], tuple[str, int]] = {}
        self._contexts: dict[str, ssl.SSLContext] = {}
        self._session: aiohttp.ClientSession | None = None

    def handle_webhook(self, name: str, handler: Handler) -> None:
        self._by_webhook[name] = handler

    def handle_service(self, namespace: str, name: str, path: str, handler: Handler) -> None:
        self._by_service[namespace, name, path] = handler

    def serve(self, namespace: str, name: str, host: str, port: int) -> None:
        """Says where the server is that answers for a service."""
        self._addresses[namespace, name] = host, port

    async def close(self) -> None:
        if self._session:
            await self._session.close()
            self._session = None

    async def call(self, client: Client, review: bytes, seconds: int) -> bytes:
        url = f"{client.url}?timeout={seconds}s"
        try:
            async with asyncio.timeout(seconds):
                handler = self._handler(client)
                if handler:
                    return await _handled(handler, url, review)
                return await self._post(client, url, review)
        except TimeoutError:
            raise _unsent(url, "context deadline exceeded") from None

    def _handler(self, client: Client) -> Handler | None:
        if client.webhook in self._by_webhook:
            return self._by_webhook[client.webhook]
        service = client.service
        if service is None:
            return None
        return self._by_service.get((service.namespace, service.name, service.path))

    async def _post(self, client: Client, url: str, review: bytes) -> bytes:
        import aiohttp  # noqa: PLC0415 - heavy, and most clusters call no webhook

        where, server = self._located(client.service, url) if client.service else (url, None)
        trusting = self._trust(client.bundle)
        if self._session is None:
            self._session = aiohttp.ClientSession()
        try:
            async with self._session.post(
                where,
                data=review,
                headers=_HEADERS,
                ssl=trusting,
                server_hostname=server,
                allow_redirects=False,
            ) as response:
                answer = await _body(response)
                kind = response.headers.get("Content-Type", "")
                if problem := answer_problem(response.status, kind, answer):
                    raise Unusable(f"failed to call webhook: {problem}")
                return answer
        except aiohttp.ClientError as error:
            raise _unsent(url, _told(error, where)) from None

    def _located(self, service: Service, url: str) -> tuple[str, str]:
        """The address to call in place of the service's, and the name its certificate must have."""
        address = self._addresses.get((service.namespace, service.name))
        if address is None:
            raise _unsent(url, f'service "{service.name}" not found')
        host, port = address
        rest = urlsplit(url)._replace(scheme="", netloc="").geturl()
        return f"https://{host}:{port}{rest}", f"{service.name}.{service.namespace}.svc"

    def _trust(self, bundle: str) -> ssl.SSLContext:
        context = self._contexts.get(bundle)
        if context is None:
            if len(self._contexts) >= _CONTEXTS:
                self._contexts.clear()
            context = self._contexts[bundle] = _context(bundle)
        return context


async def _handled(handler: Handler, url: str, review: bytes) -> bytes:
    """A function that fails is a webhook that fails: the request must not go through."""
    try:
        return await handler(review)
    except TimeoutError:
        raise
    except Exception as error:
        raise _unsent(url, f"{type(error).__name__}: {error}") from error


async def _body(response: aiohttp.ClientResponse) -> bytes:
    found = bytearray()
    async for chunk in response.content.iter_any():
        found += chunk
        if len(found) > _LARGEST_ANSWER:
            raise Unusable(f"failed to call webhook: its answer exceeds {_LARGEST_ANSWER} bytes")
    return bytes(found)


def _context(bundle: str) -> ssl.SSLContext:
    try:
        pem = base64.b64decode(bundle).decode() if bundle else None
        return ssl.create_default_context(cadata=pem)
    except (binascii.Error, UnicodeDecodeError, ssl.SSLError):
        said = "unable to load root certificates: unable to parse bytes as PEM block"
        raise Unusable(f"could not get REST client: {said}") from None


def _unsent(url: str, why: str) -> Unusable:
    return Unusable(f'failed to call webhook: Post "{url}": {why}')


def _told(error: aiohttp.ClientError, url: str) -> str:
    """An error of the network in the words of the real server's library."""
    import aiohttp  # noqa: PLC0415

    netloc = urlsplit(url).netloc
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        return _certificate_problem(error.certificate_error, netloc)
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return f"dial tcp: lookup {urlsplit(url).hostname}: no such host"
    if isinstance(error, aiohttp.ClientConnectorError):
        if isinstance(error.os_error, ConnectionRefusedError) or "refused" in str(error):
            return f"dial tcp {netloc}: connect: connection refused"
        return f"dial tcp {netloc}: {error.os_error.strerror or error}"
    if isinstance(error, aiohttp.ServerDisconnectedError):
        return "EOF"
    return str(error)


def _certificate_problem(error: Exception, netloc: str) -> str:
    code = getattr(error, "verify_code", 0)
    said = "tls: failed to verify certificate: x509:"
    if code in _UNKNOWN_AUTHORITY:
        return f"{said} certificate signed by unknown authority"
    if code in _EXPIRED:
        return f"{said} certificate has expired or is not yet valid"
    if code in _MISMATCH:
        return f"{said} certificate is not valid for {netloc.rpartition(':')[0]}"
    return f"{said} {error}"
