# SPDX-License-Identifier: Apache-2.0
"""ResourceClaims that several pods share: of a set, of its scaling groups, of its cliques."""

from __future__ import annotations

from trellis.workloads.sharing.claims import (
    Claims,
    Known,
    clique_claims,
    group_claims,
    set_claims,
)
from trellis.workloads.sharing.keeping import keep_claims, known, not_ours, woken_by_templates
from trellis.workloads.sharing.pods import claims_of_pod, inject
from trellis.workloads.sharing.templates import Unresolved

__all__ = [
    "Claims",
    "Known",
    "Unresolved",
    "claims_of_pod",
    "clique_claims",
    "group_claims",
    "inject",
    "keep_claims",
    "known",
    "not_ours",
    "set_claims",
    "woken_by_templates",
]
