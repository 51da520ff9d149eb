# SPDX-License-Identifier: Apache-2.0
"""The transport of one instance of the operator: where what goes wrong between it and the API goes
wrong. It keeps every promise that a `Transport` makes, and breaks everything that none makes.
"""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import msgspec
from msgspec import structs

from tests.sim.faults import Kind
from tests.sim.hand import Caller, calling
from tests.sim.story import Fault, Where
from tests.sim.streams import Told
from trellis.embedded.simulation.loop import VirtualLoop
from trellis.kube.errors import Ambiguous, Unreachable
from trellis.kube.transport import Response

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from random import Random

    from trellis.kube.transport import Request, Stream, Transport

_STATUSES = {
    Kind.CONFLICT: (409, "Conflict", "the object has been modified; please apply your changes"),
    Kind.GONE: (410, "Expired", "the provided resource version is too old"),
    Kind.THROTTLED: (429, "TooManyRequests", "too many requests"),
    Kind.FAILED_BEFORE: (500, "InternalError", "etcdserver: leader changed"),
    Kind.FAILED_AFTER: (500, "InternalError", "etcdserver: request timed out"),
    Kind.UNAVAILABLE: (503, "ServiceUnavailable", "apiserver is shutting down"),
}
_UNSEEN = (Kind.AMBIGUOUS, Kind.FAILED_AFTER)
"""Carried out, but the answer is another one."""


@dataclass(slots=True)
class Trouble:
    """What goes wrong for one instance, by place; what is meant for a place strikes once.

    It counts over all lives of the instance. `struck` hears of each that really struck.
    """

    struck: Callable[[Fault], None]
    planned: dict[tuple[Where, int], Fault] = field(default_factory=dict)
    counts: dict[Where, int] = field(default_factory=lambda: dict.fromkeys(Where, 0))
    calls: list[str] = field(default_factory=list)
    """Every call, in order: where something could have gone wrong."""
    _over: bool = False

    def next(self, where: Where, what: str = "") -> Fault | None:
        """The fault of the next place of that sort, if there is one."""
        if self._over:
            return None
        number = self.counts[where]
        self.counts[where] = number + 1
        if what:
            self.calls.append(what)
        return self.planned.pop((where, number), None)

    def over(self) -> None:
        """From now on nothing goes wrong any more."""
        self._over = True


@dataclass(slots=True)
class Habits:
    """How long things take when nothing is wrong, in seconds."""

    rng: Random
    news_delay: float = 0.0
    lag: float = 0.0
    """How old a read may be that says it may be old."""

    def latency(self) -> float:
        return 0.001 + self.rng.random() * 0.01

    def delay(self) -> float:
        return self.rng.random() * self.news_delay


@dataclass(slots=True)
class Wire:
    """The connections of one life of one instance. When it dies, nothing is heard any more."""

    inner: Transport
    who: str
    trouble: Trouble
    habits: Habits
    asked: Callable[[str, Request, int], None]
    """Told of every request that was answered: who, what, with which status."""
    version_ago: Callable[[float], int]
    """The version that the API server had so many seconds ago."""
    forget: Callable[[], None]
    """Makes the API server forget its history, so that whoever is behind must read anew."""
    died: asyncio.Event = field(default_factory=asyncio.Event)
    death: float = 0.0
    """How long it stays dead."""
    deaf_until: float = 0.0
    history_lost_at: float = 0.0
    """Watches that were begun before that are told so, instead of what they would hear next."""

    async def request(self, request: Request) -> Response:
        self._alive(request)
        fault = self.trouble.next(Where.CALL, str(request))
        await asyncio.sleep(self.habits.latency())
        if fault is not None:
            answered = await self._before(fault, request)
            if answered is not None:
                return answered
        response = await self._carried_out(request)
        await asyncio.sleep(self.habits.latency())
        if fault is not None:
            return await self._after(fault, request, response)
        return response

    @asynccontextmanager
    async def stream(self, request: Request) -> AsyncIterator[Stream]:
        self._alive(request)
        fault = self.trouble.next(Where.CALL, f"WATCH {request.path}")
        if fault is not None and fault.kind in _STATUSES and fault.kind != Kind.CONFLICT:
            self.trouble.struck(fault)
            yield _Refusal(_refusal(Kind(fault.kind), fault.amount))
            return
        if fault is not None:
            await self._before(fault, request)
        with calling(Caller(self.who, request.method, request.path)):
            entering = self.inner.stream(request)
            stream = await entering.__aenter__()
        try:
            yield Told(stream, self, asyncio.get_running_loop().time())
        finally:
            await entering.__aexit__(None, None, None)

    async def close(self) -> None:
        await self.inner.close()

    def dies(self, fault: Fault) -> None:
        """As by `kill -9`."""
        self.trouble.struck(fault)
        self.death = fault.amount
        self.died.set()

    def is_deaf(self) -> float:
        """For how many more seconds no watch hears anything."""
        return self.deaf_until - asyncio.get_running_loop().time()

    async def _before(self, fault: Fault, request: Request) -> Response | None:
        """What goes wrong before the server has it. A response: it never will."""
        kind = Kind(fault.kind)
        if kind is Kind.CRASH_BEFORE:
            self.dies(fault)
            await asyncio.Event().wait()
        if kind is Kind.CRASH_AFTER or kind in _UNSEEN:
            return None
        if kind is Kind.CONFLICT and request.method in ("GET", "POST"):
            # Nobody else can have been faster.
            return None
        self.trouble.struck(fault)
        if kind is Kind.GONE:
            self.forget()
        if kind is Kind.UNREACHABLE:
            raise Unreachable(f"{request}: no connection")
        if kind is Kind.LOST:
            raise Ambiguous(f"{request}: the connection was lost")
        if kind in _STATUSES:
            return _refusal(kind, fault.amount)
        await self._waits(kind, fault.amount)
        return None

    async def _waits(self, kind: Kind, seconds: float) -> None:
        loop = asyncio.get_running_loop()
        if kind is Kind.STALE:
            self.deaf_until = loop.time() + seconds
        elif kind is Kind.STALL:
            assert isinstance(loop, VirtualLoop)
            loop.pass_time(seconds)
        elif kind is Kind.SLOW:
            await asyncio.sleep(seconds)

    async def _after(self, fault: Fault, request: Request, response: Response) -> Response:
        kind = Kind(fault.kind)
        if kind is Kind.CRASH_AFTER:
            self.dies(fault)
            await asyncio.Event().wait()
        if kind is Kind.AMBIGUOUS:
            self.trouble.struck(fault)
            raise Ambiguous(f"{request}: the connection was lost before the answer was complete")
        if kind is Kind.FAILED_AFTER:
            self.trouble.struck(fault)
            return _refusal(kind, fault.amount)
        return response

    async def _carried_out(self, request: Request) -> Response:
        self._alive(request)
        with calling(Caller(self.who, request.method, request.path)):
            response = await self.inner.request(self._as_of_then(request))
        self.asked(self.who, request, response.status)
        return response

    def _as_of_then(self, request: Request) -> Request:
        """A read that may be old is answered as a server would that lags behind."""
        lag = max(self.habits.lag, self.is_deaf())
        asked = dict(request.query)
        if request.method != "GET" or asked.get("resourceVersion") != "0" or lag <= 0:
            return request
        then = str(max(self.version_ago(lag), 1))
        rest = {name: value for name, value in asked.items() if name != "resourceVersionMatch"}
        old = {**rest, "resourceVersion": then, "resourceVersionMatch": "Exact"}
        return structs.replace(request, query=tuple(old.items()))

    def _alive(self, request: Request) -> None:
        if self.died.is_set():
            raise Unreachable(f"{request}: the process is dead")


@dataclass(frozen=True, slots=True)
class _Refusal:
    """A watch that is not even begun."""

    response: Response

    @property
    def status(self) -> int:
        return self.response.status

    @property
    def headers(self) -> dict[str, str]:
        return dict(self.response.headers)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield self.response.body


def _refusal(kind: Kind, seconds: float) -> Response:
    code, reason, message = _STATUSES[kind]
    status = {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": message,
        "reason": reason,
        "code": code,
    }
    headers = {"retry-after": str(int(seconds))} if kind is Kind.THROTTLED else {}
    return Response(status=code, headers=headers, body=msgspec.json.encode(status))
