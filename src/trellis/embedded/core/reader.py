# SPDX-License-Identifier: Apache-2.0
"""What is stored, decoded once and shared, for those who look at the same few objects often."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trellis.embedded.asking import Object
    from trellis.embedded.store.changes import Change
    from trellis.embedded.store.records import Record
    from trellis.embedded.store.store import Store

_MOST = 20_000


class StoreReader:
    """Nobody may change what they read here. Each decoded object is kept until it changes."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._decoded: dict[tuple[str, str, str, str], tuple[int, Object]] = {}

    def get(self, group: str, plural: str, namespace: str, name: str) -> Object | None:
        record = self._store.shelf(group, plural).get(namespace, name)
        return self._object(group, plural, record) if record else None

    def list(self, group: str, plural: str, namespace: str = "") -> Sequence[Object]:
        found = self._store.shelf(group, plural).list(namespace or None)
        return [self._object(group, plural, record) for record in found]

    def forget(self, change: Change) -> None:
        """Only what goes; what changes is found out by its version."""
        if change.deleted:
            record = change.record
            key = (*change.resource, record.namespace, record.name)
            self._decoded.pop(key, None)

    def _object(self, group: str, plural: str, record: Record) -> Object:
        key = (group, plural, record.namespace, record.name)
        kept = self._decoded.get(key)
        if kept and kept[0] == record.version:
            return kept[1]
        if len(self._decoded) >= _MOST:
            self._decoded.clear()
        found = record.decoded()
        self._decoded[key] = record.version, found
        return found
