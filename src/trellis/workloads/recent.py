# SPDX-License-Identifier: Apache-2.0
"""A memory that is bounded: of the most that it holds, what was noted longest ago goes first."""

from __future__ import annotations

from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Recent(Generic[K, V]):
    def __init__(self, most: int) -> None:
        self._most = most
        self._noted: dict[K, V] = {}

    def __contains__(self, key: K) -> bool:
        return key in self._noted

    def __len__(self) -> int:
        return len(self._noted)

    def get(self, key: K) -> V | None:
        return self._noted.get(key)

    def note(self, key: K, value: V) -> None:
        """What is noted again is as new as anything."""
        self.forget(key)
        while len(self._noted) >= self._most:
            self._noted.pop(next(iter(self._noted)))
        self._noted[key] = value

    def forget(self, key: K) -> None:
        self._noted.pop(key, None)
