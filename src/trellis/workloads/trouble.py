# SPDX-License-Identifier: Apache-2.0
"""What kept a pass from making what is to be there, in the words of conditions and errors. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from trellis.api.conditions import Motion
from trellis.api.grove.faults import LastError
from trellis.api.meta import to_seconds
from trellis.api.reasons import objects
from trellis.kube.errors import Forbidden, KubeError
from trellis.runtime.converged import Converged

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from trellis.api.reasons import Reason
    from trellis.runtime.converged import Refusal
    from trellis.workloads.updates import Outlook

Written: TypeAlias = Converged | KubeError
"""What came of writing: the server's answers, or what kept them from being given."""

# Nothing tells when a name becomes free that belongs to somebody whom no cache shows.
LOOK_AGAIN_SECONDS = 30.0
# The second is said of a kind that the cluster has not begun to count: nothing of it may be made.
_OF_A_QUOTA = ("exceeded quota", "status unknown for quota")


@dataclass(frozen=True, slots=True, kw_only=True)
class Trouble:
    """`error` is to be raised once the status is written, so that it is tried again."""

    reason: Reason
    message: str
    motion: Motion = Motion.STUCK
    error: KubeError | None = None

    @property
    def is_wait(self) -> bool:
        """Whether nothing has gone wrong: it is just not time yet."""
        return self.motion is Motion.MOVING and self.error is None


def trouble(written: Iterable[Written]) -> Trouble | None:
    """The first that went wrong: of those, the one that somebody must do something about."""
    found = [one for each in written if (one := _of(each)) is not None]
    return min(found, key=lambda one: one.motion is not Motion.STUCK, default=None)


def hindrance(found: Outlook) -> Trouble | None:
    """What keeps an update from going on, if anything does."""
    why = found.hindrance
    return None if why is None else Trouble(reason=why.reason, message=why.text)


def last_errors(
    present: tuple[LastError, ...], found: Iterable[Trouble], now: datetime
) -> tuple[LastError, ...]:
    """One for each. What is the same as before keeps its time: trying in vain writes nothing."""
    known = {(error.code, error.description): error for error in present}
    told = dict.fromkeys((one.reason.token, one.message) for one in found)
    return tuple(
        known.get((code, description))
        or LastError(code=code, description=description, observed_at=to_seconds(now))
        for code, description in told
    )


def _of(written: Written) -> Trouble | None:
    if isinstance(written, KubeError):
        return Trouble(
            reason=objects.RETRYING, message=str(written), motion=Motion.MOVING, error=written
        )
    if written.refused:
        refusal = written.refused[0]
        return Trouble(reason=_cause(refusal), message=str(refusal), error=refusal.error)
    if written.conflicts:
        message = f"{written.conflicts[0]} and is left alone: remove or rename it"
        return Trouble(reason=objects.NAME_CONFLICT, message=message)
    return None


def _cause(refusal: Refusal) -> Reason:
    if not isinstance(refusal.error, Forbidden):
        return objects.REFUSED
    said = refusal.error.failure.message
    is_quota = any(one in said for one in _OF_A_QUOTA)
    return objects.QUOTA_REFUSED if is_quota else objects.FORBIDDEN
