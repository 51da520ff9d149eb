# SPDX-License-Identifier: Apache-2.0
"""PodClique: a number of pods with one role."""

from __future__ import annotations

from typing import Annotated, ClassVar

from trellis.api.conditions import Condition
from trellis.api.grove import GROUP, VERSION
from trellis.api.grove.autoscaling import AutoScalingConfig
from trellis.api.grove.faults import LastError
from trellis.api.grove.updates import CliqueProgress
from trellis.api.meta import Object, Resource, Time, Value, always, detach
from trellis.api.schema.marks import PodSpec, mark

SCHEDULED = "PodCliqueScheduled"
MIN_AVAILABLE_BREACHED = "MinAvailableBreached"
# What whoever makes its gang says, while there is none: the gang itself cannot.
GANG_REFUSED = "PodGangRefused"
# How many PodCliques one may start after. Each is watched by every pod that waits.
PARENTS_LIMIT = 256


class PodCliqueSpec(Value, frozen=True, kw_only=True):
    """The pods of a clique, in a set's template and in the PodCliques made from it alike."""

    role_name: Annotated[
        str, mark("What these pods do, such as prefill. Different in each clique.", maxLength=253)
    ]
    pod_spec: Annotated[PodSpec, mark("The spec of every pod. See `kubectl explain pod.spec`.")]
    replicas: Annotated[
        int,
        mark(
            "How many pods. In a set's template this is the number to begin with; afterwards the "
            "PodClique is scaled itself.",
            minimum=0,
        ),
    ]
    min_available: Annotated[
        int | None,
        mark(
            "How many pods must start together, and below how many running ones the whole replica "
            "counts as broken. All of them.",
            minimum=0,
        ),
    ] = None
    starts_after: Annotated[
        tuple[str, ...],
        mark(
            "The cliques whose pods must be ready before these start. "
            "Takes effect with CliqueStartupTypeExplicit.",
            list_type="set",
            maxItems=PARENTS_LIMIT,
            items={"maxLength": 253},
        ),
    ] = ()
    auto_scaling_config: Annotated[
        AutoScalingConfig | None,
        mark("Horizontal autoscaling. Not for cliques of a scaling group."),
    ] = None

    def __post_init__(self) -> None:
        detach(self, "pod_spec")

    @property
    def needed(self) -> int:
        """How many pods it takes for it to be well: never more than are wanted at all."""
        least = self.min_available
        return self.replicas if least is None else min(least, self.replicas)


class PodCliqueStatus(Value, frozen=True, kw_only=True):
    """What has become of a PodClique."""

    observed_generation: Annotated[
        int | None, mark("The generation that this status is about.", format="int64")
    ] = None
    last_errors: Annotated[
        tuple[LastError, ...], mark("What went wrong in the last pass. Empty if nothing did.")
    ] = ()
    replicas: Annotated[int, mark("How many pods there are that are not going away.")] = always(0)
    ready_replicas: Annotated[int, mark("How many pods are ready.", required=True, default=0)] = (
        always(0)
    )
    updated_replicas: Annotated[
        int,
        mark(
            "How many pods have the current template. If they are fewer than replicas, an update "
            "is under way, or OnDelete leaves the others until they are deleted.",
            required=True,
            default=0,
        ),
    ] = always(0)
    schedule_gated_replicas: Annotated[
        int, mark("How many pods are held back by a gate.", required=True, default=0)
    ] = always(0)
    scheduled_replicas: Annotated[
        int, mark("How many pods have a node.", required=True, default=0)
    ] = always(0)
    hpa_pod_selector: Annotated[str, mark("The label selector of these pods, for autoscalers.")] = (
        ""
    )
    conditions: Annotated[
        tuple[Condition, ...],
        mark("How this PodClique is.", list_type="map", map_keys=["type"]),
    ] = ()
    current_pod_clique_set_generation_hash: Annotated[
        str, mark("The hash of the set's templates that all pods have reached.")
    ] = ""
    current_pod_template_hash: Annotated[
        str, mark("The hash of the pod template that all pods have reached.")
    ] = ""
    first_available_time: Annotated[
        Time | None,
        mark("When it first held its minimum since it was made, or last made anew as a gang."),
    ] = None
    update_progress: Annotated[
        CliqueProgress | None,
        mark("The update under way, or the last one. Absent before the first template change."),
    ] = None
    rolling_update_progress: Annotated[
        CliqueProgress | None, mark("Deprecated: what older operators called updateProgress.")
    ] = None


class PodClique(Object, frozen=True, kw_only=True):
    """A number of pods with one role, made for a PodCliqueSet and scaled by itself."""

    resource: ClassVar = Resource(GROUP, VERSION, "PodClique", "podcliques")

    spec: Annotated[PodCliqueSpec, mark("The pods that are wanted.")]
    status: Annotated[PodCliqueStatus, mark("The pods that there are.")] = PodCliqueStatus()
