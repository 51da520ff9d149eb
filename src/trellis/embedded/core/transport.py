# SPDX-License-Identifier: Apache-2.0
"""The API server of this process as a client's transport: no sockets, nothing copied twice."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from trellis.embedded.exchange import Ask
from trellis.kube.transport import Request, Response

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Mapping

    from trellis.embedded.exchange import Answer, Feed


@dataclass(frozen=True, slots=True)
class InProcess:
    """Asks as the bearer of one token. `handle` is what answers: the core, or a fault before it."""

    handle: Callable[[Ask], Awaitable[Answer]]
    token: str
    agent: str = "trellis"

    async def request(self, request: Request) -> Response:
        # Nothing else here waits: who asks until it hears of a change would keep it from coming.
        await asyncio.sleep(0)
        answer = await self.handle(self._ask(request))
        body = answer.body if isinstance(answer.body, bytes) else await _whole(answer.body)
        return Response(status=answer.status, headers=_headers(answer), body=body)

    @asynccontextmanager
    async def stream(self, request: Request) -> AsyncIterator[_Streamed]:
        answer = await self.handle(self._ask(request))
        feed = answer.body
        try:
            yield _Streamed(answer.status, feed, _headers(answer))
        finally:
            if not isinstance(feed, bytes):
                feed.close()

    async def close(self) -> None:
        """There are no connections to give up."""

    def _ask(self, request: Request) -> Ask:
        headers = {name.lower(): value for name, value in request.headers}
        headers.setdefault("authorization", f"Bearer {self.token}")
        headers.setdefault("user-agent", self.agent)
        return Ask(
            method=request.method,
            path=request.path,
            query=request.query,
            headers=headers,
            body=request.body or b"",
        )


@dataclass(frozen=True, slots=True)
class _Streamed:
    status: int
    feed: bytes | Feed
    headers: Mapping[str, str] = field(default_factory=dict)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        if isinstance(self.feed, bytes):
            yield self.feed
            return
        async for chunk in self.feed:
            yield chunk


async def _whole(feed: Feed) -> bytes:
    return b"".join([chunk async for chunk in feed])


def _headers(answer: Answer) -> dict[str, str]:
    return {name.lower(): value for name, value in answer.headers}
