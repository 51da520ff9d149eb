# SPDX-License-Identifier: Apache-2.0
"""One connection: its requests are answered one after the other, in the order they came."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, cast

import structlog

from trellis.embedded.exchange import Answer, Ask
from trellis.embedded.front import writing
from trellis.embedded.front.reading import BODY_LIMIT, Arrived, Reader, Unreadable
from trellis.embedded.refusals import Refusal
from trellis.embedded.wire import media

if TYPE_CHECKING:
    from trellis.embedded.exchange import Feed

Handle = Callable[[Ask], Awaitable[Answer]]

# How far a client may be behind in reading before nothing more is taken from what feeds it.
WRITE_HIGH, WRITE_LOW = 1 << 20, 1 << 18
# Requests that wait for the one before them; the socket is not read beyond that.
PIPELINED = 16
# For a client that goes on writing what nobody reads.
LINGER_SECONDS = 0.5

_log = structlog.get_logger(__name__)


class Connection(asyncio.Protocol):
    def __init__(self, handle: Handle, connections: set[Connection]) -> None:
        self._handle = handle
        self._connections = connections
        self._reader = Reader(self._continue)
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._worker: asyncio.Task[None] | None = None
        self._waiting: asyncio.Future[None] | None = None
        self._drained: asyncio.Future[None] | None = None
        self._feed: Feed | None = None
        self._paused_reading = False
        self._closing = False
        self._unread = False
        self.busy = False
        self.since = self._loop.time()
        """When it became idle, or began what it is now reading or answering."""

    # asyncio's side

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transport is no subclass of asyncio's.
        self._transport = cast("asyncio.Transport", transport)
        self._transport.set_write_buffer_limits(high=WRITE_HIGH, low=WRITE_LOW)
        self._connections.add(self)
        self._worker = self._loop.create_task(self._work())

    def data_received(self, data: bytes) -> None:
        if self._closing:
            return
        began = self._reader.inside
        try:
            self._reader.feed(data)
        except Unreadable as problem:
            self._unreadable(problem)
        if self._reader.inside and not began and not self.busy:
            self.since = self._loop.time()
        if self._reader.arrived:
            self._wake()
            if len(self._reader.arrived) > PIPELINED and self._transport is not None:
                self._paused_reading = True
                self._transport.pause_reading()

    def eof_received(self) -> bool:
        """The client has said all. What it asked for is answered still, but no watch goes on."""
        if self._feed is not None or not self.busy:
            return False
        self._closing = True
        return True

    def pause_writing(self) -> None:
        self._drained = self._loop.create_future()

    def resume_writing(self) -> None:
        if self._drained is not None and not self._drained.done():
            self._drained.set_result(None)
        self._drained = None

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's name
        self._connections.discard(self)
        self._transport = None
        self.resume_writing()
        if self._feed is not None:
            self._feed.close()
        if self._worker is not None:
            self._worker.cancel()

    # the server's side

    def stop(self) -> None:
        """Ends after what is being answered; a stream ends at once."""
        self._closing = True
        if self._feed is not None:
            self._feed.close()
        elif not self.busy:
            self.abort()

    def abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    def stalled(self, now: float, idle: float, reading: float) -> bool:
        """Whether it has been silent between requests, or within one, for too long."""
        if self.busy:
            return False
        return now - self.since > (reading if self._reader.inside else idle)

    # in between

    def _continue(self) -> None:
        if not self.busy and self._transport is not None:
            self._transport.write(writing.CONTINUE)

    def _unreadable(self, problem: Unreadable) -> None:
        self._closing = self._unread = True
        if self._reader.arrived:
            return  # the answer to it is the last thing that is said
        if self._transport is not None:
            self._transport.write(writing.plain(problem.status, problem.text))
            self._end()

    def _end(self) -> None:
        """Closes when the client has read what was said: while it still writes, closing at once
        would take the answer away from it."""
        if self._transport is None:
            return
        if self._unread and self._transport.can_write_eof():
            self._transport.write_eof()
            self._loop.call_later(LINGER_SECONDS, self.abort)
        else:
            self._transport.close()

    def _wake(self) -> None:
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)

    async def _work(self) -> None:
        arrived = self._reader.arrived
        while self._transport is not None:
            while not arrived:
                self._waiting = self._loop.create_future()
                await self._waiting
            request = arrived.popleft()
            if self._paused_reading and not arrived:
                self._paused_reading = False
                self._transport.resume_reading()
            self.busy = True
            last = await self._answer(request)
            self.busy = False
            self.since = self._loop.time()
            if last or (self._closing and not arrived):
                break
        self._end()

    async def _answer(self, request: Arrived) -> bool:
        """Whether nothing more can be said on this connection."""
        answer = await self._answered(request)
        transport = self._transport
        if transport is None:
            return True
        last = request.last or self._closing
        if isinstance(answer.body, bytes):
            data = writing.whole(
                request.ask.method, answer.status, answer.headers, answer.body, last=last
            )
            transport.write(data)
            if self._drained is not None:
                await self._drained
            return last
        await self._stream(request, answer, answer.body)
        return last or not request.chunked

    async def _answered(self, request: Arrived) -> Answer:
        if request.too_large:
            return _too_large(request.ask)
        try:
            return await self._handle(request.ask)
        except Exception:
            # Whoever answers turns refusals into answers; this is a defect, and not the client's.
            _log.exception("request failed", method=request.ask.method, path=request.ask.path)
            headers = (("Content-Type", "text/plain; charset=utf-8"),)
            return Answer(500, b"internal server error\n", headers)

    async def _stream(self, request: Arrived, answer: Answer, feed: Feed) -> None:
        """As fast as the client reads, and no faster: what feeds it bounds what piles up."""
        transport = self._transport
        if transport is None:
            feed.close()
            return
        chunked, last = request.chunked, request.last or self._closing
        transport.write(writing.stream(answer.status, answer.headers, chunked=chunked, last=last))
        if request.ask.method == "HEAD":
            feed.close()
            return
        self._feed = feed
        try:
            async for data in feed:
                if data:
                    transport.write(writing.chunk(data) if chunked else data)
                if self._drained is not None:
                    await self._drained
                if self._transport is None:
                    return
            if chunked:
                transport.write(writing.LAST_CHUNK)
        finally:
            self._feed = None
            feed.close()


def _too_large(ask: Ask) -> Answer:
    message = f"Request entity too large: limit is {BODY_LIMIT}"
    refusal = Refusal(413, "RequestEntityTooLarge", message)
    form = media.of_error(ask)
    headers = (("Cache-Control", "no-cache, private"), *form.headers)
    return Answer(413, media.written(refusal.status, form), headers)
