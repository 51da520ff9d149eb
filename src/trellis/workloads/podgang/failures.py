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


def replaced_at(pod: Pod) -> datetime | None:
    """When a failed pod is to be replaced. None: nothing says when it failed, so at once."""
    since = failed_at(pod)
    return since + delay(attempt(pod)) if since is not None else None
