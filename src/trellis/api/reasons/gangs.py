# SPDX-License-Identifier: Apache-2.0
"""How PodGangs are."""

from __future__ import annotations

from trellis.api.reasons.reason import ADMIN, WAIT, YOU, YOU_OR_ADMIN, Reason, well

POD_GANG_PODS_CREATED = well("PodGangPodsCreated", "All pods of the gang have been made.")
POD_GANG_PODS_CREATION_PENDING = Reason(
    "PodGangPodsCreationPending",
    WAIT,
    "Not all pods of the gang have been made yet.",
    "Wait; if it lasts, look at the events of its PodCliques.",
)
ALL_MINIMA_SCHEDULED = well("AllMinimaScheduled", "Every group has its minimum of pods on nodes.")
ALL_MINIMA_READY = well("AllMinimaReady", "Every group has its minimum of pods ready.")
GANG_STARTING = Reason(
    "GangStarting",
    WAIT,
    "The gang has nodes, and its pods are starting.",
    "Wait; if it lasts, look at the pods that are not ready.",
)
GANG_HEALTHY = well("GangHealthy", "Every group holds its minimum.")
GANG_BROKEN = Reason(
    "GangBroken",
    YOU,
    "A group that held its minimum no longer does.",
    "Look at the pods of the group that the message names.",
)
NOT_DISRUPTED = well("NotDisrupted", "Nobody is about to end it.")
TERMINATION_DELAY_EXPIRED = Reason(
    "TerminationDelayExpired",
    WAIT,
    "The gang was broken for longer than terminationDelay and is being made anew.",
    "Look at what broke it; a longer terminationDelay leaves more time to recover.",
)
PREEMPTED = Reason(
    "Preempted",
    YOU_OR_ADMIN,
    "A gang of higher priority takes its place.",
    "Wait for room, or give it a higher priority.",
)
KAI_BACKEND_MAPPING_FAILED = Reason(
    "KAIBackendMappingFailed",
    YOU_OR_ADMIN,
    "The gang could not be handed to KAI.",
    "Follow the message; a missing or contradictory queue is the usual cause.",
)
VOLCANO_CAPABILITY_UNAVAILABLE = Reason(
    "VolcanoCapabilityUnavailable",
    ADMIN,
    "The Volcano of this cluster cannot schedule groups within a gang.",
    "Install Volcano 1.14 or later.",
)
