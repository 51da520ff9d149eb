# SPDX-License-Identifier: Apache-2.0
"""KAI's own Topology: its shape, and which levels KAI can be told. Pure.

KAI takes the order of the list for the hierarchy, never lets it change, and takes the hostname
label at the end alone. It has room for more levels than any topology of ours may have.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from trellis.api.labels import HOSTNAME, MANAGED_BY, OPERATOR
from trellis.api.meta import Metadata, Object, Resource, Value, owner

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trellis.topology.levels import Level

# KAI places pods on nodes and knows nothing inside of one.
_INSIDE_A_NODE = "numa"


class KaiLevel(Value, frozen=True, kw_only=True):
    """One level. What KAI adds to it later, such as an alias, is its users' and left alone."""

    node_label: str


class KaiTopologySpec(Value, frozen=True, kw_only=True):
    levels: tuple[KaiLevel, ...] = ()


class KaiTopology(Object, frozen=True, kw_only=True):
    """A Topology of `kai.scheduler`."""

    resource: ClassVar = Resource(
        "kai.scheduler", "v1alpha1", "Topology", "topologies", namespaced=False
    )

    spec: KaiTopologySpec = KaiTopologySpec()


def for_kai(levels: Iterable[Level]) -> tuple[Level, ...]:
    """The levels that KAI can be told: none inside a node, and none below the node itself."""
    told: list[Level] = []
    for level in levels:
        if level.domain != _INSIDE_A_NODE:
            told.append(level)
        if level.key == HOSTNAME:
            break
    return tuple(told)


def kai_topology(controller: Object, levels: Iterable[Level]) -> KaiTopology:
    """The Topology that KAI is to have for a topology of ours, under the same name."""
    return KaiTopology(
        metadata=Metadata(
            name=controller.metadata.name,
            labels={MANAGED_BY: OPERATOR},
            owner_references=(owner(controller),),
        ),
        spec=KaiTopologySpec(levels=tuple(KaiLevel(node_label=level.key) for level in levels)),
    )
