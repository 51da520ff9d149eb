# SPDX-License-Identifier: Apache-2.0
"""How topologies are, and whether workloads can be held to them. Both vocabularies."""

from __future__ import annotations

from trellis.api.reasons.reason import ADMIN, YOU, YOU_OR_ADMIN, Reason, well

TOPOLOGY_READY = well("TopologyReady", "The topology is configured, and schedulers know it.")
TOPOLOGY_FAILED = Reason(
    "TopologyCreationOrUpdateFailed",
    ADMIN,
    "The scheduler's own topology object could not be made or changed.",
    "Follow the message; it is tried again.",
)
# The proposal spells the one above in two other ways, which are read and never written.
KAI_TOPOLOGY_FAILED = Reason(
    "KAITopologyCreationOrUpdateFailed",
    ADMIN,
    "KAI's Topology object could not be made or changed.",
    "Follow the message; a Topology of that name made by somebody else must be removed first.",
)
KAI_TOPOLOGY_CREATION_FAILED = Reason(
    "KAITopologyCreationFailed",
    ADMIN,
    "KAI's Topology object could not be made.",
    "Follow the message; a Topology of that name made by somebody else must be removed first.",
)
KAI_TOPOLOGY_CREATE_ERROR = Reason(
    "KAI_TOPOLOGY_CREATE_ERROR",
    ADMIN,
    "The API server refused KAI's Topology object.",
    "Follow the description beside it.",
)
TOPOLOGY_CONSTRAINTS_VALID = well(
    "TopologyConstraintsValid", "All levels that the set asks for exist."
)
TOPOLOGY_LEVEL_NOT_FOUND = Reason(
    "TopologyLevelNotFound",
    YOU_OR_ADMIN,
    "A level that the set asks for is not in the topology.",
    "Remove that constraint, or have the level added to the topology.",
)
TOPOLOGY_DISABLED = Reason(
    "TopologyDisabled",
    YOU_OR_ADMIN,
    "Topology support is disabled in the operator's configuration.",
    "Remove the constraints, or have it enabled.",
)
ALL_LEVELS_AVAILABLE = well(
    "AllClusterTopologyLevelsAvailable", "All levels that the set asks for exist."
)
LEVELS_UNAVAILABLE = Reason(
    "ClusterTopologyLevelsUnavailable",
    YOU_OR_ADMIN,
    "Some levels that the set asks for are no longer in the topology.",
    "Remove those constraints, or have the levels added to the topology.",
)
TOPOLOGY_NOT_FOUND = Reason(
    "ClusterTopologyNotFound",
    YOU_OR_ADMIN,
    "The topology that the set names does not exist.",
    "Name one that exists, or have it made.",
)
TOPOLOGY_NAME_MISSING = Reason(
    "TopologyNameMissing",
    YOU,
    "A constraint names no topology and inherits none.",
    "Set topologyName on the set's own constraint.",
)
TOPOLOGY_AWARE_SCHEDULING_DISABLED = Reason(
    "TopologyAwareSchedulingDisabled",
    YOU_OR_ADMIN,
    "Topology-aware scheduling is disabled in the operator's configuration.",
    "Remove the constraints, or have it enabled.",
)
IN_SYNC = well("InSync", "Every scheduler's own topology says the same.")
DRIFT = Reason(
    "Drift",
    ADMIN,
    "A scheduler's own topology says something else.",
    "Change that topology, or remove its entry from schedulerTopologyBindings.",
)
SCHEDULER_TOPOLOGY_NOT_FOUND = Reason(
    "TopologyNotFound",
    ADMIN,
    "The scheduler named in schedulerTopologyBindings, or its topology, does not exist.",
    "Correct the entry, or enable that scheduler.",
)
TOPOLOGY_IN_SYNC = well("TopologyInSync", "A scheduler's own topology says the same again.")
TOPOLOGY_DRIFT_DETECTED = Reason(
    "TopologyDriftDetected",
    ADMIN,
    "A scheduler's own topology began to say something else.",
    "Change that topology, or remove its entry from schedulerTopologyBindings.",
)
