# SPDX-License-Identifier: Apache-2.0
"""The gangs of a set as its status tells of them: the worst off first, no more than fit. Pure.

Why a gang is unwell is in its own conditions; of those, the ones are repeated here that say so.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from itertools import islice
from operator import itemgetter
from typing import TYPE_CHECKING

from trellis.api.conditions import READY, STALLED, is_true
from trellis.api.grove.podcliqueset import GANG_STATUSES_LIMIT, GangStatus
from trellis.api.scheduler.podgang import (
    DISRUPTION_TARGET,
    PENDING,
    RUNNING,
    STARTING,
    UNHEALTHY,
    PodGang,
)
from trellis.workloads.ledger import is_ours
from trellis.workloads.podcliqueset.owning import is_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from trellis.api.conditions import Condition

_PHASES = (RUNNING, STARTING, PENDING)
_ALARMS = (UNHEALTHY, DISRUPTION_TARGET)
_MOST_STALLED = 5
# How gangs are told of, and within each by their names.
_BROKEN, _NOT_RUNNING, _WELL = range(3)


@dataclass(frozen=True, slots=True, kw_only=True)
class Gangs:
    """`told` are those in the status; `phases` counts all of them.

    `stalled` are the first of the unwell with which nothing goes on until somebody does something.
    """

    told: tuple[GangStatus, ...] = ()
    phases: Mapping[str, int] = field(default_factory=dict)
    unhealthy: int = 0
    stalled: tuple[PodGang, ...] = ()

    def __str__(self) -> str:
        counted = [f"{count} {phase}" for phase, count in self.phases.items()]
        if self.unhealthy:
            counted.append(f"{self.unhealthy} unhealthy")
        return f"gangs: {', '.join(counted)}" if counted else "no gangs yet"


def gangs(found: Iterable[PodGang], uid: str) -> Gangs:
    """Those that the set with that uid has. What another operator left is kept for its pods' sake
    and nobody tells how it is."""
    ranked: list[tuple[int, str, PodGang]] = []
    counted: Counter[str] = Counter()
    unhealthy = 0
    for gang in found:
        if is_of(gang, uid) and is_ours(gang):
            broken = is_true(gang.status.conditions, UNHEALTHY)
            phase = gang.status.phase
            counted[phase] += 1
            unhealthy += broken
            rank = _BROKEN if broken else _WELL if phase == RUNNING else _NOT_RUNNING
            ranked.append((rank, gang.metadata.name, gang))
    ranked.sort(key=itemgetter(0, 1))
    unwell = (gang for rank, _, gang in ranked if rank != _WELL)
    order = (*_PHASES, *sorted(phase for phase in counted if phase not in _PHASES))
    return Gangs(
        told=tuple(_told(gang) for _, _, gang in ranked[:GANG_STATUSES_LIMIT]),
        phases={phase: counted[phase] for phase in order if counted[phase]},
        unhealthy=unhealthy,
        stalled=tuple(islice(_stalled(unwell), _MOST_STALLED)),
    )


def _stalled(found: Iterable[PodGang]) -> Iterator[PodGang]:
    return (gang for gang in found if is_true(gang.status.conditions, STALLED))


def _told(gang: PodGang) -> GangStatus:
    status = gang.status
    return GangStatus(
        name=gang.metadata.name,
        phase=status.phase,
        conditions=tuple(_telling(status.conditions)),
    )


def _telling(conditions: Iterable[Condition]) -> Iterator[Condition]:
    for condition in conditions:
        if condition.type == READY or condition.type in _ALARMS:
            alarm = condition.type in _ALARMS
            if is_true((condition,), condition.type) == alarm:
                yield condition
