# SPDX-License-Identifier: Apache-2.0
"""Whether topology constraints can be met: the feature is on, levels exist, none contradict. Pure.

The levels of the operator's own topology are in its configuration. Those of other topologies are
not known here; what is wrong with them is told by a condition of the set.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trellis.api.grove.clustertopology import DOMAINS, MANAGED_NAME
from trellis.workloads.admission.problems import TEMPLATE, Field, forbidden, invalid, unknown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trellis.api.config.types import Topology
    from trellis.api.grove.topologyconstraint import TopologyConstraint
    from trellis.workloads.admission.problems import Problem
    from trellis.workloads.admission.subject import Subject

OFF = (
    "topology support is not enabled in the operator: topology constraints are not allowed when "
    "Topology Aware Scheduling is disabled; leave them out, or set clusterTopology.enabled"
)
_ONE_NAME = (
    "all topologyConstraint.topologyName values within a PodCliqueSet must match in the current "
    "implementation"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Constrained:
    """A constraint with its place. `within` are the constraints around it, the nearest first."""

    field: Field
    constraint: TopologyConstraint
    within: tuple[TopologyConstraint, ...] = ()


def constraints(subject: Subject) -> Iterator[Constrained]:
    """Every constraint of the set."""
    whole = subject.spec.template.topology_constraint
    around = (whole,) if whole else ()
    if whole:
        yield Constrained(field=TEMPLATE / "topologyConstraint", constraint=whole)
    grouped: dict[str, tuple[TopologyConstraint, ...]] = {}
    for group in subject.groups:
        found = group.template.topology_constraint
        if found:
            grouped[group.template.name] = (found,)
            field = group.field / "topologyConstraint"
            yield Constrained(field=field, constraint=found, within=around)
    for clique in subject.cliques:
        found = clique.template.topology_constraint
        if found:
            inner = grouped.get(clique.group or "", ())
            field = clique.field / "topologyConstraint"
            yield Constrained(field=field, constraint=found, within=(*inner, *around))


def topology_problems(subject: Subject, topology: Topology) -> Iterator[Problem]:
    found = tuple(constraints(subject))
    if found and not topology.enabled:
        yield forbidden(found[0].field, OFF)
        return
    names = [one for one in found if one.constraint.topology_name]
    for one in names:
        if one.constraint.topology_name != names[0].constraint.topology_name:
            field = one.field / "topologyName"
            detail = f"{_ONE_NAME}; {names[0].field.shown} has {_name(names[0].constraint)!r}"
            yield invalid(field, one.constraint.topology_name, detail)
    # Nothing is known of a topology that is not the operator's own.
    foreign = any(_name(one.constraint) != MANAGED_NAME for one in names)
    known = () if foreign else tuple(level.domain for level in topology.levels)
    for one in found:
        yield from _levels(one, known)
        yield from _order(one)


def coarser_preferences(subject: Subject) -> Iterator[str]:
    """A sentence for every preference that what is required already fulfils."""
    for one in constraints(subject):
        required, preferred = one.constraint.required, one.constraint.preferred
        if required and preferred and _broader(preferred, required):
            yield (
                f"{one.field.shown}.pack.preferred: {preferred!r} is broader than what is "
                f"required, {required!r}, and has no effect"
            )


def _levels(one: Constrained, known: tuple[str, ...]) -> Iterator[Problem]:
    for place, domain in _domains(one.constraint):
        if known and domain not in known:
            detail = f"topology {MANAGED_NAME!r} has the levels {', '.join(known)}"
            yield unknown(_at(one.field, place), domain, detail)


def _order(one: Constrained) -> Iterator[Problem]:
    """What is inside is never spread wider than what is around it."""
    for place, domain in _domains(one.constraint):
        for around in one.within:
            outer = around.preferred if place == "pack.preferred" else around.required
            if outer and _broader(domain, outer):
                detail = (
                    f"is broader than {outer!r}, which all of it is packed into; "
                    f"use {outer!r} or a narrower level"
                )
                yield invalid(_at(one.field, place), domain, detail)
                break


def _domains(constraint: TopologyConstraint) -> Iterator[tuple[str, str]]:
    if constraint.required:
        written = "packDomain" if constraint.pack_domain else "pack.required"
        yield written, constraint.required
    if constraint.preferred:
        yield "pack.preferred", constraint.preferred


def _broader(one: str, other: str) -> bool:
    """Only the levels of fixed meaning can be compared without their topology."""
    if one not in DOMAINS or other not in DOMAINS:
        return False
    return DOMAINS.index(one) < DOMAINS.index(other)


def _at(field: Field, place: str) -> Field:
    for member in place.split("."):
        field = field / member
    return field


def _name(constraint: TopologyConstraint) -> str:
    return constraint.topology_name or MANAGED_NAME
