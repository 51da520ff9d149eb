# SPDX-License-Identifier: Apache-2.0
"""A bare HTTP client for a Kubernetes API: what is asked is sent, what is answered is returned."""

from __future__ import annotations

import io
import json
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

import aiohttp
from yarl import URL

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping
    from ssl import SSLContext

    from multidict import CIMultiDictProxy

JSON = "application/json"
PATCHES = {
    "json": "application/json-patch+json",
    "merge": "application/merge-patch+json",
    "strategic": "application/strategic-merge-patch+json",
    "apply": "application/apply-patch+yaml",
}
# A watch line holds one object; servers refuse objects well below this.
_LINE_LIMIT = 8 << 20


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    headers: CIMultiDictProxy[str]
    content: bytes

    @property
    def body(self) -> Any:
        """Decoded if it is JSON, text otherwise, None if there is nothing."""
        if not self.content:
            return None
        if "json" in self.headers.get("Content-Type", ""):
            return json.loads(self.content)
        return self.content.decode()


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One HTTP request. A body of bytes goes as it is, anything else as JSON."""

    method: str
    path: str
    body: Any = None
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def target(self) -> str:
        query = urlencode(self.query, quote_via=quote)
        return f"{self.path}?{query}" if query else self.path

    @property
    def payload(self) -> io.BytesIO | None:
        if self.body is None:
            return None
        raw = self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()
        # A stream: large bodies given as bytes make the client complain.
        return io.BytesIO(raw)


@dataclass(frozen=True, slots=True, kw_only=True)
class Api:
    """One server seen by one user."""

    session: aiohttp.ClientSession
    server: str
    tls: SSLContext
    token: str | None
    user_agent: str = "trellis-tests/1.0"

    def with_token(self, token: str | None) -> Api:
        return replace(self, token=token)

    async def send(self, request: Request) -> Answer:
        async with self.stream(request) as response:
            return Answer(response.status, response.headers, await response.read())

    async def do(self, method: str, path: str, body: Any = None, *, patch: str = "") -> Any:
        """A request that must succeed; returns the decoded body. `patch` is a key of PATCHES."""
        headers = {"Content-Type": PATCHES[patch]} if patch else {}
        answer = await self.send(Request(method=method, path=path, body=body, headers=headers))
        assert answer.status < 300, f"{method} {path}: {answer.status} {answer.content[:600]!r}"
        return answer.body

    async def exists(self, path: str) -> bool:
        return (await self.send(Request(method="GET", path=path))).status == 200

    @asynccontextmanager
    async def stream(self, request: Request) -> AsyncIterator[aiohttp.ClientResponse]:
        """The answer as it arrives; leaving the block closes the connection."""
        headers = {"User-Agent": self.user_agent, "Accept": JSON}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        if request.body is not None:
            headers["Content-Type"] = JSON
        async with self.session.request(
            request.method,
            # Already encoded: what a probe asks for must reach the server untouched.
            URL(self.server + request.target, encoded=True),
            data=request.payload,
            headers=headers | dict(request.headers),
            ssl=self.tls,
            allow_redirects=False,
        ) as response:
            yield response


def new_session() -> aiohttp.ClientSession:
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0),
        timeout=aiohttp.ClientTimeout(total=None, sock_connect=10),
        read_bufsize=_LINE_LIMIT,
        skip_auto_headers=("Content-Type",),
    )
