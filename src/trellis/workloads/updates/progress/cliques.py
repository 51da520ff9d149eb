# SPDX-License-Identifier: Apache-2.0
"""What a PodClique says of an update, from what it said and what is so. Pure.

Saying it again changes nothing. Hashes say what has been reached, so they move last.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from msgspec import structs

from trellis.api.grove.updates import ON_DELETE, CliqueProgress
from trellis.workloads.updates.progress import older
from trellis.workloads.updates.progress.selections import selected_pods
from trellis.workloads.updates.progress.spans import Turn, is_over, span, span_of
from trellis.workloads.updates.progress.telling import finding

if TYPE_CHECKING:
    from datetime import datetime

    from trellis.api.conditions import Finding
    from trellis.api.grove.podclique import PodCliqueStatus
    from trellis.workloads.updates.decisions import Outlook
    from trellis.workloads.updates.progress.spans import Span


@dataclass(frozen=True, slots=True, kw_only=True)
class CliqueFacts:
    """`template` is the hash that the PodClique bears and `current` all that count as that one.

    `generation`: the hash of the set's templates if this PodClique has what they say of it, else
    empty. `outdated` and `updated` are live pods. `chosen`: Ready pods being replaced now.
    `released`: its outdated pods may be renewed. `announced`: the set has told of its templates, so
    that it is known whose turn it is.
    """

    strategy: str
    outlook: Outlook
    template: str
    current: frozenset[str]
    generation: str
    outdated: int
    updated: int
    released: bool = True
    announced: bool = True
    chosen: tuple[str, ...] = ()


def progress_of(status: PodCliqueStatus) -> CliqueProgress | None:
    """The update that it tells of, in whichever field."""
    return older.clique_progress(status.update_progress, status.rolling_update_progress)


def target_of(status: PodCliqueStatus) -> str:
    """The hash of the template that a status is about; empty where it tells of none."""
    known = progress_of(status)
    return known.pod_template_hash if known else status.current_pod_template_hash


def is_under_way(status: PodCliqueStatus) -> bool:
    """Whether it tells of an update that has not ended."""
    found = span_of(progress_of(status))
    return found is not None and found.is_open


def clique_status(
    present: PodCliqueStatus, facts: CliqueFacts, now: datetime
) -> tuple[PodCliqueStatus, Finding]:
    """The status with all that it says of updates, but for the condition, which comes beside."""
    before, target = progress_of(present), target_of(present)
    known = target in facts.current or (not target and not facts.outdated)
    by_hand = facts.strategy == ON_DELETE
    turn = Turn(
        strategy=facts.strategy,
        changed=not known and (by_hand or facts.released),
        outdated=facts.outdated > 0 and facts.released,
        # Who does not know that it is its turn does not wait for what was taken down.
        ended=facts.outlook.ended and (by_hand or facts.released or facts.announced),
    )
    found = span(span_of(before), turn, now)
    progress = _clique_progress(before, found, facts)
    reached = not facts.outdated and (found is None or not found.is_open)
    status = structs.replace(
        present,
        updated_replicas=facts.updated,
        update_progress=progress,
        rolling_update_progress=progress,
        current_pod_template_hash=facts.template if reached else present.current_pod_template_hash,
        current_pod_clique_set_generation_hash=facts.generation
        if reached and facts.generation
        else present.current_pod_clique_set_generation_hash,
    )
    return status, finding(found, facts.outlook)


def _clique_progress(
    before: CliqueProgress | None, found: Span | None, facts: CliqueFacts
) -> CliqueProgress | None:
    if found is None or is_over(before, found):
        return before
    known = None if found.begins or before is None else before
    chosen = known.ready_pods_selected_to_update if known else None
    return CliqueProgress(
        update_started_at=found.started,
        update_ended_at=found.ended,
        pod_clique_set_generation_hash=facts.generation
        or (before.pod_clique_set_generation_hash if before else ""),
        pod_template_hash=facts.template,
        ready_pods_selected_to_update=selected_pods(chosen, facts.chosen)
        if found.is_open
        else None,
    )
