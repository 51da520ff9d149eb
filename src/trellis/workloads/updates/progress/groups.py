# SPDX-License-Identifier: Apache-2.0
"""What a scaling group says of an update, from what it said and what is so. Pure.

Saying it again changes nothing. Hashes say what has been reached, so they move last.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from msgspec import structs

from trellis.api.grove.updates import ON_DELETE, GroupProgress
from trellis.workloads.updates.progress import older
from trellis.workloads.updates.progress.selections import selected_replicas
from trellis.workloads.updates.progress.spans import Turn, is_over, span, span_of
from trellis.workloads.updates.progress.telling import finding

if TYPE_CHECKING:
    from datetime import datetime

    from trellis.api.conditions import Finding
    from trellis.api.grove.scalinggroup import PodCliqueScalingGroupStatus
    from trellis.workloads.updates.decisions import Outlook
    from trellis.workloads.updates.progress.spans import Span


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupFacts:
    """`generation`: the hash of the set's templates. `handed`: all members carry what they say.

    `outdated`: some replica is. `updated`: how many replicas are available on the new templates;
    `members_updated` and `members` count PodCliques. `chosen`: Ready replicas being replaced now.
    `counted`: nothing is up on the new templates that is not in these numbers yet. `announced`: the
    set has told of these templates, so that it is known whose turn it is.
    """

    strategy: str
    outlook: Outlook
    generation: str
    handed: bool
    outdated: bool
    updated: int
    members_updated: int
    members: int
    counted: bool = True
    announced: bool = True
    released: bool = True
    chosen: tuple[int, ...] = ()

    @property
    def by_hand(self) -> bool:
        return self.strategy == ON_DELETE


def group_progress_of(status: PodCliqueScalingGroupStatus) -> GroupProgress | None:
    """The update that it tells of, in whichever field."""
    return older.group_progress(status.update_progress, status.rolling_update_progress)


def group_status(
    present: PodCliqueScalingGroupStatus, facts: GroupFacts, now: datetime
) -> tuple[PodCliqueScalingGroupStatus, Finding]:
    """The status with all that it says of updates, but for the condition, which comes beside.

    Templates that leave all of the group as it is are no update of it.
    """
    before = group_progress_of(present)
    told = before is not None and before.pod_clique_set_generation_hash == facts.generation
    may_begin = facts.handed if facts.by_hand else facts.released
    turn = Turn(
        strategy=facts.strategy,
        changed=facts.outdated and not told and may_begin,
        outdated=facts.outdated and facts.released,
        ended=facts.outlook.ended and (facts.by_hand or _is_done(facts)),
    )
    found = span(span_of(before), turn, now)
    progress = _group_progress(before, found, facts)
    reached = facts.handed and not facts.outdated and (found is None or not found.is_open)
    status = structs.replace(
        present,
        updated_replicas=facts.updated,
        update_progress=progress,
        rolling_update_progress=older.older_group(progress),
        current_pod_clique_set_generation_hash=facts.generation
        if reached
        else present.current_pod_clique_set_generation_hash,
    )
    return status, finding(found, facts.outlook)


def _is_done(facts: GroupFacts) -> bool:
    """What has just been released is nothing to decide on any more, and yet to go. Whoever reads
    that it has ended must not read numbers of before. And who does not know that it is the turn of
    the group does not wait for what was taken down."""
    return facts.announced and facts.counted and not facts.outdated


def _group_progress(
    before: GroupProgress | None, found: Span | None, facts: GroupFacts
) -> GroupProgress | None:
    if found is None:
        return before
    known = None if found.begins or before is None else before
    over = before if before is not None and is_over(before, found) else None
    chosen = known.ready_replica_indices_selected_to_update if known else None
    return GroupProgress(
        update_started_at=found.started,
        update_ended_at=found.ended,
        pod_clique_set_generation_hash=over.pod_clique_set_generation_hash
        if over
        else facts.generation,
        updated_pod_cliques_count=facts.members_updated,
        total_pod_cliques_count=facts.members,
        ready_replica_indices_selected_to_update=selected_replicas(chosen, facts.chosen)
        if found.is_open
        else None,
    )
