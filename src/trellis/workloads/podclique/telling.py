# SPDX-License-Identifier: Apache-2.0
"""What is told in events, and what of a status others wait for. Pure.

Never one event a pod: what one run did is one event with a count. And none where nobody would ask:
a set of hundreds of cliques would start with hundreds of events.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trellis.api.conditions import Status, find
from trellis.api.grove.podclique import MIN_AVAILABLE_BREACHED
from trellis.api.reasons import cliques, events
from trellis.runtime.notes import Note
from trellis.workloads.pacing import Haste
from trellis.workloads.podclique import breach
from trellis.workloads.podclique.updating import is_its_turn
from trellis.workloads.updates.progress import is_under_way, notes, progress_of, span_of, step
from trellis.workloads.updates.reading import rolls

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from trellis.api.conditions import Condition
    from trellis.api.grove.podclique import PodCliqueStatus
    from trellis.api.reasons import Reason
    from trellis.runtime.converged import Converged
    from trellis.workloads.podclique.census import Census
    from trellis.workloads.podclique.state import State
    from trellis.workloads.trouble import Trouble
    from trellis.workloads.updates.progress import CliqueFacts

_SHOWN = 3


def of_writes(state: State, written: Converged) -> Iterator[Note]:
    """What was done. That it got its first pods, its status and its set's tell; what an update
    does, its steps."""
    if is_under_way(state.clique.status) and is_its_turn(state):
        return
    if written.created and state.pods:
        yield Note(events.POD_CREATED.token, f"made {_named(written.created)}")
    if written.deleted:
        yield Note(events.POD_DELETED.token, f"deleted {_named(written.deleted)}")


def of_changes(state: State, after: PodCliqueStatus, failed: Reason | None) -> Iterator[Note]:
    """What has become different from what is stored, whoever asks and how often.

    `failed` is the word for what went wrong, where there is one beside the error's own code.
    """
    before = state.clique.status
    # What an update takes down itself, its steps tell.
    if not breach.is_planned(state):
        yield from _of_losses(state, after)
    known = {(error.code, error.description) for error in before.last_errors}
    for error in after.last_errors:
        if (error.code, error.description) not in known:
            yield Note(failed.token if failed else error.code, error.description, "Warning")


def _of_losses(state: State, after: PodCliqueStatus) -> Iterator[Note]:
    before = state.clique.status
    if before.scheduled_replicas and not after.scheduled_replicas and state.replicas:
        message = f"not one of {state.replicas} pods has a node any more"
        yield Note(cliques.ALL_SCHEDULED_REPLICAS_LOST.token, message, "Warning")
    found = _breach(after)
    if found is not None and breach.was_ever_up(state) and _turned(before, after):
        broken = found.status == Status.TRUE.value
        yield Note(found.reason, found.message, "Warning" if broken else "Normal")


def of_update(state: State, after: PodCliqueStatus, update: CliqueFacts) -> Iterator[Note]:
    """That an update of it began, or has ended."""
    before = progress_of(state.clique.status)
    return notes(before, after.update_progress, update.outlook)


def haste(
    state: State, counted: Census, after: PodCliqueStatus, trouble: Trouble | None, now: datetime
) -> Haste:
    if _is_awaited(state, counted, after, now):
        return Haste.AT_ONCE
    if _is_waited_for(state, after):
        spans = span_of(progress_of(state.clique.status)), span_of(after.update_progress)
        return step(*spans, rolls=rolls(state.owner))
    if trouble is not None and not trouble.is_wait:
        return Haste.SOON
    if not state.pods and not state.clique.status.conditions:
        return Haste.WHEN_MORE_IS_KNOWN
    if is_under_way(after) and trouble is None:
        return Haste.WITH_STEPS
    return Haste.AS_IT_GOES if counted.ready < state.replicas else Haste.SOON


def _is_awaited(state: State, counted: Census, after: PodCliqueStatus, now: datetime) -> bool:
    """Whether somebody acts on it: waiters on the minimum, the gang controller on a breach."""
    before = state.clique.status
    crossed = (before.ready_replicas >= state.needed) != (counted.ready >= state.needed)
    if crossed and state.outline.waits:
        return True
    if before.first_available_time != after.first_available_time:
        # What breaks before that is written would count as never having been up.
        return True
    # What an update takes down itself, nobody makes anew.
    armed = not is_under_way(before)
    return armed and _turned(before, after) and breach.was_up(state, counted, now)


def _is_waited_for(state: State, after: PodCliqueStatus) -> bool:
    """Whether an update goes on by what is told: that one began, what it has chosen first, that it
    has ended, and what has been reached."""
    before = state.clique.status
    then, now = progress_of(before), after.update_progress
    if span_of(then) != span_of(now):
        return True
    if now is not None and now.ready_pods_selected_to_update is not None:
        return then is None or then.ready_pods_selected_to_update is None
    reached = (
        before.current_pod_clique_set_generation_hash
        != after.current_pod_clique_set_generation_hash
    )
    return reached and is_its_turn(state)


def _turned(before: PodCliqueStatus, after: PodCliqueStatus) -> bool:
    """Whether a breach began or ended. That the first word on it is said is neither."""
    then, now = _breach(before), _breach(after)
    return then is not None and now is not None and then.status != now.status


def _breach(found: PodCliqueStatus) -> Condition | None:
    return find(found.conditions, MIN_AVAILABLE_BREACHED)


def _named(names: Sequence[str]) -> str:
    shown = ", ".join(names[:_SHOWN])
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"{len(names)} {'pod' if len(names) == 1 else 'pods'}: {shown}{more}"
