# SPDX-License-Identifier: Apache-2.0
"""Keeps a cache as the cluster is, from the first list on, on leaders and standbys alike."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Generic, TypeVar

from trellis.api.meta import Object
from trellis.instruments.logs import logger
from trellis.kube.errors import Forbidden, NotFound
from trellis.kube.events import Snapshot

if TYPE_CHECKING:
    from trellis.instruments.metrics import Meter
    from trellis.kube.client import Client
    from trellis.kube.errors import KubeError
    from trellis.kube.watch import Watch
    from trellis.runtime.cache import Cache

T = TypeVar("T", bound=Object)

_log = logger(__name__)


class Informer(Generic[T]):
    """`label` is what it is called in metrics and logs, where its cache's own is not enough."""

    def __init__(self, cache: Cache[T], client: Client, meter: Meter, label: str = "") -> None:
        self.cache = cache
        self.label = label or cache.label
        self._clock = client.clock
        self._trouble: KubeError | None = None
        self._answered = asyncio.Event()
        self._began = self._clock.monotonic()
        collection = client.of(cache.resource, cache.stored_kind, cache.scope.namespace)
        self._watch: Watch[T] = collection.watch(cache.scope.selection, on_trouble=self._on_trouble)
        label = self.label
        labels = {"resource": (label,)}
        self._troubles = meter.counter(
            "trellis_watch_troubles_total", "What kept a watch from hearing anything.", labels
        ).labels(label)
        self._lists = meter.counter(
            "trellis_watch_lists_total", "How often everything was read.", labels
        ).labels(label)
        for name, text, read in (
            ("trellis_cache_objects", "Objects in the cache.", lambda: len(cache)),
            ("trellis_cache_synced", "Whether all was read once.", lambda: float(cache.synced)),
            ("trellis_cache_silent_seconds", "Since anything was heard.", self.silent_for),
        ):
            meter.gauge(name, text, labels).labels(label).set_function(read)

    def silent_for(self) -> float:
        return self._clock.monotonic() - self._watch.heard_at

    def why_not_synced(self) -> str | None:
        """What a person is told while the cache is not filled."""
        if self.cache.synced:
            return None
        why = f": {self._trouble}" if self._trouble else ""
        return f"{self.label} have not been read yet{why}"

    async def until_answered(self) -> None:
        """Until all was read, or the server has said that there is nothing to read for us.

        Who looked before would take all that there is for missing.
        """
        await self._answered.wait()

    def since_begun(self) -> float:
        """How long ago everything was begun to be read the last time, in seconds."""
        return self._clock.monotonic() - self._began

    async def read_again(self) -> None:
        """Until all was read anew: what a watch that went silent has missed is known then."""
        self._began = self._clock.monotonic()
        self._answered.clear()
        self._watch.start_over()
        await self.until_answered()

    async def run(self) -> None:
        """For ever. Whatever the cluster does is sat out; only a mistake of ours ends it."""
        async with self._watch as watch:
            async for news in watch:
                if self._trouble is not None and watch.trouble is None:
                    _log.info("watch recovered", resource=self.label)
                    self._trouble = None
                if isinstance(news, Snapshot):
                    self._lists.inc()
                    self.cache.replace(news)
                    self._answered.set()
                else:
                    self.cache.apply(news)

    def _on_trouble(self, error: KubeError) -> None:
        self._troubles.inc()
        # The same trouble again and again is one line.
        first = self._trouble is None or type(error) is not type(self._trouble)
        said = _log.warning if first else _log.debug
        said("watch troubled", resource=self.label, error=str(error))
        self._trouble = error
        if isinstance(error, NotFound | Forbidden):
            self._answered.set()
