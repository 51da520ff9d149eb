# SPDX-License-Identifier: Apache-2.0
"""What goes next in a rolling update, be it a pod or a replica of a scaling group. Pure.

Only what is Ready costs budget. What is of no use goes at once, however much is down: an update can
always repair what is broken. What is down for a moment only costs nothing either, but waits until
no more is down than may be. Nor does the update wait for what found no room before it began, and
finds none now. Among the Ready goes first what was begun, and then what scaling in would take
first: the newest pod, the highest index.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """A pod, or a replica of a scaling group, as far as its turn depends on it.

    `available`: Ready, and for long enough. `broken`: of no use, and not about to recover.
    `stuck`: it is new, and has been waiting for room for long. `starting`: it is new, and has had
    no time yet to be Ready. `missing`: it is yet to be made. `changes_at`: when one of them becomes
    so by time alone, if it does.
    """

    index: int
    outdated: bool
    ready: bool
    available: bool
    broken: bool
    stuck: bool = False
    starting: bool = False
    missing: bool = False
    begun: bool = False
    born: float = 0.0
    ready_since: datetime | None = None
    changes_at: datetime | None = None

    def costs(self, *, whole: bool) -> bool:
        """Whether it takes up one of those that may be down."""
        return not self.available and not (whole and self.stuck)


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """The indices that go now: of no use, down for a moment, and Ready."""

    broken: tuple[int, ...] = ()
    faltering: tuple[int, ...] = ()
    paid: tuple[int, ...] = ()

    @property
    def all(self) -> tuple[int, ...]:
        return tuple(sorted((*self.broken, *self.faltering, *self.paid)))


def choose(
    units: Sequence[Unit], most: int, *, whole: bool = False, in_vain: bool = False
) -> Choice:
    """`most`: how many of all units may be unavailable at once.

    `whole`: as many are available as were when the update began, so that what is stuck is none of
    what the update has taken down. `in_vain`: nothing could be made in the place of what goes.
    """
    outdated = [unit for unit in units if unit.outdated]
    broken = tuple(unit.index for unit in outdated if unit.broken)
    if in_vain:
        return Choice(broken=broken)
    room = most - sum(unit.costs(whole=whole) for unit in units)
    hale = sorted((unit for unit in outdated if not unit.broken), key=_order)
    ready = [unit.index for unit in hale if unit.ready]
    return Choice(
        broken=broken,
        faltering=tuple(unit.index for unit in hale if not unit.ready) if room >= 0 else (),
        paid=tuple(ready[: max(room, 0)]),
    )


def _order(unit: Unit) -> tuple[bool, float, int]:
    return (not unit.begun, -unit.born, -unit.index)
