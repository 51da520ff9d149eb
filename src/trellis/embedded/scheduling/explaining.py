# SPDX-License-Identifier: Apache-2.0
"""Why a pod has no node, in one line, as the real scheduler writes it: tools parse these. Pure."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from trellis.embedded.scheduling.filters.refusals import Refusal

NO_NODES = "no nodes available to schedule pods"
# What the part of the real one says that would free claims, before any pod is made to leave.
NO_CLAIMS_TO_FREE = "no new claims to deallocate"
STILL_NOT = "still not schedulable"
FREED = "deallocation of ResourceClaim completed"
UNHELPFUL = "Preemption is not helpful for scheduling"
NO_VICTIMS = "No preemption victims found for incoming pod"
NEVER = "not eligible due to preemptionPolicy=Never."
LEAVING = "not eligible due to a terminating pod on the nominated node."


def counted(refusals: Iterable[Refusal]) -> Counter[str]:
    """How many nodes refuse for each reason."""
    return Counter(reason for refusal in refusals for reason in refusal.reasons)


def none_of(nodes: int, reasons: Mapping[str, int] | str) -> str:
    """That no node will do, by how many for which reason, or for one that holds for all."""
    if not isinstance(reasons, str):
        reasons = ", ".join(sorted(f"{count} {reason}" for reason, count in reasons.items()))
    return f"0/{nodes} nodes are available:{f' {reasons}.' if reasons else ''}"


def in_vain(why: str) -> str:
    """That making others leave will not help either."""
    return f"preemption: {why}"
