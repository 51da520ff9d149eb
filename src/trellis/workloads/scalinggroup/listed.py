# SPDX-License-Identifier: Apache-2.0
"""Reads from the caches the pods that are listed for a PodClique of a scaling group."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trellis.api.meta import Key
from trellis.workloads.ledger import is_ours, listed, pod_index
from trellis.workloads.updates.reading import pods_listed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trellis.api.core.pod import Pod
    from trellis.workloads.caches import Caches
    from trellis.workloads.ledger import Listed
    from trellis.workloads.scalinggroup.state import Seat
    from trellis.workloads.updates import PodFacts


def listed_pods(caches: Caches, seat: Seat) -> tuple[PodFacts, ...]:
    """One for each entry. Where there is no ledger of ours yet, whatever there is counts."""
    if seat.live is None:
        return ()
    metadata = seat.live.metadata
    pods = caches.pods.owned(metadata.uid)
    gang = caches.gangs.get(Key(metadata.namespace, seat.member.place.gang))
    ours = gang is not None and is_ours(gang)
    entries = listed(gang, metadata.name, pods) if gang is not None and ours else _there(pods)
    return pods_listed(entries, {pod.metadata.name: pod for pod in pods})


def _there(pods: Sequence[Pod]) -> Listed:
    indexed = ((pod_index(pod), pod.metadata.name) for pod in pods)
    return {index: name for index, name in indexed if index is not None}
