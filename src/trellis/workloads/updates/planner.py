# SPDX-License-Identifier: Apache-2.0
"""The planner of updates: what is renewed next, or why nothing is. Pure.

It is asked again whenever anything changes and remembers nothing, so that neither a crash nor a
newer template in the middle needs a rule of its own: what is outdated now is all that counts. With
OnDelete it never takes a step.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trellis.workloads.updates import wording
from trellis.workloads.updates.choosing import choose
from trellis.workloads.updates.decisions import Outlook, Step
from trellis.workloads.updates.state import CliqueState, GroupState, SetState
from trellis.workloads.updates.turns import turn
from trellis.workloads.updates.units import pod_units, replica_units

if TYPE_CHECKING:
    from datetime import datetime

    from trellis.workloads.updates.choosing import Choice, Unit
    from trellis.workloads.updates.decisions import Why
    from trellis.workloads.updates.state import RollState


def next_step(state: CliqueState | GroupState | SetState) -> Step | None:
    """What is to be renewed now, if anything is."""
    return outlook(state).step


def outlook(state: CliqueState | GroupState | SetState) -> Outlook:
    """Where the update stands. Where nothing is outdated, it has ended."""
    if isinstance(state, SetState):
        return turn(state)
    if isinstance(state, CliqueState):
        return _rolling(state, wording.POD, pod_units(state))
    return _rolling(state, wording.REPLICA, replica_units(state))


def _rolling(state: RollState, noun: str, units: tuple[Unit, ...]) -> Outlook:
    outdated = tuple(unit.index for unit in units if unit.outdated)
    if state.by_hand or not state.its_turn:
        return _left_alone(state, noun, outdated, len(units))
    is_starting = any(unit.starting for unit in units)
    if not outdated and not is_starting and _available(units) >= state.needed(units):
        return Outlook(ended=True, why=wording.completed(noun, len(units)))
    choice = choose(
        units,
        state.budget.most,
        whole=state.is_whole(_available(units)),
        in_vain=state.obstacle is not None,
    )
    taken = frozenset(choice.all)
    step = _step(state, noun, units, choice)
    deadline = _deadline(state, units)
    why, hindrance = (step.why, None) if step else _standstill(state, noun, units, deadline)
    return Outlook(
        ended=False,
        why=why,
        step=step,
        active=tuple(unit.index for unit in units if _is_active(unit, taken)),
        held=tuple(index for index in outdated if index not in taken),
        again=_again(state, units, deadline),
        hindrance=hindrance,
    )


def _left_alone(state: RollState, noun: str, outdated: tuple[int, ...], count: int) -> Outlook:
    """By hand, or before its turn. By hand nothing keeps its spec: what comes next is new."""
    if not outdated:
        return Outlook(ended=True, why=wording.completed(noun, count))
    if state.by_hand:
        return Outlook(ended=True, why=wording.left_to_people(noun, len(outdated), count))
    why = wording.waits_for_turn(noun, len(outdated), count)
    return Outlook(ended=False, why=why, held=outdated)


def _step(state: RollState, noun: str, units: tuple[Unit, ...], choice: Choice) -> Step | None:
    if not choice.all:
        return None
    whole = state.is_whole(_available(units))
    down = sum(unit.costs(whole=whole) for unit in units)
    why = wording.renewing(noun, choice, down, state.budget.most)
    return Step(indices=choice.all, why=why, paid=choice.paid)


def _standstill(
    state: RollState, noun: str, units: tuple[Unit, ...], deadline: datetime | None
) -> tuple[Why, Why | None]:
    """What is waited for, and if so, what somebody must do something about."""
    hindrance = _hindrance(state, noun, sum(unit.outdated for unit in units))
    why = hindrance or _waiting(state, noun, units, state.needed(units))
    if deadline is None or deadline > state.now:
        return why, hindrance
    late = wording.overdue(why, deadline)
    return late, hindrance or late


def _hindrance(state: RollState, noun: str, outdated: int) -> Why | None:
    """Only what is outdated waits for it: what is missing is tried, and others tell of that."""
    if state.obstacle is None or not outdated:
        return None
    return wording.hindered(noun, outdated, state.obstacle)


def _waiting(state: RollState, noun: str, units: tuple[Unit, ...], needed: int) -> Why:
    outdated = sum(unit.outdated for unit in units)
    missing = [unit.index for unit in units if unit.missing]
    if missing and state.refusal is not None:
        return wording.cannot_be_made(noun, outdated, missing, state.refusal)
    starting = [unit.index for unit in units if unit.starting]
    if not outdated and starting and _available(units) >= needed:
        return wording.waits_for_last(noun, starting)
    settling = [unit.index for unit in units if unit.ready and not unit.available]
    if settling and _available(units) + len(settling) >= (len(units) if outdated else needed):
        return wording.waits_to_settle(noun, outdated, settling, state.budget.settle)
    if not outdated:
        return wording.waits_for_ready(noun, _available(units), needed)
    down = [unit.index for unit in units if not unit.available]
    return wording.waits_for_room(noun, outdated, down, state.budget.most)


def _available(units: tuple[Unit, ...]) -> int:
    return sum(unit.available for unit in units)


def _is_active(unit: Unit, taken: frozenset[int]) -> bool:
    return unit.index in taken if unit.outdated else not unit.available


def _deadline(state: RollState, units: tuple[Unit, ...]) -> datetime | None:
    """It counts from when something last became Ready on the new template, or from the start, and
    that it has to settle: nothing stands still that is waited for on purpose."""
    allowed = state.budget.progress_deadline
    if allowed is None or state.started is None:
        return None
    moved = [each.ready_since for each in units if each.ready_since and not each.outdated]
    return max((state.started, *moved)) + state.budget.settle + allowed


def _again(state: RollState, units: tuple[Unit, ...], deadline: datetime | None) -> datetime | None:
    moments = [*(unit.changes_at for unit in units), deadline]
    return min((each for each in moments if each and each > state.now), default=None)
