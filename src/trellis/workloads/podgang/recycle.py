# SPDX-License-Identifier: Apache-2.0
"""What of a replica is made anew because it was broken for too long, and when. Pure.

The unit is a replica of a scaling group, while its group keeps enough others that are well; else,
and for a clique in no group, it is the whole replica of the set. What never held its minimum starts
nothing, but its group counts it as down. Deadlines are times of day: a restart moves none.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from trellis.api.conditions import Status, find
from trellis.api.grove.podclique import MIN_AVAILABLE_BREACHED
from trellis.workloads.pausing import NONE
from trellis.workloads.recycled import is_up_since

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import timedelta

    from trellis.api.grove.podclique import PodClique
    from trellis.workloads.pausing import Pause

_EVER = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """How one PodClique is. `broken_since`: it held its minimum and has not since then. `up_since`:
    when it first did."""

    clique: str
    is_down: bool = False
    broken_since: datetime | None = None
    up_since: datetime = _EVER


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """One replica of a scaling group. Without all of its PodCliques it is down."""

    index: int
    members: tuple[Health, ...]
    is_complete: bool = True

    @property
    def is_well(self) -> bool:
        return self.is_complete and not any(each.is_down for each in self.members)

    @property
    def broken(self) -> Health | None:
        """The member that broke first, if one did."""
        return _first_broken(self.members)

    @property
    def up_since(self) -> datetime:
        return _last_up(self.members)

    @property
    def down_since(self) -> datetime:
        down = [each.broken_since or _EVER for each in self.members if each.is_down]
        return min(down, default=_EVER) if self.is_complete else _EVER


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupHealth:
    """A scaling group by its full name: all replicas wanted of it, and how many must be well."""

    name: str
    minimum: int
    units: tuple[Unit, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicaHealth:
    """A replica of a set, or as much of it as matters to a gang."""

    alone: tuple[Health, ...] = ()
    groups: tuple[GroupHealth, ...] = ()
    is_complete: bool = True
    """Whether all its PodCliques outside scaling groups are there."""

    @property
    def up_since(self) -> datetime:
        units = (unit.up_since for group in self.groups for unit in group.units)
        return max((_last_up(self.alone), *units))


@dataclass(frozen=True, slots=True, kw_only=True)
class Threat:
    """What is made anew at the deadline unless that clique recovers.

    One replica of a scaling group, or without a group the whole replica of the set. `up_since` is
    when the last of all that falls with it was up for the first time, by whoever's clock.

    `lacking`: the scaling group that lacks its minimum `since` then, where it is not the clique
    itself that everything falls for.
    """

    clique: str
    since: datetime
    deadline: datetime
    up_since: datetime = _EVER
    group: str = ""
    index: int = 0
    lacking: str = ""

    @property
    def is_whole(self) -> bool:
        return not self.group

    @property
    def unit(self) -> tuple[str, int]:
        return self.group, self.index


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What is due now: everything, or some replicas of scaling groups.

    `threats` are those whose time is yet to come.
    """

    whole: Threat | None = None
    units: tuple[Threat, ...] = ()
    threats: tuple[Threat, ...] = ()

    @property
    def next(self) -> datetime | None:
        """When the first of them comes true."""
        return min((threat.deadline for threat in self.threats), default=None)

    @property
    def due(self) -> tuple[Threat, ...]:
        return (self.whole,) if self.whole is not None else self.units


NOTHING = Decision()


def is_breached(clique: PodClique) -> bool:
    """Whether it lacks its minimum, as its own controller says."""
    breach = find(clique.status.conditions, MIN_AVAILABLE_BREACHED)
    return breach is not None and breach.status == Status.TRUE.value


def health(clique: PodClique, recycled: datetime | None, paused: Pause = NONE) -> Health:
    """`recycled`: when it was last made anew. Of none, or at least none, nothing can be down.

    Neither is what an update takes down itself. What is down when an update is given up counts
    from then on.
    """
    name = clique.metadata.name
    if clique.spec.needed <= 0 or paused.lasts:
        return Health(clique=name)
    if not is_up_since(clique.status.first_available_time, recycled):
        return Health(clique=name, is_down=True)
    up_since = clique.status.first_available_time or _EVER
    breach = find(clique.status.conditions, MIN_AVAILABLE_BREACHED)
    if breach is None or breach.status != Status.TRUE.value:
        return Health(clique=name, up_since=up_since)
    since = breach.last_transition_time
    broken_since = since and paused.counts_from(since)
    return Health(clique=name, is_down=True, broken_since=broken_since, up_since=up_since)


def decide(replica: ReplicaHealth, delay: timedelta, now: datetime) -> Decision:
    threats = tuple(_threats(replica, delay))
    due = [threat for threat in threats if threat.deadline <= now]
    whole = next((threat for threat in due if threat.is_whole), None)
    return Decision(
        whole=whole,
        units=() if whole else tuple(due),
        threats=tuple(threat for threat in threats if threat.deadline > now),
    )


def _threats(replica: ReplicaHealth, delay: timedelta) -> Iterator[Threat]:
    # What is being put back is not judged: a whole replica falls only if all of it is there.
    if replica.is_complete and (broken := _first_broken(replica.alone)) is not None:
        since = broken.broken_since or _EVER
        deadline = since + delay
        yield Threat(
            clique=broken.clique, since=since, deadline=deadline, up_since=replica.up_since
        )
    for group in replica.groups:
        for threat in _group_threats(group, delay):
            if not threat.is_whole:
                yield threat
            elif replica.is_complete:
                yield replace(threat, up_since=replica.up_since)


def _group_threats(group: GroupHealth, delay: timedelta) -> Iterator[Threat]:
    broken = [(unit, first) for unit in group.units if (first := unit.broken) is not None]
    if not broken:
        return
    down = sorted(unit.down_since for unit in group.units if not unit.is_well)
    spare = len(group.units) - group.minimum
    if len(down) <= spare:
        for unit, first in broken:
            since = first.broken_since or _EVER
            yield Threat(
                clique=first.clique,
                since=since,
                deadline=since + delay,
                up_since=unit.up_since,
                group=group.name,
                index=unit.index,
            )
        return
    # It lacks its minimum since one more was down than it could spare.
    first = min((each for _, each in broken), key=_since)
    since = max(down[spare], _since(first))
    yield Threat(clique=first.clique, since=since, deadline=since + delay, lacking=group.name)


def _first_broken(members: Iterable[Health]) -> Health | None:
    broken = [each for each in members if each.broken_since is not None]
    return min(broken, key=_since, default=None)


def _last_up(members: Iterable[Health]) -> datetime:
    return max((each.up_since for each in members), default=_EVER)


def _since(broken: Health) -> datetime:
    return broken.broken_since or _EVER
