# SPDX-License-Identifier: Apache-2.0
"""Namespaces that are being deleted: nothing can be made there, and all that is there goes.

That is found out by the first who is refused, and then nobody tries for a while. A namespace that
is made again has newer objects than the old one had: those are refused nothing.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trellis.instruments.clock import Clock

# After that it is tried once more: somebody may have kept the namespace.
GOING_SECONDS = 30.0
_MOST = 1024
_EVER = datetime.min.replace(tzinfo=UTC)


class NamespaceGoes(Exception):
    """Nothing more is made there. It is no failure: whoever wanted it goes as well."""


class Going:
    """By namespace, until when nobody tries, and when the newest object was made that was refused
    something. The server says when objects are made: no two clocks have to agree."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._refused: dict[str, tuple[float, datetime]] = {}

    def note(self, namespace: str, created: datetime | None) -> None:
        """Something was refused to an object that was made then, for its namespace is going."""
        newest = created or _EVER
        if (known := self._refused.pop(namespace, None)) is not None:
            newest = max(newest, known[1])
        elif len(self._refused) >= _MOST:
            # The one that was refused longest ago.
            del self._refused[next(iter(self._refused))]
        self._refused[namespace] = self._clock.monotonic() + GOING_SECONDS, newest

    def takes_along(self, namespace: str, created: datetime | None) -> bool:
        """Whether an object that was made then goes with its namespace."""
        known = self._refused.get(namespace)
        if known is None:
            return False
        until, newest = known
        return self._clock.monotonic() < until and (created or _EVER) <= newest
