# SPDX-License-Identifier: Apache-2.0
"""What a pass decides about a gang before anything is written: its names, what is made anew. Pure.

A whole replica is made anew by its base gang, which says so under `*`. Its scaled gangs follow: one
whose own stamp is older does the same, and copies the stamp.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from trellis.api.meta import to_seconds
from trellis.workloads.podgang.listing import next_listing, renewed
from trellis.workloads.podgang.rolling import Renewals, renewals
from trellis.workloads.recycled import EVERY_CLIQUE, stamps

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from datetime import datetime

    from trellis.workloads.podgang.listing import Listing
    from trellis.workloads.podgang.recycle import Decision, Threat
    from trellis.workloads.podgang.state import State


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """By the full name of a PodClique its listing; and when which were last made anew."""

    listings: Mapping[str, Listing]
    stamps: Mapping[str, datetime] = field(default_factory=dict)
    renewals: Renewals = field(default_factory=Renewals)

    @property
    def due(self) -> datetime | None:
        """When the next failed pod is to be replaced, or the next outdated one."""
        found = (*(each.due for each in self.listings.values()), self.renewals.again)
        return min((due for due in found if due is not None), default=None)


def plan(state: State, decision: Decision, now: datetime) -> Plan:
    noted, anew = _stamped(state, decision, now)
    listings = {part.name: next_listing(part, now, anew=part.name in anew) for part in state.parts}
    renewing = renewals(state, listings, now)
    for part in state.parts:
        renewal = renewing.found.get(part.name)
        if renewal is not None and renewal.indices:
            listings[part.name] = renewed(part, listings[part.name], renewal.indices)
    if noted:
        known = (EVERY_CLIQUE, *state.expected)
        noted = {name: noted[name] for name in sorted(noted) if name in known}
    return Plan(listings=listings, stamps=noted, renewals=renewing)


def _stamped(
    state: State, decision: Decision, now: datetime
) -> tuple[Mapping[str, datetime], Collection[str]]:
    """The stamps that the gang is to have, and the PodCliques that are made anew."""
    noted = state.stamps
    based = stamps(state.base).get(EVERY_CLIQUE) if state.base is not None else None
    everything = [part.name for part in state.parts]
    if based is not None and not (EVERY_CLIQUE in noted and noted[EVERY_CLIQUE] >= based):
        # What is only being made is new as it is.
        return {EVERY_CLIQUE: based}, everything if state.gang is not None else ()
    if decision.whole is not None and not state.is_scaled:
        return {EVERY_CLIQUE: _stamp(decision.whole, now)}, everything
    fallen = {
        name: _stamp(threat, now)
        for threat in decision.units
        for name in state.members_of(*threat.unit)
    }
    return {**noted, **fallen} if fallen else noted, tuple(fallen)


def _stamp(threat: Threat, now: datetime) -> datetime:
    """Never before anything that ends with it, however far the clocks of two operators differ: what
    seems to have been up since would fall again and again."""
    return to_seconds(max(now, threat.up_since))
