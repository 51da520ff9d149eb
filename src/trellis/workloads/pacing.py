# SPDX-License-Identifier: Apache-2.0
"""When a status is written: at once when somebody waits for it, else once for all that streams in.

While pods come and go by the hundred, every change would be a write of its own. So it is written
when nothing has happened for a moment and nothing more urgent is on its way to the API; where more
is to come, when nothing has happened to any pod of its set; and in a stream without end all the
same, less and less often.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from typing import TYPE_CHECKING

from trellis.workloads.lookout import Lookout
from trellis.workloads.streams import set_of

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from trellis.api.meta import Object, Value
    from trellis.instruments.clock import Clock
    from trellis.runtime.bell import Bell
    from trellis.runtime.cache import Cache
    from trellis.runtime.io import IO
    from trellis.runtime.notes import Note
    from trellis.runtime.status import WithStatus
    from trellis.workloads.lookout import Cause
    from trellis.workloads.streams import Streams

# Half a second after the last that happened to its pods a set's status is true: a PodClique tells,
# then its group or gang, then the set. Each also hears of it late, and is written in its own time.
QUIET_SECONDS = 0.12
# What is told of others' statuses comes after those, so it must not wait for as long again.
ABOVE_SECONDS = 0.05
ALONE_SECONDS = 0.08
NEW_SECONDS = 2.0
# Where many things have happened to a set's pods within this, more is sure to follow. If the API is
# slow, so are its news, and silence means something only after a few times what an answer takes.
STREAM_SECONDS = 0.2
MOST_STREAM_SECONDS = 0.6
ANSWERS = 3
# Nothing of an update is told more often than this. Steps that follow each other at once are told
# together; and what only says in other words how far others are waits for longer, lest it uses up
# the turn of what they tell next.
STEP_SECONDS = 1.0
TOGETHER_SECONDS = 0.3
WORDS_SECONDS = 1.5
# However fast its steps follow each other, what is told is never older than this.
STEPS_SECONDS = 3.0
# While more urgent writes are on their way, one of those whose status waits asks again after this.
LOOK_SECONDS = 0.1
# What is as it should be will be told once, now or later: more urgent writes go first, but if they
# did for long, all that waits would be told at their end, one after the other.
YIELD_SECONDS = 1.5
# For how long a status may be out of date in any other stream: at first, and when that goes on and
# on.
FIRST_PATIENCE_SECONDS = 10.0
MOST_PATIENCE_SECONDS = 30.0
_MOST_OBJECTS = 100_000


class Haste(Enum):
    """How soon a status is to be told."""

    AT_ONCE = auto()
    """Somebody acts on it."""
    FIRST_STEP = auto()
    """Steps begin or end, on each of which somebody acts."""
    NEXT_STEP = auto()
    """One of these: at once, but not twice in a second."""
    SOON = auto()
    AS_IT_GOES = auto()
    """More of its parts are on their way to where they should be: not while they stream in."""
    WITH_STEPS = auto()
    """It changes with every step, and nobody acts on it."""
    NOW_AND_THEN = auto()
    """Only words change, with what others tell of steps."""
    WHEN_MORE_IS_KNOWN = auto()
    """Nothing was told of the object yet, and that its parts are on their way is no news."""


_NOW = (Haste.AT_ONCE, Haste.FIRST_STEP)
_STEPS = (Haste.FIRST_STEP, Haste.NEXT_STEP, Haste.WITH_STEPS, Haste.NOW_AND_THEN)
_CAPPED = (Haste.WITH_STEPS, Haste.NOW_AND_THEN)
_QUIET = {
    Haste.WHEN_MORE_IS_KNOWN: NEW_SECONDS,
    Haste.WITH_STEPS: TOGETHER_SECONDS,
    Haste.NOW_AND_THEN: WORDS_SECONDS,
}


@dataclass(slots=True)
class _Stale:
    """What is stored is no longer true: since when, and when that is to be mended."""

    since: float
    due: float
    until: float
    """At the latest."""
    told: Value
    """What it would have been mended to."""


@dataclass(frozen=True, slots=True)
class _Held:
    """It waits for that, and one of those who do looks again after so many seconds."""

    cause: Cause
    seconds: float


class StatusPacer:
    """Of one controller. What it remembers is by uid, and goes with the object."""

    def __init__(
        self, cache: Cache[Any], streams: Streams, clock: Clock, quiet: float = QUIET_SECONDS
    ) -> None:
        self._cache = cache
        self._streams = streams
        self._clock = clock
        self._quiet = quiet
        self._stale: dict[str, _Stale] = {}
        self._patience: dict[str, float] = {}
        self._stepped: dict[str, float] = {}
        self._lookout = Lookout()
        cache.subscribe(self._followed)

    def __len__(self) -> int:
        """Of how many objects it remembers anything."""
        known = self._stale.keys() | self._patience.keys() | self._stepped.keys()
        return len(known) + len(self._lookout)

    @property
    def bell(self) -> Bell:
        """Rung for objects whose status waited for more urgent writes, or for pods to come to rest:
        it is to be tried again."""
        return self._lookout.bell

    async def write(
        self,
        io: IO,
        found: WithStatus,
        status: Value,
        notes: Iterable[Note] = (),
        haste: Haste = Haste.SOON,
    ) -> float | None:
        """Writes it if it differs and its time has come; else returns after how many seconds.

        Who calls before that time does so because something happened, and moves it, unless that
        makes no difference to what is complete. Events are told with the write, so whoever makes
        them makes them again until then.
        """
        uid, now = found.metadata.uid, self._clock.monotonic()
        if not differs(found, status):
            self._forget(uid)
            return None
        left = self._left(io, found, self._noted(uid, now, haste, status, busy=io.is_busy), haste)
        if left > 0 and haste not in _NOW:
            return left
        await io.write_status(self._cache, found, status, notes)
        self._written(uid, now)
        if haste in _STEPS:
            # However long that took on its way.
            self._stepped[uid] = self._clock.monotonic()
        return None

    def _followed(self, old: Object | None, new: Object | None, *, fresh: bool) -> None:  # noqa: ARG002
        if old is not None and (new is None or new.metadata.uid != old.metadata.uid):
            self._forget(old.metadata.uid)
            self._stepped.pop(old.metadata.uid, None)

    def _left_of_step(self, uid: str, now: float) -> float:
        """After how many seconds more may be told of what goes on step by step."""
        left = self._stepped.get(uid, -STEP_SECONDS) + STEP_SECONDS - now
        if left <= 0:
            self._stepped.pop(uid, None)
        return left

    def _forget(self, uid: str) -> None:
        self._stale.pop(uid, None)
        self._patience.pop(uid, None)
        self._lookout.leave(uid)

    def _left(self, io: IO, found: WithStatus, stale: _Stale | None, haste: Haste) -> float:
        left, now = 0.0, self._clock.monotonic()
        if stale is not None and haste is not Haste.NEXT_STEP:
            latest = _latest(stale, haste, busy=io.is_busy)
            left = min(stale.due, latest) - now
            held = self._held(io, found, haste, left)
            if held is not None and now < latest:
                left = latest - now
                if self._lookout.waits(found.metadata, held.cause):
                    left = min(held.seconds, left)
        return max(left, self._left_of_step(found.metadata.uid, now))

    def _held(self, io: IO, found: WithStatus, haste: Haste, left: float) -> _Held | None:
        """What it waits for, others with it, besides that nothing happens to itself."""
        now = self._clock.monotonic()
        if io.is_busy:
            return _Held(None, LOOK_SECONDS)
        self._lookout.is_over(None)
        if haste is Haste.AS_IT_GOES:
            silence = min(max(STREAM_SECONDS, ANSWERS * io.answer_seconds), MOST_STREAM_SECONDS)
            rests, cause = self._streams.many_since(found) + silence, set_of(found)
            if now < rests:
                return _Held(cause, max(rests - now, left))
            self._lookout.is_over(cause)
        self._lookout.leave(found.metadata.uid)
        return None

    def _noted(
        self, uid: str, now: float, haste: Haste, status: Value, *, busy: bool
    ) -> _Stale | None:
        """That something happened; None where that is no longer remembered, of too many."""
        stale, quiet = self._stale.get(uid), _QUIET.get(haste, self._quiet)
        if stale is None:
            if len(self._stale) >= _MOST_OBJECTS:
                return None
            patience = self._patience.get(uid, FIRST_PATIENCE_SECONDS)
            until = now + max(patience, quiet)
            stale = self._stale[uid] = _Stale(now, now + quiet, until, status)
        elif (now < stale.due or busy) and (haste is not Haste.SOON or stale.told != status):
            stale.due = min(now + quiet, stale.until)
        stale.told = status
        return stale

    def _written(self, uid: str, now: float) -> None:
        self._lookout.leave(uid)
        stale = self._stale.pop(uid, None)
        if stale is None or now < stale.until:
            self._patience.pop(uid, None)
        else:
            longer = 2 * self._patience.get(uid, FIRST_PATIENCE_SECONDS)
            self._patience[uid] = min(longer, MOST_PATIENCE_SECONDS)


def _latest(stale: _Stale, haste: Haste, *, busy: bool) -> float:
    if haste in _CAPPED:
        return stale.since + STEPS_SECONDS
    return stale.since + YIELD_SECONDS if haste is Haste.SOON and busy else stale.until


def differs(found: WithStatus, status: Value) -> bool:
    return found.status != status
