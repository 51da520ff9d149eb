# SPDX-License-Identifier: Apache-2.0
"""A transport in memory: what it answers is written down, what it was asked is kept."""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from trellis.kube.errors import KubeError
from trellis.kube.transport import Request, Response

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping, Sequence

    Answer = Response | KubeError
    Script = Callable[[Request], Answer]

HANG = b"(hang)"
"""In place of a chunk: the stream stays open and says no more."""


def answer(body: Any = None, status: int = 200, **headers: str) -> Response:
    """An answer of JSON, or of the bytes that are given. Headers as `retry_after="1"`."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Response(
        status=status, headers={"content-type": "application/json", **named}, body=content
    )


def failure(code: int, reason: str = "", message: str = "", **details: Any) -> Response:
    """The API's own answer of no success."""
    return answer(status_object(code, reason, message, **details), code)


def status_object(code: int, reason: str = "", message: str = "", **details: Any) -> dict[str, Any]:
    return {
        "kind": "Status",
        "apiVersion": "v1",
        "status": "Failure",
        "code": code,
        "reason": reason,
        "message": message or reason,
        "details": details,
    }


class Stream:
    """An answer in chunks. An error among them cuts it off there."""

    def __init__(
        self,
        chunks: Sequence[bytes | KubeError] = (),
        status: int = 200,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self.status = status
        self.headers: Mapping[str, str] = headers or {"content-type": "application/json"}
        self._chunks = chunks

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for chunk in self._chunks:
            # As on a network, others run between two chunks.
            await asyncio.sleep(0)
            if isinstance(chunk, KubeError):
                raise chunk
            if chunk is HANG:
                await asyncio.Event().wait()
            yield chunk


class MemoryTransport:
    """Gives the answers in their order; a function answers whatever comes from then on."""

    def __init__(
        self,
        *answers: Answer | Script,
        streams: Sequence[Stream | KubeError] | Callable[[Request], Stream | KubeError] = (),
    ) -> None:
        self.requests: list[Request] = []
        self.opened: list[Request] = []
        self.closed = False
        self._answers = list(answers)
        self._streams = streams if callable(streams) else list(streams)

    async def request(self, request: Request) -> Response:
        self.requests.append(request)
        await asyncio.sleep(0)
        assert self._answers, f"nothing was written down to answer {request}"
        given = self._answers[0] if callable(self._answers[0]) else self._answers.pop(0)
        found = given(request) if callable(given) else given
        if isinstance(found, KubeError):
            raise found
        return found

    @asynccontextmanager
    async def stream(self, request: Request) -> AsyncIterator[Stream]:
        self.opened.append(request)
        await asyncio.sleep(0)
        found = self._next_stream(request)
        if isinstance(found, KubeError):
            raise found
        yield found

    async def close(self) -> None:
        self.closed = True

    def _next_stream(self, request: Request) -> Stream | KubeError:
        if callable(self._streams):
            return self._streams(request)
        return self._streams.pop(0) if self._streams else Stream([HANG])


def event(kind: str, body: Mapping[str, Any]) -> bytes:
    """One line of a watch."""
    return json.dumps({"type": kind, "object": body}).encode() + b"\n"


def bookmark(resource_version: str, *, initial_end: bool = False) -> bytes:
    metadata: dict[str, Any] = {"resourceVersion": resource_version}
    if initial_end:
        metadata["annotations"] = {"k8s.io/initial-events-end": "true"}
    return event("BOOKMARK", {"kind": "ConfigMap", "apiVersion": "v1", "metadata": metadata})
