# SPDX-License-Identifier: Apache-2.0
"""PodCliqueSet: identical replicas of a system, each made of cliques that live and die together."""

from __future__ import annotations

from typing import Annotated, ClassVar

from trellis.api.conditions import Condition
from trellis.api.grove import GROUP, VERSION
from trellis.api.grove.faults import LastError
from trellis.api.grove.template import PodCliqueSetTemplate
from trellis.api.grove.updates import OldSetProgress, SetProgress, UpdateStrategy
from trellis.api.meta import Object, Resource, Value, always
from trellis.api.schema.marks import mark

TOPOLOGY_LEVELS_UNAVAILABLE = "TopologyLevelsUnavailable"
TOPOLOGY_CONSTRAINT_SATISFIED = "TopologyConstraintSatisfied"

# A status holds so many gangs at most, the unwell ones first: lists in it must not grow with a set.
GANG_STATUSES_LIMIT = 50


class PodCliqueSetSpec(Value, frozen=True, kw_only=True):
    """What a user asks for."""

    replicas: Annotated[
        int,
        mark("How many replicas of the whole system to run. 0 is allowed.", minimum=0, default=0),
    ] = 0
    update_strategy: Annotated[
        UpdateStrategy | None,
        mark(
            "What happens to running pods when the template changes, in cliques and scaling "
            "groups alike. RollingRecreate."
        ),
    ] = None
    template: Annotated[PodCliqueSetTemplate, mark("What each replica is made of.")]


class GangStatus(Value, frozen=True, kw_only=True):
    """One gang of the set."""

    name: Annotated[str, mark("The PodGang.")]
    phase: Annotated[str, mark("Its phase: Pending, Starting, Running, Failed or Succeeded.")]
    conditions: Annotated[
        tuple[Condition, ...], mark("How it is.", list_type="map", map_keys=["type"])
    ] = ()


class PodCliqueSetStatus(Value, frozen=True, kw_only=True):
    """What has become of it."""

    observed_generation: Annotated[
        int | None,
        mark(
            "The generation that this status, and all that is made for the set, is about.",
            format="int64",
        ),
    ] = None
    conditions: Annotated[
        tuple[Condition, ...], mark("How this set is.", list_type="map", map_keys=["type"])
    ] = ()
    last_errors: Annotated[
        tuple[LastError, ...], mark("What went wrong in the last pass. Empty if nothing did.")
    ] = ()
    replicas: Annotated[int, mark("How many replicas are wanted.")] = always(0)
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
    available_replicas: Annotated[
        int, mark("How many replicas have all their minima ready.", required=True, default=0)
    ] = always(0)
    hpa_pod_selector: Annotated[str, mark("The label selector of these pods, for autoscalers.")] = (
        ""
    )
    pod_gang_statuses: Annotated[
        tuple[GangStatus, ...],
        mark(
            "The gangs of this set, the unwell ones first.",
            maxItems=GANG_STATUSES_LIMIT,
            list_type="map",
            map_keys=["name"],
        ),
    ] = ()
    current_generation_hash: Annotated[
        str, mark("The hash of the current templates of all cliques.")
    ] = ""
    update_progress: Annotated[
        SetProgress | None,
        mark("The update under way, or the last one. Absent before the first template change."),
    ] = None
    rolling_update_progress: Annotated[
        OldSetProgress | None, mark("Deprecated: what older operators called updateProgress.")
    ] = None


class PodCliqueSet(Object, frozen=True, kw_only=True):
    """Identical replicas of a system, each made of cliques of pods that live and die together."""

    resource: ClassVar = Resource(GROUP, VERSION, "PodCliqueSet", "podcliquesets")

    spec: Annotated[PodCliqueSetSpec, mark("The replicas that are wanted.")]
    status: Annotated[PodCliqueSetStatus, mark("The replicas that there are.")] = (
        PodCliqueSetStatus()
    )
