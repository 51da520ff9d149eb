# SPDX-License-Identifier: Apache-2.0
"""Keeps what a server serves with up to date: looks at its source, again and again.

By looking instead of being told: a mounted Secret is exchanged by renaming folders, and a notice
of that can be missed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

import structlog

if TYPE_CHECKING:
    from trellis.instruments.clock import Clock
    from trellis.webhooks.identity import Identity, IdentitySource
    from trellis.webhooks.metrics import Metrics
    from trellis.webhooks.tls import ServingCertificate

PERIOD_SECONDS = 10.0
# Until there is something to serve with, every request that is to be reviewed fails.
FIRST_SECONDS = 0.5

log = structlog.get_logger("webhooks")


class Reloader:
    """From a source to a server's certificate. What cannot be used is reported once, and what is
    served stays."""

    def __init__(
        self,
        source: IdentitySource,
        certificate: ServingCertificate,
        clock: Clock,
        metrics: Metrics,
    ) -> None:
        self._source = source
        self._certificate = certificate
        self._clock = clock
        self._metrics = metrics
        self._seen: Identity | None = None
        self._reported = ""

    async def refresh(self) -> None:
        """Looks once. Never raises for what it finds."""
        try:
            found = await self._source.read()
            if found != self._seen:
                self._use(found)
        except Exception as error:
            self._report(error)
        else:
            self._reported = ""

    async def run(self, period: float = PERIOD_SECONDS) -> NoReturn:
        while True:
            await self.refresh()
            await self._clock.sleep(period if self._seen else FIRST_SECONDS)

    def _use(self, identity: Identity) -> None:
        self._certificate.use(identity, self._clock.now())
        self._seen = identity
        if expires := self._certificate.expires:
            self._metrics.expiry.set(expires.timestamp())
            log.info("a certificate is served", expires=expires.isoformat())

    def _report(self, error: Exception) -> None:
        self._metrics.certificate_failures.inc()
        problem = f"{type(error).__name__}: {error}"
        if problem != self._reported:
            self._reported = problem
            log.error("a certificate cannot be used", problem=problem)
