# SPDX-License-Identifier: Apache-2.0
"""Which replica of a set is updated now: one at a time, and the one begun is finished first. Pure.

Then comes the one of which the least is available, so that what is broken is repaired before what
works is touched.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trellis.workloads.updates import wording
from trellis.workloads.updates.decisions import Outlook, Step

if TYPE_CHECKING:
    from trellis.workloads.updates.facts import SetReplicaFacts
    from trellis.workloads.updates.state import SetState


def turn(state: SetState) -> Outlook:
    outdated = [one for one in state.replicas if one.outdated]
    current = None if state.by_hand else _current(state)
    if current is not None:
        why = wording.updating_replica(current.index, current.waits_for)
        return Outlook(
            ended=False,
            why=why,
            active=(current.index,),
            held=tuple(one.index for one in outdated if one is not current),
        )
    if not outdated:
        return Outlook(ended=True, why=wording.completed(wording.REPLICA, len(state.replicas)))
    if state.by_hand:
        why = wording.left_to_people(wording.REPLICA, len(outdated), len(state.replicas))
        return Outlook(ended=True, why=why)
    return _next(outdated)


def _current(state: SetState) -> SetReplicaFacts | None:
    """The first that was selected and has not ended. One that is no longer wanted has."""
    for index in state.selected:
        for one in state.replicas:
            if one.index == index and (one.outdated or not one.complete):
                return one
    return None


def _next(outdated: list[SetReplicaFacts]) -> Outlook:
    chosen = min(outdated, key=_need)
    why = wording.next_replica(chosen.index, len(outdated), chosen.available)
    return Outlook(
        ended=False,
        why=why,
        step=Step(indices=(chosen.index,), why=why),
        active=(chosen.index,),
        held=tuple(one.index for one in outdated if one is not chosen),
    )


def _need(replica: SetReplicaFacts) -> tuple[bool, int, int]:
    return (not replica.begun, replica.available, replica.index)
