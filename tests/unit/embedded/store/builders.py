# SPDX-License-Identifier: Apache-2.0
"""Objects for the store, and readers of its watches that need no loop."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trellis.embedded.store.shelf import ABSENT, Shelf

if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterable

    from trellis.embedded.store.changes import Event
    from trellis.embedded.store.records import Object, Record
    from trellis.embedded.store.subscription import Subscription

NODE = "spec.nodeName"


def an_object(name: str = "a", namespace: str = "default", **more: Any) -> Object:
    """`labels`, and anything else that is to be at the top of the object."""
    metadata: Object = {"name": name, "uid": f"uid-{name}"}
    if namespace:
        metadata["namespace"] = namespace
    if labels := more.pop("labels", None):
        metadata["labels"] = labels
    return {"apiVersion": "v1", "kind": "Thing", "metadata": metadata, **more}


def create(shelf: Shelf, name: str = "a", namespace: str = "default", **more: Any) -> Record:
    node = more.pop("node", None)
    fields = {NODE: node} if node else {}
    return shelf.put(an_object(name, namespace, **more), fields, ABSENT)


def update(shelf: Shelf, record: Record, **more: Any) -> Record:
    """Its replacement; what is not said again is gone."""
    node = more.pop("node", None)
    obj = an_object(record.name, record.namespace, **more)
    return shelf.put(obj, {NODE: node} if node else {}, record.version)


def remove(shelf: Shelf, record: Record) -> Record:
    return shelf.remove(record.namespace, record.name, record.version)


def drained(subscription: Subscription) -> list[Event]:
    """All that can be taken now."""
    events: list[Event] = []
    while subscription.pending:
        events += immediate(subscription.batch())
    return events


def immediate(coroutine: Coroutine[Any, Any, list[Event]]) -> list[Event]:
    """What a coroutine returns that has nothing to wait for."""
    try:
        coroutine.send(None)
    except StopIteration as finished:
        return finished.value  # type: ignore[no-any-return]
    raise AssertionError("it waits")


def told(events: Iterable[Event]) -> list[tuple[str, str, int]]:
    return [(event.type, event.record.key, event.version) for event in events]


def keys(records: Iterable[Record]) -> list[str]:
    return [record.key for record in records]
