# SPDX-License-Identifier: Apache-2.0
"""Who waits until the API is less busy: one of them looks out, and tells all others. Pure.

That each of hundreds looked for itself, again and again, would keep the process busier than what
they wait for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trellis.runtime.bell import Bell

if TYPE_CHECKING:
    from trellis.api.meta import Key, Metadata


class Lookout:
    def __init__(self) -> None:
        self.bell = Bell()
        """Rung for whoever may go on, or is to look out from now on."""
        self._waiting: dict[str, Key] = {}
        """By uid. The first one looks."""

    def __len__(self) -> int:
        return len(self._waiting)

    def waits(self, found: Metadata) -> bool:
        """It waits too; whether it is the one who looks."""
        self._waiting.setdefault(found.uid, found.key)
        return next(iter(self._waiting)) == found.uid

    def all_is_calm(self) -> None:
        waiting, self._waiting = self._waiting, {}
        for key in waiting.values():
            self.bell.ring(key)

    def leave(self, uid: str) -> None:
        """It waits no more. If it was the one who looks, the next one does."""
        looked = next(iter(self._waiting), None) == uid
        self._waiting.pop(uid, None)
        if looked and self._waiting:
            self.bell.ring(next(iter(self._waiting.values())))
