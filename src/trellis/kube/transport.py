# SPDX-License-Identifier: Apache-2.0
"""The one seam between the client and whatever answers it.

The network, an API server in this process, and injected faults are all a `Transport`. What every
transport keeps to, so that the client may rely on it:

- A complete HTTP answer is returned, whatever its status. A transport interprets only a 401, to
  present fresh credentials once; it never sends a request again for any other reason.
- `Unreachable`: the request was certainly not received. `Ambiguous`: it may have been, and no
  complete answer came (connection lost, time ran out, answer cut off). `Unreadable`: what came is
  no HTTP, or too large to be kept. `BadConfig`: the credentials cannot be had. Nothing else.
- Cancelling abandons the exchange and gives its connection up; the request may have been received.
- A transport adds who asks (authorization, impersonation) and where; it changes nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

import msgspec

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from contextlib import AbstractAsyncContextManager

Pairs = tuple[tuple[str, str], ...]


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """One HTTP request. The path is percent-encoded and begins with `/`; the query is plain."""

    method: str
    path: str
    query: Pairs = ()
    headers: Pairs = ()
    body: bytes | None = None
    timeout: float
    """Seconds for the whole exchange; of a stream, until its status is there."""
    patience: float | None = None
    """For how many seconds it may wait to be sent again, if it is a write."""

    def __str__(self) -> str:
        return f"{self.method} {self.path}"

    def __repr__(self) -> str:
        # Bodies hold what must not be shown.
        return f"<{self}>"


class Response(msgspec.Struct, frozen=True, kw_only=True):
    """One complete answer. The names of headers are in lower case."""

    status: int
    headers: Mapping[str, str] = {}
    body: bytes = b""

    def __repr__(self) -> str:
        return f"<{self.status}, {len(self.body)} bytes>"


class Stream(Protocol):
    """An answer whose body arrives bit by bit, and is cut anywhere."""

    @property
    def status(self) -> int: ...

    @property
    def headers(self) -> Mapping[str, str]:
        """Names are in lower case."""

    def __aiter__(self) -> AsyncIterator[bytes]:
        """Ends when the server has ended its answer; raises `Ambiguous` when it was cut off.

        It is read for as long as the caller likes: a stream has no timeout of its own.
        """


class Transport(Protocol):
    async def request(self, request: Request) -> Response:
        """One exchange, from request to complete answer."""

    def stream(self, request: Request) -> AbstractAsyncContextManager[Stream]:
        """An answer to be read as it comes; leaving the block ends it and closes its connection."""

    async def close(self) -> None:
        """Gives every connection up. Exchanges under way end as `Ambiguous` or cancelled."""
