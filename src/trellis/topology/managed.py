# SPDX-License-Identifier: Apache-2.0
"""The writes to `grove-topology` itself, which nobody owns, so that `converge` cannot keep it.

It touches no object of another name, and every write is guarded: a change by the version that was
read, a deletion by the uid.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trellis.api.meta import encode
from trellis.instruments.logs import logger
from trellis.kube.errors import AlreadyExists, NotFound
from trellis.kube.verbs import Deletion, merge_patch
from trellis.runtime.plan import by_fields
from trellis.topology.desired import managed
from trellis.topology.levels import domains

if TYPE_CHECKING:
    from trellis.api.config.types import Topology
    from trellis.api.grove.clustertopology import ClusterTopology
    from trellis.kube.collection import Collection

_COMPARE = by_fields()

_log = logger(__name__)


class Managed:
    def __init__(self, configured: Topology, topologies: Collection[bytes]) -> None:
        self._configured = configured
        self._wanted = managed(configured)
        self._topologies = topologies

    async def kept(self, found: ClusterTopology | None) -> ClusterTopology | None:
        """The topology, once it is as configured.

        What is not, is written, and there is nothing more to do until that is heard of.
        """
        if not self._configured.enabled:
            await self._remove(found)
            return None
        # Without levels, they are in bindings that users write, and nothing is to be made here.
        if found is None and self._configured.levels:
            await self._create()
        if found is None or found.metadata.deleting:
            return None
        return found if not self._configured.levels or await self._is_same(found) else None

    async def _create(self) -> None:
        try:
            await self._topologies.create(encode(self._wanted))
        except AlreadyExists:
            return
        _log.info("topology made", levels=domains(self._wanted.spec.levels))

    async def _is_same(self, found: ClusterTopology) -> bool:
        patch = _COMPARE(found, self._wanted)
        if not patch:
            return True
        version = {"resourceVersion": found.metadata.resource_version}
        guarded = {**patch, "metadata": {**patch.get("metadata", {}), **version}}
        await self._topologies.patch(found.metadata.name, merge_patch(guarded))
        _log.info("topology changed", levels=domains(self._wanted.spec.levels))
        return False

    async def _remove(self, found: ClusterTopology | None) -> None:
        if found is None or found.metadata.deleting:
            return
        deletion = Deletion(uid=found.metadata.uid, propagation="Background")
        try:
            await self._topologies.delete(found.metadata.name, deletion)
        except NotFound:
            return
        _log.info("topology deleted, because topology support is disabled")
