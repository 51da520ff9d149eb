# SPDX-License-Identifier: Apache-2.0
"""PodGang: groups of pods that are scheduled together, and the ledger of which pods those are."""

from __future__ import annotations

from typing import Annotated, ClassVar

from trellis.api.conditions import Condition
from trellis.api.meta import Object, Resource, Value, always
from trellis.api.schema.marks import mark

PENDING = "Pending"
STARTING = "Starting"
RUNNING = "Running"

SCHEDULED = "Scheduled"
INITIALIZED = "Initialized"
UNHEALTHY = "Unhealthy"
DISRUPTION_TARGET = "DisruptionTarget"


class NamespacedName(Value, frozen=True, kw_only=True):
    """An object of some namespace."""

    namespace: Annotated[str, mark("Its namespace.")]
    name: Annotated[str, mark("Its name.")]


class PackConstraint(Value, frozen=True, kw_only=True):
    """Node labels whose value the pods must, or should, share."""

    required: Annotated[
        str, mark("The node label whose value all pods must share, such as that of racks.")
    ] = ""
    preferred: Annotated[
        str, mark("The node label whose value as many pods as possible should share.")
    ] = ""


class GangTopologyConstraint(Value, frozen=True, kw_only=True):
    """How close together pods are placed. Labels here, where workloads name levels."""

    pack_constraint: Annotated[
        PackConstraint | None, mark("Node labels whose value pods must, or should, share.")
    ] = None


class PodGroup(Value, frozen=True, kw_only=True):
    """The pods of one clique."""

    name: Annotated[str, mark("The PodClique.")]
    pod_references: Annotated[
        tuple[NamespacedName, ...], mark("Its pods: which name each index has now.")
    ]
    min_replicas: Annotated[int, mark("How many must be placed together.", minimum=0)]
    topology_constraint: Annotated[
        GangTopologyConstraint | None, mark("How close together these pods are placed.")
    ] = None


class GroupConstraint(Value, frozen=True, kw_only=True):
    """Several groups that are placed close together: a replica of a scaling group."""

    name: Annotated[str, mark("The replica of the scaling group.")]
    pod_group_names: Annotated[tuple[str, ...], mark("The groups in it.")]
    topology_constraint: Annotated[
        GangTopologyConstraint | None, mark("How close together their pods are placed.")
    ] = None


class PodGangSpec(Value, frozen=True, kw_only=True):
    """What is to be placed."""

    podgroups: Annotated[
        tuple[PodGroup, ...],
        mark("The groups of pods, one a clique.", list_type="map", map_keys=["name"]),
    ]
    topology_constraint: Annotated[
        GangTopologyConstraint | None, mark("How close together all pods are placed.")
    ] = None
    topology_constraint_group_configs: Annotated[
        tuple[GroupConstraint, ...],
        mark("Groups that are placed close together.", list_type="map", map_keys=["name"]),
    ] = ()
    priority_class_name: Annotated[str, mark("The PriorityClass of the gang.")] = ""
    reuse_reservation_ref: Annotated[
        NamespacedName | None, mark("A gang whose place this one may take. A hint only.")
    ] = None


class PodGangStatus(Value, frozen=True, kw_only=True):
    """What has been placed."""

    phase: Annotated[
        str,
        mark(
            "Pending, then Starting once all minima have nodes, then Running once they are ready.",
            required=True,
        ),
    ] = always(PENDING)
    conditions: Annotated[
        tuple[Condition, ...], mark("How this gang is.", list_type="map", map_keys=["type"])
    ] = ()
    observed_generation: Annotated[
        int | None, mark("The generation that this status is about.", format="int64")
    ] = None
    placement_score: Annotated[
        float | None,
        mark("How well the network is used: 1 is as near as can be.", minimum=0, maximum=1),
    ] = None


class PodGang(Object, frozen=True, kw_only=True):
    """Groups of pods that are scheduled together or not at all."""

    resource: ClassVar = Resource("scheduler.grove.io", "v1alpha1", "PodGang", "podgangs")

    spec: Annotated[PodGangSpec, mark("What is to be placed.")]
    status: Annotated[PodGangStatus, mark("What has been placed.")] = PodGangStatus()
