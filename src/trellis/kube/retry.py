# SPDX-License-Identifier: Apache-2.0
"""Whether a failed exchange is tried again, and after how long. Pure.

A request that was never processed is sent again, whatever it is. One that may have been is sent
again only when doing it twice is the same as doing it once *and* answers the same: reads and
dry-runs. A write whose fate is unknown is the caller's to look into.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trellis.kube.errors import Ambiguous, KubeError, Refused, Throttled, Unavailable, Unreachable

if TYPE_CHECKING:
    from random import Random

    from trellis.kube.transport import Request

MOST_ATTEMPTS = 6
# Each that is lost may have taken its whole timeout.
MOST_LOST = 3
FIRST_SECONDS = 0.1
LONGEST_SECONDS = 30.0


def repeatable(request: Request) -> bool:
    """Whether asking twice has the effect and the answer of asking once."""
    return request.method == "GET" or ("dryRun", "All") in request.query


def wait_before_retry(
    request: Request, error: KubeError, attempt: int, rng: Random
) -> float | None:
    """Seconds until the next attempt, None if there is to be none. The first attempt is 1."""
    most = MOST_LOST if isinstance(error, Ambiguous) else MOST_ATTEMPTS
    if attempt >= most or not _worth_it(request, error):
        return None
    asked = error.retry_after if isinstance(error, Refused) else None
    if asked is not None:
        # Never sooner than asked; spread, or all who were turned away return together.
        return asked * (1 + rng.random() / 2) if asked <= LONGEST_SECONDS else None
    return float(FIRST_SECONDS * 2 ** (attempt - 1) * (0.5 + rng.random() / 2))


def is_late(request: Request, waited: float) -> bool:
    """Whether a write that has waited for so long may not be right any more."""
    return request.patience is not None and waited > request.patience and not repeatable(request)


def _worth_it(request: Request, error: KubeError) -> bool:
    if isinstance(error, (Unreachable, Throttled)):
        return True
    return isinstance(error, (Unavailable, Ambiguous)) and repeatable(request)
