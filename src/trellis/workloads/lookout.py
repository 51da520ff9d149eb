# SPDX-License-Identifier: Apache-2.0
"""Who waits until something is over: one of them looks out, and tells all others. Pure.

That each of hundreds looked for itself, again and again, would keep the process busier than what
they wait for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trellis.runtime.bell import Bell

if TYPE_CHECKING:
    from trellis.api.meta import Key, Metadata

    Cause = Key | None
    """What is waited for: that a set's pods come to rest, or that the API does."""


class Lookout:
    def __init__(self) -> None:
        self.bell = Bell()
        """Rung for whoever may go on, or is to look out from now on."""
        self._waiting: dict[Cause, dict[str, Key]] = {}
        """By uid. The first one looks."""
        self._causes: dict[str, Cause] = {}

    def __len__(self) -> int:
        return len(self._causes)

    def waits(self, found: Metadata, cause: Cause) -> bool:
        """It waits too, for this and nothing else; whether it is the one who looks."""
        if found.uid in self._causes and self._causes[found.uid] != cause:
            self.leave(found.uid)
        self._causes[found.uid] = cause
        waiting = self._waiting.setdefault(cause, {})
        waiting.setdefault(found.uid, found.key)
        return next(iter(waiting)) == found.uid

    def is_over(self, cause: Cause) -> None:
        for uid, key in self._waiting.pop(cause, {}).items():
            del self._causes[uid]
            self.bell.ring(key)

    def leave(self, uid: str) -> None:
        """It waits no more. If it was the one who looks, the next one does."""
        if uid not in self._causes:
            return
        cause = self._causes.pop(uid)
        waiting = self._waiting[cause]
        looked = next(iter(waiting)) == uid
        del waiting[uid]
        if not waiting:
            del self._waiting[cause]
        elif looked:
            self.bell.ring(next(iter(waiting.values())))
