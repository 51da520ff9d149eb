# SPDX-License-Identifier: Apache-2.0
"""How the parents stand, whether that is enough, and what is said of it. Pure."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trellis.waiter.arguments import Parent


class Count(NamedTuple):
    """A PodClique as it is: how many pods it is to have, and how many are ready."""

    replicas: int
    ready: int


class Missing(Enum):
    """A PodClique that is not there."""

    ABSENT = "absent"
    """Just now. It may be on its way."""
    GONE = "gone"
    """For so long that it was scaled away: nobody waits for it any more."""


Sight: TypeAlias = Count | Missing


class Tally:
    """What was last seen of each parent."""

    def __init__(self, parents: Iterable[Parent]) -> None:
        self._needed = {one.name: one.needed for one in parents}
        self._seen: dict[str, Sight] = {}
        self._said: dict[str, str] = {}

    @property
    def enough(self) -> bool:
        """Whether all parents have what is needed, at this same moment."""
        return all(self._is_enough(name) for name in self._needed)

    def see(self, name: str, sight: Sight) -> str:
        """Takes it down. Returns the line to be said, if that is not what was said before."""
        self._seen[name] = sight
        line = f"{name}: {self._told(name, sight)}"
        if self._said.get(name) == line:
            return ""
        self._said[name] = line
        return line

    def _is_enough(self, name: str) -> bool:
        sight = self._seen.get(name)
        if isinstance(sight, Count):
            return sight.ready >= self._wanted(name, sight)
        return sight is Missing.GONE

    def _wanted(self, name: str, count: Count) -> int:
        """One that is scaled below its minimum, or to nothing, holds nobody up for the rest."""
        return min(self._needed[name], count.replicas)

    def _told(self, name: str, sight: Sight) -> str:
        if isinstance(sight, Missing):
            absent = sight is Missing.ABSENT
            return (
                "waiting, it is not there" if absent else "it was scaled away, nothing to wait for"
            )
        wanted = self._wanted(name, sight)
        if not wanted:
            return "it is scaled to 0, nothing to wait for"
        counted = f"{min(sight.ready, wanted)} of {wanted} pods ready"
        return counted if sight.ready >= wanted else f"waiting, {counted}"
