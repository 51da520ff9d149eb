# SPDX-License-Identifier: Apache-2.0
"""What is to be there: `grove-topology` as configured, and KAI's Topology as that says. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trellis.api.grove.clustertopology import MANAGED_NAME, ClusterTopology, ClusterTopologySpec
from trellis.api.labels import MANAGED_BY, OPERATOR
from trellis.api.meta import Metadata
from trellis.api.reasons import objects
from trellis.topology import standing
from trellis.topology.kai import KaiTopology, for_kai, kai_topology
from trellis.topology.levels import domains, in_order, levels_of
from trellis.topology.state import Kai

if TYPE_CHECKING:
    from trellis.api.config.types import Topology
    from trellis.topology.levels import Level
    from trellis.topology.standing import Standing
    from trellis.topology.state import State


def managed(configured: Topology) -> ClusterTopology | None:
    """`grove-topology` as the configuration has it, its levels in order; None where it is off."""
    if not configured.enabled:
        return None
    return ClusterTopology(
        metadata=Metadata(name=MANAGED_NAME, labels={MANAGED_BY: OPERATOR}),
        spec=ClusterTopologySpec(levels=in_order(configured.levels)),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What of KAI's there is to be had in place of what, and how the topology stands after that.

    KAI's levels cannot be changed: a Topology with others is deleted in one pass and made anew in
    the next, which its end begins.
    """

    have: tuple[KaiTopology, ...] = ()
    want: tuple[KaiTopology, ...] = ()
    standing: Standing


def plan(state: State) -> Plan:
    name = state.topology.metadata.name
    levels = levels_of(state.topology)
    if state.kai is Kai.ABSENT:
        served = f"{KaiTopology.resource.full_name}/{KaiTopology.resource.version}"
        absent = f"{domains(levels)}; KAI is not installed here ({served} is not served)"
        return Plan(standing=standing.well(absent))
    if state.kai is Kai.UNREAD:
        message = "KAI is installed, and its Topologies have not been read yet"
        return Plan(standing=standing.under_way(objects.RETRYING, message))
    told = for_kai(levels)
    ours = _ours(state)
    if not told:
        nothing = f"{domains(levels)}; KAI has no such level, so it has no Topology {name}"
        return Plan(have=ours, standing=standing.well(nothing))
    if state.holder is not None and not ours:
        return Plan(standing=_held_by_another(state, state.holder))
    return _kept(state, ours, told)


def _kept(state: State, ours: tuple[KaiTopology, ...], told: tuple[Level, ...]) -> Plan:
    name = state.topology.metadata.name
    wanted = kai_topology(state.topology, told)
    if any(found.spec != wanted.spec for found in ours):
        message = f"KAI's Topology {name} had other levels and is being made anew"
        return Plan(have=ours, standing=standing.under_way(objects.CREATING_CHILDREN, message))
    left_out = [level for level in levels_of(state.topology) if level not in told]
    without = f", and leaves out {domains(left_out)}" if left_out else ""
    known = f"KAI's Topology {name} has {domains(told)}{without}"
    return Plan(have=ours, want=(wanted,), standing=standing.well(known))


def _ours(state: State) -> tuple[KaiTopology, ...]:
    """The holder of the name, if it is what we made for this very topology."""
    controller = state.holder.metadata.controller if state.holder else None
    if state.holder is None or controller is None:
        return ()
    return (state.holder,) if controller.uid == state.topology.metadata.uid else ()


def _held_by_another(state: State, holder: KaiTopology) -> Standing:
    own, controller = state.topology, holder.metadata.controller
    name = holder.metadata.name
    if controller is None:
        return standing.name_taken(name, "nobody")
    if (controller.kind, controller.name) == (own.resource.kind, own.metadata.name):
        # What the former topology of our name had: the cluster's collector removes it.
        return standing.name_held(name)
    return standing.name_taken(name, f"{controller.kind} {controller.name}")
