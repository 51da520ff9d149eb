# SPDX-License-Identifier: Apache-2.0
"""Which member an update of a scaling group waits for, and what that one says. Pure."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from trellis.api.reasons import updates
from trellis.workloads.complaints import complaint, is_being_updated, lack
from trellis.workloads.updates import Why

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trellis.api.grove.podclique import PodClique
    from trellis.workloads.scalinggroup.state import State
    from trellis.workloads.updates import Outlook


def heard(member: PodClique) -> tuple[str, bool]:
    """What is repeated of a member: what it lacks, and whether somebody must do something."""
    if not is_being_updated(member):
        return "", False
    return lack(member), complaint(member) is not None


def explained(state: State, outlook: Outlook) -> Outlook:
    """The same outlook, with the words of the member that it waits for."""
    if outlook.ended or outlook.step is not None:
        return outlook
    members = [one for one in _awaited(state, outlook) if any(heard(one))]
    stalled = next((found for one in members if (found := complaint(one)) is not None), None)
    if stalled is not None:
        return _stalled(outlook, Why(stalled.reason, stalled.message))
    if not members:
        return outlook
    return replace(outlook, why=_with(outlook.why, heard(members[0])[0]))


def _stalled(outlook: Outlook, cause: Why) -> Outlook:
    """What the group finds itself goes first, but for that it waits."""
    found = _with(outlook.why, cause.text)
    if found.reason is updates.UPDATE_IN_PROGRESS:
        found = Why(cause.reason, found.text)
    known = outlook.hindrance
    return replace(
        outlook, why=found, hindrance=cause if known is None else _with(known, cause.text)
    )


def _with(why: Why, words: str) -> Why:
    return Why(why.reason, f"{why.text}; {words}")


def _awaited(state: State, outlook: Outlook) -> Iterator[PodClique]:
    for replica in state.replicas:
        if replica.index in outlook.active:
            yield from (seat.live for seat in replica.seats if seat.live is not None)
