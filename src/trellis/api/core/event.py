# SPDX-License-Identifier: Apache-2.0
"""Event: what happened to an object, for the people who look at it."""

from __future__ import annotations

from typing import ClassVar

from trellis.api.meta import Object, Resource, Value, always

NORMAL = "Normal"
WARNING = "Warning"
NOTE_LIMIT = 1024


class ObjectReference(Value, frozen=True, kw_only=True):
    """The object it is about."""

    api_version: str = ""
    kind: str = ""
    namespace: str = ""
    name: str = ""
    uid: str = ""
    resource_version: str = ""


class EventSeries(Value, frozen=True, kw_only=True):
    """That it happened again: how often, and when last (a `MicroTime`)."""

    count: int
    last_observed_time: str


class Event(Object, frozen=True, kw_only=True):
    """An Event. `event_time` is a `MicroTime` (`meta.to_micro_time`)."""

    resource: ClassVar = Resource("events.k8s.io", "v1", "Event", "events")

    event_time: str
    reporting_controller: str
    reporting_instance: str
    action: str
    reason: str
    regarding: ObjectReference
    related: ObjectReference | None = None
    note: str = ""
    type: str = always(NORMAL)
    series: EventSeries | None = None
