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
from trellis.workloads.classes import woken_by_priority_classes
from trellis.workloads.pods import is_ready
from trellis.workloads.scalinggroup.explaining import heard
from trellis.workloads.scalinggroup.judging import said
from trellis.workloads.sharing import woken_by_templates
from trellis.workloads.updates.progress import selected, whose_turn

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from trellis.api.core.pod import Pod
    from trellis.api.grove.podclique import PodClique
    from trellis.api.grove.podcliqueset import PodCliqueSet
    from trellis.api.meta import Object
    from trellis.api.scheduler.podgang import PodGang
    from trellis.workloads.caches import Caches


def wakes(caches: Caches) -> tuple[Wakes[Any], ...]:
    of_group = controller_of(PodCliqueScalingGroup.resource)
    waking = _Waking(caches)
    return (
        Wakes(caches.sets, waking.of_set, _is_told_otherwise),
        Wakes(caches.pods, waking.of_pod, _is_otherwise),
        Wakes(caches.cliques, of_group, _says_otherwise),
        Wakes(caches.gangs, waking.of_gang, _is_recycled),
        Wakes(caches.claims, of_group, _is_edited),
        woken_by_templates(caches, waking.of_set),
        woken_by_priority_classes(caches, waking.of_set),
    )


class _Waking:
    """The groups that an object concerns."""

    def __init__(self, caches: Caches) -> None:
        self._caches = caches

    def of_set(self, found: Object) -> Iterable[Key]:
        groups = self._caches.groups.find(BY_SET, str(found.metadata.key))
        return (group.metadata.key for group in groups)

    def of_gang(self, gang: PodGang) -> Iterator[Key]:
        """Those with a replica in it. Only that it was made anew is of interest."""
        labels, namespace = gang.metadata.labels, gang.metadata.namespace
        if RECYCLED not in gang.metadata.annotations:
            return
        if group := labels.get(SCALING_GROUP):
            yield Key(namespace, group)
            return
        name = str(Key(namespace, labels.get(PART_OF, "")))
        for found in self._caches.groups.find(BY_SET, name):
            if found.metadata.labels.get(SET_REPLICA_INDEX) == labels.get(SET_REPLICA_INDEX):
                yield found.metadata.key

    def of_pod(self, pod: Pod) -> Iterator[Key]:
        """The group that it is in, while that one's replica of the set is being updated."""
        labels, namespace = pod.metadata.labels, pod.metadata.namespace
        if SCALING_GROUP not in labels:
            return
        found = self._caches.sets.get(Key(namespace, labels.get(PART_OF, "")))
        turns = selected(found.status) if found is not None else ()
        if labels.get(SET_REPLICA_INDEX) in [str(index) for index in turns]:
            yield Key(namespace, labels[SCALING_GROUP])


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


def _is_told_otherwise(old: PodCliqueSet, new: PodCliqueSet) -> bool:
    """Also that it is a replica's turn to be updated, and that templates were told of."""
    return (
        _is_edited(old, new)
        or whose_turn(old.status) != whose_turn(new.status)
        or old.status.current_generation_hash != new.status.current_generation_hash
    )


def _is_otherwise(old: Pod, new: Pod) -> bool:
    return (
        is_ready(old) != is_ready(new)
        or old.metadata.deleting != new.metadata.deleting
        or old.status.phase != new.status.phase
    )


def _says_otherwise(old: PodClique, new: PodClique) -> bool:
    return said(old) != said(new) or heard(old) != heard(new)


def _is_recycled(old: PodGang, new: PodGang) -> bool:
    return old.metadata.annotations.get(RECYCLED) != new.metadata.annotations.get(RECYCLED)
