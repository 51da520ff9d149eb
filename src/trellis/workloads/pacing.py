# SPDX-License-Identifier: Apache-2.0
"""When a status is written: at once when somebody waits for it, else once for all that streams in.

While pods come and go by the hundred, every change would be a write of its own. The first change
starts a short wait; what is true at its end is written. Nothing is kept longer than that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trellis.runtime.difference import difference
from trellis.runtime.plain import plain

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from trellis.api.meta import Value
    from trellis.instruments.clock import Clock
    from trellis.runtime.cache import Cache
    from trellis.runtime.io import IO
    from trellis.runtime.notes import Note
    from trellis.runtime.status import WithStatus

SECONDS = 0.3
_MOST = 100_000


class StatusPacer:
    """Of one controller. Remembers, by uid, since when what is stored is no longer true."""

    def __init__(self, cache: Cache[Any], clock: Clock, seconds: float = SECONDS) -> None:
        self._cache = cache
        self._clock = clock
        self._seconds = seconds
        self._stale_since: dict[str, float] = {}

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

        Events are told with the write, so whoever makes them makes them again until then.
        """
        uid, now = found.metadata.uid, self._clock.monotonic()
        if not differs(found, status):
            self._stale_since.pop(uid, None)
            return None
        since = self._stale_since.setdefault(uid, now)
        left = since + self._seconds - now
        if left > 0 and not at_once and len(self._stale_since) < _MOST:
            return left
        await io.write_status(self._cache, found, status, notes)
        self._stale_since.pop(uid, None)
        return None

    def forget(self, uid: str) -> None:
        """The object is gone."""
        self._stale_since.pop(uid, None)


def differs(found: WithStatus, status: Value) -> bool:
    present = plain(found.status) if found.status is not None else {}
    return bool(difference({"status": present}, {"status": plain(status)}, (("status",),)))
