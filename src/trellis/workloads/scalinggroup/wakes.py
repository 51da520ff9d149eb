# SPDX-License-Identifier: Apache-2.0
"""What wakes a scaling group, besides itself: its set, its members, its claims, its gangs. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trellis.api.annotation import RECYCLED
from trellis.api.grove.scalinggroup import PodCliqueScalingGroup
from trellis.api.labels import PART_OF, SCALING_GROUP, SET_REPLICA_INDEX
from trellis.api.meta import Key
from trellis.runtime.controller import Wakes, controller_of
from trellis.workloads.caches import BY_SET
from trellis.workloads.scalinggroup.judging import said
from trellis.workloads.sharing import woken_by_templates

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from trellis.api.grove.podclique import PodClique
    from trellis.api.meta import Object
    from trellis.api.scheduler.podgang import PodGang
    from trellis.workloads.caches import Caches


def wakes(caches: Caches) -> tuple[Wakes[Any], ...]:
    of_group = controller_of(PodCliqueScalingGroup.resource)

    def of_set(found: Object) -> Iterable[Key]:
        groups = caches.groups.find(BY_SET, str(found.metadata.key))
        return (group.metadata.key for group in groups)

    def of_gang(gang: PodGang) -> Iterator[Key]:
        """Those with a replica in it. Only that it was made anew is of interest."""
        labels, namespace = gang.metadata.labels, gang.metadata.namespace
        if RECYCLED not in gang.metadata.annotations:
            return
        if group := labels.get(SCALING_GROUP):
            yield Key(namespace, group)
            return
        for found in caches.groups.find(BY_SET, str(Key(namespace, labels.get(PART_OF, "")))):
            if found.metadata.labels.get(SET_REPLICA_INDEX) == labels.get(SET_REPLICA_INDEX):
                yield found.metadata.key

    return (
        Wakes(caches.sets, of_set, _is_edited),
        Wakes(caches.cliques, of_group, _says_otherwise),
        Wakes(caches.gangs, of_gang, _is_recycled),
        Wakes(caches.claims, of_group, _is_edited),
        woken_by_templates(caches, of_set),
    )


def _is_edited(old: Object, new: Object) -> bool:
    """Whether anything but its status has changed."""
    before, now = old.metadata, new.metadata
    return (
        before.generation != now.generation
        or before.deleting != now.deleting
        or before.labels != now.labels
        or before.annotations != now.annotations
        or before.owner_references != now.owner_references
    )


def _says_otherwise(old: PodClique, new: PodClique) -> bool:
    return said(old) != said(new)


def _is_recycled(old: PodGang, new: PodGang) -> bool:
    return old.metadata.annotations.get(RECYCLED) != new.metadata.annotations.get(RECYCLED)
