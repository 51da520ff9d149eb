# SPDX-License-Identifier: Apache-2.0
"""What there was when nothing was left to do: while it is the same, it is not looked at again.

A set is looked at several times a second while its pods start, which changes nothing of what it
has once. What is remembered are the very objects, so that comparing them costs next to nothing.
"""

from __future__ import annotations

from collections import OrderedDict

_MOST = 2048


class Settled:
    """By the uid of a set and the word for what was looked at."""

    def __init__(self, most: int = _MOST) -> None:
        self._most = most
        self._facts: OrderedDict[tuple[str, str], tuple[object, ...]] = OrderedDict()

    def holds(self, uid: str, what: str, facts: tuple[object, ...]) -> bool:
        return self._facts.get((uid, what)) == facts

    def note(self, uid: str, what: str, facts: tuple[object, ...]) -> None:
        self._facts[uid, what] = facts
        self._facts.move_to_end((uid, what))
        if len(self._facts) > self._most:
            self._facts.popitem(last=False)
