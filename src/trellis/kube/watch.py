# SPDX-License-Identifier: Apache-2.0
"""A watch that does not end: what there is, then what changes, whatever happens to its streams.

A task of its own reads the socket and never waits for the reader; what the reader has not taken
lies in the backlog. Streams are short-lived on purpose, so that one that went silent is found out
within `LIFETIME` + `GRACE_SECONDS`. Errors of the server never reach the reader as changes: they
are reported through `on_trouble`, and the watch goes on.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Generic, TypeVar

from msgspec import structs

from trellis.kube.backlog import Backlog, Initial
from trellis.kube.errors import KubeError, Stalled
from trellis.kube.events import Delta, Moment, Reader, Snapshot
from trellis.kube.lines import Lines
from trellis.kube.resource import path
from trellis.kube.resume import Ending, Position, after, ending_of, pause
from trellis.kube.status import refused
from trellis.kube.transport import Response

if TYPE_CHECKING:
    from collections.abc import Callable

    from trellis.kube.collection import Collection
    from trellis.kube.transport import Pairs, Request, Stream
    from trellis.kube.verbs import Selection

T = TypeVar("T")

# Seconds after which the server is asked to end a stream: short, because a half-open connection
# shows only then, and jittered, because many watches begin together.
LIFETIME = (30.0, 40.0)
GRACE_SECONDS = 5.0
OPEN_SECONDS = 10.0
# The initial events may take as long as they take, but not pause for longer than this.
INITIAL_SECONDS = 600
INITIAL_SILENCE_SECONDS = 15.0
# A stream that has lived so long worked, even if there was nothing to tell.
FRUITFUL_SECONDS = 5.0
_REFUSAL_BYTES = 1 << 20
_NOT_OLDER = ("resourceVersionMatch", "NotOlderThan")


class Watch(Generic[T]):
    """Made by `Collection.watch`; runs for the length of a block, and is iterated once.

    `trouble` is what keeps it from hearing anything now, if something does; `heard_at` is when it
    last heard anything, by the client's monotonic clock.
    """

    def __init__(
        self,
        collection: Collection[T],
        selection: Selection,
        resource_version: str,
        on_trouble: Callable[[KubeError], None] | None,
    ) -> None:
        self._collection = collection
        self._client = collection.client
        self._selection = selection
        self._on_trouble = on_trouble
        self._path = path(collection.resource, collection.namespace)
        self._reader = Reader(collection.into, f"watch of {self._path}")
        self._position = Position(resource_version=resource_version)
        # Where the stream of this round began and how far it has come; apart from the position,
        # because it moves with every event.
        self._started_from = self._reached = resource_version
        self._initial: Initial[T] | None = None
        self._backlog: Backlog[T] = Backlog()
        self._news = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._given_up: set[asyncio.Task[None]] = set()
        self.trouble: KubeError | None = None
        self.heard_at = self._client.clock.monotonic()

    async def __aenter__(self) -> Watch[T]:
        self._task = self._begun()
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._task:
            self._task.cancel()
            await asyncio.wait({self._task, *self._given_up})

    def start_over(self) -> None:
        """Has everything read anew, and leaves a stream that may have been dead for a while."""
        if self._task is None:
            return
        self._task.cancel()
        self._given_up.add(self._task)
        self._task.add_done_callback(self._given_up.discard)
        self._position = replace(self._position, resource_version="")
        self._started_from = self._reached = ""
        self._initial = None
        self._task = self._begun()

    def _begun(self) -> asyncio.Task[None]:
        task = asyncio.create_task(self._run(), name=f"watch {self._path}")
        task.add_done_callback(lambda _: self._news.set())
        return task

    def __aiter__(self) -> Watch[T]:
        return self

    async def __anext__(self) -> Snapshot[T] | Delta[T]:
        """The next thing to know; waits until there is one."""
        while not self._backlog:
            if self._task is None or self._task.done():
                await self._ended()
            self._news.clear()
            await self._news.wait()
        return self._backlog.take()

    async def _ended(self) -> None:
        if self._task is None:
            raise RuntimeError("a watch is read inside its own block: async with … as watch")
        # Only a mistake of ours ends the task; it must not look like a watch with nothing to tell.
        await self._task

    async def _run(self) -> None:
        clock, rng = self._client.clock, self._client.rng
        while True:
            began = clock.monotonic()
            self._started_from = self._reached
            ending, error = await self._round()
            came_further = self._reached != self._started_from
            lasted = error is None and clock.monotonic() - began >= FRUITFUL_SECONDS
            position = replace(self._position, resource_version=self._reached)
            self._position = after(position, ending, fruitful=came_further or lasted)
            self._reached = self._position.resource_version
            await clock.sleep(pause(self._position, ending, error, rng))

    async def _round(self) -> tuple[Ending, KubeError | None]:
        try:
            if not self._reached and not self._position.initial_by_stream:
                await self._list()
            return await self._follow(), None
        except KubeError as error:
            self._report(error)
            return ending_of(error, self._position), error

    async def _list(self) -> None:
        listing = await self._collection.list_readable(self._selection)
        for error in listing.unreadable:
            self._report(error)
        self._replace(Snapshot(listing.objects, listing.resource_version))

    async def _follow(self) -> Ending:
        """One stream, from its opening to its end."""
        lifetime = self._client.rng.uniform(*LIFETIME)
        from_start = not self._reached
        self._initial = Initial() if from_start else None
        lines = Lines(f"watch of {self._path}")
        request = self._request(INITIAL_SECONDS if from_start else int(lifetime))
        patience = INITIAL_SILENCE_SECONDS if from_start else lifetime + GRACE_SECONDS
        try:
            async with (
                self._client.transport.stream(request) as stream,
                asyncio.timeout(patience) as limit,
            ):
                await _expect_success(str(request), stream)
                async for chunk in stream:
                    gathering = self._initial is not None
                    self._hear(lines.feed(chunk))
                    if gathering:
                        gathered = self._initial is None
                        _extend(limit, lifetime if gathered else INITIAL_SILENCE_SECONDS)
        except TimeoutError:
            if not from_start:
                raise Stalled(f"watch of {self._path}: silent for {patience:.0f} s") from None
        return Ending.NO_INITIAL if self._initial is not None else Ending.CLOSED

    def _request(self, seconds: int) -> Request:
        query: Pairs = (
            *self._selection.query,
            ("watch", "true"),
            ("allowWatchBookmarks", "true"),
            ("timeoutSeconds", str(seconds)),
        )
        if self._reached:
            query = (*query, ("resourceVersion", self._reached))
        else:
            query = (*query, ("sendInitialEvents", "true"), _NOT_OLDER)
        request = self._collection.request("GET", self._path, query)
        return structs.replace(request, timeout=OPEN_SECONDS)

    def _hear(self, lines: list[bytes]) -> None:
        for line in lines:
            if line:
                self._note(self._reader.read(line))
        self.heard_at = self._client.clock.monotonic()

    def _note(self, moment: Moment[T]) -> None:
        self.trouble = None
        version = moment.resource_version
        if moment.unreadable:
            self._report(moment.unreadable)
        if self._initial is not None:
            if moment.change:
                self._initial.add(moment.change)
            if moment.initial_end:
                self._replace(self._initial.snapshot(version))
                self._initial = None
            return
        if moment.change:
            self._backlog.add(moment.change, version)
        else:
            self._backlog.reach(version)
        self._reach(version)

    def _replace(self, snapshot: Snapshot[T]) -> None:
        self._backlog.replace(snapshot)
        # Having read everything once more is no progress: a server that forgets at once what it
        # has sent would have us read for ever.
        self._started_from = snapshot.resource_version
        self._reach(snapshot.resource_version)

    def _reach(self, resource_version: str) -> None:
        self._reached = resource_version
        self._news.set()

    def _report(self, error: KubeError) -> None:
        self.trouble = error
        if self._on_trouble:
            self._on_trouble(error)


def _extend(limit: asyncio.Timeout, seconds: float) -> None:
    limit.reschedule(asyncio.get_running_loop().time() + seconds)


async def _expect_success(what: str, stream: Stream) -> None:
    if stream.status == 200:
        return
    body = bytearray()
    async for chunk in stream:
        body += chunk
        if len(body) > _REFUSAL_BYTES:
            break
    raise refused(what, Response(status=stream.status, headers=stream.headers, body=bytes(body)))
