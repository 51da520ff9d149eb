# SPDX-License-Identifier: Apache-2.0
"""Tells people about their objects: sends events in the background, and never holds anybody up.

An event that cannot be sent is dropped and counted; nothing depends on events but people.
"""

from __future__ import annotations

import asyncio
from collections import deque
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import msgspec

from trellis.api.meta import Resource, to_micro_time
from trellis.instruments.logs import logger
from trellis.kube.errors import KubeError, NamespaceTerminating, NotFound
from trellis.kube.verbs import merge_patch
from trellis.runtime.going import Going
from trellis.runtime.notes import SECONDS_EACH, Note, Notebook, Series, Subject

if TYPE_CHECKING:
    from random import Random

    from trellis.api.meta import Metadata
    from trellis.instruments.metrics import Meter
    from trellis.kube.client import Client

EVENTS = Resource("events.k8s.io", "v1", "Event", "events")
# Where events about objects without a namespace are kept.
DEFAULT_NAMESPACE = "default"
MOST_WAITING = 1000
FATES = ("sent", "counted", "dropped", "refused")
_TIMEOUT = 10.0
# An object's name may take as much of an event's as leaves room for the suffix.
_LONGEST_HEAD = 253 - 18

_log = logger(__name__)


class _Nothing(msgspec.Struct):
    """What is read of the answer."""


class Recorder:
    """`reporter` is who speaks (`trellis.dev/operator`), `instance` which of them."""

    def __init__(self, client: Client, meter: Meter, *, reporter: str, instance: str) -> None:
        self._client = client
        self._clock = client.clock
        self._rng: Random = client.rng
        self._speaker = {"reportingController": reporter, "reportingInstance": instance[:128]}
        self._notebook = Notebook()
        self._waiting: deque[Series] = deque()
        self._news = asyncio.Event()
        self.going = Going(client.clock)
        self._counter = meter.counter(
            "trellis_events_total", "Events by what became of them.", {"fate": FATES}
        )

    def record(self, resource: Resource, about: Metadata, note: Note) -> None:
        """Notes it down, to be sent when there is time. Returns at once."""
        created = about.creation_timestamp
        subject = Subject(resource, about.namespace, about.name, about.uid, created)
        series = self._notebook.say(subject, note, self._clock.monotonic())
        if series is None:
            self._counter.labels("counted").inc()
        else:
            self._enqueue(series)

    async def run(self) -> None:
        """Sends what is noted down, for ever."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._recount())
            while True:
                await self._news.wait()
                self._news.clear()
                await self.flush()

    async def flush(self) -> None:
        """Sends what waits."""
        while self._waiting:
            series = self._waiting.popleft()
            subject = series.subject
            if self.going.takes_along(subject.namespace, subject.created):
                self._counter.labels("dropped").inc()
                continue
            try:
                await self._send(series)
            except NamespaceTerminating:
                self.going.note(subject.namespace, subject.created)
                self._counter.labels("dropped").inc()
            except KubeError as error:
                self._counter.labels("refused").inc()
                _log.debug("event not sent", reason=series.note.reason, error=str(error))
            else:
                self._counter.labels("sent").inc()

    def _enqueue(self, series: Series) -> None:
        if len(self._waiting) >= MOST_WAITING:
            self._counter.labels("dropped").inc()
            return
        self._waiting.append(series)
        self._news.set()

    async def _recount(self) -> None:
        """What was only counted is told in the end, even if it is never said again."""
        while True:
            await self._clock.sleep(SECONDS_EACH)
            for series in self._notebook.due(self._clock.monotonic()):
                self._enqueue(series)

    async def _send(self, series: Series) -> None:
        namespace = series.subject.namespace or DEFAULT_NAMESPACE
        events = self._client.of(EVENTS, _Nothing, namespace, timeout=_TIMEOUT)
        if series.name:
            try:
                await events.patch(series.name, merge_patch({"series": self._counted(series)}))
            except NotFound:
                # Servers forget events after an hour or so.
                series.name = ""
            else:
                return
        name = f"{series.subject.name[:_LONGEST_HEAD]}.{self._stamp()}"
        await events.create(self._event(name, namespace, series))
        series.name = name

    def _stamp(self) -> str:
        """Of the time, so that a list of events, which is by name, tells them in their order."""
        microseconds = round(self._clock.now().timestamp() * 1_000_000)
        return f"{microseconds:013x}{self._rng.getrandbits(16):04x}"

    def _event(self, name: str, namespace: str, series: Series) -> dict[str, Any]:
        subject, note = series.subject, series.note
        body: dict[str, Any] = {
            "apiVersion": EVENTS.api_version,
            "kind": EVENTS.kind,
            "metadata": {"name": name, "namespace": namespace},
            "eventTime": self._time_of(series),
            "type": note.type,
            "reason": note.reason,
            "note": note.text,
            "action": note.action,
            "regarding": {
                "apiVersion": subject.resource.api_version,
                "kind": subject.resource.kind,
                "name": subject.name,
                "uid": subject.uid,
                **({"namespace": subject.namespace} if subject.namespace else {}),
            },
            **self._speaker,
        }
        return body if series.count == 1 else body | {"series": self._counted(series)}

    def _counted(self, series: Series) -> dict[str, Any]:
        return {"count": series.count, "lastObservedTime": self._time_of(series)}

    def _time_of(self, series: Series) -> str:
        """When it happened, however much later it is told."""
        ago = timedelta(seconds=self._clock.monotonic() - series.said_at)
        return to_micro_time(self._clock.now() - ago)
