# SPDX-License-Identifier: Apache-2.0
"""Events of a set about its gangs: what was made anew, what could not be written. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trellis.api.reasons import events, objects, updates
from trellis.runtime.notes import Note
from trellis.workloads.deadlines import told

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trellis.api.grove.podcliqueset import PodCliqueSet
    from trellis.runtime.converged import NameConflict, Refusal
    from trellis.workloads.podgang.recycle import Decision, Threat
    from trellis.workloads.podgang.state import State


def made_anew(state: State, decision: Decision) -> Iterator[Note]:
    """What that gang has just made anew; a scaled gang that follows its base gang tells nothing."""
    if decision.whole is not None and not state.is_scaled:
        what = f"Replica {state.place.replica} of the set"
        yield Note(events.SET_REPLICA_DELETED.token, _anew(what, decision.whole))
    for threat in decision.units:
        if state.members_of(threat.group, threat.index):
            what = f"Replica {threat.index} of scaling group {threat.group}"
            yield Note(events.GROUP_REPLICA_DELETED.token, _anew(what, threat))


def renewing(why: str) -> Note:
    """A step of an update, told of the PodClique."""
    return Note(updates.UPDATE_STEP.token, why)


def unwritten(refusal: Refusal) -> Note:
    deleting = refusal.verb == "delete"
    reason = events.GANG_DELETE_FAILED if deleting else events.GANG_WRITE_FAILED
    return Note(reason.token, f"PodGang: {refusal}", "Warning")


def held_by_another(owner: PodCliqueSet, conflict: NameConflict) -> Iterator[Note]:
    """What a former set of the same name had goes by itself, and nobody needs to act."""
    if conflict.holder != f"{owner.resource.kind} {owner.metadata.name}":
        yield _taken(f"PodGang {conflict}")


def claimed_by_another(gang: str, holder: PodCliqueSet) -> Note:
    return _taken(f"PodGang {gang} is that of PodCliqueSet {holder.metadata.name}")


def _taken(what: str) -> Note:
    text = f"{what}, and this set needs one of that name: rename one of them"
    return Note(objects.NAME_CONFLICT.token, text, "Warning")


def _anew(what: str, threat: Threat) -> str:
    also = f", and scaling group {threat.lacking} did" if threat.lacking else ""
    return (
        f"{what} is made anew: PodClique {threat.clique} lacked its minimum{also} from "
        f"{told(threat.since)} on, and terminationDelay ended at {told(threat.deadline)}"
    )
