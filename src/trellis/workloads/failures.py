# SPDX-License-Identifier: Apache-2.0
"""When a pod that failed is replaced: at once, then ever later while its successors fail. Pure.

How often it has failed in a row is written on the pod itself, so that a restart forgets nothing.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from trellis.workloads.attempts import attempt, failed_at

if TYPE_CHECKING:
    from datetime import datetime

    from trellis.api.core.pod import Pod

FIRST = timedelta(seconds=10)
LONGEST = timedelta(seconds=300)
# After this many attempts the delay is the longest anyway.
_MOST_ATTEMPTS = 16


def delay(attempts: int) -> timedelta:
    """How long after its failure a pod is replaced that so many failed before."""
    if attempts <= 0:
        return timedelta(0)
    doublings: int = 2 ** (min(attempts, _MOST_ATTEMPTS) - 1)
    return min(FIRST * doublings, LONGEST)


def replaced_at(pod: Pod, now: datetime, seen_for: timedelta | None = None) -> datetime:
    """When a failed pod is to be replaced. `seen_for`: how long it has been seen failed.

    When it failed is told by another clock than ours: that may bring it forward, not put it off.
    """
    since, pause = failed_at(pod) or now, delay(attempt(pod))
    if not pause:
        return now
    return min(since, now - (seen_for or timedelta(0))) + pause
