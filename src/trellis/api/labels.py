# SPDX-License-Identifier: Apache-2.0
"""Every label, finalizer and gate of ours: Grove's keys and the short ones of the MNNVL proposal.

Both families are on every object from the start, so that either kind of client finds its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from trellis.api.names import fitted
from trellis.api.syntax import LABEL_LIMIT

if TYPE_CHECKING:
    from collections.abc import Mapping

MANAGED_BY = "app.kubernetes.io/managed-by"
PART_OF = "app.kubernetes.io/part-of"
NAME = "app.kubernetes.io/name"
COMPONENT = "app.kubernetes.io/component"
OPERATOR = "grove-operator"

POD_CLIQUE = "grove.io/podclique"
POD_GANG = "grove.io/podgang"
BASE_POD_GANG = "grove.io/base-podgang"
SET_REPLICA_INDEX = "grove.io/podcliqueset-replica-index"
SCALING_GROUP = "grove.io/podcliquescalinggroup"
SCALING_GROUP_REPLICA_INDEX = "grove.io/podcliquescalinggroup-replica-index"
SCALING_GROUP_POD_INDEX = "grove.io/podcliquescalinggroup-pod-index"
POD_INDEX = "grove.io/podclique-pod-index"
POD_TEMPLATE_HASH = "grove.io/pod-template-hash"
SCHEDULER_NAME = "grove.io/scheduler-name"
MNNVL_GROUP = "grove.io/mnnvl-group"

SHORT_SET_NAME = "grove.io/pcs-name"
SHORT_SET_REPLICA_INDEX = "grove.io/pcs-replica-index"
SHORT_GROUP_NAME = "grove.io/pcsg-name"
SHORT_GROUP_REPLICA_INDEX = "grove.io/pcsg-replica-index"
SHORT_CLIQUE_NAME = "grove.io/clique-name"
MNNVL_MANAGED = "grove.io/mnnvl-managed"

KAI_QUEUE = "kai.scheduler/queue"
KAI_SUBGROUP = "kai.scheduler/subgroup-name"
HOSTNAME = "kubernetes.io/hostname"

# What says where PodCliques and pods stand, in both families, and what else of theirs the operator
# alone writes. Such a label in a user's template has no effect.
RESERVED = frozenset(
    {
        POD_CLIQUE,
        POD_GANG,
        BASE_POD_GANG,
        SET_REPLICA_INDEX,
        SCALING_GROUP,
        SCALING_GROUP_REPLICA_INDEX,
        SCALING_GROUP_POD_INDEX,
        POD_INDEX,
        POD_TEMPLATE_HASH,
        SCHEDULER_NAME,
        MNNVL_GROUP,
        SHORT_SET_NAME,
        SHORT_SET_REPLICA_INDEX,
        SHORT_GROUP_NAME,
        SHORT_GROUP_REPLICA_INDEX,
        SHORT_CLIQUE_NAME,
        MNNVL_MANAGED,
    }
)

SET_FINALIZER = "grove.io/podcliqueset.grove.io"
CLIQUE_FINALIZER = "grove.io/podclique.grove.io"
SCALING_GROUP_FINALIZER = "grove.io/podcliquescalinggroup.grove.io"
COMPUTE_DOMAIN_FINALIZER = "grove.io/computedomain-finalizer"
GANG_GATE = "grove.io/podgang-pending-creation"


class Component(StrEnum):
    """What part an object plays."""

    SERVICE = "pcs-headless-service"
    ROLE = "pod-role"
    ROLE_BINDING = "pod-role-binding"
    SERVICE_ACCOUNT = "pod-service-account"
    TOKEN_SECRET = "pod-sa-token-secret"  # noqa: S105  a name, no secret
    SCALING_GROUP = "pcs-podcliquescalinggroup"
    AUTOSCALER = "pcs-hpa"
    POD_GANG = "podgang"
    CLIQUE = "pcs-podclique"
    MEMBER_CLIQUE = "pcsg-podclique"
    RESOURCE_CLAIM = "resource-claim"
    COMPUTE_DOMAIN = "pcs-computedomain"


# Grove leaves the name off these.
_UNNAMED = (Component.POD_GANG, Component.RESOURCE_CLAIM)


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupPlace:
    """A replica of a scaling group: the group's short and full name, and the index."""

    name: str
    full_name: str
    replica: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CliquePlace:
    """Where a PodClique stands in its set. `base_gang` is set for scaled gangs only."""

    set_name: str
    set_replica: int
    clique: str
    gang: str
    group: GroupPlace | None = None
    base_gang: str = ""


def managed(set_name: str) -> dict[str, str]:
    """What all objects of a set share."""
    return {MANAGED_BY: OPERATOR, PART_OF: set_name}


def common(set_name: str, name: str, component: Component) -> dict[str, str]:
    """What every object that we make carries, whatever its kind."""
    named = {} if component in _UNNAMED else {NAME: _as_value(name)}
    return managed(set_name) | named | {COMPONENT: component.value, SHORT_SET_NAME: set_name}


def of_set_replica(set_name: str, index: int) -> dict[str, str]:
    """What belongs to one replica of a set, in both families."""
    return {
        SET_REPLICA_INDEX: str(index),
        SHORT_SET_NAME: set_name,
        SHORT_SET_REPLICA_INDEX: str(index),
    }


def of_group_replica(group: GroupPlace) -> dict[str, str]:
    """What belongs to one replica of a scaling group, in both families."""
    return {
        SCALING_GROUP: group.full_name,
        SCALING_GROUP_REPLICA_INDEX: str(group.replica),
        SHORT_GROUP_NAME: group.name,
        SHORT_GROUP_REPLICA_INDEX: str(group.replica),
    }


def of_clique(place: CliquePlace) -> dict[str, str]:
    """What tells a PodClique from all others, in both families."""
    grouped = of_group_replica(place.group) if place.group else {}
    based = {BASE_POD_GANG: place.base_gang} if place.base_gang else {}
    return {
        **of_set_replica(place.set_name, place.set_replica),
        **grouped,
        **based,
        POD_GANG: place.gang,
        SHORT_CLIQUE_NAME: place.clique,
    }


def of_pod(clique_fqn: str, pod_index: int, template_hash: str) -> dict[str, str]:
    """What a pod has over the labels of its PodClique."""
    return {
        POD_CLIQUE: clique_fqn,
        POD_INDEX: str(pod_index),
        POD_TEMPLATE_HASH: template_hash,
    }


def number(labels: Mapping[str, str], label: str) -> int | None:
    """The index that a label says, if it says one."""
    return as_index(labels.get(label, ""))


def as_index(text: str) -> int | None:
    """Anybody may write anything there: `²` is a digit, and a million of them take a minute."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= 9 else None


def selector(labels: dict[str, str]) -> str:
    """The string form by which an autoscaler or a watch asks for these labels."""
    return ",".join(f"{key}={labels[key]}" for key in sorted(labels))


def _as_value(name: str) -> str:
    """A Role may be called what no label can hold: by characters, and by the length of it."""
    legal = name.replace(":", "-")
    return legal if len(legal) <= LABEL_LIMIT else fitted(legal)
