# SPDX-License-Identifier: Apache-2.0
"""Not asking again at once for what the server has just refused.

Pods of a clique come and go while a quota keeps out the rest; each of their changes would be
another try. What is asked for anew is asked for at once.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Hashable

    from trellis.instruments.clock import Clock
    from trellis.workloads.trouble import Trouble

_MOST = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """What was asked for, what came of it, and until when that is taken for an answer."""

    what: Hashable
    trouble: Trouble
    until: float


class Patience:
    """Remembers, by uid, what was refused last."""

    def __init__(self, clock: Clock, seconds: float, most: int = _MOST) -> None:
        self._clock = clock
        self._most = most
        self._seconds = seconds
        self._refused: OrderedDict[str, Refused] = OrderedDict()

    def refused(self, uid: str, what: Hashable, trouble: Trouble) -> Refused:
        until = self._clock.monotonic() + self._seconds
        self._refused[uid] = noted = Refused(what=what, trouble=trouble, until=until)
        self._refused.move_to_end(uid)
        if len(self._refused) > self._most:
            self._refused.popitem(last=False)
        return noted

    def answer(self, uid: str, what: Hashable) -> Refused | None:
        """What was said to the very same not long ago."""
        known = self._refused.get(uid)
        if known is None or known.what != what or self.left(known) <= 0:
            return None
        return known

    def left(self, known: Refused) -> float:
        """After how many seconds it may be asked for again."""
        return known.until - self._clock.monotonic()

    def forget(self, uid: str) -> None:
        """Nothing is refused any more, or there is nobody to ask for."""
        self._refused.pop(uid, None)
