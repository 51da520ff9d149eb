# SPDX-License-Identifier: Apache-2.0
"""A watch as an operator hears it: late, cut off, silent, or told that history is gone.

No line is ever left out, doubled or put before another one: no server does that either. What is
never seen is what lies between two lists.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from tests.sim.faults import Kind
from tests.sim.story import Where
from trellis.embedded.store.changes import line
from trellis.kube.errors import Ambiguous

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from tests.sim.story import Fault
    from tests.sim.wire import Wire
    from trellis.kube.transport import Stream

_EXPIRED = (410, "Expired", "too old resource version")
_FAILED = (500, "InternalError", "etcdserver: no leader")


class _Over(Exception):
    """The server ends the stream."""


@dataclass(frozen=True, slots=True)
class Told:
    """`wire` says what goes wrong, and how late everything is."""

    stream: Stream
    wire: Wire
    began: float

    @property
    def status(self) -> int:
        return self.stream.status

    @property
    def headers(self) -> Mapping[str, str]:
        return self.stream.headers

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self.stream:
            await self._late()
            try:
                async for heard in self._heard(chunk.splitlines(keepends=True)):
                    yield heard
            except _Over as over:
                if over.args:
                    yield over.args[0]
                return

    async def _late(self) -> None:
        await asyncio.sleep(self.wire.habits.delay())
        while (deaf := self.wire.is_deaf()) > 0:
            # Never for less than floats can tell from nothing.
            await asyncio.sleep(max(deaf, 0.001))

    async def _heard(self, lines: list[bytes]) -> AsyncIterator[bytes]:
        """As much at a time as nothing goes wrong with."""
        well: list[bytes] = []
        if self.wire.history_lost_at > self.began:
            raise _Over(_error(*_EXPIRED))
        for one in lines:
            fault = self.wire.trouble.next(Where.EVENT)
            if fault is None:
                well.append(one)
                continue
            if well:
                yield b"".join(well)
                well = []
            yield await self._troubled(fault, one)
        if well:
            yield b"".join(well)

    async def _troubled(self, fault: Fault, one: bytes) -> bytes:
        """The line, after what goes wrong with it."""
        self.wire.trouble.struck(fault)
        match fault.kind:
            case Kind.CUT:
                raise Ambiguous("the connection of the watch was lost")
            case Kind.ENDED:
                raise _Over
            case Kind.EXPIRED | Kind.MERGED:
                await asyncio.sleep(fault.amount)
                self.wire.forget()
                raise _Over(_error(*_EXPIRED))
            case Kind.TROUBLED:
                raise _Over(_error(*_FAILED))
            case Kind.SILENT:
                await asyncio.Event().wait()
            case Kind.GARBLED:
                raise _Over(b'{"type":"MODIF\n')
        await asyncio.sleep(fault.amount)
        return one


def _error(code: int, reason: str, message: str) -> bytes:
    status = {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": message,
        "reason": reason,
        "code": code,
    }
    return line("ERROR", msgspec.json.encode(status))
