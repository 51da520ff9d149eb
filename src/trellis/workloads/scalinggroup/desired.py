# SPDX-License-Identifier: Apache-2.0
"""The PodCliques of a scaling group that are to be there. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trellis.api.reasons import cliques
from trellis.workloads.excess import told
from trellis.workloads.members import clique, compare_clique
from trellis.workloads.trouble import Trouble

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trellis.api.grove.podclique import PodClique
    from trellis.workloads.scalinggroup.rolling import Rolling
    from trellis.workloads.scalinggroup.state import State
    from trellis.workloads.sharing import Unresolved


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What there is to be had in place of what; members that are as wanted are in neither.

    `settled`: those that were found to be so just now. `complete`: all members are.
    """

    have: tuple[PodClique, ...]
    want: tuple[PodClique, ...]
    settled: tuple[PodClique, ...]
    complete: bool


def plan(state: State, rolls: Rolling) -> Plan:
    """One PodClique for each member of each replica."""
    have, want, settled = list(state.others), [], []
    # The cluster's collector removes what an earlier group of our name had.
    held = {found.metadata.name for found in state.others if _is_leftover(state, found)}
    for index, seat in ((one.index, seat) for one in state.replicas for seat in one.seats):
        moving = rolls.touches(index)
        if (seat.settled and not moving) or seat.member.name in held:
            continue
        one = clique(state.place.outline, seat.member, state.group, seat.live, rolls.terms(index))
        if seat.live is not None and not compare_clique(seat.live, one):
            # What is held back differs from what is wanted in the end, and must not be forgotten.
            settled += [] if moving else [seat.live]
            continue
        want.append(one)
        have += [seat.live] if seat.live is not None else []
    return Plan(
        have=tuple(have),
        want=tuple(want),
        settled=tuple(settled),
        complete=not want and not held,
    )


def excess(state: State) -> Trouble:
    """Why nothing is done for a group with too many replicas."""
    return told("spec.replicas", state.group.spec.replicas, state.most, "groupReplicas")


def lacking(unresolved: Sequence[Unresolved]) -> Trouble | None:
    """That claims cannot be made."""
    if not unresolved:
        return None
    return Trouble(reason=cliques.CLAIM_TEMPLATE_MISSING, message=str(unresolved[0]))


def _is_leftover(state: State, found: PodClique) -> bool:
    controller, group = found.metadata.controller, state.group
    return (
        controller is not None
        and controller.uid != group.metadata.uid
        and (controller.kind, controller.name) == (group.resource.kind, group.metadata.name)
    )
