# SPDX-License-Identifier: Apache-2.0
"""The records of one resource, found by name and walked in the order of their keys.

The order is that of the real server's keys, `namespace/name`: `a-b/x` comes before `a/x`.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trellis.embedded.store.records import Record


class _Drawer:
    """The records of one namespace."""

    __slots__ = ("names", "records")

    def __init__(self) -> None:
        self.records: dict[str, Record] = {}
        self.names: list[str] = []

    def after(self, name: str) -> list[Record]:
        records = self.records
        return [records[each] for each in self.names[bisect_right(self.names, name) :]]


class Cabinet:
    def __init__(self) -> None:
        self._drawers: dict[str, _Drawer] = {}
        self._prefixes: list[str] = []

    def __len__(self) -> int:
        return sum(len(drawer.records) for drawer in self._drawers.values())

    def get(self, namespace: str, name: str) -> Record | None:
        drawer = self._drawers.get(namespace)
        return drawer.records.get(name) if drawer else None

    def place(self, record: Record) -> None:
        """Adds it, or replaces the one of that name."""
        drawer = self._drawers.get(record.namespace)
        if drawer is None:
            drawer = self._drawers[record.namespace] = _Drawer()
            insort(self._prefixes, _prefix(record.namespace))
        if record.name not in drawer.records:
            insort(drawer.names, record.name)
        drawer.records[record.name] = record

    def take(self, namespace: str, name: str) -> None:
        """Removes one that is there."""
        drawer = self._drawers[namespace]
        del drawer.records[name]
        del drawer.names[bisect_left(drawer.names, name)]
        if not drawer.records:
            del self._drawers[namespace]
            del self._prefixes[bisect_left(self._prefixes, _prefix(namespace))]

    def walk(self, namespace: str | None, after: str = "") -> list[Record]:
        """Those of a namespace, or all, whose keys come after the one given."""
        found: list[Record] = []
        for prefix in self._prefixes if namespace is None else [_prefix(namespace)]:
            drawer = self._drawers.get(prefix[:-1])
            if drawer is None:
                continue
            if after.startswith(prefix):
                found += drawer.after(after[len(prefix) :])
            elif after < prefix:
                found += drawer.after("")
        return found

    def __iter__(self) -> Iterator[Record]:
        for drawer in self._drawers.values():
            yield from drawer.records.values()


def _prefix(namespace: str) -> str:
    """What the keys of a namespace begin with; without one a key is the name alone."""
    return f"{namespace}/" if namespace else ""
