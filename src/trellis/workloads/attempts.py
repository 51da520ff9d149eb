# SPDX-License-Identifier: Apache-2.0
"""How often the pods of an index have failed in a row. Pure.

Each pod says how many failed before it, so that nothing about it has to be remembered. A pod that
ran for a while before it failed begins a new row.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from trellis.api import conditions
from trellis.api.annotation import ATTEMPT
from trellis.api.core.pod import READY
from trellis.workloads.pods import has_failed

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from trellis.api.core.pod import Pod

SOON = timedelta(minutes=10)
# What is written by somebody else may be any number of digits.
_LONGEST = 4


def attempt(pod: Pod) -> int:
    """What the pod itself says: how many failed before it."""
    value = pod.metadata.annotations.get(ATTEMPT, "")
    return int(value) if value.isascii() and value.isdecimal() and len(value) <= _LONGEST else 0


def failed_at(pod: Pod) -> datetime | None:
    """When a failed pod failed: when it last ceased to be ready, else when it was made."""
    ready = conditions.find(pod.status.conditions, READY)
    moved = ready.last_transition_time if ready is not None else None
    return moved or pod.metadata.creation_timestamp


def next_attempt(predecessors: Iterable[Pod]) -> int:
    """What the next pod of an index says, after these that had the index before it."""
    failed = [pod for pod in predecessors if has_failed(pod)]
    return max((attempt(pod) + 1 for pod in failed if _failed_soon(pod)), default=0)


def _failed_soon(pod: Pod) -> bool:
    made, failed = pod.metadata.creation_timestamp, failed_at(pod)
    return made is None or failed is None or failed - made <= SOON
