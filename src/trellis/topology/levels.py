# SPDX-License-Identifier: Apache-2.0
"""The levels of a topology from the broadest to the narrowest, whichever kind holds them. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from trellis.api.grove.clustertopology import DOMAINS, ClusterTopology

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trellis.api.grove.clustertopology import (
        BindingLevel,
        ClusterTopologyBinding,
        TopologyLevel,
    )

    Level: TypeAlias = TopologyLevel | BindingLevel

_RANK = {domain: rank for rank, domain in enumerate(DOMAINS)}


def in_order(levels: Iterable[TopologyLevel]) -> tuple[TopologyLevel, ...]:
    """By what the domains mean, whatever order they are listed in."""
    return tuple(sorted(levels, key=lambda level: _RANK.get(level.domain, len(DOMAINS))))


def levels_of(topology: ClusterTopology | ClusterTopologyBinding) -> tuple[Level, ...]:
    """A ClusterTopology's domains have an order of their own; a binding's are in the user's."""
    if isinstance(topology, ClusterTopology):
        return in_order(topology.spec.levels)
    return topology.spec.levels


def domains(levels: Iterable[Level]) -> str:
    """The levels as people read them."""
    return ", ".join(level.domain for level in levels)
