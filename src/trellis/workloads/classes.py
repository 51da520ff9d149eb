# SPDX-License-Identifier: Apache-2.0
"""Reads from the caches which PriorityClasses there are, and hears of those that come and go."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trellis.api.meta import Key
from trellis.runtime.controller import Wakes
from trellis.runtime.index import Index
from trellis.workloads.priorities import priority_classes
from trellis.workloads.updates.progress import selected
from trellis.workloads.updates.reading import rolls

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from trellis.api.core.priorityclass import PriorityClass
    from trellis.api.grove.podcliqueset import PodCliqueSet
    from trellis.workloads.caches import Caches

_BY_PRIORITY_CLASS: Index[PodCliqueSet] = Index("priority class", priority_classes)


def absent(caches: Caches, names: Iterable[str]) -> tuple[str, ...]:
    """Those of these classes that do not exist."""
    return tuple(name for name in names if caches.priority_classes.get(Key("", name)) is None)


def missing_in_update(caches: Caches, found: PodCliqueSet, replica: int) -> tuple[str, ...]:
    """Those that a set asks for and that do not exist, while that replica of it is rolled: what is
    made otherwise looks for them itself."""
    is_rolled = rolls(found) and replica in selected(found.status)
    return absent(caches, priority_classes(found)) if is_rolled else ()


def woken_by_priority_classes(
    caches: Caches, concerned: Callable[[PodCliqueSet], Iterable[Key]]
) -> Wakes[PriorityClass]:
    """Wakes what is concerned with a set whose pods ask for a class, when that comes or goes."""
    caches.sets.add_index(_BY_PRIORITY_CLASS)

    def keys(found: PriorityClass) -> Iterator[Key]:
        for asking in caches.sets.find(_BY_PRIORITY_CLASS, found.metadata.name):
            yield from concerned(asking)

    return Wakes(caches.priority_classes, keys, _never)


def _never(_: PriorityClass, __: PriorityClass) -> bool:
    return False
