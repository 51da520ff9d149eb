# SPDX-License-Identifier: Apache-2.0
"""Where the replicas of a set leave word of their troubles, for the set to tell people about.

It is kept in memory, by the uid of the set: after a restart every replica is looked at anew.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trellis.runtime.bell import Bell

if TYPE_CHECKING:
    from trellis.api.grove.podcliqueset import PodCliqueSet
    from trellis.workloads.trouble import Trouble


class Board:
    def __init__(self) -> None:
        self.bell = Bell()
        """Rung for a set of which something else is written here than before."""
        self._troubles: dict[str, dict[int | None, tuple[Trouble, ...]]] = {}

    def report(
        self, found: PodCliqueSet, replica: int | None, troubles: tuple[Trouble, ...]
    ) -> None:
        """All that this replica is in trouble with now."""
        uid = found.metadata.uid
        written = self._troubles.setdefault(uid, {})
        changed = written.get(replica, ()) != troubles
        if troubles:
            written[replica] = troubles
        else:
            written.pop(replica, None)
        if not written:
            del self._troubles[uid]
        if changed:
            self.bell.ring(found.metadata.key)

    def of(self, uid: str) -> tuple[Trouble, ...]:
        written = self._troubles.get(uid, {})
        order = sorted(written, key=lambda index: -1 if index is None else index)
        return tuple(trouble for index in order for trouble in written[index])

    def forget(self, uid: str) -> None:
        self._troubles.pop(uid, None)
