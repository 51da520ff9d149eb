# SPDX-License-Identifier: Apache-2.0
"""What a set says of an update, from what it said and what is so. Pure.

Its hash moves when what may have the new templates has them: children first, then the hash. Whether
an update is needed is never read from the hash, so none is lost where a crash kept it from moving.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from msgspec import structs

from trellis.api import hashes
from trellis.api.conditions import find
from trellis.api.grove.updates import ON_DELETE, UPDATE_IN_PROGRESS, SetProgress
from trellis.workloads.updates.progress import older
from trellis.workloads.updates.progress.selections import currently_updating
from trellis.workloads.updates.progress.spans import Turn, span, span_of
from trellis.workloads.updates.progress.telling import finding

if TYPE_CHECKING:
    from datetime import datetime

    from trellis.api.conditions import Finding, Pass
    from trellis.api.grove.podcliqueset import PodCliqueSetStatus
    from trellis.workloads.updates.decisions import Outlook
    from trellis.workloads.updates.progress.spans import Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """Of PodCliques in no scaling group, and of scaling groups: those updated, and all."""

    cliques_updated: int = 0
    cliques: int = 0
    groups_updated: int = 0
    groups: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SetFacts:
    """`generation`: the hash of the templates. `updated`: how many replicas are available on them.

    `handed`: every PodClique that may carry them does: with OnDelete all of them, else those of
    replicas that are being updated or have been. `outdated`: some replica is.
    """

    strategy: str
    outlook: Outlook
    generation: str
    handed: bool
    outdated: bool
    updated: int
    counts: Counts = Counts()

    @property
    def by_hand(self) -> bool:
        return self.strategy == ON_DELETE


def set_progress_of(status: PodCliqueSetStatus) -> SetProgress | None:
    """The update that it tells of, in whichever field."""
    return older.set_progress(status.update_progress, status.rolling_update_progress)


def set_status(
    present: PodCliqueSetStatus, facts: SetFacts, seen: Pass
) -> tuple[PodCliqueSetStatus, Finding]:
    """The status with all that it says of updates, but for the condition, which comes beside."""
    before = set_progress_of(present)
    turn = Turn(
        strategy=facts.strategy,
        changed=_is_changed(present, before, facts, seen),
        outdated=facts.outdated,
        ended=facts.outlook.ended and facts.handed,
    )
    found = span(span_of(before), turn, seen.now)
    progress = _progress(before, found, facts, seen.now)
    first = not present.current_generation_hash
    status = structs.replace(
        present,
        updated_replicas=facts.updated,
        update_progress=progress,
        rolling_update_progress=older.older_set(progress),
        current_generation_hash=facts.generation
        if first or facts.handed
        else present.current_generation_hash,
    )
    return status, finding(found, facts.outlook)


def selected(status: PodCliqueSetStatus) -> tuple[int, ...]:
    """The replicas that a status says are being updated."""
    known = set_progress_of(status)
    return tuple(one.replica_index for one in known.currently_updating) if known else ()


def tells_of(status: PodCliqueSetStatus, generation: str) -> bool:
    """Whether it was written when the templates were these already. Until then nobody knows from it
    whose turn it is."""
    known = set_progress_of(status)
    last = known.pod_clique_set_generation_hash if known is not None else ""
    return generation in (last, status.current_generation_hash)


def whose_turn(status: PodCliqueSetStatus) -> tuple[datetime | None, tuple[int, ...]]:
    """Since when an update is told of, and the replicas that are being updated."""
    known = span_of(set_progress_of(status))
    return (known.started if known else None), selected(status)


def _is_changed(
    present: PodCliqueSetStatus, before: SetProgress | None, facts: SetFacts, seen: Pass
) -> bool:
    """Whether these templates are others than those of the last update, or of the beginning."""
    reached = present.current_generation_hash
    last = before.pod_clique_set_generation_hash if before else ""
    if facts.by_hand and _is_ours(last):
        # A roll that a switch has ended was to its templates, though the hash has not moved yet.
        return facts.handed and last != facts.generation
    if reached == facts.generation:
        return False
    if not reached:
        # Nothing was told of it yet. What is rolled shows by what is outdated.
        return facts.by_hand and facts.handed and facts.outdated
    if not _is_ours(reached) and not facts.outdated:
        # Another operator's hash of what says the same.
        return False
    if facts.by_hand:
        return facts.handed
    return not _is_about(before, facts, present, seen)


def _is_ours(generation: str) -> bool:
    return generation.startswith(hashes.PREFIX)


def _is_about(
    before: SetProgress | None, facts: SetFacts, present: PodCliqueSetStatus, seen: Pass
) -> bool:
    """Whether the update that is under way, if one is, is to these templates."""
    known = span_of(before)
    if before is None or known is None or not known.is_open:
        return False
    if target := before.pod_clique_set_generation_hash:
        return target == facts.generation
    # It was begun when no hash was told. The condition was written with it.
    noted = find(present.conditions, UPDATE_IN_PROGRESS)
    return noted is None or noted.observed_generation == seen.generation


def _progress(
    before: SetProgress | None, found: Span | None, facts: SetFacts, now: datetime
) -> SetProgress | None:
    if found is None:
        return before
    counts = facts.counts
    known = before.currently_updating if before and not found.begins else ()
    return SetProgress(
        update_started_at=found.started,
        update_ended_at=found.ended,
        updated_pod_cliques_count=counts.cliques_updated,
        total_pod_cliques_count=counts.cliques,
        updated_pod_clique_scaling_groups_count=counts.groups_updated,
        total_pod_clique_scaling_groups_count=counts.groups,
        pod_clique_set_generation_hash=facts.generation
        if found.begins or before is None or found.is_open
        else before.pod_clique_set_generation_hash,
        currently_updating=currently_updating(known, facts.outlook.active, now)
        if found.is_open
        else (),
    )
