# SPDX-License-Identifier: Apache-2.0
"""The cluster as admission may look at it: what is stored, by caches that the process keeps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trellis.api.grove.podclique import PodClique
from trellis.api.grove.scalinggroup import PodCliqueScalingGroup
from trellis.workloads.admission.policy import Stored
from trellis.workloads.caches import BY_SET

if TYPE_CHECKING:
    from typing import Any

    from trellis.api.meta import Key
    from trellis.runtime.cache import Cache
    from trellis.workloads.caches import Caches


def read_by_admission(caches: Caches) -> tuple[Cache[Any], ...]:
    """What must be kept for `stored`."""
    return caches.sets, caches.cliques, caches.groups


def stored(caches: Caches) -> Stored:
    def minimum_at(plural: str, key: Key) -> int | None:
        if plural == PodClique.resource.plural:
            clique = caches.cliques.get(key)
            return clique.spec.min_available if clique else None
        if plural == PodCliqueScalingGroup.resource.plural:
            group = caches.groups.get(key)
            return group.spec.min_available if group else None
        return None

    def outdated_at(key: Key) -> int:
        """By what PodCliques say of themselves. One whose status is about an older template of its
        own says nothing that counts yet."""
        told = (clique.status for clique in caches.cliques.find(BY_SET, str(key)))
        return sum(max(one.replicas - one.updated_replicas, 0) for one in told)

    return Stored(set_at=caches.sets.get, minimum_at=minimum_at, outdated_at=outdated_at)
