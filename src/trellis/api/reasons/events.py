# SPDX-License-Identifier: Apache-2.0
"""What happened to children, in the words of Grove's events."""

from __future__ import annotations

from trellis.api.reasons.reason import WAIT, Reason, well


def _done(token: str, what: str) -> Reason:
    return well(token, f"{what}.")


def _failed(token: str, what: str) -> Reason:
    return Reason(token, WAIT, f"{what}.", "It is tried again; if it lasts, follow the message.")


CLIQUE_WRITTEN = _done("PodCliqueCreateOrUpdateSuccessful", "PodCliques were made or changed")
CLIQUE_WRITE_FAILED = _failed(
    "PodCliqueCreateOrUpdateFailed", "PodCliques could not be made or changed"
)
CLIQUE_CREATED = _done("PodCliqueCreateSuccessful", "PodCliques were made")
CLIQUE_CREATE_FAILED = _failed("PodCliqueCreateFailed", "PodCliques could not be made")
CLIQUE_DELETED = _done("PodCliqueDeleteSuccessful", "PodCliques were deleted")
CLIQUE_DELETE_FAILED = _failed("PodCliqueDeleteFailed", "PodCliques could not be deleted")

GROUP_CREATED = _done("PodCliqueScalingGroupCreateSuccessful", "Scaling groups were made")
GROUP_WRITE_FAILED = _failed(
    "PodCliqueScalingGroupCreateOrUpdateFailed", "Scaling groups could not be made or changed"
)
GROUP_DELETED = _done("PodCliqueScalingGroupDeleteSuccessful", "Scaling groups were deleted")
GROUP_DELETE_FAILED = _failed(
    "PodCliqueScalingGroupDeleteFailed", "Scaling groups could not be deleted"
)
GROUP_REPLICA_DELETED = _done(
    "PodCliqueScalingGroupReplicaDeleteSuccessful", "A replica of a scaling group was deleted"
)
GROUP_REPLICA_DELETE_FAILED = _failed(
    "PodCliqueScalingGroupReplicaDeleteFailed",
    "A replica of a scaling group could not be deleted",
)

GANG_WRITTEN = _done("PodGangCreateOrUpdateSuccessful", "PodGangs were made or changed")
GANG_WRITE_FAILED = _failed("PodGangCreateOrUpdateFailed", "PodGangs could not be made or changed")
GANG_DELETED = _done("PodGangDeleteSuccessful", "PodGangs were deleted")
GANG_DELETE_FAILED = _failed("PodGangDeleteFailed", "PodGangs could not be deleted")

SET_REPLICA_DELETED = _done(
    "PodCliqueSetReplicaDeleteSuccessful", "A replica of the set was ended, to be made anew"
)
SET_REPLICA_DELETE_FAILED = _failed(
    "PodCliqueSetReplicaDeleteFailed", "A replica of the set could not be ended"
)

POD_CREATED = _done("PodCreateSuccessful", "Pods were made")
POD_CREATE_FAILED = _failed("PodCreateFailed", "Pods could not be made")
POD_DELETED = _done("PodDeleteSuccessful", "Pods were deleted")
POD_DELETE_FAILED = _failed("PodDeleteFailed", "Pods could not be deleted")

COMPUTE_DOMAIN_CREATED = _done("ComputeDomainCreateSuccessful", "ComputeDomains were made")
COMPUTE_DOMAIN_CREATE_FAILED = _failed(
    "ComputeDomainCreateFailed", "ComputeDomains could not be made"
)
COMPUTE_DOMAIN_DELETED = _done("ComputeDomainDeleteSuccessful", "ComputeDomains were deleted")
COMPUTE_DOMAIN_DELETE_FAILED = _failed(
    "ComputeDomainDeleteFailed", "ComputeDomains could not be deleted"
)
