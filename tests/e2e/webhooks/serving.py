# SPDX-License-Identifier: Apache-2.0
"""An admission server on loopback, and a client that trusts it."""

from __future__ import annotations

import ssl
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import aiohttp
from prometheus_client import CollectorRegistry

from tests.support.reviews import a_body
from trellis.instruments.clock import SystemClock
from trellis.webhooks.certificates import Authority, Subject
from trellis.webhooks.identity import Identity
from trellis.webhooks.intake import LIMITS, Intake, Limits
from trellis.webhooks.metrics import Metrics
from trellis.webhooks.server import AdmissionServer, Listen
from trellis.webhooks.tls import ServingCertificate

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from trellis.instruments.clock import Clock
    from trellis.webhooks.verdict import Handler

LOOPBACK = "127.0.0.1"
SUBJECT = Subject(name="webhooks", hosts=(LOOPBACK,))
LISTEN = Listen(host=LOOPBACK, port=0, linger_seconds=0)
CLOCK = SystemClock()
JSON = {"Content-Type": "application/json"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Serving:
    server: AdmissionServer
    certificate: ServingCertificate
    intake: Intake
    metrics: Metrics
    registry: CollectorRegistry

    def url(self, path: str = "/things") -> str:
        return f"https://{LOOPBACK}:{self.server.port}{path}"

    def use(self, authority: Authority) -> None:
        """Serves with a new certificate of that authority."""
        now = CLOCK.now()
        pair = authority.issue(SUBJECT, now)
        self.certificate.use(Identity(pair, authority.pair.certificate), now)

    def count(self, name: str, **labels: str) -> float | None:
        return self.registry.get_sample_value(f"trellis_admission_{name}", labels)


@asynccontextmanager
async def serving(
    routes: Mapping[str, Handler],
    limits: Limits = LIMITS,
    listen: Listen = LISTEN,
    clock: Clock = CLOCK,
) -> AsyncIterator[Serving]:
    """Without a certificate yet. It is stopped at the end, unless that was done before."""
    registry, certificate = CollectorRegistry(), ServingCertificate()
    metrics = Metrics(registry, routes)
    intake = Intake(routes, clock=clock, metrics=metrics, limits=limits)
    server = AdmissionServer(intake, certificate, listen, clock)
    await server.start()
    try:
        yield Serving(
            server=server,
            certificate=certificate,
            intake=intake,
            metrics=metrics,
            registry=registry,
        )
    finally:
        await server.stop()


def trusting(authority: Authority) -> ssl.SSLContext:
    return ssl.create_default_context(cadata=authority.pair.certificate.decode())


def client(authority: Authority) -> aiohttp.ClientSession:
    connector = aiohttp.TCPConnector(ssl=trusting(authority), limit=0)
    return aiohttp.ClientSession(connector=connector)


async def review(
    session: aiohttp.ClientSession, url: str, body: Any = None
) -> aiohttp.ClientResponse:
    """Sends a review, or whatever is given, and waits for the whole answer."""
    data = a_body() if body is None else body
    async with session.post(url, data=data, headers=JSON) as answer:
        await answer.read()
        return answer
