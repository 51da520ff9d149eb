# SPDX-License-Identifier: Apache-2.0
"""Who may write `grove-topology`: the operator, and nobody else. Pure.

The same rule is a webhook (`admission`) and a policy of the API server (`policy`), which holds
while the operator is down.
"""

from __future__ import annotations

from dataclasses import dataclass

from trellis.api.grove.clustertopology import MANAGED_NAME
from trellis.api.syntax import dns_label_problem, dns_subdomain_problem

REFUSAL = (
    f"{MANAGED_NAME} is kept by the operator: change clusterTopology in the operator's "
    "configuration and restart it, or use a ClusterTopology of another name"
)


class NoServiceAccount(ValueError):
    """What is to name the operator's service account cannot be the name of one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Operator:
    """The service account that the operator runs as."""

    namespace: str
    service_account: str

    def __post_init__(self) -> None:
        # Both end up in an expression that the API server evaluates.
        if problem := dns_label_problem(self.namespace):
            raise NoServiceAccount(f"the operator's namespace {self.namespace!r} {problem}")
        if problem := dns_subdomain_problem(self.service_account):
            raise NoServiceAccount(
                f"the operator's service account {self.service_account!r} {problem}"
            )

    @property
    def username(self) -> str:
        """By which the API server knows it."""
        return f"system:serviceaccount:{self.namespace}:{self.service_account}"
