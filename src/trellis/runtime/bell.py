# SPDX-License-Identifier: Apache-2.0
"""A bell between two controllers of one process, for what no cache tells. Pure.

It says that there is something to be looked at, never what: whoever is woken finds it where it is
kept. What is kept only in memory must be found out again after a restart, as a matter of course.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from trellis.api.meta import Key


class Bell:
    def __init__(self) -> None:
        self._hearers: list[Callable[[Key], None]] = []

    def subscribe(self, hearer: Callable[[Key], None]) -> None:
        self._hearers.append(hearer)

    def ring(self, key: Key) -> None:
        for hearer in self._hearers:
            hearer(key)
