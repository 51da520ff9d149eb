# SPDX-License-Identifier: Apache-2.0
"""How far a PodClique is with its template: what its status says of updates is told from it. Pure.

Which of its pods are renewed is decided by others. Where nothing is outdated and no update is under
way, next to nothing is looked at.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from trellis.api.conditions import Motion
from trellis.api.labels import POD_TEMPLATE_HASH
from trellis.api.reasons import updates
from trellis.workloads.ledger import pod_index
from trellis.workloads.members import (
    current_hashes,
    current_templates,
    is_released,
    knows_its_template,
    ready_before,
)
from trellis.workloads.pods import is_live, is_outdated, is_ready
from trellis.workloads.priorities import unmakeable
from trellis.workloads.updates import CliqueState, Outlook, Why, outlook, release
from trellis.workloads.updates.progress import (
    CliqueFacts,
    is_under_way,
    progress_of,
    selected,
    span_of,
    tells_of,
)
from trellis.workloads.updates.reading import budget, pods_listed, rolls, strategy_of

if TYPE_CHECKING:
    from datetime import datetime

    from trellis.workloads.ledger import Listed
    from trellis.workloads.podclique.census import Census
    from trellis.workloads.podclique.state import State
    from trellis.workloads.trouble import Trouble
    from trellis.workloads.updates import Budget

_NOTHING_NEW = Outlook(
    ended=True, why=Why(updates.UPDATE_COMPLETED, "All pods have the current template")
)


def update_facts(
    state: State, counted: Census, trouble: Trouble | None, now: datetime
) -> CliqueFacts:
    """`trouble` is what kept this run from making what is to be there."""
    current = current_templates(state.clique)
    outdated, released = counted.replicas - counted.updated, is_its_turn(state)
    # What was handed a new template and has nothing outdated has no pods, and yet is updated.
    moving = (
        outdated > 0 or is_under_way(state.clique.status) or not knows_its_template(state.clique)
    )
    return CliqueFacts(
        strategy=strategy_of(state.owner),
        outlook=_outlook(state, trouble, now) if moving else _NOTHING_NEW,
        template=state.clique.metadata.labels.get(POD_TEMPLATE_HASH, ""),
        current=current_hashes(state.clique),
        generation=_generation(state),
        outdated=outdated,
        updated=counted.updated,
        released=released,
        announced=tells_of(state.owner.status, state.outline.generation_hash),
        chosen=_chosen(state, current) if moving and rolls(state.owner) else (),
    )


def is_its_turn(state: State) -> bool:
    """Whether its outdated pods are to be renewed now."""
    member = state.member
    if member is None:
        return False
    if member.group is None:
        return member.place.set_replica in selected(state.owner.status)
    # What a newer template overtakes is under way until its replica is released once more.
    released = is_released(state.clique, release(state.owner, state.outline, member.group))
    return released or is_under_way(state.clique.status) or _is_new_unawares(state)


def _is_new_unawares(state: State) -> bool:
    """Whether it was handed a template that its status is not about, and has nothing older. It was
    released by an update that has been begun anew since, and nobody will release it again."""
    if knows_its_template(state.clique):
        return False
    current = current_templates(state.clique)
    return not any(is_live(pod) and is_outdated(pod, current) for pod in state.pods)


def _outlook(state: State, trouble: Trouble | None, now: datetime) -> Outlook:
    span = span_of(progress_of(state.clique.status))
    return outlook(
        CliqueState(
            now=now,
            strategy=strategy_of(state.owner),
            minimum=state.needed,
            at_start=ready_before(state.clique),
            started=span.started if span is not None else None,
            budget=_budget(state),
            its_turn=is_its_turn(state),
            pods=pods_listed(_entries(state), {pod.metadata.name: pod for pod in state.pods}),
            current=current_templates(state.clique),
            obstacle=_obstacle(state),
            refusal=_refusal(trouble),
        )
    )


def _refusal(trouble: Trouble | None) -> Why | None:
    """What is only tried again may be made any moment."""
    if trouble is None or trouble.motion is not Motion.STUCK:
        return None
    return Why(trouble.reason, trouble.message)


def _obstacle(state: State) -> Why | None:
    if state.member is None:
        return None
    return unmakeable(state.owner, (state.member.template,), state.missing_classes)


def _entries(state: State) -> Listed:
    """Its ledger; while there is none, whatever there is."""
    if state.ledger_is_known:
        return state.listed
    indexed = ((pod_index(pod), pod.metadata.name) for pod in state.held)
    return {index: name for index, name in indexed if index is not None}


def _budget(state: State) -> Budget:
    """In a scaling group all pods of a replica go at once."""
    member = state.member
    if member is None or member.group is None:
        return budget(state.owner, member.template.rolling_update if member is not None else None)
    return replace(
        budget(state.owner, member.group.rolling_update), max_unavailable=max(state.replicas, 1)
    )


def _generation(state: State) -> str:
    """The hash of the set's templates, if it has what they say of it."""
    own, member = state.clique.metadata.labels.get(POD_TEMPLATE_HASH, ""), state.member
    if member is None or own != state.outline.template_hashes[member.template.name]:
        # The set has moved on, and this PodClique is yet to be told.
        return ""
    return state.outline.generation_hash


def _chosen(state: State, current: frozenset[str]) -> tuple[str, ...]:
    """The Ready pods of an older template that others are listed in place of."""
    wanted = frozenset(state.listed.values())
    going = [
        pod
        for pod in state.pods
        if pod.metadata.name not in wanted and is_outdated(pod, current) and is_ready(pod)
    ]
    return tuple(pod.metadata.name for pod in sorted(going, key=lambda pod: pod_index(pod) or 0))
