# SPDX-License-Identifier: Apache-2.0
"""What a rolling update says it has chosen: the one being replaced, and the last ones before. Pure.

A status must not grow with what it is about, so only so many of those before are kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from trellis.api.grove.updates import ReplicaProgress, SelectedPods, SelectedReplicas
from trellis.api.meta import to_seconds

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

T = TypeVar("T")

MOST_COMPLETED = 50


def selected_pods(before: SelectedPods | None, chosen: Sequence[str]) -> SelectedPods | None:
    """`chosen`: the Ready pods that are being replaced now."""
    known = (*before.completed, before.current) if before is not None else ()
    every = _with(known, chosen)
    return SelectedPods(current=every[-1], completed=every[:-1]) if every else None


def selected_replicas(
    before: SelectedReplicas | None, chosen: Sequence[int]
) -> SelectedReplicas | None:
    """The same for replicas of a scaling group."""
    known = (*before.completed, before.current) if before is not None else ()
    every = _with(known, chosen)
    return SelectedReplicas(current=every[-1], completed=every[:-1]) if every else None


def currently_updating(
    before: Sequence[ReplicaProgress], active: Sequence[int], now: datetime
) -> tuple[ReplicaProgress, ...]:
    """Replicas of a set that are being updated; those that were so before keep their time."""
    known = {one.replica_index: one for one in before}
    return tuple(
        known.get(index) or ReplicaProgress(replica_index=index, update_started_at=to_seconds(now))
        for index in active
    )


def _with(known: Sequence[T], chosen: Sequence[T]) -> tuple[T, ...]:
    """What is chosen now comes last, and of what was before, no more than there is room for."""
    earlier = [one for one in known if one not in chosen]
    return (*earlier, *chosen)[-(MOST_COMPLETED + 1) :]
