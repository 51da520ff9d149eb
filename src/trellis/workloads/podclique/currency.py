# SPDX-License-Identifier: Apache-2.0
"""Whether the ledger that we have heard of is the one that holds.

Nothing is decided on one that lacks our own last write. And before pods are made by it, it is read
once more: somebody else may have changed it since, names that it lists may have been used up, and
no write of ours would fail for that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trellis.api.annotation import POD_LEDGER
from trellis.api.labels import SCHEDULER_NAME
from trellis.runtime.barrier import CacheBehind

if TYPE_CHECKING:
    from trellis.api.grove.podclique import PodClique
    from trellis.api.meta import Metadata
    from trellis.api.scheduler.podgang import PodGang
    from trellis.runtime.cache import Cache
    from trellis.runtime.io import IO


class Currency:
    def __init__(self, gangs: Cache[PodGang]) -> None:
        self._gangs = gangs

    def check(self, io: IO, gang: PodGang) -> None:
        uid = gang.metadata.uid
        if not io.barrier.is_open(uid, self._gangs):
            raise CacheBehind(f"{self._gangs.label} lack our own last write", uid)

    async def confirm(self, io: IO, clique: PodClique, gang: PodGang) -> None:
        """Where it is another by now, the PodClique waits for what was found to be heard."""
        uid, key, waits = gang.metadata.uid, gang.metadata.key, clique.metadata.uid
        stored = await io.stored(self._gangs, key)
        if stored is not None and stored.uid == uid and not stored.deleting:
            if version(stored) == version(gang.metadata):
                return
            io.barrier.wrote(waits, self._gangs, stored.resource_version)
        else:
            io.barrier.deleted(waits, self._gangs, key, uid)
        raise CacheBehind(f"{self._gangs.label} lack what others have written")


def version(gang: Metadata) -> tuple[int, str | None, str | None]:
    """Differs whenever the ledger does. Where that is, the scheduler decides."""
    return gang.generation, gang.annotations.get(POD_LEDGER), gang.labels.get(SCHEDULER_NAME)
