# SPDX-License-Identifier: Apache-2.0
"""Requests that belong together, so that where many wait what was begun is finished first.

A batch is due when it would be done if nobody came after it began: so small ones pass large ones,
one that is begun is not overtaken by its like, and nobody waits for ever. One that only finishes
what others have begun, or tells of it, is due at once.
"""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(slots=True)
class Batch:
    """So many requests. When they are due is counted in requests that were let through."""

    size: int = 1
    finishes: bool = False
    _due: int | None = None

    def due(self, let_through: int) -> int:
        if self._due is None:
            self._due = 0 if self.finishes else let_through + self.size
        return self._due


_CURRENT: ContextVar[Batch | None] = ContextVar("batch", default=None)


def current() -> Batch:
    """The batch that is being worked on here, or one of a single request."""
    return _CURRENT.get() or Batch()


@contextmanager
def together(size: int, *, finishes: bool = False) -> Iterator[None]:
    """Whatever is asked of the API in here, and in tasks that are begun in here, is one batch. In
    one that finishes something, all do."""
    outer = _CURRENT.get()
    token = _CURRENT.set(Batch(size, finishes or (outer is not None and outer.finishes)))
    try:
        yield
    finally:
        _CURRENT.reset(token)
