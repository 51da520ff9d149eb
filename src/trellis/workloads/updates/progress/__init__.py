# SPDX-License-Identifier: Apache-2.0
"""What statuses, conditions and events tell of updates. Pure."""

from __future__ import annotations

from trellis.workloads.updates.progress.cliques import (
    CliqueFacts,
    clique_status,
    is_under_way,
    progress_of,
    target_of,
)
from trellis.workloads.updates.progress.groups import (
    GroupFacts,
    group_progress_of,
    group_status,
)
from trellis.workloads.updates.progress.selections import MOST_COMPLETED
from trellis.workloads.updates.progress.sets import (
    Counts,
    SetFacts,
    selected,
    set_progress_of,
    set_status,
    tells_of,
    whose_turn,
)
from trellis.workloads.updates.progress.spans import Span, span_of
from trellis.workloads.updates.progress.telling import meanwhile, notes, step

__all__ = [
    "MOST_COMPLETED",
    "CliqueFacts",
    "Counts",
    "GroupFacts",
    "SetFacts",
    "Span",
    "clique_status",
    "group_progress_of",
    "group_status",
    "is_under_way",
    "meanwhile",
    "notes",
    "progress_of",
    "selected",
    "set_progress_of",
    "set_status",
    "span_of",
    "step",
    "target_of",
    "tells_of",
    "whose_turn",
]
