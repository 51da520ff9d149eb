# SPDX-License-Identifier: Apache-2.0
"""The template of a PodCliqueSet: what each of its replicas is made of.

The rules of immutability are in the schema, so that they hold with no operator running.
"""

from __future__ import annotations

from typing import Annotated, ClassVar

from msgspec import field

from trellis.api.config.types import DEFAULT_SCHEDULER
from trellis.api.grove.autoscaling import AutoScalingConfig
from trellis.api.grove.podclique import PodCliqueSpec
from trellis.api.grove.resourcesharing import (
    GroupResourceSharing,
    ResourceClaimTemplate,
    ResourceSharing,
    SetResourceSharing,
)
from trellis.api.grove.topologyconstraint import TopologyConstraint
from trellis.api.grove.updates import DURATION, IN_RANGE, RollingUpdate
from trellis.api.meta import Value
from trellis.api.schema.marks import Rule, mark

ANY_ORDER = "CliqueStartupTypeAnyOrder"
IN_ORDER = "CliqueStartupTypeInOrder"
EXPLICIT = "CliqueStartupTypeExplicit"

# Bounds that keep rules over these lists cheap. Admission has lower ones, which can be configured.
CLIQUES_LIMIT = 256
GROUPS_LIMIT = 128
SHARING_LIMIT = 64

_NAME = {"maxLength": 63, "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"}
_BY_NAME = {"list_type": "map", "map_keys": ["name"]}
_FORBIDDEN = "FieldValueForbidden"
_ANEW = "delete the PodCliqueSet and make it anew to change it"


def _kept(path: str) -> Rule:
    """That a field stays as it was, absent or not."""
    now, before = f"self{path}", f"oldSelf{path}"
    return Rule(
        f"has({now}) == has({before}) && (!has({now}) || {now} == {before})",
        f"field is immutable; {_ANEW}",
        path=path,
        reason=_FORBIDDEN,
    )


def _kept_or_empty(path: str) -> Rule:
    """That a list or a text stays as it was. An empty one is none: clients in Go leave it out."""
    now, before = f"self{path}", f"oldSelf{path}"
    return Rule(
        f"has({now}) == has({before}) ? (!has({now}) || {now} == {before}) : "
        f"(has({now}) ? {now} : {before}).size() == 0",
        f"field is immutable; {_ANEW}",
        path=path,
        reason=_FORBIDDEN,
    )


def _kept_or_default(path: str, default: str) -> Rule:
    """That a text stays as it was. None says the same as the default."""
    now, before = (
        f"(has({text}) && {text} != '' ? {text} : '{default}')"
        for text in (f"self{path}", f"oldSelf{path}")
    )
    return Rule(f"{now} == {before}", f"field is immutable; {_ANEW}", path=path, reason=_FORBIDDEN)


def _kept_once_set(path: str) -> Rule:
    """That a field stays as it was from when it has a value, which admission may give it."""
    now, before = f"self{path}", f"oldSelf{path}"
    return Rule(
        f"!has({before}) || (has({now}) && {now} == {before})",
        f"field is immutable; {_ANEW}",
        path=path,
        reason=_FORBIDDEN,
    )


def _same_names(what: str) -> Rule:
    """That a list keeps its entries, in whatever order."""
    return Rule(
        "self.size() == oldSelf.size() && "
        "self.all(one, oldSelf.exists(other, other.name == one.name))",
        f"field is immutable: {what} can be neither added, removed nor renamed; {_ANEW}",
        reason=_FORBIDDEN,
    )


class CliqueTemplate(Value, frozen=True, kw_only=True):
    """One clique of every replica."""

    validations: ClassVar = (
        _kept(".spec.roleName"),
        _kept_once_set(".spec.minAvailable"),
        _kept_or_empty(".spec.startsAfter"),
        # Where the operator has another default, its webhook refuses what this lets through.
        _kept_or_default(".spec.podSpec.schedulerName", DEFAULT_SCHEDULER),
        _kept_or_empty(".resourceSharing"),
    )

    name: Annotated[
        str, mark("The clique's name, part of the names of all that is made for it.", **_NAME)
    ]
    labels: Annotated[
        dict[str, str], mark("Labels for its PodCliques and pods. A change is an update.")
    ] = field(default_factory=dict)
    annotations: Annotated[
        dict[str, str], mark("Annotations for its PodCliques and pods. A change is an update.")
    ] = field(default_factory=dict)
    topology_constraint: Annotated[
        TopologyConstraint | None, mark("How close together its pods are placed.")
    ] = None
    resource_sharing: Annotated[
        tuple[ResourceSharing, ...],
        mark("Claims that its pods share.", maxItems=SHARING_LIMIT, **_BY_NAME),
    ] = ()
    rolling_update: Annotated[
        RollingUpdate | None,
        mark("How fast an update may go. For a clique of a scaling group, set it there."),
    ] = None
    spec: Annotated[PodCliqueSpec, mark("Its pods.")]


class ScalingGroupTemplate(Value, frozen=True, kw_only=True):
    """Cliques of every replica that are scaled together."""

    validations: ClassVar = (
        _kept(".cliqueNames"),
        _kept(".minAvailable"),
        _kept_or_empty(".resourceSharing"),
    )

    name: Annotated[
        str, mark("The group's name, part of the names of all that is made for it.", **_NAME)
    ]
    clique_names: Annotated[
        tuple[str, ...],
        mark(
            "The cliques that are scaled together. Their order numbers the pods of a replica.",
            list_type="atomic",
            minItems=1,
            maxItems=CLIQUES_LIMIT,
            items={"maxLength": 63},
        ),
    ]
    annotations: Annotated[
        dict[str, str], mark("Annotations for the PodCliqueScalingGroups made of it.")
    ] = field(default_factory=dict)
    replicas: Annotated[
        int,
        mark(
            "How many replicas to begin with. Afterwards the PodCliqueScalingGroup is scaled "
            "itself.",
            minimum=0,
            default=1,
        ),
    ] = 1
    min_available: Annotated[
        int,
        mark(
            "How many replicas must start together with the rest of the set's replica, and below "
            "how many running ones that replica counts as broken.",
            minimum=0,
            default=1,
        ),
    ] = 1
    scale_config: Annotated[
        AutoScalingConfig | None, mark("Horizontal autoscaling of the whole group.")
    ] = None
    rolling_update: Annotated[
        RollingUpdate | None, mark("How fast an update of its replicas may go.")
    ] = None
    resource_sharing: Annotated[
        tuple[GroupResourceSharing, ...],
        mark("Claims that its pods share.", maxItems=SHARING_LIMIT, **_BY_NAME),
    ] = ()
    topology_constraint: Annotated[
        TopologyConstraint | None, mark("How close together each replica's pods are placed.")
    ] = None


class HeadlessServiceConfig(Value, frozen=True, kw_only=True):
    """The headless Service by which the pods of a replica find each other."""

    publish_not_ready_addresses: Annotated[
        bool,
        mark("Whether pods have a DNS name before they are ready.", required=True, default=True),
    ] = True


class PodCliqueSetTemplate(Value, frozen=True, kw_only=True):
    """What each replica is made of."""

    validations: ClassVar = (
        Rule(
            f"self.cliqueStartupType == '{ANY_ORDER}' || "
            "self.cliques.map(one, one.name) == oldSelf.cliques.map(one, one.name)",
            f"field is immutable: the order of cliques is the order in which they start; {_ANEW}",
            path=".cliques",
            reason=_FORBIDDEN,
        ),
        Rule(
            "has(self.podCliqueScalingGroups) == has(oldSelf.podCliqueScalingGroups) || "
            "(has(self.podCliqueScalingGroups) ? self.podCliqueScalingGroups : "
            "oldSelf.podCliqueScalingGroups).size() == 0",
            f"field is immutable: scaling groups can be neither added nor removed; {_ANEW}",
            path=".podCliqueScalingGroups",
            reason=_FORBIDDEN,
        ),
        _kept(".cliqueStartupType"),
        _kept_or_empty(".resourceClaimTemplates"),
        _kept_or_empty(".resourceSharing"),
    )

    cliques: Annotated[
        tuple[CliqueTemplate, ...],
        mark(
            "The cliques of every replica.",
            _same_names("cliques"),
            minItems=1,
            maxItems=CLIQUES_LIMIT,
            **_BY_NAME,
        ),
    ]
    clique_startup_type: Annotated[
        str,
        mark(
            "In which order cliques start: any, that of the list, or that of startsAfter.",
            enum=[ANY_ORDER, IN_ORDER, EXPLICIT],
            default=ANY_ORDER,
        ),
    ] = ANY_ORDER
    priority_class_name: Annotated[
        str, mark("The PriorityClass of all pods. A change is an update.")
    ] = ""
    headless_service_config: Annotated[
        HeadlessServiceConfig | None,
        mark("The headless Service by which the pods of a replica find each other."),
    ] = None
    topology_constraint: Annotated[
        TopologyConstraint | None, mark("How close together each replica's pods are placed.")
    ] = None
    termination_delay: Annotated[
        str,
        mark(
            "How long a replica may be broken before all of it is made anew, like 30m. 4h.",
            IN_RANGE,
            **DURATION,
        ),
    ] = ""
    resource_claim_templates: Annotated[
        tuple[ResourceClaimTemplate, ...],
        mark("Claim templates that resourceSharing may name.", maxItems=SHARING_LIMIT, **_BY_NAME),
    ] = ()
    resource_sharing: Annotated[
        tuple[SetResourceSharing, ...],
        mark("Claims that pods share.", maxItems=SHARING_LIMIT, **_BY_NAME),
    ] = ()
    pod_clique_scaling_groups: Annotated[
        tuple[ScalingGroupTemplate, ...],
        mark(
            "Cliques that are scaled together.",
            _same_names("scaling groups"),
            maxItems=GROUPS_LIMIT,
            **_BY_NAME,
        ),
    ] = ()
