# SPDX-License-Identifier: Apache-2.0
"""Levels of a network under boring labels, and configurations of them."""

from __future__ import annotations

from trellis.api.config.types import Topology
from trellis.api.grove.clustertopology import TopologyLevel

KEYS = {
    "region": "topology.kubernetes.io/region",
    "zone": "topology.kubernetes.io/zone",
    "datacenter": "example.com/datacenter",
    "block": "example.com/block",
    "rack": "topology.kubernetes.io/rack",
    "host": "kubernetes.io/hostname",
    "numa": "example.com/numa",
}


def a_level(domain: str, key: str = "") -> TopologyLevel:
    return TopologyLevel(domain=domain, key=key or KEYS[domain])


def levels(*domains: str) -> tuple[TopologyLevel, ...]:
    return tuple(a_level(domain) for domain in domains)


def configured(*domains: str, enabled: bool = True) -> Topology:
    return Topology(enabled=enabled, levels=levels(*domains))
