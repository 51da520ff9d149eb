# SPDX-License-Identifier: Apache-2.0
"""How PodCliques and PodCliqueScalingGroups are, in Grove's own words."""

from __future__ import annotations

from trellis.api.reasons.reason import WAIT, YOU, Reason, well

SUFFICIENT_SCHEDULED_PODS = well(
    "SufficientScheduledPods", "At least minAvailable pods have a node."
)
INSUFFICIENT_SCHEDULED_PODS = Reason(
    "InsufficientScheduledPods",
    WAIT,
    "Fewer than minAvailable pods have a node.",
    "Look at the conditions of its PodCliques and at the events of its pods.",
)
SCHEDULED_BELOW_MIN_AVAILABLE = Reason(
    "ScheduledReplicasBelowMinAvailable",
    WAIT,
    "Fewer than minAvailable pods have a node, so the replica counts as broken.",
    "Look at the conditions of its PodCliques and at the events of its pods.",
)
SUFFICIENT_READY_PODS = well(
    "SufficientReadyPods", "At least minAvailable pods are ready or still starting."
)
INSUFFICIENT_READY_PODS = Reason(
    "InsufficientReadyPods",
    YOU,
    "Too many pods crashed or lost their readiness for minAvailable to hold.",
    "Look at the logs of the pods that are not ready.",
)
NEVER_AVAILABLE = Reason(
    "NeverAvailable",
    WAIT,
    "It has not been available yet, so nothing is broken that once worked.",
    "Wait for its pods to start.",
)
SUFFICIENT_GROUP_REPLICAS = well(
    "SufficientAvailablePodCliqueScalingGroupReplicas",
    "At least minAvailable replicas of the group are well.",
)
INSUFFICIENT_GROUP_REPLICAS = Reason(
    "InsufficientAvailablePodCliqueScalingGroupReplicas",
    YOU,
    "Fewer than minAvailable replicas of the group are well.",
    "Look at the PodCliques whose MinAvailableBreached is True.",
)
INSUFFICIENT_SCHEDULED_GROUP_REPLICAS = Reason(
    "InsufficientScheduledPodCliqueScalingGroupReplicas",
    WAIT,
    "Fewer than minAvailable replicas of the group have nodes.",
    "Look at the conditions of its PodCliques and at the events of its pods.",
)
ALL_SCHEDULED_REPLICAS_LOST = Reason(
    "AllScheduledReplicasLost",
    WAIT,
    "Not one pod has a node any more.",
    "Look at the nodes it ran on; it is placed again when there is room.",
)
GANG_TERMINATION_IN_PROGRESS = Reason(
    "GangTerminationInProgress",
    WAIT,
    "The replica was broken for longer than terminationDelay and is being made anew.",
    "Look at what broke it; the events of the set say which clique it was.",
)
CLAIM_TEMPLATE_MISSING = Reason(
    "ClaimTemplateMissing",
    YOU,
    "A claim that its pods share cannot be made, because its template is not there.",
    "Make the ResourceClaimTemplate that the message names.",
)
NOT_IN_TEMPLATE = Reason(
    "NotInTemplate",
    YOU,
    "Its set has no clique of its name, so nothing is made for it.",
    "If somebody made or changed it by hand, delete it; else wait, it is about to go.",
)
