# SPDX-License-Identifier: Apache-2.0
"""How any object of ours is: the words for Ready, Reconciling and Stalled."""

from __future__ import annotations

from trellis.api.reasons.reason import ADMIN, WAIT, YOU, YOU_OR_ADMIN, Reason, well

ALL_REPLICAS_AVAILABLE = well("AllReplicasAvailable", "All replicas are available.")
SCALED_TO_ZERO = well("ScaledToZero", "No replicas are wanted, and none are there.")
CREATING_CHILDREN = Reason(
    "CreatingChildren", WAIT, "What it is made of is being made.", "Wait a moment."
)
REPLICAS_UNAVAILABLE = Reason(
    "ReplicasUnavailable",
    YOU,
    "Some replicas are not available.",
    "Look at its conditions, and at the events of what it waits for.",
)
DELETING = Reason(
    "Deleting", WAIT, "It is being deleted.", "Wait; what it is made of goes with it."
)
NAME_CONFLICT = Reason(
    "NameConflict",
    YOU_OR_ADMIN,
    "An object that belongs to somebody else has the name of one that must be made.",
    "Remove or rename that object, or rename the set.",
)
NAME_TOO_LONG = Reason(
    "NameTooLong",
    YOU,
    "A name that would be made from it is longer than is allowed.",
    "Shorten the names that the message names.",
)
FORBIDDEN = Reason(
    "Forbidden",
    ADMIN,
    "The API server forbids the operator to do what must be done.",
    "Grant the permission that the message names.",
)
PRIORITY_CLASS_MISSING = Reason(
    "PriorityClassMissing",
    YOU_OR_ADMIN,
    "The PriorityClass that its pods ask for does not exist, so they cannot be made.",
    "Have that PriorityClass made, or name one that exists.",
)
QUOTA_REFUSED = Reason(
    "QuotaRefused",
    YOU_OR_ADMIN,
    "A quota of the namespace refuses to let pods or gangs be made.",
    "Ask for less, or have the quota raised.",
)
REFUSED = Reason(
    "Refused",
    YOU,
    "The API server refuses an object that is made from it as invalid.",
    "Correct the field that the message names and apply again.",
)
RETRYING = Reason(
    "Retrying",
    WAIT,
    "The last pass failed and is being tried again.",
    "Wait; if it lasts, follow the message.",
)
API_MISSING = Reason(
    "ApiMissing",
    ADMIN,
    "The cluster does not serve a kind that is needed, so that part is off.",
    "Install what serves the kind that the message names.",
)
