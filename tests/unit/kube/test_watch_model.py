# SPDX-License-Identifier: Apache-2.0
"""Whatever befalls the streams of a watch, its reader ends with what the server has."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import TYPE_CHECKING, Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.transport import (
    HANG,
    MemoryTransport,
    Stream,
    answer,
    bookmark,
    event,
    failure,
    status_object,
)
from tests.support.virtual import run
from tests.unit.kube.builders import CONFIG_MAPS, ConfigMap, a_client, a_config_map
from trellis.kube.errors import Ambiguous, KubeError, Unreachable
from trellis.kube.events import Snapshot

if TYPE_CHECKING:
    from trellis.kube.events import Delta
    from trellis.kube.transport import Request, Response


class End(Enum):
    """What ends a stream, or keeps it from beginning."""

    CLOSED = auto()
    CUT = auto()
    CUT_MID_LINE = auto()
    SILENT = auto()
    ERROR_GONE = auto()
    ERROR_OTHER = auto()
    GARBAGE = auto()
    AWAY = auto()
    REFUSED = auto()
    THROTTLED = auto()
    FAILED = auto()


@dataclass
class Round:
    """What happens before a stream is opened, how much of it comes, and how it ends."""

    writes: list[tuple[str, str | None]]
    delivered: int
    end: End
    compacted: bool
    chunk: int


@dataclass
class Server:
    """A store with a history, as far as it remembers one."""

    serves_initial: bool
    plan: list[Round]
    version: int = 10
    oldest: int = 10
    store: dict[str, tuple[str, int]] = field(default_factory=dict)
    history: list[tuple[int, bytes]] = field(default_factory=list)

    def write(self, name: str, value: str | None) -> None:
        """No value deletes."""
        if value is None and name not in self.store:
            return
        self.version += 1
        if value is None:
            held, _ = self.store.pop(name)
            line = event("DELETED", a_config_map(name, self.version, value=held))
        else:
            kind = "MODIFIED" if name in self.store else "ADDED"
            self.store[name] = (value, self.version)
            line = event(kind, a_config_map(name, self.version, value=value))
        self.history.append((self.version, line))

    def objects(self) -> list[dict[str, Any]]:
        return [
            a_config_map(name, version, value=value)
            for name, (value, version) in sorted(self.store.items())
        ]

    def list(self, _: Request) -> Response:
        metadata = {"resourceVersion": str(self.version)}
        return answer({"metadata": metadata, "items": self.objects()})

    def open(self, request: Request) -> Stream | KubeError:
        query = dict(request.query)
        last = Round(writes=[], delivered=10**6, end=End.SILENT, compacted=False, chunk=10**6)
        step = self.plan.pop(0) if self.plan else last
        for write in step.writes:
            self.write(*write)
        if step.compacted:
            self.oldest = self.version
        if step.end in _UNOPENED:
            return _UNOPENED[step.end]
        if "sendInitialEvents" in query:
            if not self.serves_initial:
                return Stream([failure(422, "Invalid").body], 422)
            lines = [event("ADDED", each) for each in self.objects()]
            lines.append(bookmark(str(self.version), initial_end=True))
        else:
            since = int(query["resourceVersion"])
            if since < self.oldest:
                return Stream([event("ERROR", status_object(410, "Expired"))])
            lines = [line for version, line in self.history if version > since]
            lines.append(bookmark(str(self.version)))
        return Stream(_ended(lines[: step.delivered], step))


_UNOPENED: dict[End, Stream | KubeError] = {
    End.AWAY: Unreachable("away"),
    End.REFUSED: Stream([failure(403, "Forbidden").body], 403),
    End.THROTTLED: Stream([failure(429, "TooManyRequests", retryAfterSeconds=1).body], 429),
    End.FAILED: Stream([b"<html>oops</html>"], 500),
}


def _ended(lines: list[bytes], step: Round) -> list[bytes | KubeError]:
    tails: dict[End, tuple[bytes, list[bytes | KubeError]]] = {
        End.CUT: (b"", [Ambiguous("lost")]),
        End.CUT_MID_LINE: (b'{"type":"MODIFIED","object":{"metad', [Ambiguous("lost")]),
        End.SILENT: (b"", [HANG]),
        End.ERROR_GONE: (event("ERROR", status_object(410, "Expired")), []),
        End.ERROR_OTHER: (event("ERROR", status_object(500, "InternalError")), []),
        End.GARBAGE: (b"{garbage}\n", []),
    }
    more, rest = tails.get(step.end, (b"", []))
    whole = b"".join(lines) + more
    cuts = range(0, len(whole), step.chunk)
    return [*(whole[start : start + step.chunk] for start in cuts), *rest]


@dataclass
class Reader:
    """A cache as a controller keeps it, and the law that its version never goes back."""

    state: dict[str, str] = field(default_factory=dict)
    version: int = 0

    def take(self, update: Snapshot[ConfigMap] | Delta[ConfigMap]) -> None:
        assert int(update.resource_version) >= self.version
        self.version = int(update.resource_version)
        if isinstance(update, Snapshot):
            self.state = {each.metadata.name: each.data["value"] for each in update.objects}
            return
        for change in update.changes:
            if change.object is None:
                self.state.pop(change.name, None)
            else:
                self.state[change.name] = change.object.data["value"]


NAMES = st.sampled_from("abcd")
WRITES = st.lists(st.tuples(NAMES, st.none() | st.text("xyz", max_size=3)), max_size=6)
ROUNDS = st.builds(
    Round,
    writes=WRITES,
    delivered=st.integers(0, 8),
    end=st.sampled_from(End),
    compacted=st.booleans(),
    chunk=st.integers(1, 400),
)


@settings(max_examples=75, deadline=None, derandomize=True)
@given(
    plan=st.lists(ROUNDS, max_size=8),
    serves_initial=st.booleans(),
    pauses=st.lists(st.integers(0, 50), max_size=8),
)
def test_the_reader_ends_with_what_the_server_has(
    plan: list[Round], serves_initial: bool, pauses: list[int]
) -> None:
    server = Server(serves_initial=serves_initial, plan=list(plan))

    async def scenario() -> None:
        reader = Reader()

        async def read() -> None:
            transport = MemoryTransport(server.list, streams=server.open)
            maps = a_client(transport).of(CONFIG_MAPS, ConfigMap, "here")
            async with maps.watch() as watch:
                async for update in watch:
                    reader.take(update)
                    await asyncio.sleep(pauses.pop() if pauses else 0)

        reading = asyncio.create_task(read())
        # Longer than all that can happen: eight rounds of silence or refusal, and as many pauses.
        done, _ = await asyncio.wait({reading}, timeout=900)
        assert not done, reading.exception()
        reading.cancel()
        truth = {name: value for name, (value, _) in server.store.items()}
        assert (reader.version, reader.state) == (server.version, truth)

    run(scenario())
