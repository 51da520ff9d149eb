# SPDX-License-Identifier: Apache-2.0
"""Gangs that were there and are gone: one that is made again has the same names and stamps.

Pods may just be being made by the old ledger, or have lost the label that they are read by. Under
other names, there would be two of an index. It is a memory of moments: after a restart, what lives
is all that is known.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trellis.workloads.ledger import is_ours
from trellis.workloads.recent import Recent

if TYPE_CHECKING:
    from trellis.api.meta import Key
    from trellis.api.scheduler.podgang import PodGang
    from trellis.instruments.clock import Clock
    from trellis.runtime.cache import Cache

LAPSE_SECONDS = 60.0
_MOST = 1024


class Lost:
    def __init__(self, gangs: Cache[PodGang], clock: Clock) -> None:
        self._clock = clock
        self._gangs: Recent[Key, tuple[PodGang, float]] = Recent(_MOST)
        gangs.subscribe(self._changed)

    def of(self, key: Key, owner: str) -> PodGang | None:
        """The last gang of that name, if the set with that uid controlled it."""
        noted = self._gangs.get(key)
        if noted is None or self._clock.monotonic() > noted[1] + LAPSE_SECONDS:
            return None
        found, _ = noted
        controller = found.metadata.controller
        return found if controller is not None and controller.uid == owner else None

    def _changed(self, old: PodGang | None, new: PodGang | None, *, fresh: bool) -> None:
        del fresh
        if new is not None:
            self._gangs.forget(new.metadata.key)
        elif old is not None and is_ours(old):
            self._gangs.note(old.metadata.key, (old, self._clock.monotonic()))
