# SPDX-License-Identifier: Apache-2.0
"""Certificates, their stores and a clock for tests of the webhooks."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from trellis.webhooks.certificates import Authority, Pair, Subject
from trellis.webhooks.custodian import Published, Stored

if TYPE_CHECKING:
    from collections.abc import Mapping

NOW = datetime(2026, 5, 1, tzinfo=UTC)


class StandingClock:
    """Stands still until it is moved; whoever sleeps moves it."""

    def __init__(self, now: datetime = NOW) -> None:
        self.time = now

    def now(self) -> datetime:
        return self.time

    def monotonic(self) -> float:
        return self.time.timestamp()

    async def sleep(self, seconds: float) -> None:
        self.time += timedelta(seconds=seconds)
        await asyncio.sleep(0)


def a_leaf(
    authority: Authority, *, now: datetime = NOW, life: timedelta = timedelta(days=90)
) -> Pair:
    return authority.issue(Subject(name="webhooks", hosts=("localhost", "127.0.0.1")), now, life)


class MemoryStore:
    """A Secret in memory."""

    def __init__(self) -> None:
        self.stored = Stored({}, "0")

    async def read(self) -> Stored:
        return self.stored

    async def swap(self, seen: Stored, data: Mapping[str, bytes]) -> bool:
        if seen.version != self.stored.version:
            return False
        self.stored = Stored(dict(data), str(int(seen.version) + 1))
        return True


class MemoryPublisher:
    """Webhook configurations in memory."""

    def __init__(self, configurations: int = 2) -> None:
        self.published = Published((b"",) * configurations, "0")

    async def read(self) -> Published:
        return self.published

    async def publish(self, seen: Published, bundle: bytes) -> bool:
        if seen.version != self.published.version:
            return False
        self.put(*(bundle,) * len(seen.bundles))
        return True

    def put(self, *bundles: bytes) -> None:
        self.published = Published(bundles, str(int(self.published.version) + 1))
