# SPDX-License-Identifier: Apache-2.0
"""What people and other controllers read of a PodClique: counts, conditions, errors. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import structs

from trellis.api.conditions import (
    READY,
    RECONCILING,
    STALLED,
    Motion,
    Pass,
    Verdict,
    merged,
    summary,
)
from trellis.api.grove.podclique import MIN_AVAILABLE_BREACHED, SCHEDULED
from trellis.api.grove.updates import UPDATE_IN_PROGRESS
from trellis.api.labels import POD_CLIQUE, managed, selector
from trellis.api.reasons import cliques, objects, pending, updates
from trellis.workloads.podclique import breach
from trellis.workloads.trouble import last_errors
from trellis.workloads.updates.progress import clique_status

if TYPE_CHECKING:
    from datetime import datetime

    from trellis.api.grove.podclique import PodCliqueStatus
    from trellis.workloads.podclique.census import Census
    from trellis.workloads.podclique.state import State
    from trellis.workloads.trouble import Trouble
    from trellis.workloads.updates.progress import CliqueFacts

OWNED = (SCHEDULED, MIN_AVAILABLE_BREACHED, READY, RECONCILING, STALLED, UPDATE_IN_PROGRESS)


def status(
    state: State, counted: Census, update: CliqueFacts, trouble: Trouble | None, now: datetime
) -> PodCliqueStatus:
    """`trouble` is what kept this run from making what is to be there."""
    present = state.clique.status
    seen = Pass(state.clique.metadata.generation, now)
    versioned, updating = clique_status(present, update, now)
    findings = (
        breach.scheduled(state, counted),
        breach.breached(state, counted, now),
        *summary(_verdict(state, counted, update, trouble)),
        updating,
    )
    failed = () if trouble is None or trouble.is_wait else (trouble,)
    return structs.replace(
        versioned,
        observed_generation=seen.generation,
        last_errors=last_errors(present.last_errors, failed, now),
        replicas=counted.replicas,
        ready_replicas=counted.ready,
        schedule_gated_replicas=counted.gated,
        scheduled_replicas=counted.scheduled,
        hpa_pod_selector=_selector(state),
        conditions=merged(present.conditions, findings, OWNED, seen),
        first_available_time=breach.first_available(state, counted, now),
    )


def _verdict(
    state: State, counted: Census, update: CliqueFacts, trouble: Trouble | None
) -> Verdict:
    if trouble is not None:
        ready = counted.ready >= state.replicas > 0
        return Verdict(
            ready=ready, motion=trouble.motion, reason=trouble.reason, message=trouble.message
        )
    if state.replicas == 0:
        return _scaled_to_zero(state)
    if counted.ready >= state.replicas and not update.outlook.ended:
        reason, text = updates.UPDATE_IN_PROGRESS, update.outlook.why.text
        return Verdict(ready=True, motion=Motion.MOVING, reason=reason, message=text)
    if counted.ready >= state.replicas and counted.replicas == state.replicas:
        message = f"all {state.replicas} pods are ready"
        reason = objects.ALL_REPLICAS_AVAILABLE
        return Verdict(ready=True, motion=Motion.SETTLED, reason=reason, message=message)
    return _on_the_way(state, counted)


def _scaled_to_zero(state: State) -> Verdict:
    left = len(state.pods)
    return Verdict(
        ready=True,
        motion=Motion.MOVING if left else Motion.SETTLED,
        reason=objects.SCALED_TO_ZERO,
        message=f"no pods are wanted, {left} are still going" if left else "no pods are wanted",
    )


def _on_the_way(state: State, counted: Census) -> Verdict:
    of_all = f"{counted.ready} of {state.replicas} pods are ready"
    if counted.replicas < state.replicas:
        reason = objects.CREATING_CHILDREN
        message = f"{of_all}, {counted.replicas} are there"
    elif counted.gated:
        reason = pending.WAITING_FOR_GANG
        message = f"{of_all}, {counted.gated} wait for PodGang {_gang_name(state)}"
    elif counted.scheduled < state.needed:
        reason = cliques.INSUFFICIENT_SCHEDULED_PODS
        message = f"{of_all}, {counted.scheduled} have a node"
    else:
        below = counted.ready < state.needed
        reason = pending.BELOW_MIN_AVAILABLE if below else objects.REPLICAS_UNAVAILABLE
        message = f"{of_all}, {state.needed} are needed"
    # What has done its work is not ready any more, and nothing more is to come of it.
    done = counted.ready + counted.succeeded >= state.replicas
    motion = Motion.SETTLED if done else Motion.MOVING
    return Verdict(ready=False, motion=motion, reason=reason, message=message)


def _selector(state: State) -> str:
    """For autoscalers, which a clique of a scaling group has none of."""
    if not state.standalone:
        return ""
    return selector({**managed(state.outline.name), POD_CLIQUE: state.name})


def _gang_name(state: State) -> str:
    return state.gang.metadata.name if state.gang is not None else ""
