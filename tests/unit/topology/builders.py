# SPDX-License-Identifier: Apache-2.0
"""Topologies for tests: short words with boring defaults."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.support.topologies import KEYS, levels
from trellis.api.conditions import Condition
from trellis.api.core.definition import (
    DefinedVersion,
    Definition,
    DefinitionSpec,
    DefinitionStatus,
)
from trellis.api.grove.clustertopology import (
    MANAGED_NAME,
    BindingLevel,
    ClusterTopology,
    ClusterTopologyBinding,
    ClusterTopologyBindingSpec,
    ClusterTopologySpec,
    ClusterTopologyStatus,
)
from trellis.api.meta import Metadata, OwnerReference
from trellis.topology.kai import KaiLevel, KaiTopology, KaiTopologySpec

if TYPE_CHECKING:
    from collections.abc import Iterable

UID = "uid-topology"


def a_topology(
    *domains: str, status: ClusterTopologyStatus | None = None, **metadata: Any
) -> ClusterTopology:
    given: dict[str, Any] = {
        "name": MANAGED_NAME,
        "uid": UID,
        "resource_version": "7",
        "generation": 3,
    }
    return ClusterTopology(
        metadata=Metadata(**(given | metadata)),
        spec=ClusterTopologySpec(levels=levels(*(domains or ("rack", "host")))),
        status=status or ClusterTopologyStatus(),
    )


def a_binding(*levels: tuple[str, str]) -> ClusterTopologyBinding:
    bound = tuple(BindingLevel(domain=domain, key=key) for domain, key in levels)
    return ClusterTopologyBinding(
        metadata=Metadata(name="h100"), spec=ClusterTopologyBindingSpec(levels=bound)
    )


def an_owner(uid: str = UID, *, kind: str = "ClusterTopology", **changes: Any) -> OwnerReference:
    given: dict[str, Any] = {
        "api_version": "grove.io/v1alpha1",
        "name": MANAGED_NAME,
        "controller": True,
    }
    return OwnerReference(kind=kind, uid=uid, **(given | changes))


def a_kai_topology(
    *domains: str, owners: Iterable[OwnerReference] | None = None, **metadata: Any
) -> KaiTopology:
    owned = tuple(owners) if owners is not None else (an_owner(),)
    given = {"name": MANAGED_NAME, "uid": "uid-kai", "resource_version": "9"}
    shown = tuple(KaiLevel(node_label=KEYS[domain]) for domain in domains or ("rack", "host"))
    return KaiTopology(
        metadata=Metadata(owner_references=owned, **(given | metadata)),
        spec=KaiTopologySpec(levels=shown),
    )


def a_definition(
    *versions: str, established: str = "True", served: bool = True, **metadata: Any
) -> Definition:
    known = tuple(DefinedVersion(name=name, served=served) for name in versions or ("v1alpha1",))
    return Definition(
        metadata=Metadata(**({"name": "topologies.kai.scheduler"} | metadata)),
        spec=DefinitionSpec(versions=known),
        status=DefinitionStatus(conditions=(Condition(type="Established", status=established),)),
    )
