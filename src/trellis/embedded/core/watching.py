# SPDX-License-Identifier: Apache-2.0
"""Watches: what there is, then what happens, as lines of JSON until the client has enough."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from trellis.embedded.core.reading import expired, interest_in, of_the_future
from trellis.embedded.exchange import Answer
from trellis.embedded.store.changes import line
from trellis.embedded.store.problems import TooOld
from trellis.embedded.wire.media import streamed
from trellis.embedded.wire.options import list_options, object_version

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from trellis.embedded.core.presenting import Presenter
    from trellis.embedded.core.world import Call, World
    from trellis.embedded.refusals import Refusal
    from trellis.embedded.store.changes import Event
    from trellis.embedded.store.subscription import Subscription
    from trellis.embedded.wire.options import ListOptions

INITIAL_END = {"k8s.io/initial-events-end": "true"}
_BOOKMARK_SECONDS = 60.0
# Where a client does not say: long, and not the same for all who came together.
_LONGEST_SECONDS = (1800.0, 3600.0)
# A client that is about to be sent away learns how far it got.
_BEFORE_END_SECONDS = 2.0

Shape = Callable[["Event"], bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class Manner:
    """How a watch is told. `marks_state`: a bookmark follows what there was at first."""

    shape: Shape
    bookmark: Callable[[int, dict[str, str]], bytes]
    bookmarks: bool = False
    marks_state: bool = False
    seconds: float


def watch(world: World, call: Call, present: Presenter) -> Answer:
    options = list_options(call.ask, call.served)
    form = streamed(call.ask, custom=call.served.custom)
    version = object_version(options.resource_version)
    if options.initial_events and version > world.store.version:
        return Answer(200, RefusedFeed(of_the_future(version, world.store.version)), form.headers)
    interest = interest_in(call, options)
    since = _since(world, options, version)
    try:
        subscription = world.shelf(call.served).watch(since, interest)
    except TooOld as old:
        return Answer(200, RefusedFeed(expired(str(old))), form.headers)
    manner = Manner(
        shape=present.shape(call, form),
        bookmark=present.bookmark(call, form),
        bookmarks=options.bookmarks,
        marks_state=since is None and options.bookmarks and _marks(options),
        seconds=options.timeout or world.rng.uniform(*_LONGEST_SECONDS),
    )
    return Answer(200, WatchFeed(subscription, manner), form.headers)


def _since(world: World, options: ListOptions, version: int) -> int | None:
    """None where what there is comes first."""
    if options.initial_events:
        return None
    if options.initial_events is False and not version:
        return world.store.version
    return version or None


def _marks(options: ListOptions) -> bool:
    """The end of the state is told to who asked for it so, or named no version at all."""
    return bool(options.initial_events) or not options.resource_version


class WatchFeed:
    def __init__(self, subscription: Subscription, manner: Manner) -> None:
        self._subscription = subscription
        self._manner = manner

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for chunk in self._chunks():
                yield chunk
        finally:
            self._subscription.close()

    def close(self) -> None:
        self._subscription.close()

    async def _chunks(self) -> AsyncIterator[bytes]:
        manner, waiting = self._manner, self._subscription
        loop = asyncio.get_running_loop()
        end = loop.time() + manner.seconds
        marked = not manner.marks_state
        timetable = _Timetable(loop.time(), end)
        while True:
            if not marked and waiting.caught_up:
                marked = True
                yield manner.bookmark(waiting.began, INITIAL_END)
            due = timetable.next if manner.bookmarks else end
            try:
                async with asyncio.timeout_at(due):
                    events = await waiting.batch()
            except TimeoutError:
                # Timers may ring a hair early, and what is due then would ring at once again.
                now = max(due, loop.time())
                if now >= end:
                    return
                timetable.passed(now)
                version = waiting.bookmark
                if version is not None:
                    yield manner.bookmark(version, {})
                continue
            if not events:
                return
            yield b"".join([manner.shape(event) for event in events])


class _Timetable:
    """When bookmarks are due: every minute, once shortly before the end, and then the end."""

    def __init__(self, now: float, end: float) -> None:
        self._end = end
        self.next = self._after(now)

    def passed(self, now: float) -> None:
        self.next = self._after(now)

    def _after(self, now: float) -> float:
        last = self._end - _BEFORE_END_SECONDS
        return min(now + _BOOKMARK_SECONDS, last) if now < last else self._end


@dataclass(frozen=True, slots=True)
class RefusedFeed:
    """A watch that begins with 200 and then says what is wrong, as the real server does."""

    refusal: Refusal

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield line("ERROR", msgspec.json.encode(self.refusal.status))

    def close(self) -> None:
        """It holds nothing."""
