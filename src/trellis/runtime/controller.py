# SPDX-License-Identifier: Apache-2.0
"""A controller as it is declared: what it reconciles, what wakes it, how many at a time. Pure.

A reconciler is told a key and nothing else: what happened to the object is not its business.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Hashable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

from trellis.api.meta import Key, Object
from trellis.runtime.agenda import Priority
from trellis.runtime.io import IO
from trellis.runtime.outcome import Outcome
from trellis.runtime.pace import STEADY, Pace

if TYPE_CHECKING:
    from trellis.api.meta import Resource
    from trellis.runtime.bell import Bell
    from trellis.runtime.cache import Cache

T = TypeVar("T", bound=Object)

Reconcile: TypeAlias = Callable[[Key, IO], Awaitable[Outcome]]


@dataclass(frozen=True, slots=True)
class Wakes(Generic[T]):
    """Objects whose changes wake a controller, and for which of its own objects."""

    cache: Cache[T]
    keys: Callable[[T], Iterable[Key]]
    matters: Callable[[T, T], bool] | None = None
    """Of an object as it was and as it is: whether the difference is of interest. All are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Controller(Generic[T]):
    name: str
    cache: Cache[T]
    """Where the objects are that it reconciles."""
    reconcile: Reconcile
    woken_by: tuple[Wakes[Any], ...] = ()
    bells: tuple[Bell, ...] = ()
    """By which others in this process wake it for one of its keys."""
    reads: tuple[Cache[Any], ...] = ()
    """Caches that it reads and that do not wake it."""
    identity: Callable[[Key], str | None] | None = None
    """In whose name runs for a key write. Left out: that of the object itself, its uid."""
    pace: Pace = STEADY
    crowd: Callable[[Key], Hashable] | None = None
    """To whom a key belongs. However many one has, those of others do not wait for all of them."""
    workers: int = 4
    deadline: float = 300.0
    """Seconds after which a run is given up: one that never ends would hold its worker for ever."""

    @property
    def caches(self) -> tuple[Cache[Any], ...]:
        return (self.cache, *(wakes.cache for wakes in self.woken_by), *self.reads)


def controller_of(resource: Resource) -> Callable[[Object], Iterable[Key]]:
    """For `Wakes`: the key of the owner of that kind that controls an object."""

    def keys(found: Object) -> Iterable[Key]:
        owner = found.metadata.controller
        if owner is None or owner.kind != resource.kind:
            return
        # Its version is whichever somebody wrote; the group is what counts.
        if owner.api_version.rpartition("/")[0] == resource.group:
            yield Key(found.metadata.namespace if resource.namespaced else "", owner.name)

    return keys


def priority(old: Object | None, new: Object | None, *, fresh: bool) -> Priority:
    """How soon a change is to be looked at."""
    if not fresh:
        return Priority.BACKGROUND
    if new is None or (new.metadata.deleting and not (old and old.metadata.deleting)):
        return Priority.URGENT
    return Priority.NORMAL
