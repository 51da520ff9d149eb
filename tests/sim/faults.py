# SPDX-License-Identifier: Apache-2.0
"""What can go wrong, by the place where it does. To add a kind: name it here, and let the wire,
the streams or the hooks do it; `drawing` then draws it, and the exhaustive schedules try it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from tests.sim.story import Where


class Kind(StrEnum):
    CRASH_BEFORE = "crash-before"
    """The process is killed before the server has the request."""
    CRASH_AFTER = "crash-after"
    """The process is killed when the server has carried it out."""
    CRASH = "crash"
    """The process is killed between two calls."""
    UNREACHABLE = "unreachable"
    """No connection: the request never left."""
    LOST = "lost"
    """It left and was never carried out, and nobody knows."""
    AMBIGUOUS = "ambiguous"
    """It was carried out, and the answer was lost."""
    CONFLICT = "conflict"
    """409: somebody else was faster, it says."""
    GONE = "gone"
    """410 to a read, or at the begin of a watch."""
    THROTTLED = "throttled"
    """429 with Retry-After."""
    FAILED_BEFORE = "failed-before"
    """500, and nothing was done."""
    FAILED_AFTER = "failed-after"
    """500 though it was done."""
    UNAVAILABLE = "unavailable"
    """503."""
    SLOW = "slow"
    """The answer takes that long."""
    STALE = "stale"
    """For that long, no watch of this process hears anything: it reads what was."""
    STALL = "stall"
    """The whole process stands still for that long."""
    CUT = "cut"
    """The connection of a watch is lost before that line."""
    ENDED = "ended"
    """The server ends a watch before that line."""
    EXPIRED = "expired"
    """The watch is told that history is gone: everything is read anew, and what was in between
    was never seen."""
    MERGED = "merged"
    """For that long the watch hears nothing, and then that history is gone: all that happened
    meanwhile is one change."""
    TROUBLED = "troubled"
    """The watch is told that the server has failed."""
    WITHHELD = "withheld"
    """That line comes so much later, and all behind it with it."""
    SILENT = "silent"
    """The connection is half-open: nothing comes any more, and nobody says so."""
    GARBLED = "garbled"
    """The line is no JSON."""
    REFUSED = "hook-refused"
    """The webhook cannot be reached."""
    HOOK_SLOW = "hook-slow"
    """The webhook takes that long."""
    HOOK_GARBLED = "hook-garbled"
    """The webhook answers with something that is no review."""


@dataclass(frozen=True, slots=True)
class Trait:
    """Where a kind of fault can strike, and for how many seconds, if that has a meaning."""

    where: Where
    least: float = 0.0
    most: float = 0.0
    writes_only: bool = False
    """Whether it makes sense only for a request that changes something."""


TRAITS: dict[Kind, Trait] = {
    Kind.CRASH_BEFORE: Trait(Where.CALL, 0.0, 5.0),
    Kind.CRASH_AFTER: Trait(Where.CALL, 0.0, 5.0),
    Kind.CRASH: Trait(Where.TURN, 0.0, 5.0),
    Kind.UNREACHABLE: Trait(Where.CALL),
    Kind.LOST: Trait(Where.CALL),
    Kind.AMBIGUOUS: Trait(Where.CALL),
    Kind.CONFLICT: Trait(Where.CALL, writes_only=True),
    Kind.GONE: Trait(Where.CALL),
    Kind.THROTTLED: Trait(Where.CALL, 1.0, 3.0),
    Kind.FAILED_BEFORE: Trait(Where.CALL),
    Kind.FAILED_AFTER: Trait(Where.CALL),
    Kind.UNAVAILABLE: Trait(Where.CALL),
    Kind.SLOW: Trait(Where.CALL, 0.5, 8.0),
    Kind.STALE: Trait(Where.CALL, 0.5, 15.0),
    Kind.STALL: Trait(Where.CALL, 1.0, 20.0),
    Kind.CUT: Trait(Where.EVENT),
    Kind.ENDED: Trait(Where.EVENT),
    Kind.EXPIRED: Trait(Where.EVENT),
    Kind.MERGED: Trait(Where.EVENT, 0.5, 20.0),
    Kind.TROUBLED: Trait(Where.EVENT),
    Kind.WITHHELD: Trait(Where.EVENT, 0.5, 20.0),
    Kind.SILENT: Trait(Where.EVENT),
    Kind.GARBLED: Trait(Where.EVENT),
    Kind.REFUSED: Trait(Where.HOOK),
    Kind.HOOK_SLOW: Trait(Where.HOOK, 0.1, 6.0),
    Kind.HOOK_GARBLED: Trait(Where.HOOK),
}
