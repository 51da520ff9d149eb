# SPDX-License-Identifier: Apache-2.0
"""The guard of `grove-topology` as a policy that the API server itself enforces. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trellis.api.admissionpolicy import in_force, matching
from trellis.api.grove.clustertopology import MANAGED_NAME, ClusterTopology
from trellis.topology.guard import REFUSAL

if TYPE_CHECKING:
    from trellis.topology.guard import Operator

NAME = f"{MANAGED_NAME}.trellis.dev"
# The name of the request is not to be relied on: a deletion of all topologies at once has none.
_NAMED = f"(object == null ? oldObject : object).metadata.name == '{MANAGED_NAME}'"
# What is on its way out may lose its finalizers: the cluster's own collector takes them off.
_LEAVING = (
    "request.operation == 'UPDATE' && has(oldObject.metadata.deletionTimestamp) && "
    "object.spec == oldObject.spec"
)


def guard(operator: Operator) -> tuple[dict[str, Any], dict[str, Any]]:
    """The policy and the binding that puts it into force."""
    allowed = f"request.userInfo.username == '{operator.username}' || ({_LEAVING})"
    return in_force(
        NAME,
        {
            "matchConstraints": matching(
                ClusterTopology.resource, "CREATE", "UPDATE", "DELETE", parts=("status",)
            ),
            "matchConditions": [{"name": "managed", "expression": _NAMED}],
            "validations": [{"expression": allowed, "message": REFUSAL, "reason": "Forbidden"}],
        },
    )
