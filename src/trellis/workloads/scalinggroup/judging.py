# SPDX-License-Identifier: Apache-2.0
"""How each replica of a scaling group is, by what its PodCliques say of themselves. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trellis.api import conditions
from trellis.api.grove.podclique import MIN_AVAILABLE_BREACHED
from trellis.api.labels import POD_TEMPLATE_HASH
from trellis.workloads.members import carries, current_hashes, is_behind
from trellis.workloads.recycled import is_up_since
from trellis.workloads.updates.progress import target_of

if TYPE_CHECKING:
    from trellis.api.grove.podclique import PodClique
    from trellis.workloads.outline import Outline
    from trellis.workloads.scalinggroup.state import Replica, Seat, State


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """One replica. `well`: it is whole, and none of its PodCliques is below its minimum.

    `recovering`: it was made anew and has not been available since, so it cannot be well.
    `current`: all of it is there, and of the current templates. `updated`: and available.
    `members_current`: how many of its PodCliques are, each for itself.
    """

    index: int
    well: bool
    scheduled: bool
    available: bool
    current: bool
    updated: bool
    recovering: bool
    members_current: int = 0


def judged(state: State) -> tuple[Judged, ...]:
    return tuple(_judged(replica, state.place.outline) for replica in state.replicas)


def said(clique: PodClique) -> tuple[object, ...]:
    """All that a PodClique is judged by: unless this changes, its group is as it was."""
    metadata, status = clique.metadata, clique.status
    return (
        metadata.generation,
        metadata.deleting,
        metadata.labels,
        metadata.annotations,
        metadata.owner_references,
        status.scheduled_replicas,
        status.ready_replicas,
        status.updated_replicas,
        status.first_available_time,
        status.current_pod_clique_set_generation_hash,
        status.current_pod_template_hash,
        status.replicas,
        target_of(status),
        _holds(clique),
    )


def _judged(replica: Replica, outline: Outline) -> Judged:
    live = [seat.live for seat in replica.seats if seat.live is not None]
    complete = len(live) == len(replica.seats)
    scheduled = complete and all(one.status.scheduled_replicas >= one.spec.needed for one in live)
    available = scheduled and all(one.status.ready_replicas >= one.spec.needed for one in live)
    current = complete and all(_is_current(seat, outline) for seat in replica.seats)
    ample = all(one.status.updated_replicas >= one.spec.needed for one in live)
    recovering = any(_is_recovering(seat, replica) for seat in replica.seats)
    return Judged(
        index=replica.index,
        well=complete and not recovering and all(_holds(one) for one in live),
        scheduled=scheduled,
        available=available,
        current=current,
        updated=available and current and ample,
        recovering=recovering,
        members_current=len(replica.seats)
        if current
        else sum(_is_current(seat, outline) for seat in replica.seats),
    )


def _is_recovering(seat: Seat, replica: Replica) -> bool:
    if seat.live is None or not replica.recycled or not seat.live.spec.needed:
        return False
    recycled = replica.recycled.get(seat.member.name)
    return recycled is not None and not is_up_since(seat.live.status.first_available_time, recycled)


def _holds(clique: PodClique) -> bool:
    """Whether it holds its minimum. Of one that has said nothing yet, that is not known."""
    breached = conditions.find(clique.status.conditions, MIN_AVAILABLE_BREACHED)
    if breached is None:
        return not clique.spec.needed
    return breached.status != conditions.Status.TRUE.value


def _is_current(seat: Seat, outline: Outline) -> bool:
    """Whether it has the template of now, and says that all its pods have.

    Of which generation of the set it tells is no matter: others of its templates may have changed.
    """
    live, template = seat.live, seat.member.template
    if live is None:
        return False
    reached = live.status.current_pod_template_hash
    return (
        carries(live, template, outline.template_hashes[template.name])
        and not is_behind(live)
        and (
            reached == live.metadata.labels.get(POD_TEMPLATE_HASH)
            or reached in current_hashes(live)
        )
    )
