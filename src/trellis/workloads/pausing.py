# SPDX-License-Identifier: Apache-2.0
"""Whether an update has taken a PodClique down itself, so that nothing is made anew for it. Pure.

In a scaling group that is so for all PodCliques of a replica that was released, also for those that
have nothing new: their pods are renewed with the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trellis.workloads.members import is_released
from trellis.workloads.updates import release
from trellis.workloads.updates.progress import progress_of, selected, set_progress_of, span_of
from trellis.workloads.updates.reading import rolls

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from trellis.api.grove.podclique import PodClique
    from trellis.api.grove.podcliqueset import PodCliqueSet
    from trellis.workloads.outline import Member, Outline
    from trellis.workloads.updates.progress import Span


@dataclass(frozen=True, slots=True)
class Pause:
    """`ended`: when the last one was over; what is broken since before counts from then on."""

    lasts: bool = False
    ended: datetime | None = None

    def counts_from(self, broken_since: datetime) -> datetime:
        return broken_since if self.ended is None else max(broken_since, self.ended)


NONE = Pause()


def pause(owner: PodCliqueSet, outline: Outline, member: Member, clique: PodClique) -> Pause:
    """`owner` is the set as it is stored now."""
    spans = tuple(_spans(owner, outline, member, clique))
    # One by OnDelete has begun and ended in the same moment, and takes nothing down.
    ends = [one.ended for one in spans if one.ended is not None and one.ended != one.started]
    return Pause(any(one.is_open for one in spans), max(ends, default=None))


def _spans(
    owner: PodCliqueSet, outline: Outline, member: Member, clique: PodClique
) -> Iterator[Span]:
    own = span_of(progress_of(clique.status))
    if own is not None:
        yield own
    if member.group is None or not is_released(clique, release(owner, outline, member.group)):
        return
    whole = span_of(set_progress_of(owner.status))
    is_turn = member.place.set_replica in selected(owner.status)
    if whole is not None and (is_turn if rolls(owner) else not whole.is_open):
        yield whole
