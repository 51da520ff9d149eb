# SPDX-License-Identifier: Apache-2.0
"""From shapes and counts to nodes: which names, labels and cards each of them has. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain, count, islice
from typing import TYPE_CHECKING

from trellis.api.labels import HOSTNAME
from trellis.embedded.nodes import chance

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trellis.embedded.nodes.fleet import Fleet, Gpu, Group, Machine

TOPOLOGY = "topology.kubernetes.io"
CLIQUE = "nvidia.com/gpu.clique"


class TooFewNodes(ValueError):
    """More nodes are wanted than the fleet file says how to make."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodePlan:
    """One node as it is to be. `index` is its place in the fleet, and its addresses follow it."""

    index: int
    name: str
    labels: dict[str, str]
    machine: Machine
    seed: int

    def uuid(self, gpu: Gpu) -> str:
        return gpu.uuid or f"GPU-{chance.uuid(self.seed, self.name, gpu.address)}"

    @property
    def host_ip(self) -> str:
        return f"10.64.{self.index >> 8}.{self.index & 255}"

    @property
    def pod_network(self) -> str:
        """The first three bytes of its pods' addresses."""
        return f"100.{64 + (self.index >> 8)}.{self.index & 255}"


def expand(fleet: Fleet, wanted: int | None = None) -> tuple[NodePlan, ...]:
    """All nodes; or the first so many, for which the last group goes on with more racks."""
    endless = wanted is not None
    found = chain(
        ((entry.name, dict(entry.labels), entry) for entry in fleet.nodes),
        *(
            _members(fleet, group, endless=endless and group is fleet.groups[-1])
            for group in fleet.groups
        ),
    )
    nodes = tuple(
        NodePlan(
            index=index,
            name=name,
            labels=labels | {HOSTNAME: name},
            machine=machine,
            seed=fleet.seed,
        )
        for index, (name, labels, machine) in enumerate(islice(found, wanted))
    )
    if wanted is not None and len(nodes) < wanted:
        raise TooFewNodes(
            f"the fleet has {len(nodes)} nodes, written out one by one, and {wanted} are wanted;"
            " add a group, or ask for fewer"
        )
    return nodes


def size(fleet: Fleet) -> int:
    groups = (len(one.zones) * one.blocks * one.racks * one.nodes for one in fleet.groups)
    return len(fleet.nodes) + sum(groups)


def _members(
    fleet: Fleet, group: Group, *, endless: bool
) -> Iterator[tuple[str, dict[str, str], Machine]]:
    shape = next(shape for shape in fleet.shapes if shape.name == group.shape)
    racks = count() if endless else range(len(group.zones) * group.blocks * group.racks)
    for rack in racks:
        block = rack // group.racks
        zone = group.zones[min(block // group.blocks, len(group.zones) - 1)]
        rack_name = f"{group.name}-r{rack + 1:03d}"
        places = {
            f"{TOPOLOGY}/zone": zone,
            f"{TOPOLOGY}/block": f"{group.name}-b{block + 1:02d}",
            f"{TOPOLOGY}/rack": rack_name,
        }
        if group.region:
            places[f"{TOPOLOGY}/region"] = group.region
        for number in range(group.nodes):
            name = f"{rack_name}-n{number + 1:02d}"
            clique = _clique(fleet.seed, rack_name if group.clique == "rack" else name)
            cliques = {CLIQUE: clique} if group.clique else {}
            yield name, {**shape.labels, **places, **cliques, **group.labels}, shape


def _clique(seed: int, domain: str) -> str:
    """As GFD labels it: the cluster's UUID, which a rack has one of, and the clique within it."""
    return f"{chance.uuid(seed, 'clique', domain)}.0"
