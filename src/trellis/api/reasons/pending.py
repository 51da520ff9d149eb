# SPDX-License-Identifier: Apache-2.0
"""Why a gang does not run yet: what can never be, what is held, where there is no room."""

from __future__ import annotations

from trellis.api.reasons.reason import (
    ADMIN,
    WAIT,
    WAIT_OR_ADMIN,
    YOU,
    YOU_OR_ADMIN,
    Reason,
)

INVALID_SPEC = Reason(
    "InvalidSpec",
    YOU,
    "What is asked for contradicts itself or the rules.",
    "Correct the field that the message names and apply again.",
)
UNKNOWN_TOPOLOGY_LEVEL = Reason(
    "UnknownTopologyLevel",
    YOU,
    "It asks for a level that the topology of this cluster does not have.",
    "Use one of the levels that `kubectl get clustertopology` lists.",
)
EXCEEDS_CLUSTER = Reason(
    "ExceedsCluster",
    YOU,
    "It asks for more than the whole cluster has, even empty.",
    "Ask for less, or have nodes added.",
)
POOL_NOT_FOUND = Reason(
    "PoolNotFound",
    YOU,
    "It asks for GPUs of a pool that does not exist.",
    "Name a pool that `kubectl get gpupools` lists.",
)
NO_SUCH_DEVICE = Reason(
    "NoSuchDevice",
    YOU,
    "It asks for a kind of device that no node has.",
    "Ask for a device that the nodes have.",
)
SUSPENDED = Reason(
    "Suspended", YOU, "It is suspended.", "Clear its suspend field when it may start."
)
AWAITING_APPROVAL = Reason(
    "AwaitingApproval",
    ADMIN,
    "An administrator has not approved it yet.",
    "Have it approved.",
)
WAITING_FOR_STARTUP_ORDER = Reason(
    "WaitingForStartupOrder",
    WAIT,
    "Cliques that must start before it are not ready yet.",
    "Look at the cliques that the message names.",
)
GANG_MISSING = Reason(
    "GangMissing",
    WAIT,
    "The gang that it belongs to has not been made yet.",
    "It is made within seconds; if not, look at the operator's log.",
)
WAITING_FOR_GANG = Reason(
    "WaitingForGang",
    WAIT,
    "Not all pods that must start together are there yet.",
    "Look at the gang that the message names.",
)
WAITING_FOR_PLACEMENT = Reason(
    "WaitingForPlacement",
    WAIT_OR_ADMIN,
    "There is no room yet for its whole gang, so none of its pods are made.",
    "Look at the conditions of its PodCliques and at the events of its pods.",
)
QUOTA_EXHAUSTED = Reason(
    "QuotaExhausted",
    WAIT_OR_ADMIN,
    "The quota of the namespace or queue is used up.",
    "Wait until something ends, or have the quota raised.",
)
INSUFFICIENT_GPUS = Reason(
    "InsufficientGPUs",
    WAIT_OR_ADMIN,
    "Fewer GPUs are free than it needs.",
    "Wait until something ends, or have nodes added.",
)
INSUFFICIENT_RESOURCES = Reason(
    "InsufficientResources",
    WAIT_OR_ADMIN,
    "Enough is free in all, but not of what the message names.",
    "Wait until something ends, ask for less of it, or have nodes added.",
)
TOPOLOGY_FRAGMENTED = Reason(
    "TopologyFragmented",
    YOU_OR_ADMIN,
    "Enough is free in all, but not within one domain of the required level.",
    "Require a broader level, or only prefer this one, or have room made in the nearest domain.",
)
FABRIC_UNAVAILABLE = Reason(
    "FabricUnavailable",
    WAIT_OR_ADMIN,
    "No nodes with a free fabric channel are left.",
    "Wait until something ends, or look at the fabric of the nodes that the message names.",
)
PREEMPTING = Reason(
    "Preempting",
    WAIT,
    "Pods of lower priority are being ended to make room.",
    "Wait until they are gone.",
)
BINDING = Reason("Binding", WAIT, "It has a place, and its pods are being bound.", "Wait a moment.")
PULLING_IMAGES = Reason(
    "PullingImages",
    WAIT,
    "Its pods have nodes, which are pulling images.",
    "Wait; a smaller or cached image starts sooner.",
)
FABRIC_FORMING = Reason(
    "FabricForming",
    WAIT,
    "The compute domain of its nodes is being formed.",
    "Wait; after ten minutes look at the ComputeDomain that the message names.",
)
BELOW_MIN_AVAILABLE = Reason(
    "BelowMinAvailable",
    WAIT,
    "Fewer pods are ready than minAvailable asks for.",
    "Look at the pods that are not ready.",
)
PENDING_EVALUATION = Reason(
    "PendingEvaluation", WAIT, "Nobody has looked at it yet.", "Wait for the next pass."
)
