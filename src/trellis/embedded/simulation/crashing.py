# SPDX-License-Identifier: Apache-2.0
"""A process that dies before or after any of its API calls, and is started again.

What makes a controller safe is that it does not matter where: the end is the same. The death is
that of `kill -9`: the call that it happens in never returns, and nothing the process still wants
to say on its way out is heard.
"""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from trellis.kube.errors import Unreachable

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterator

    from trellis.kube.transport import Request, Response, Stream, Transport

    Program = Callable[[Transport], Awaitable[None]]
    """Runs until it is cancelled."""
    Settled = Callable[[], Awaitable[None]]
    """Waits until nothing more is to be done."""


@dataclass(frozen=True, slots=True)
class Point:
    """The place of a death: a call, counted from 0, and whether the server still had it."""

    call: int
    after: bool

    def __str__(self) -> str:
        return f"{'after' if self.after else 'before'} call {self.call}"


@dataclass(slots=True)
class Doomed:
    """A transport that dies with its process at `point`; without one it only counts."""

    inner: Transport
    point: Point | None = None
    calls: list[str] = field(default_factory=list)
    died: asyncio.Event = field(default_factory=asyncio.Event)

    async def request(self, request: Request) -> Response:
        number = self._counted(request)
        await self._dies(Point(number, after=False))
        response = await self.inner.request(request)
        await self._dies(Point(number, after=True))
        return response

    @asynccontextmanager
    async def stream(self, request: Request) -> AsyncIterator[Stream]:
        self._alive(request)
        async with self.inner.stream(request) as stream:
            yield stream

    async def close(self) -> None:
        await self.inner.close()

    def _counted(self, request: Request) -> int:
        self._alive(request)
        self.calls.append(str(request))
        return len(self.calls) - 1

    def _alive(self, request: Request) -> None:
        if self.died.is_set():
            raise Unreachable(f"{request}: the process is dead")

    async def _dies(self, here: Point) -> None:
        if here == self.point:
            self.died.set()
            await asyncio.Event().wait()


async def lived(program: Program, transport: Transport, settled: Settled) -> list[str]:
    """The program runs until all is settled; returns the calls that it made."""
    doomed = Doomed(transport)
    await _until(program, doomed, settled)
    return doomed.calls


async def died(program: Program, transport: Transport, settled: Settled, point: Point) -> bool:
    """It dies at that point, is started again, and runs until all is settled.

    False: it was settled before it ever came to that point.
    """
    doomed = Doomed(transport, point)
    await _until(program, doomed, settled)
    if not doomed.died.is_set():
        return False
    await _until(program, Doomed(transport), settled)
    return True


def everywhere(calls: list[str]) -> Iterator[Point]:
    """Every place where a program that made these calls could die."""
    for number in range(len(calls)):
        yield Point(number, after=False)
        yield Point(number, after=True)


async def _until(program: Program, doomed: Doomed, settled: Settled) -> None:
    running = asyncio.ensure_future(program(doomed))
    ends = [asyncio.ensure_future(settled()), asyncio.ensure_future(doomed.died.wait())]
    try:
        await asyncio.wait([running, *ends], return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in (running, *ends):
            task.cancel()
        outcomes = await asyncio.gather(running, *ends, return_exceptions=True)
    if isinstance(outcomes[0], Exception) and not doomed.died.is_set():
        raise outcomes[0]
