# SPDX-License-Identifier: Apache-2.0
"""ResourceClaims that several pods of a set share."""

from __future__ import annotations

from typing import Annotated

from trellis.api.meta import Value, detach
from trellis.api.schema.marks import ClaimTemplateSpec, mark

ALL_REPLICAS = "AllReplicas"
PER_REPLICA = "PerReplica"


class ResourceClaimTemplate(Value, frozen=True, kw_only=True):
    """A claim template written into the set itself."""

    name: Annotated[str, mark("The name by which resourceSharing refers to it.", maxLength=253)]
    template_spec: Annotated[
        ClaimTemplateSpec, mark("The claim, in the form of resource.k8s.io/v1.")
    ]

    def __post_init__(self) -> None:
        detach(self, "template_spec")


class ResourceSharing(Value, frozen=True, kw_only=True):
    """One claim template, and how many claims are made of it."""

    name: Annotated[
        str,
        mark(
            "The template: one of resourceClaimTemplates, else a ResourceClaimTemplate object.",
            maxLength=253,
        ),
    ]
    namespace: Annotated[
        str,
        mark("Where the ResourceClaimTemplate object is. The set's own namespace.", maxLength=63),
    ] = ""
    scope: Annotated[
        str,
        mark(
            "AllReplicas: one claim for all replicas together. PerReplica: one for each.",
            enum=[ALL_REPLICAS, PER_REPLICA],
        ),
    ]


class GroupFilter(Value, frozen=True, kw_only=True):
    """Which cliques of a scaling group get the claim."""

    child_clique_names: Annotated[
        tuple[str, ...],
        mark("The cliques that get the claim.", maxItems=256, items={"maxLength": 63}),
    ] = ()


class SetFilter(GroupFilter, frozen=True, kw_only=True):
    """Which cliques and scaling groups of a set get the claim."""

    child_scaling_group_names: Annotated[
        tuple[str, ...],
        mark("The scaling groups that get the claim.", maxItems=128, items={"maxLength": 63}),
    ] = ()


class GroupResourceSharing(ResourceSharing, frozen=True, kw_only=True):
    """Sharing within a scaling group."""

    filter: Annotated[
        GroupFilter | None, mark("Which cliques get the claim. Left out: all of the group.")
    ] = None


class SetResourceSharing(ResourceSharing, frozen=True, kw_only=True):
    """Sharing within a set."""

    filter: Annotated[
        SetFilter | None, mark("Which children get the claim. Left out: all of the set.")
    ] = None
