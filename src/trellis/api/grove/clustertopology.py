# SPDX-License-Identifier: Apache-2.0
"""ClusterTopology and ClusterTopologyBinding: which node labels say how near nodes are.

The first is the one that the operator keeps, with seven levels of fixed meaning and order. The
second is what Grove's users write since: any levels, in the order in which they list them.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from trellis.api.conditions import Condition
from trellis.api.grove import GROUP, VERSION
from trellis.api.grove.faults import LastError
from trellis.api.grove.topologyconstraint import DOMAIN
from trellis.api.meta import Object, Resource, Value, always
from trellis.api.schema.marks import Rule, mark

MANAGED_NAME = "grove-topology"
# From the broadest to the narrowest; this order holds whatever order levels are listed in.
DOMAINS = ("region", "zone", "datacenter", "block", "rack", "host", "numa")
SCHEDULER_TOPOLOGY_DRIFT = "SchedulerTopologyDrift"

KEY_LIMIT = 63
BINDING_LEVELS_LIMIT = 16

_KEY: dict[str, Any] = {
    "minLength": 1,
    "maxLength": KEY_LIMIT,
    "pattern": "^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]/)?"
    "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$",
}
_KEY_MARK = mark("The node label whose values tell the domains of this level apart.", **_KEY)


def _unique(field: str) -> Rule:
    return Rule(
        f"self.all(x, self.filter(y, y.{field} == x.{field}).size() == 1)",
        f"{field} must be unique across all levels",
    )


_UNIQUE = (_unique("domain"), _unique("key"))


class TopologyLevel(Value, frozen=True, kw_only=True):
    """One level of the operator's topology."""

    domain: Annotated[str, mark("The level, which workloads name.", enum=list(DOMAINS))]
    key: Annotated[str, _KEY_MARK]


class ClusterTopologySpec(Value, frozen=True, kw_only=True):
    """The levels that this cluster has."""

    levels: Annotated[
        tuple[TopologyLevel, ...],
        mark("The levels, in any order.", *_UNIQUE, minItems=1, maxItems=len(DOMAINS)),
    ]


class ClusterTopologyStatus(Value, frozen=True, kw_only=True):
    """Whether schedulers know the topology."""

    conditions: Annotated[
        tuple[Condition, ...], mark("How this topology is.", list_type="map", map_keys=["type"])
    ] = ()
    observed_generation: Annotated[
        int | None, mark("The generation that this status is about.", format="int64")
    ] = None
    last_errors: Annotated[
        tuple[LastError, ...], mark("What went wrong in the last pass. Empty if nothing did.")
    ] = ()


class ClusterTopology(Object, frozen=True, kw_only=True):
    """Which node labels say how near nodes are. `grove-topology` is kept by the operator."""

    resource: ClassVar = Resource(
        GROUP, VERSION, "ClusterTopology", "clustertopologies", namespaced=False
    )

    spec: Annotated[ClusterTopologySpec, mark("The levels that this cluster has.")]
    status: Annotated[ClusterTopologyStatus, mark("Whether schedulers know the topology.")] = (
        ClusterTopologyStatus()
    )


class BindingLevel(Value, frozen=True, kw_only=True):
    """One level of a topology that users define."""

    domain: Annotated[str, mark("The level, which workloads name.", **DOMAIN)]
    key: Annotated[str, _KEY_MARK]


class SchedulerTopologyBinding(Value, frozen=True, kw_only=True):
    """A topology that a scheduler has already."""

    scheduler_name: Annotated[str, mark("The scheduler, such as kai-scheduler.")]
    topology_reference: Annotated[str, mark("The name of its own topology object.")]


class ClusterTopologyBindingSpec(Value, frozen=True, kw_only=True):
    """The levels, and the schedulers that know them already."""

    levels: Annotated[
        tuple[BindingLevel, ...],
        mark(
            "The levels, from the broadest to the narrowest.",
            *_UNIQUE,
            minItems=1,
            maxItems=BINDING_LEVELS_LIMIT,
        ),
    ]
    scheduler_topology_bindings: Annotated[
        tuple[SchedulerTopologyBinding, ...],
        mark("Topology objects that others keep. For other schedulers the operator keeps one."),
    ] = ()


class SchedulerTopologyStatus(SchedulerTopologyBinding, frozen=True, kw_only=True):
    """Whether the topology object of a scheduler says the same."""

    in_sync: Annotated[bool, mark("Whether the levels are the same.")]
    scheduler_backend_topology_observed_generation: Annotated[
        int, mark("The generation of that object when it was compared.", format="int64")
    ] = 0
    message: Annotated[str, mark("What differs.")] = ""


class ClusterTopologyBindingStatus(Value, frozen=True, kw_only=True):
    """Whether schedulers know the topology."""

    observed_generation: Annotated[
        int, mark("The generation that this status is about.", format="int64")
    ] = always(0)
    conditions: Annotated[
        tuple[Condition, ...], mark("How this topology is.", list_type="map", map_keys=["type"])
    ] = ()
    scheduler_topology_statuses: Annotated[
        tuple[SchedulerTopologyStatus, ...], mark("How each scheduler's own topology compares.")
    ] = ()


class ClusterTopologyBinding(Object, frozen=True, kw_only=True):
    """Which node labels say how near nodes are, as users define it for their clusters."""

    resource: ClassVar = Resource(
        GROUP, VERSION, "ClusterTopologyBinding", "clustertopologybindings", namespaced=False
    )

    spec: Annotated[ClusterTopologyBindingSpec, mark("The levels that this cluster has.")]
    status: Annotated[
        ClusterTopologyBindingStatus, mark("Whether schedulers know the topology.")
    ] = ClusterTopologyBindingStatus()
