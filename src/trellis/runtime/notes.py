# SPDX-License-Identifier: Apache-2.0
"""Which events are sent, and which are only counted. Pure.

The same thing said again is one event with a count. However much is said about an object for one
reason, no more than a burst is sent and then one write in ten seconds: the last thing said, with
the count of all that it stands for. So nothing is told long after it happened.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from datetime import datetime

    from trellis.api.meta import Resource

BURST = 10
SECONDS_EACH = 10.0
# As other components of Kubernetes call it.
COMBINED = "(combined from similar events): "
_MOST_SERIES = 4096
# Limits of the API, in bytes for what is written and in characters for names.
_LONGEST_NOTE = 1024
_LONGEST_WORD = 128


@dataclass(frozen=True, slots=True)
class Note:
    """Something worth telling about an object. The reason is a word from the catalogue."""

    reason: str
    text: str
    type: Literal["Normal", "Warning"] = "Normal"
    action: str = "Reconcile"


@dataclass(frozen=True, slots=True)
class Subject:
    """The object that is spoken of."""

    resource: Resource
    namespace: str
    name: str
    uid: str
    created: datetime | None = None


@dataclass(slots=True)
class Series:
    """One event: how often it was said, and how much of that is known to the cluster."""

    subject: Subject
    note: Note
    count: int = 1
    name: str = ""
    """The name of the event in the cluster, once it has been sent."""
    said_at: float = 0.0
    """When it was said the last time."""
    sent: int = 0
    sent_at: float = float("-inf")

    @property
    def unsent(self) -> bool:
        return self.count > self.sent


@dataclass(slots=True)
class _Topic:
    """What is said of one object for one reason: a bucket that fills by one token in ten seconds,
    and what has been gathered since it was empty."""

    tokens: float
    at: float
    gathered: Series | None = None

    def take(self, now: float) -> bool:
        self.tokens = min(BURST, self.tokens + (now - self.at) / SECONDS_EACH)
        self.at = now
        if self.tokens < 1.0:
            return False
        self.tokens -= 1.0
        return True

    def gather(self, subject: Subject, note: Note, now: float) -> None:
        before = self.gathered
        if before is None:
            self.gathered = Series(subject, note, said_at=now)
        else:
            combined = clipped(replace(note, text=f"{COMBINED}{note.text}"))
            self.gathered = Series(subject, combined, count=before.count + 1, said_at=now)


class Notebook:
    """Everything said lately. What was said longest ago is forgotten when there is too much."""

    def __init__(self, most: int = _MOST_SERIES) -> None:
        self._most = most
        self._series: OrderedDict[tuple[str, Note], Series] = OrderedDict()
        self._topics: OrderedDict[tuple[str, str], _Topic] = OrderedDict()

    def say(self, subject: Subject, note: Note, now: float) -> Series | None:
        """The event to be sent now, if one is."""
        note = clipped(note)
        key = (subject.uid, note)
        series = self._series.get(key)
        if series is not None:
            series.count += 1
            series.said_at = now
            self._series.move_to_end(key)
            return series if self._may_send(series, now) else None
        topic = self._topic(subject.uid, note.reason, now)
        topic.gather(subject, note, now)
        return self._taken(topic, now)

    def due(self, now: float) -> list[Series]:
        """Events that were counted or gathered and not sent, and may be sent by now."""
        counted = [series for series in self._series.values() if self._may_send(series, now)]
        gathered = [self._taken(topic, now) for topic in self._topics.values()]
        return counted + [series for series in gathered if series is not None]

    def _topic(self, uid: str, reason: str, now: float) -> _Topic:
        key = (uid, reason)
        topic = self._topics.setdefault(key, _Topic(float(BURST), now))
        self._topics.move_to_end(key)
        if len(self._topics) > self._most:
            self._topics.popitem(last=False)
        return topic

    def _taken(self, topic: _Topic, now: float) -> Series | None:
        series = topic.gathered
        if series is None or not topic.take(now):
            return None
        topic.gathered = None
        series.sent, series.sent_at = series.count, now
        self._series[series.subject.uid, series.note] = series
        if len(self._series) > self._most:
            self._series.popitem(last=False)
        return series

    def _may_send(self, series: Series, now: float) -> bool:
        # Counts are not news: they wait their ten seconds even when there is an allowance left.
        if not series.unsent or now - series.sent_at < SECONDS_EACH:
            return False
        if not self._topic(series.subject.uid, series.note.reason, now).take(now):
            return False
        series.sent, series.sent_at = series.count, now
        return True


def clipped(note: Note) -> Note:
    """The note as the API takes it: cut by bytes, never inside a character."""
    text = note.text.encode(errors="replace")
    if len(text) > _LONGEST_NOTE:
        text = text[: _LONGEST_NOTE - 3].decode(errors="ignore").encode() + "…".encode()
    return Note(note.reason[:_LONGEST_WORD], text.decode(), note.type, note.action[:_LONGEST_WORD])
