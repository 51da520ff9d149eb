# SPDX-License-Identifier: Apache-2.0
"""What people and other controllers read of a PodClique: counts, conditions, errors. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import structs

from trellis.api.annotation import AFTER_DEPARTURE
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
from trellis.api.grove.podclique import GANG_REFUSED, MIN_AVAILABLE_BREACHED, SCHEDULED
from trellis.api.grove.updates import UPDATE_IN_PROGRESS
from trellis.api.labels import GANG_GATE, POD_CLIQUE, managed, selector
from trellis.api.reasons import cliques, objects, pending, updates
from trellis.workloads.attempts import failed_at
from trellis.workloads.deadlines import told
from trellis.workloads.failures import replaced_at
from trellis.workloads.podclique import breach
from trellis.workloads.pods import has_failed, is_leaving, is_live
from trellis.workloads.trouble import hindrance, last_errors
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
    present, trouble = state.clique.status, trouble or hindrance(update.outlook)
    seen = Pass(state.clique.metadata.generation, now)
    versioned, updating = clique_status(present, update, now)
    findings = (
        breach.scheduled(state, counted),
        breach.breached(state, counted, now),
        *summary(_verdict(state, counted, update, trouble, now)),
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
        conditions=merged(present.conditions, findings, _owned(state), seen),
        first_available_time=breach.first_available(state, counted, now),
    )


def _owned(state: State) -> tuple[str, ...]:
    """Where a gang is there or none is needed, what was said of its absence goes."""
    awaits_gang = state.gang is None and state.replicas > 0
    return OWNED if awaits_gang else (*OWNED, GANG_REFUSED)


def _verdict(
    state: State, counted: Census, update: CliqueFacts, trouble: Trouble | None, now: datetime
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
    return _on_the_way(state, counted, now)


def _scaled_to_zero(state: State) -> Verdict:
    left = len(state.pods)
    return Verdict(
        ready=True,
        motion=Motion.MOVING if left else Motion.SETTLED,
        reason=objects.SCALED_TO_ZERO,
        message=f"no pods are wanted, {left} are still going" if left else "no pods are wanted",
    )


def _on_the_way(state: State, counted: Census, now: datetime) -> Verdict:
    of_all = f"{counted.ready} of {state.replicas} pods are ready"
    below = counted.ready < state.needed
    short = pending.BELOW_MIN_AVAILABLE if below else objects.REPLICAS_UNAVAILABLE
    if pauses := _pauses(state, now):
        reason = short
        failed = f"{len(pauses)} failed again and are replaced from {told(min(pauses))} on"
        message = f"{of_all}, {failed}"
    elif counted.replicas < state.replicas:
        reason = objects.CREATING_CHILDREN
        message = f"{of_all}, {counted.replicas} are there{_awaiting_departure(state)}"
    elif gates := _gates_of_others(state):
        reason = short
        message = f"{of_all}, others are held back by scheduling gates: {', '.join(gates)}"
    elif counted.gated:
        reason = pending.WAITING_FOR_GANG
        message = f"{of_all}, {counted.gated} wait for PodGang {_gang_name(state)}"
    elif counted.scheduled < state.needed:
        reason = cliques.INSUFFICIENT_SCHEDULED_PODS
        message = f"{of_all}, {counted.scheduled} have a node"
    elif below and state.parents:
        reason = pending.WAITING_FOR_STARTUP_ORDER
        message = f"{of_all}, they begin when these are: PodClique {', '.join(state.parents)}"
    else:
        reason = short
        message = f"{of_all}, {state.needed} are needed"
    # What has done its work is not ready any more, and nothing more is to come of it.
    done = counted.ready + counted.succeeded >= state.replicas
    motion = Motion.SETTLED if done else Motion.MOVING
    return Verdict(ready=False, motion=motion, reason=reason, message=message)


def _pauses(state: State, now: datetime) -> list[datetime]:
    """When pods are replaced that failed, where that is not to be at once."""
    failed = (pod for pod in state.held if has_failed(pod) and not is_leaving(pod))
    times = (replaced_at(pod, failed_at(pod) or now) for pod in failed)
    return [at for at in times if at > now]


def _awaiting_departure(state: State) -> str:
    if state.clique.metadata.annotations.get(AFTER_DEPARTURE) != "true":
        return ""
    leaving = next((pod.metadata.name for pod in state.held if is_leaving(pod)), None)
    return f"; pod {leaving} is replaced when it is gone" if leaving else ""


def _gates_of_others(state: State) -> tuple[str, ...]:
    """Those that are left when ours is off: who put them there lifts them."""
    held = [pod.gates for pod in state.held if is_live(pod) and pod.gates]
    if any(GANG_GATE in gates for gates in held):
        return ()
    return tuple(dict.fromkeys(gate for gates in held for gate in gates))


def _selector(state: State) -> str:
    """For autoscalers, which a clique of a scaling group has none of."""
    if not state.standalone:
        return ""
    return selector({**managed(state.outline.name), POD_CLIQUE: state.name})


def _gang_name(state: State) -> str:
    return state.gang.metadata.name if state.gang is not None else ""
