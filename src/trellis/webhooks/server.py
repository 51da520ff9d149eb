# SPDX-License-Identifier: Apache-2.0
"""The admission server on the wire: TLS, HTTP/1.1, its start, its readiness and its end.

Everything about one review is decided in `intake`; nothing here looks into a body.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError
from aiohttp.web_protocol import RequestPayloadError

from trellis.webhooks.refusals import (
    BodyBroken,
    BodyTooLarge,
    Refused,
    WrongMediaType,
    WrongMethod,
)

if TYPE_CHECKING:
    from trellis.instruments.clock import Clock
    from trellis.webhooks.intake import Answer, Intake
    from trellis.webhooks.tls import ServingCertificate

JSON = "application/json"
_HANDSHAKE_SECONDS = 10.0
# The API server gives an idle connection up after 90 s. It must be the first to do so: what it
# sends on one that we are just closing would be lost.
_IDLE_SECONDS = 120.0
# So long the rest of a refused body is read and dropped, so that the refusal is heard.
_LINGERING_SECONDS = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Listen:
    """Where to listen, and how to end. No host means every address of the machine.

    For `linger_seconds` after a stop was asked for, reviews are still taken, each on a connection
    that is closed behind it: so long the Service may go on sending them here. Then those in flight
    have `drain_seconds` to end.
    """

    host: str | None = None
    port: int = 9443
    linger_seconds: float = 5.0
    drain_seconds: float = 5.0


class AdmissionServer:
    """One listener. Start it once, stop it once."""

    def __init__(
        self, intake: Intake, certificate: ServingCertificate, listen: Listen, clock: Clock
    ) -> None:
        self._intake = intake
        self._certificate = certificate
        self._listen = listen
        self._clock = clock
        self._runner = web.AppRunner(
            self._application(),
            access_log=None,
            # What is compressed is refused as no JSON, instead of being blown up to its size.
            auto_decompress=False,
            keepalive_timeout=_IDLE_SECONDS,
            lingering_time=_LINGERING_SECONDS,
            logger=_wire_log(),
            shutdown_timeout=listen.drain_seconds,
        )
        self._listener: asyncio.Server | None = None
        self._stopping = False

    @property
    def port(self) -> int:
        """The port that is listened on; of use where any was asked for with 0."""
        if self._listener is None:
            raise RuntimeError("the admission server is not listening")
        port: int = self._listener.sockets[0].getsockname()[1]
        return port

    def ready(self) -> bool:
        return not self.why_not_ready()

    def why_not_ready(self) -> str:
        """What keeps the API server from being answered well; empty if nothing does."""
        if self._stopping:
            return "the admission server is stopping"
        if self._listener is None:
            return "the admission server is not listening yet"
        if self._intake.stuck:
            return "every worker of the admission server is held by a handler that never returned"
        return self._certificate.flaw(self._clock.now())

    async def start(self) -> None:
        await self._runner.setup()
        self._listener = await asyncio.get_running_loop().create_server(
            cast("web.Server", self._runner.server),
            self._listen.host,
            self._listen.port,
            ssl=self._certificate.context,
            ssl_handshake_timeout=_HANDSHAKE_SECONDS,
        )

    async def stop(self) -> None:
        """Ends without losing a review: not ready, then no new connections, then none at all."""
        self._stopping = True
        if self._listener:
            await self._clock.sleep(self._listen.linger_seconds)
            self._listener.close()
            self._listener = None
        await self._runner.cleanup()
        self._intake.stop()

    def _application(self) -> web.Application:
        application = web.Application(client_max_size=self._intake.limits.json.size)
        for path in (*self._intake.paths, "/{other:.*}"):
            application.router.add_route("*", path, self._serve)
        return application

    async def _serve(self, request: web.Request) -> web.StreamResponse:
        try:
            self._refuse(request)
            answer = await self._intake.answer(request.path, lambda: self._body(request))
        except Refused as refused:
            answer = self._intake.refusal(refused)
        return self._response(request, answer)

    def _refuse(self, request: web.Request) -> None:
        """What the head of a request alone is enough to refuse."""
        if request.method != "POST":
            raise WrongMethod("a webhook takes POST only")
        if request.content_type != JSON:
            raise WrongMediaType(f"Content-Type must be {JSON}")
        if (request.content_length or 0) > self._intake.limits.json.size:
            raise self._too_large()

    async def _body(self, request: web.Request) -> bytes:
        try:
            return await request.read()
        except web.HTTPRequestEntityTooLarge as error:
            raise self._too_large() from error
        except (RequestPayloadError, ConnectionError) as error:
            raise BodyBroken("the body cannot be read to its end") from error

    def _too_large(self) -> BodyTooLarge:
        return BodyTooLarge(
            f"the body has more than the {self._intake.limits.json.size} bytes allowed"
        )

    def _response(self, request: web.Request, answer: Answer) -> web.Response:
        response = web.Response(status=answer.status, body=answer.body, headers=answer.headers)
        transport = request.transport
        if self._stopping or transport is None or not self._certificate.is_current(transport):
            response.force_close()
        return response


def _wire_log() -> logging.Logger:
    """Where aiohttp reports broken HTTP: in a line, without the traceback it would add."""
    logger = logging.getLogger("trellis.webhooks.wire")
    logger.addFilter(_without_traceback)
    return logger


def _without_traceback(record: logging.LogRecord) -> bool:
    error = record.exc_info[1] if record.exc_info else None
    if isinstance(error, HttpProcessingError):
        record.msg, record.args = f"{record.getMessage()}: {type(error).__name__}", ()
        record.exc_info = None
        record.levelno, record.levelname = logging.INFO, "INFO"
    return True
