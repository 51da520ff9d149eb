# SPDX-License-Identifier: Apache-2.0
"""Updates: what is renewed next, or why nothing is. What is told of it is in `progress`. Pure."""

from __future__ import annotations

from trellis.workloads.updates.decisions import Outlook, Step, Why
from trellis.workloads.updates.facts import (
    GRACE,
    MemberFacts,
    PodFacts,
    ReplicaFacts,
    SetReplicaFacts,
)
from trellis.workloads.updates.planner import next_step, outlook
from trellis.workloads.updates.releases import release
from trellis.workloads.updates.state import Budget, CliqueState, GroupState, SetState

__all__ = [
    "GRACE",
    "Budget",
    "CliqueState",
    "GroupState",
    "MemberFacts",
    "Outlook",
    "PodFacts",
    "ReplicaFacts",
    "SetReplicaFacts",
    "SetState",
    "Step",
    "Why",
    "next_step",
    "outlook",
    "release",
]
