# SPDX-License-Identifier: Apache-2.0
"""Answers that wait for the disk, so that what was acknowledged outlives a power cut (`--fsync`).

Every answer waits, not only those to writes: what was read must not be lost either.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trellis.embedded import refusals
from trellis.embedded.core.api import refused
from trellis.embedded.store.problems import NotWritten
from trellis.embedded.store.settling import Settling

if TYPE_CHECKING:
    from trellis.embedded.exchange import Answer, Ask
    from trellis.embedded.front.connection import Handle
    from trellis.embedded.store.journal import Journal


def durable(handle: Handle, journal: Journal) -> Handle:
    settling = Settling(journal)

    async def answered(ask: Ask) -> Answer:
        answer = await handle(ask)
        try:
            await settling.settled()
        except NotWritten as problem:
            return refused(ask, refusals.internal(str(problem)))
        return answer

    return answered
