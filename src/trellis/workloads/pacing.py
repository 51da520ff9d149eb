# SPDX-License-Identifier: Apache-2.0
"""When a status is written: at once when somebody waits for it, else once for all that streams in.

While pods come and go by the hundred, every change would be a write of its own. So it is written
when nothing has happened for a moment, and in a stream without end ever so often all the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from trellis.api.meta import Value
    from trellis.instruments.clock import Clock
    from trellis.runtime.cache import Cache
    from trellis.runtime.io import IO
    from trellis.runtime.notes import Note
    from trellis.runtime.status import WithStatus

QUIET_SECONDS = 0.3
MOST_SECONDS = 4.0
_MOST_OBJECTS = 100_000


@dataclass(slots=True)
class _Stale:
    """What is stored is no longer true: since when, and when that is to be mended."""

    since: float
    due: float


class StatusPacer:
    """Of one controller. What it remembers is by uid."""

    def __init__(self, cache: Cache[Any], clock: Clock, quiet: float = QUIET_SECONDS) -> None:
        self._cache = cache
        self._clock = clock
        self._quiet = quiet
        self._stale: dict[str, _Stale] = {}

    async def write(
        self,
        io: IO,
        found: WithStatus,
        status: Value,
        notes: Iterable[Note] = (),
        *,
        at_once: bool = False,
    ) -> float | None:
        """Writes it if it differs and its time has come; else returns after how many seconds.

        Who calls before that time does so because something happened, and moves it. Events are
        told with the write, so whoever makes them makes them again until then.
        """
        uid, now = found.metadata.uid, self._clock.monotonic()
        if not differs(found, status):
            self._stale.pop(uid, None)
            return None
        left = self._left(uid, now)
        if left > 0 and not at_once:
            return left
        await io.write_status(self._cache, found, status, notes)
        self._stale.pop(uid, None)
        return None

    def forget(self, uid: str) -> None:
        """The object is gone."""
        self._stale.pop(uid, None)

    def _left(self, uid: str, now: float) -> float:
        stale = self._stale.get(uid)
        if stale is None:
            if len(self._stale) >= _MOST_OBJECTS:
                return 0.0
            stale = self._stale[uid] = _Stale(since=now, due=now + self._quiet)
        elif now < stale.due:
            most = stale.since + max(MOST_SECONDS, self._quiet)
            stale.due = min(now + self._quiet, most)
        return stale.due - now


def differs(found: WithStatus, status: Value) -> bool:
    return found.status != status
