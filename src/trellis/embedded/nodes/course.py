# SPDX-License-Identifier: Apache-2.0
"""What happens to one container: it waits, runs, ends and is started again, ever later. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace

# As kubelets do: at once the first time, then doubling; forgotten after a long run.
FIRST_BACKOFF = 10.0
LONGEST_BACKOFF = 300.0
FORGET_SECONDS = 600.0


@dataclass(frozen=True, slots=True)
class Ended:
    """How a run ended, and when."""

    exit_code: int
    reason: str
    started: float
    finished: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """`started`: it runs since then. `ended`: it has ended for good. `last`: its run before.

    Neither started nor ended: it waits, since its start if `last` is None, else to be started
    again, at `again_at`. `quick` counts the restarts that the back-off grows by.
    """

    started: float | None = None
    ended: Ended | None = None
    last: Ended | None = None
    again_at: float | None = None
    restarts: int = 0
    quick: int = 0

    @property
    def runs(self) -> bool:
        return self.started is not None

    @property
    def waits(self) -> bool:
        return self.started is None and self.ended is None

    @property
    def fresh(self) -> bool:
        """It has never run."""
        return self.waits and self.last is None

    @property
    def succeeded(self) -> bool:
        return self.ended is not None and self.ended.exit_code == 0

    @property
    def backoff(self) -> float:
        """How long it waits, or waited last, to be started again."""
        return backoff(self.quick - 1) if self.quick else 0.0


FRESH = Course()


def backoff(quick: int) -> float:
    """Before the start that follows so many quick restarts."""
    return 0.0 if quick == 0 else min(LONGEST_BACKOFF, FIRST_BACKOFF * 2.0 ** min(quick - 1, 10))


def begun(course: Course, now: float) -> Course:
    """It runs from now on."""
    return replace(
        course,
        started=now,
        again_at=None,
        restarts=course.restarts + (course.last is not None),
    )


def over(course: Course, exit_code: int, at: float, reason: str = "") -> Course:
    """Its run has ended, and no other follows."""
    return replace(course, started=None, ended=_end(course, exit_code, at, reason), again_at=None)


def to_be_restarted(course: Course, exit_code: int, at: float, reason: str = "") -> Course:
    """Its run has ended, and another follows when the back-off is over."""
    end = _end(course, exit_code, at, reason)
    quick = 0 if end.finished - end.started >= FORGET_SECONDS else course.quick
    return replace(course, started=None, last=end, again_at=at + backoff(quick), quick=quick + 1)


def _end(course: Course, exit_code: int, at: float, reason: str) -> Ended:
    started = at if course.started is None else course.started
    said = reason or ("Error" if exit_code else "Completed")
    return Ended(exit_code, said, started, max(at, started))
