# SPDX-License-Identifier: Apache-2.0
"""Between the wire and the handlers: how many reviews at once, for how long, and what is said when
it goes wrong. It knows no HTTP beyond status and headers, and decides no policy.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import TYPE_CHECKING

from trellis.api import strictjson
from trellis.webhooks import journal
from trellis.webhooks.hearing import Hearing
from trellis.webhooks.refusals import BodyTooSlow, NoSuchPath, Refused, TooManyInFlight
from trellis.webhooks.workers import Workers

if TYPE_CHECKING:
    from collections.abc import Mapping

    from trellis.instruments.clock import Clock
    from trellis.webhooks.metrics import Metrics
    from trellis.webhooks.review import Review
    from trellis.webhooks.verdict import Handler

ReadBody = Callable[[], Awaitable[bytes]]
_JSON = {"Content-Type": "application/json"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one process takes on. The budget is that of the webhook configurations."""

    json: strictjson.Limits = strictjson.REVIEW
    budget_seconds: float = 3.0
    in_flight: int = 64
    workers: int = 8


LIMITS = Limits()


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Failure:
    """What became of a handler that did not answer; `review` is missing if it was never read."""

    review: Review | None
    error: Exception
    late: bool
    seconds: float


class Intake:
    """Takes reviews for a set of routes. To be made inside the loop that it serves."""

    def __init__(
        self,
        routes: Mapping[str, Handler],
        *,
        clock: Clock,
        metrics: Metrics,
        limits: Limits = LIMITS,
    ) -> None:
        self._routes = dict(routes)
        self._clock = clock
        self._metrics = metrics
        self._workers = Workers(limits.workers)
        self._in_flight = 0
        self.limits = limits

    @property
    def paths(self) -> tuple[str, ...]:
        return tuple(self._routes)

    @property
    def in_flight(self) -> int:
        return self._in_flight

    @property
    def stuck(self) -> bool:
        """Whether no review can be heard any more, because no handler returns."""
        return self._workers.stuck

    async def answer(self, path: str, read_body: ReadBody) -> Answer:
        """Hears one review. The body is read only when there is a place for it."""
        try:
            return await self._admitted(path, read_body)
        except Refused as refused:
            return self.refusal(refused)

    def refusal(self, refused: Refused) -> Answer:
        """The answer to a request that is refused, counted."""
        self._metrics.refused.labels(type(refused).__name__).inc()
        return _text(refused.status, str(refused), refused.headers)

    def stop(self) -> None:
        self._workers.stop()

    async def _admitted(self, path: str, read_body: ReadBody) -> Answer:
        handler = self._routes.get(path)
        if handler is None:
            raise NoSuchPath("no webhook is served at this path")
        if self._in_flight >= self.limits.in_flight:
            raise TooManyInFlight(
                f"{self._in_flight} reviews are being heard already; try again in a second"
            )
        self._in_flight += 1
        self._metrics.in_flight.set(self._in_flight)
        try:
            return await self._heard(path, handler, read_body)
        finally:
            self._in_flight -= 1
            self._metrics.in_flight.set(self._in_flight)

    async def _heard(self, path: str, handler: Handler, read_body: ReadBody) -> Answer:
        started = self._clock.monotonic()
        budget = asyncio.timeout(self.limits.budget_seconds)
        hearing: Hearing | None = None
        try:
            async with budget:
                hearing = Hearing(handler, await read_body(), self.limits.json)
                heard = await self._workers.run(hearing.hear)
        except Refused:
            raise
        except Exception as error:
            late = budget.expired()
            if hearing:
                failure = _Failure(hearing.review, error, late, self._clock.monotonic() - started)
                return self._failed(path, failure)
            if late:
                raise self._too_slow() from error
            raise
        self._metrics.heard(path, heard, self._clock.monotonic() - started)
        journal.denied(path, heard)
        return Answer(status=HTTPStatus.OK, body=heard.content, headers=_JSON)

    def _failed(self, path: str, failure: _Failure) -> Answer:
        review, late = failure.review, failure.late
        self._metrics.failed(path, review, failure.seconds, late=late)
        journal.failed(path, review, failure.error, late=late)
        how = f"did not answer within {self.limits.budget_seconds:g} s" if late else "failed"
        which = f"review {review.uid}" if review else "a review still unread"
        return _text(HTTPStatus.INTERNAL_SERVER_ERROR, f"the webhook {path} {how} ({which})", {})

    def _too_slow(self) -> BodyTooSlow:
        return BodyTooSlow(f"the body did not arrive within {self.limits.budget_seconds:g} s")


def _text(status: int, line: str, headers: Mapping[str, str]) -> Answer:
    typed = {"Content-Type": "text/plain; charset=utf-8", **headers}
    return Answer(status=status, body=f"{line}\n".encode(), headers=typed)
