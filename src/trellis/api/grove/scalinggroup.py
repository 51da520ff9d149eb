# SPDX-License-Identifier: Apache-2.0
"""PodCliqueScalingGroup: cliques that are scaled together, as one unit."""

from __future__ import annotations

from typing import Annotated, ClassVar

from trellis.api.conditions import Condition
from trellis.api.grove import GROUP, VERSION
from trellis.api.grove.faults import LastError
from trellis.api.grove.updates import GroupProgress, OldGroupProgress
from trellis.api.meta import Object, Resource, Value, always
from trellis.api.schema.marks import mark

GANG_TERMINATION_IN_PROGRESS = "GangTerminationInProgress"


class PodCliqueScalingGroupSpec(Value, frozen=True, kw_only=True):
    """The replicas of a scaling group, each with one PodClique of every member."""

    replicas: Annotated[int, mark("How many replicas.", required=True, minimum=0, default=1)] = (
        always(1)
    )
    min_available: Annotated[
        int,
        mark(
            "How many replicas must start together, and below how many running ones the whole "
            "replica of the set counts as broken.",
            minimum=0,
            default=1,
        ),
    ] = always(1)
    clique_names: Annotated[
        tuple[str, ...],
        mark(
            "The cliques in each replica.",
            list_type="atomic",
            maxItems=256,
            items={"maxLength": 63},
        ),
    ]


class PodCliqueScalingGroupStatus(Value, frozen=True, kw_only=True):
    """What has become of a scaling group."""

    replicas: Annotated[int, mark("How many replicas are wanted.")] = always(0)
    scheduled_replicas: Annotated[
        int,
        mark("How many replicas have nodes for all their minima.", required=True, default=0),
    ] = always(0)
    available_replicas: Annotated[
        int, mark("How many replicas have all their minima ready.", required=True, default=0)
    ] = always(0)
    updated_replicas: Annotated[
        int,
        mark(
            "How many replicas are available on the current template. If they are fewer than "
            "replicas, an update is under way, or OnDelete leaves the others until they are "
            "deleted.",
            required=True,
            default=0,
        ),
    ] = always(0)
    selector: Annotated[str, mark("The label selector of these pods, for autoscalers.")] = ""
    observed_generation: Annotated[
        int | None, mark("The generation that this status is about.", format="int64")
    ] = None
    last_errors: Annotated[
        tuple[LastError, ...], mark("What went wrong in the last pass. Empty if nothing did.")
    ] = ()
    conditions: Annotated[
        tuple[Condition, ...],
        mark("How this scaling group is.", list_type="map", map_keys=["type"]),
    ] = ()
    current_pod_clique_set_generation_hash: Annotated[
        str, mark("The hash of the set's templates that all members have reached.")
    ] = ""
    update_progress: Annotated[
        GroupProgress | None,
        mark("The update under way, or the last one. Absent before the first template change."),
    ] = None
    rolling_update_progress: Annotated[
        OldGroupProgress | None, mark("Deprecated: what older operators called updateProgress.")
    ] = None


class PodCliqueScalingGroup(Object, frozen=True, kw_only=True):
    """PodCliques that are scaled together, made for a PodCliqueSet and scaled by itself."""

    resource: ClassVar = Resource(GROUP, VERSION, "PodCliqueScalingGroup", "podcliquescalinggroups")

    spec: Annotated[PodCliqueScalingGroupSpec, mark("The replicas that are wanted.")]
    status: Annotated[PodCliqueScalingGroupStatus, mark("The replicas that there are.")] = (
        PodCliqueScalingGroupStatus()
    )
