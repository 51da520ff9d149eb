# SPDX-License-Identifier: Apache-2.0
"""How updates are to go, and how far they have come.

`rollingUpdateProgress` is what Grove called progress before it had more than one strategy. It stays
declared, because the API server drops what is not: an update that an older operator began could
then neither be read nor finished.
"""

from __future__ import annotations

from typing import Annotated, Any

from trellis.api.durations import LONGEST, PATTERN, SECOND, UNITS
from trellis.api.meta import Time, Value, always
from trellis.api.schema.marks import Rule, mark

ROLLING_RECREATE = "RollingRecreate"
ON_DELETE = "OnDelete"

UPDATE_IN_PROGRESS = "UpdateInProgress"

DURATION: dict[str, Any] = {"maxLength": 64, "pattern": PATTERN}
# A text that is too long a duration is an error to CEL, and the server would show that instead of
# our message. So the parts are added up first, in seconds: what is false anyway can be no error.
# Units are told by how a part ends: a map of them is more than servers let a rule cost.
_SECONDS = "".join(
    f"part.endsWith('{unit}') ? {nanoseconds / SECOND} : "
    for unit, nanoseconds in UNITS.items()
    if unit != "s"
)
IN_RANGE = Rule(
    "self.findAll('[0-9.]+[^0-9.]+')"
    f".map(part, double(part.find('[0-9.]+')) * ({_SECONDS}1.0)).sum() < 9223372037.0"
    " && duration(self) > duration('0s')",
    f"must be more than 0s and at most {LONGEST}; write it like 30m or 4h",
)

_STARTED = mark("When the update began.")
_ENDED = mark(
    "When nothing was left for the operator to do. With OnDelete that is when it began, whatever "
    "pods are still outdated."
)
_ROLLED_OUT = mark("The hash of the set's templates that is being rolled out.")
_UPDATED_CLIQUES = mark("How many PodCliques are on the new template.", default=0)
_TOTAL_CLIQUES = mark("How many PodCliques there are to update.", default=0)


class UpdateStrategy(Value, frozen=True, kw_only=True):
    """What happens to running pods when the template changes."""

    type: Annotated[
        str,
        mark(
            "RollingRecreate replaces what is outdated step by step: one replica of the set at a "
            "time, and in it one pod of a clique and one replica of a scaling group at a time. "
            "OnDelete replaces nothing: PodCliques get the template at once, pods stay as they "
            "are, and whatever is made from then on has it, be it after a deletion, an eviction, "
            "the loss of a node or for scaling out. "
            "Good practice with OnDelete: compare status.updatedReplicas with status.replicas of "
            "PodCliques to see what is outdated; find those pods by the label "
            "grove.io/pod-template-hash, which differs from the PodClique's own; delete them when "
            "it suits, a replica of a scaling group by its PodCliques; do not leave templates "
            "mixed for longer than needed, and never where pods of both cannot work together. "
            "May be changed at any time. From OnDelete to RollingRecreate, what is outdated "
            "begins to be replaced at once; the other way, the step under way is finished.",
            enum=[ROLLING_RECREATE, ON_DELETE],
            default=ROLLING_RECREATE,
        ),
    ] = ROLLING_RECREATE


class RollingUpdate(Value, frozen=True, kw_only=True):
    """How fast a rolling update of one clique or scaling group may go."""

    max_unavailable: Annotated[
        int | None,
        mark(
            "How many pods, or replicas of a group, may be down at once because of an update. "
            "Only what is ready counts: what is not can be replaced at any time. One.",
            minimum=1,
        ),
    ] = None
    progress_deadline: Annotated[
        str,
        mark(
            "How long an update may stand still before its condition UpdateInProgress says "
            "ProgressDeadlineExceeded, like 10m. It goes on all the same when it can. "
            "Left out: for ever.",
            IN_RANGE,
            **DURATION,
        ),
    ] = ""


class ReplicaProgress(Value, frozen=True, kw_only=True):
    """The update of one replica of a set."""

    replica_index: Annotated[int, mark("Which replica.", minimum=0)]
    update_started_at: Annotated[Time | None, _STARTED] = None
    update_ended_at: Annotated[Time | None, _ENDED] = None


class SetProgress(Value, frozen=True, kw_only=True):
    """The update of a PodCliqueSet. Counts only: lists of names would grow without bound."""

    update_started_at: Annotated[Time | None, _STARTED] = None
    update_ended_at: Annotated[Time | None, _ENDED] = None
    updated_pod_cliques_count: Annotated[int, _UPDATED_CLIQUES] = always(0)
    total_pod_cliques_count: Annotated[int, _TOTAL_CLIQUES] = always(0)
    updated_pod_clique_scaling_groups_count: Annotated[
        int, mark("How many scaling groups are on the new template.", default=0)
    ] = always(0)
    total_pod_clique_scaling_groups_count: Annotated[
        int, mark("How many scaling groups there are to update.", default=0)
    ] = always(0)
    currently_updating: Annotated[
        tuple[ReplicaProgress, ...], mark("The replicas being updated now. Not with OnDelete.")
    ] = ()
    pod_clique_set_generation_hash: Annotated[str, _ROLLED_OUT] = ""


class OldSetProgress(Value, frozen=True, kw_only=True):
    """Progress of a set as older operators wrote it."""

    update_started_at: Annotated[Time | None, _STARTED] = None
    update_ended_at: Annotated[Time | None, _ENDED] = None
    updated_pod_clique_scaling_groups: Annotated[
        tuple[str, ...], mark("The scaling groups on the new template.")
    ] = ()
    updated_pod_cliques: Annotated[
        tuple[str, ...], mark("The PodCliques on the new template.")
    ] = ()
    currently_updating: Annotated[
        ReplicaProgress | None, mark("The replica being updated now.")
    ] = None


class SelectedPods(Value, frozen=True, kw_only=True):
    """Ready pods chosen to be replaced."""

    current: Annotated[str, mark("The pod being replaced now.")]
    completed: Annotated[tuple[str, ...], mark("The pods replaced so far.")] = ()


class CliqueProgress(Value, frozen=True, kw_only=True):
    """The update of a PodClique."""

    update_started_at: Annotated[Time | None, _STARTED] = None
    update_ended_at: Annotated[Time | None, _ENDED] = None
    pod_clique_set_generation_hash: Annotated[str, _ROLLED_OUT]
    pod_template_hash: Annotated[
        str,
        mark(
            "The hash of the pod template that is being rolled out. Pods whose label "
            "grove.io/pod-template-hash is another are outdated."
        ),
    ]
    ready_pods_selected_to_update: Annotated[
        SelectedPods | None, mark("Ready pods chosen to be replaced. Not with OnDelete.")
    ] = None


class SelectedReplicas(Value, frozen=True, kw_only=True):
    """Ready replicas of a scaling group chosen to be replaced."""

    current: Annotated[int, mark("The replica being replaced now.", minimum=0)]
    completed: Annotated[tuple[int, ...], mark("The replicas replaced so far.")] = ()


class GroupProgress(Value, frozen=True, kw_only=True):
    """The update of a PodCliqueScalingGroup."""

    update_started_at: Annotated[Time | None, mark("When the update began.", required=True)] = None
    update_ended_at: Annotated[Time | None, _ENDED] = None
    pod_clique_set_generation_hash: Annotated[str, _ROLLED_OUT]
    updated_pod_cliques_count: Annotated[int, _UPDATED_CLIQUES] = always(0)
    total_pod_cliques_count: Annotated[int, _TOTAL_CLIQUES] = always(0)
    ready_replica_indices_selected_to_update: Annotated[
        SelectedReplicas | None, mark("Ready replicas chosen to be replaced. Not with OnDelete.")
    ] = None


class OldGroupProgress(GroupProgress, frozen=True, kw_only=True):
    """Progress of a scaling group as older operators wrote it."""

    updated_pod_cliques: Annotated[
        tuple[str, ...], mark("The PodCliques on the new template.")
    ] = ()
