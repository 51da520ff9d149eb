# SPDX-License-Identifier: Apache-2.0
"""What `kubectl get` shows of each kind: whether it is well and why not, then Grove's own columns.

Counts of children and details are of low priority, so they come with `-o wide` only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from trellis.api.conditions import READY


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its title, where it is found, and of what type."""

    name: str
    path: str
    type: str = "integer"
    wide: bool = False

    def to_schema(self) -> dict[str, Any]:
        column = {"name": self.name, "type": self.type, "jsonPath": self.path}
        return column | ({"priority": 1} if self.wide else {})


def _condition(name: str, type_: str, part: str, *, wide: bool = False) -> Column:
    return Column(name, f'.status.conditions[?(@.type=="{type_}")].{part}', "string", wide)


_READY = _condition("Ready", READY, "status")
_REASON = _condition("Reason", READY, "reason")
_MIN_BREACHED = _condition("MinBreached", "MinAvailableBreached", "status", wide=True)
_AGE = Column("Age", ".metadata.creationTimestamp", "date")
_MIN_AVAILABLE = Column("MinAvail", ".spec.minAvailable")
_REPLICAS = Column("Replicas", ".spec.replicas")
_AVAILABLE = Column("Available", ".status.availableReplicas")
_SCHEDULED = Column("Scheduled", ".status.scheduledReplicas")
_UPDATED = Column("Updated", ".status.updatedReplicas")
_DOMAINS = Column("Domains", ".spec.levels[*].domain", "string")
_PROGRESS = ".status.updateProgress"
_CLIQUES_UPDATED = Column("PCLQs-Updated", f"{_PROGRESS}.updatedPodCliquesCount", wide=True)
_CLIQUES_TOTAL = Column("PCLQs-Total", f"{_PROGRESS}.totalPodCliquesCount", wide=True)

POD_CLIQUE_SET = (
    _READY,
    _REASON,
    _REPLICAS,
    _AVAILABLE,
    _UPDATED,
    _CLIQUES_UPDATED,
    _CLIQUES_TOTAL,
    Column("PCSGs-Updated", f"{_PROGRESS}.updatedPodCliqueScalingGroupsCount", wide=True),
    Column("PCSGs-Total", f"{_PROGRESS}.totalPodCliqueScalingGroupsCount", wide=True),
    _AGE,
)
# Here `Ready` is Grove's count of pods, so that the condition shows in its reason alone.
POD_CLIQUE = (
    _REASON,
    _MIN_AVAILABLE,
    _REPLICAS,
    Column("Ready", ".status.readyReplicas"),
    _SCHEDULED,
    _UPDATED,
    Column("Gated", ".status.scheduleGatedReplicas", wide=True),
    _MIN_BREACHED,
    _AGE,
)
SCALING_GROUP = (
    _READY,
    _REASON,
    _MIN_AVAILABLE,
    _REPLICAS,
    _AVAILABLE,
    _SCHEDULED,
    _UPDATED,
    _CLIQUES_UPDATED,
    _CLIQUES_TOTAL,
    _MIN_BREACHED,
    _AGE,
)
TOPOLOGY = (_READY, _REASON, _DOMAINS, _AGE)
POD_GANG = (Column("Phase", ".status.phase", "string"), _READY, _REASON, _AGE)
