# SPDX-License-Identifier: Apache-2.0
"""Finding cached objects by something other than their name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from trellis.instruments.logs import logger

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from trellis.api.meta import Key, Object

T = TypeVar("T", bound="Object")

_log = logger(__name__)


@dataclass(frozen=True, slots=True, eq=False)
class Index(Generic[T]):
    """A way to find objects: under which values one is filed. Pure."""

    name: str
    values: Callable[[T], Iterable[str]]


def _owner_uids(value: Object) -> Iterable[str]:
    return (owner.uid for owner in value.metadata.owner_references)


BY_OWNER: Index[Any] = Index("owner", _owner_uids)


class Buckets(Generic[T]):
    """The objects of one cache by the values of one index, in the order in which they came."""

    def __init__(self, index: Index[T]) -> None:
        self._index = index
        self._buckets: dict[str, dict[Key, T]] = {}

    def find(self, value: str) -> tuple[T, ...]:
        return tuple(self._buckets.get(value, {}).values())

    def change(self, key: Key, old: T | None, new: T | None) -> None:
        before, after = self._filed(old), self._filed(new)
        if before != after:
            for value in before:
                if value not in after:
                    self._remove(value, key)
        if new is not None:
            for value in after:
                self._buckets.setdefault(value, {})[key] = new

    def _filed(self, value: T | None) -> dict[str, None]:
        """Under which values, without repetitions, in the same order each time."""
        if value is None:
            return {}
        try:
            return dict.fromkeys(self._index.values(value))
        except Exception:
            # An object that nobody can make sense of must not keep others from being found.
            name = str(value.metadata.key)
            _log.exception("object cannot be indexed", index=self._index.name, object=name)
            return {}

    def _remove(self, value: str, key: Key) -> None:
        bucket = self._buckets[value]
        del bucket[key]
        if not bucket:
            del self._buckets[value]
