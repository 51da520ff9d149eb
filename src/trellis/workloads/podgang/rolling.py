# SPDX-License-Identifier: Apache-2.0
"""Which pods of a gang are renewed because their template has changed, and why. Pure.

Of a clique in no scaling group the planner says which. Of a scaling group whoever looks after the
group says which replica, by the mark on its PodCliques, and all pods of it go together. With
OnDelete nothing is renewed.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from trellis.workloads.members import carries, current_templates, is_released, ready_before
from trellis.workloads.priorities import unmakeable
from trellis.workloads.updates import CliqueState, outlook, release
from trellis.workloads.updates.progress import progress_of, selected, span_of
from trellis.workloads.updates.reading import budget, has_outdated, pods_listed, rolls

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import datetime

    from trellis.workloads.podgang.listing import Listing
    from trellis.workloads.podgang.state import Part, State
    from trellis.workloads.updates import Outlook


@dataclass(frozen=True, slots=True, kw_only=True)
class Renewal:
    """Of one PodClique: these indices get new names, and why, unless its scaling group tells of
    that. `again`: when more may follow."""

    indices: tuple[int, ...] = ()
    why: str = ""
    again: datetime | None = None


@dataclass(frozen=True, slots=True)
class Renewals:
    """By the full name of a PodClique; those of which nothing is to be said are left out."""

    found: Mapping[str, Renewal] = field(default_factory=dict)

    def told(self) -> Iterator[tuple[str, str]]:
        """The PodCliques whose events are to say that pods are renewed, each with why."""
        found = self.found.items()
        return ((name, one.why) for name, one in found if one.indices and one.why)

    @property
    def again(self) -> datetime | None:
        return min((one.again for one in self.found.values() if one.again), default=None)


def renewals(state: State, listings: Mapping[str, Listing], now: datetime) -> Renewals:
    """`listings` are the next ones without updates: what they drop is not renewed before."""
    if state.gang is None or not _is_its_turn(state):
        return Renewals()
    return Renewals({**dict(_alone(state, listings, now)), **dict(_grouped(state, listings))})


def _is_its_turn(state: State) -> bool:
    return rolls(state.set) and state.place.replica in selected(state.set.status)


def _alone(
    state: State, listings: Mapping[str, Listing], now: datetime
) -> Iterator[tuple[str, Renewal]]:
    for part in state.parts:
        entries = listings[part.name].entries
        if part.member.group is not None or not _has_template(part, state):
            continue
        if has_outdated(entries, part.pods, current_templates(part.clique)):
            found = _outlook(part, listings[part.name], state, now)
            step = found.step
            yield (
                part.name,
                Renewal(indices=step.indices, why=step.why.text, again=found.again)
                if step is not None
                else Renewal(again=found.again),
            )


def _outlook(part: Part, listing: Listing, state: State, now: datetime) -> Outlook:
    span = span_of(progress_of(part.clique.status))
    return outlook(
        CliqueState(
            now=now,
            minimum=part.minimum,
            at_start=ready_before(part.clique),
            started=span.started if span is not None else None,
            budget=budget(state.set, part.member.template.rolling_update),
            pods=pods_listed(listing.entries, part.pods),
            current=current_templates(part.clique),
            obstacle=unmakeable(state.set, (part.member.template,), state.missing_classes),
        )
    )


def _grouped(state: State, listings: Mapping[str, Listing]) -> Iterator[tuple[str, Renewal]]:
    for parts in _replicas(state):
        group = parts[0].member.group
        if group is None or len(parts) < len(group.clique_names):
            continue
        mark = release(state.set, state.outline, group)
        ready = all(_has_template(one, state) and is_released(one.clique, mark) for one in parts)
        if ready and any(_is_outdated(one, listings[one.name]) for one in parts):
            for one in parts:
                yield one.name, Renewal(indices=tuple(listings[one.name].entries))


def _replicas(state: State) -> Iterator[list[Part]]:
    """Its PodCliques by the replica of the scaling group that they are in."""
    found: defaultdict[tuple[str, int], list[Part]] = defaultdict(list)
    for part in state.parts:
        place = part.member.place.group
        if place is not None:
            found[place.full_name, place.replica].append(part)
    return iter(found.values())


def _is_outdated(part: Part, listing: Listing) -> bool:
    return has_outdated(listing.entries, part.pods, current_templates(part.clique))


def _has_template(part: Part, state: State) -> bool:
    template = part.member.template
    return carries(part.clique, template, state.outline.template_hashes[template.name])
