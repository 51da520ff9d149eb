# SPDX-License-Identifier: Apache-2.0
"""What has been read from a watch and not yet been taken by its reader. Pure.

Only the latest state of an object is kept, so a slow reader costs at most one change an object:
the backlog is bounded by what the reader's own cache holds anyway, and the socket never waits.
"""

from __future__ import annotations

from typing import Generic, TypeVar

from trellis.kube.events import Change, Delta, Snapshot

T = TypeVar("T")


class Initial(Generic[T]):
    """The initial events of a watch, gathered until the server says that they are all."""

    def __init__(self) -> None:
        self._objects: dict[tuple[str, str], T] = {}

    def add(self, change: Change[T]) -> None:
        key = (change.namespace, change.name)
        if change.object is None:
            self._objects.pop(key, None)
        else:
            self._objects[key] = change.object

    def snapshot(self, resource_version: str) -> Snapshot[T]:
        return Snapshot(list(self._objects.values()), resource_version)


class Backlog(Generic[T]):
    def __init__(self) -> None:
        self._snapshot: Snapshot[T] | None = None
        self._changes: dict[tuple[str, str], Change[T]] = {}
        self._reached: str | None = None

    def __bool__(self) -> bool:
        return self._snapshot is not None or self._reached is not None

    def replace(self, snapshot: Snapshot[T]) -> None:
        """What was to be told before is all in the snapshot."""
        self._snapshot = snapshot
        self._changes.clear()
        self._reached = None

    def add(self, change: Change[T], resource_version: str) -> None:
        key = (change.namespace, change.name)
        # To the end, so that changes leave in the order of their last event.
        self._changes.pop(key, None)
        self._changes[key] = change
        self._reached = resource_version

    def reach(self, resource_version: str) -> None:
        """Nothing changed up to there."""
        self._reached = resource_version

    def take(self) -> Snapshot[T] | Delta[T]:
        """The next thing to tell. There must be one."""
        if self._snapshot is not None:
            snapshot, self._snapshot = self._snapshot, None
            return snapshot
        if self._reached is None:
            raise LookupError("the backlog is empty")
        delta = Delta(list(self._changes.values()), self._reached)
        self._changes = {}
        self._reached = None
        return delta
