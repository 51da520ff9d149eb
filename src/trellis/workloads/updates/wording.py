# SPDX-License-Identifier: Apache-2.0
"""The sentences in which an update says what it does and why it waits. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trellis.api.reasons import updates
from trellis.workloads.deadlines import told
from trellis.workloads.updates.decisions import Why

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime, timedelta

    from trellis.workloads.updates.choosing import Choice

POD = "pod"
REPLICA = "replica"
_MOST_NAMED = 5


def renewing(noun: str, choice: Choice, down: int, most: int) -> Why:
    """Why these go now."""
    causes = [
        (choice.broken, "of no use as they are, so that they cost nothing"),
        (choice.faltering, "not Ready anyway"),
        (choice.paid, f"Ready, and {down} were down where {most} may be"),
    ]
    said = [f"{listed(noun, indices)}: {cause}" for indices, cause in causes if indices]
    return Why(updates.UPDATE_IN_PROGRESS, f"Renewing {'; '.join(said)}")


def completed(noun: str, count: int) -> Why:
    return Why(updates.UPDATE_COMPLETED, f"All {count} {noun}s have the current template")


def left_to_people(noun: str, outdated: int, count: int) -> Why:
    text = (
        f"{outdated} of {count} {noun}s have an older template, and OnDelete leaves them until "
        "they are deleted"
    )
    return Why(updates.UPDATE_WAITS_FOR_DELETION, text)


def waits_for_turn(noun: str, outdated: int, count: int) -> Why:
    text = (
        f"{outdated} of {count} {noun}s have an older template; another replica of the set is "
        "updated first"
    )
    return Why(updates.UPDATE_IN_PROGRESS, text)


def waits_for_room(noun: str, outdated: int, down: Sequence[int], most: int) -> Why:
    text = (
        f"{outdated} {noun}s have an older template; waiting for {listed(noun, down)} to be "
        f"Ready, because at most {most} may be down"
    )
    return Why(updates.UPDATE_IN_PROGRESS, text)


def hindered(noun: str, outdated: int, obstacle: Why) -> Why:
    text = (
        f"{outdated} {noun}s have an older template and stay, because nothing could be made in "
        f"their place: {obstacle.text}"
    )
    return Why(obstacle.reason, text)


def cannot_be_made(noun: str, outdated: int, missing: Sequence[int], refusal: Why) -> Why:
    left = f"{outdated} {noun}s have" if outdated else "Nothing has"
    text = f"{left} an older template; {listed(noun, missing)} cannot be made: {refusal.text}"
    return Why(refusal.reason, text)


def waits_for_ready(noun: str, ready: int, needed: int) -> Why:
    text = f"Nothing outdated is left; {ready} {noun}s are Ready and {needed} must be"
    return Why(updates.UPDATE_IN_PROGRESS, text)


def waits_for_last(noun: str, starting: Sequence[int]) -> Why:
    text = f"Nothing outdated is left; {listed(noun, starting)} may be Ready any moment"
    return Why(updates.UPDATE_IN_PROGRESS, text)


def waits_to_settle(noun: str, outdated: int, settling: Sequence[int], settle: timedelta) -> Why:
    left = f"{outdated} {noun}s have" if outdated else "Nothing has"
    text = (
        f"{left} an older template; waiting until {listed(noun, settling)} "
        f"{'has' if len(settling) == 1 else 'have'} been Ready for {settle.total_seconds():g} s"
    )
    return Why(updates.UPDATE_IN_PROGRESS, text)


def overdue(waiting: Why, deadline: datetime) -> Why:
    text = f"Nothing has moved, and progressDeadline ended at {told(deadline)}. {waiting.text}"
    return Why(updates.PROGRESS_DEADLINE_EXCEEDED, text)


def updating_replica(index: int, others: int, waits_for: str, hindrance: Why | None) -> Why:
    """`others`: how many more have an older template."""
    text = f"Replica {index} of the set is being updated"
    if others:
        text += f", and {others} more {'has' if others == 1 else 'have'} an older template"
    if hindrance is not None:
        return Why(hindrance.reason, f"{text}; {hindrance.text}")
    if waits_for:
        text += f"; waiting for {waits_for}"
    return Why(updates.UPDATE_IN_PROGRESS, text)


def listed(noun: str, indices: Sequence[int]) -> str:
    """`pod 3`, or `pods 1, 4`, and never more than a few of them."""
    some = ", ".join(str(index) for index in indices[:_MOST_NAMED])
    more = f" and {len(indices) - _MOST_NAMED} more" if len(indices) > _MOST_NAMED else ""
    return f"{noun}{'s' if len(indices) != 1 else ''} {some}{more}"
