# SPDX-License-Identifier: Apache-2.0
"""Which replica of a set is updated now: one at a time, and the one begun is finished first. Pure.

Then comes the one of which the least is available, so that what is broken is repaired before what
works is touched.
"""

from __future__ import annotations

from dataclasses import replace
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
        return _updating(current, outdated)
    if not outdated:
        return Outlook(ended=True, why=wording.completed(wording.REPLICA, len(state.replicas)))
    if state.by_hand:
        why = wording.left_to_people(wording.REPLICA, len(outdated), len(state.replicas))
        return Outlook(ended=True, why=why)
    chosen = min(outdated, key=_need)
    found = _updating(chosen, outdated)
    return replace(found, step=Step(indices=(chosen.index,), why=found.why))


def _current(state: SetState) -> SetReplicaFacts | None:
    """The first that was selected and has not ended. One that is no longer wanted has."""
    for index in state.selected:
        for one in state.replicas:
            if one.index == index and (one.outdated or not one.complete):
                return one
    return None


def _updating(replica: SetReplicaFacts, outdated: list[SetReplicaFacts]) -> Outlook:
    others = tuple(one.index for one in outdated if one is not replica)
    why = wording.updating_replica(replica.index, len(others), replica.waits_for, replica.hindrance)
    return Outlook(ended=False, why=why, active=(replica.index,), held=others)


def _need(replica: SetReplicaFacts) -> tuple[bool, int, int]:
    return (not replica.begun, replica.available, replica.index)
