# SPDX-License-Identifier: Apache-2.0
"""Waiting until what was written would outlive a power cut, together with all who wrote just now.

One sync serves every write of a turn of the loop: it takes milliseconds, whatever it covers.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from trellis.embedded.store.problems import NotWritten

if TYPE_CHECKING:
    from trellis.embedded.store.journal import Journal


class Settling:
    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._next: asyncio.Future[NotWritten | None] | None = None

    async def settled(self) -> None:
        """Everything that the journal took in before this was called is on the disk."""
        if self._next is None:
            if not self._journal.unsynced:
                return
            loop = asyncio.get_running_loop()
            self._next = loop.create_future()
            loop.call_soon(self._sync, self._next)
        # Who gives up waiting must not take the others' future along.
        if problem := await asyncio.shield(self._next):
            raise problem

    def _sync(self, waiting: asyncio.Future[NotWritten | None]) -> None:
        self._next = None
        try:
            self._journal.sync()
        except NotWritten as problem:
            waiting.set_result(problem)
        else:
            waiting.set_result(None)
