# SPDX-License-Identifier: Apache-2.0
"""Where the events of one watch wait for their reader.

It never leaves an event out: a reader who falls too far behind gets what is queued, and then the
end, and resumes with another watch. It writes nothing and knows no socket.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from trellis.embedded.store.changes import Event

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from trellis.embedded.store.interest import Interest
    from trellis.embedded.store.records import Record

# A reader takes at most so many at a time, so that a large beginning is not one large write.
BATCH = 1000


class Ending(Enum):
    """Why a watch sends nothing more."""

    CLOSED = "its reader closed it"
    SLOW = "its reader fell too far behind"
    FORGOTTEN = "the resource is no longer served as it was"


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """What may wait for a slow reader, beside what the watch began with."""

    events: int = 20_000
    size: int = 32 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Beginning:
    """What a watch starts with: the state as ADDED, or the events that it missed."""

    version: int
    """Nothing up to this version is sent as news; it may lie in the future."""
    state: Sequence[Record] = ()
    missed: Sequence[Event] = ()


class Subscription:
    """For one reader. `newest` tells the version of the store, `leave` takes it out of the hub."""

    def __init__(
        self,
        interest: Interest,
        beginning: Beginning,
        room: Room,
        newest: Callable[[], int],
        leave: Callable[[Subscription], None],
    ) -> None:
        self.interest = interest
        self.began = beginning.version
        self.ending: Ending | None = None
        self._state = beginning.state
        self._pending = list(beginning.missed)
        self._size = sum(len(event.record.data) for event in self._pending)
        self._most_events = room.events + len(self._pending)
        self._most_size = room.size + self._size
        self._told = beginning.version
        self._newest = newest
        self._leave = leave
        self._waiter: asyncio.Future[None] | None = None

    @property
    def pending(self) -> int:
        """How many events can be taken without waiting."""
        return len(self._state) + len(self._pending)

    @property
    def caught_up(self) -> bool:
        """Whether the state that it began with was handed out; nothing else came with it.

        Where that is to be marked, `began` is the version to mark it with.
        """
        return not self._state

    @property
    def bookmark(self) -> int | None:
        """The version up to which everything was handed out. None: while the state is not."""
        if self._state:
            return None
        if self._pending or self.ending is not None:
            return self._told
        return max(self.began, self._newest())

    def offer(self, event: Event) -> bool:
        """Takes in an event. False: there is no room for it, and the watch has ended."""
        if event.version <= self.began:
            return True
        size = self._size + len(event.record.data)
        if size > self._most_size or len(self._pending) >= self._most_events:
            self.end(Ending.SLOW)
            return False
        self._size = size
        self._pending.append(event)
        if self._waiter is not None:
            self._wake()
        return True

    async def batch(self) -> list[Event]:
        """Waits for events and takes them, in order. An empty list is the end."""
        if self._state:
            first, self._state = self._state[:BATCH], self._state[BATCH:]
            return [Event("ADDED", record) for record in first]
        while not self._pending and self.ending is None:
            await self._news()
        return self._taken()

    def __aiter__(self) -> Subscription:
        return self

    async def __anext__(self) -> list[Event]:
        events = await self.batch()
        if not events:
            raise StopAsyncIteration
        return events

    def close(self) -> None:
        """The reader wants no more. What waits is dropped, and whoever waits is let go."""
        self._leave(self)
        self._state = ()
        self._pending.clear()
        self.end(Ending.CLOSED)

    def end(self, ending: Ending) -> None:
        """The store sends no more; what waits can still be taken."""
        self.ending = self.ending or ending
        self._wake()

    def _taken(self) -> list[Event]:
        if len(self._pending) <= BATCH:
            taken, self._pending = self._pending, []
            self._size = 0
        else:
            taken = self._pending[:BATCH]
            del self._pending[:BATCH]
            self._size -= sum(len(event.record.data) for event in taken)
        if not self._pending and self.ending is None:
            self._told = max(self.began, self._newest())
        elif taken:
            self._told = taken[-1].version
        return taken

    async def _news(self) -> None:
        self._waiter = asyncio.get_running_loop().create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)
