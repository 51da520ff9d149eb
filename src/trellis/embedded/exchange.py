# SPDX-License-Identifier: Apache-2.0
"""One request and its answer as the API server sees them, whatever carried them here."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """`path` as it came, percent-encoded; `query` decoded; names of headers in lower case."""

    method: str
    path: str
    query: Pairs = ()
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""

    def parameter(self, name: str, default: str = "") -> str:
        return next((value for key, value in self.query if key == name), default)


class Feed(Protocol):
    """An answer that goes on: the events of a watch, as many at a time as there are."""

    def __aiter__(self) -> AsyncIterator[bytes]:
        """Ends when the server ends the watch."""

    def close(self) -> None:
        """The client has gone; nothing more is read."""


@dataclass(frozen=True, slots=True)
class Answer:
    """`headers` may repeat a name (Warning). A `Feed` as body makes it a stream."""

    status: int
    body: bytes | Feed
    headers: Pairs = ()
