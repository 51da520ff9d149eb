# SPDX-License-Identifier: Apache-2.0
"""Which PriorityClasses the pods of a set ask for, and the hearing of those that come and go."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from trellis.api.meta import Value
from trellis.runtime.controller import Wakes
from trellis.runtime.index import Index

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trellis.api.core.priorityclass import PriorityClass
    from trellis.api.grove.podcliqueset import PodCliqueSet
    from trellis.api.meta import Key
    from trellis.workloads.caches import Caches


class _Priority(Value, frozen=True, kw_only=True):
    """What is read of a pod spec."""

    priority_class_name: str = ""


_PRIORITY = msgspec.json.Decoder(_Priority)


def priority_classes(found: PodCliqueSet) -> tuple[str, ...]:
    """Each once. A clique's own wins over that of the whole set."""
    template = found.spec.template
    named = (
        _PRIORITY.decode(clique.spec.pod_spec).priority_class_name or template.priority_class_name
        for clique in template.cliques
    )
    return tuple(dict.fromkeys(name for name in named if name))


_BY_PRIORITY_CLASS: Index[PodCliqueSet] = Index("priority class", priority_classes)


def woken_by_priority_classes(caches: Caches) -> Wakes[PriorityClass]:
    """Wakes the sets whose pods ask for a class when it comes or goes."""
    caches.sets.add_index(_BY_PRIORITY_CLASS)

    def sets(found: PriorityClass) -> Iterator[Key]:
        for asking in caches.sets.find(_BY_PRIORITY_CLASS, found.metadata.name):
            yield asking.metadata.key

    return Wakes(caches.priority_classes, sets, _never)


def _never(_: PriorityClass, __: PriorityClass) -> bool:
    return False
