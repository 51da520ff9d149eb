# SPDX-License-Identifier: Apache-2.0
"""What wakes a gang: its PodCliques, its pods, its set, its base gang, and what KAI has of it.

Of the many changes of these, those that no gang looks at wake none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trellis.api.conditions import find, is_true
from trellis.api.grove.podclique import MIN_AVAILABLE_BREACHED
from trellis.api.labels import (
    BASE_POD_GANG,
    POD_CLIQUE,
    POD_GANG,
    SCALING_GROUP,
    SCALING_GROUP_REPLICA_INDEX,
    SET_REPLICA_INDEX,
    number,
)
from trellis.api.meta import Key
from trellis.api.names import set_replica
from trellis.api.scheduler.podgang import SCHEDULED, UNHEALTHY
from trellis.runtime.controller import Wakes
from trellis.workloads.caches import BY_BASE_GANG, BY_SET, by_label
from trellis.workloads.classes import woken_by_priority_classes
from trellis.workloads.kai import is_for_kai
from trellis.workloads.podgang.taken import told_of_conflict
from trellis.workloads.pods import is_scheduled
from trellis.workloads.updates.progress import progress_of, span_of, whose_turn

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trellis.api.core.pod import Pod
    from trellis.api.grove.podclique import PodClique
    from trellis.api.grove.podcliqueset import PodCliqueSet
    from trellis.api.grove.scalinggroup import PodCliqueScalingGroup
    from trellis.api.meta import Metadata, Object
    from trellis.api.scheduler.podgang import PodGang
    from trellis.workloads.caches import Caches
    from trellis.workloads.podgang.kaiside import KaiSide
    from trellis.workloads.podgang.podgroups import KaiPodGroup

BY_GROUP = by_label(SCALING_GROUP, "scaling group")


class Waking:
    """The keys of gangs that an object concerns."""

    def __init__(self, caches: Caches) -> None:
        self._caches = caches
        caches.gangs.add_index(BY_GROUP)

    def wakes(self, kai: KaiSide | None) -> tuple[Wakes[Any], ...]:
        caches = self._caches
        own = (
            Wakes(caches.cliques, self.of_clique, matters_of_clique),
            Wakes(caches.cliques, self.after_clique, matters_of_size),
            Wakes(caches.pods, self.of_pod, matters_of_pod),
            Wakes(caches.pods, self.after_pod, matters_of_placement),
            Wakes(caches.gangs, self.of_base_gang, matters_of_base_gang),
            Wakes(caches.groups, self.of_group, matters_of_spec),
            Wakes(caches.sets, self.of_set, matters_of_set),
            woken_by_priority_classes(caches, self.of_set),
        )
        if kai is None:
            return own
        return (
            *own,
            Wakes(kai.pod_groups, _of_its_name, matters_of_pod_group),
            Wakes(kai.definition, self.of_kai),
        )

    def of_clique(self, clique: PodClique) -> Iterator[Key]:
        """Its gang, and the one that the whole replica falls with."""
        yield from _labelled(clique, POD_GANG)
        yield from _labelled(clique, BASE_POD_GANG)

    def of_pod(self, pod: Pod) -> Iterator[Key]:
        """The gang that it names, and that of its PodClique: they differ after a takeover."""
        yield from _labelled(pod, POD_GANG)
        for name in _labelled(pod, POD_CLIQUE):
            clique = self._caches.cliques.get(name)
            if clique is not None:
                yield from _labelled(clique, POD_GANG)

    def of_base_gang(self, gang: PodGang) -> Iterator[Key]:
        """The scaled gangs that come after it."""
        return self._after(gang.metadata.key)

    def after_pod(self, pod: Pod) -> Iterator[Key]:
        """The scaled gangs that come after the gang of a pod that has a node.

        The status of that gang tells them as well, but never of a loss that is mended by the time
        it would be told: after a restart, say.
        """
        if is_scheduled(pod):
            for gang in self.of_pod(pod):
                yield from self._after(gang)

    def after_clique(self, clique: PodClique) -> Iterator[Key]:
        """The scaled gangs that come after the base gang of one that is to have no pods.

        They wait for that gang to take it in, and it may never have begun to.
        """
        if not clique.spec.replicas and BASE_POD_GANG not in clique.metadata.labels:
            for gang in _labelled(clique, POD_GANG):
                yield from self._after(gang)

    def _after(self, base: Key) -> Iterator[Key]:
        for clique in self._caches.cliques.find(BY_BASE_GANG, str(base)):
            yield from _labelled(clique, POD_GANG)

    def of_group(self, group: PodCliqueScalingGroup) -> Iterator[Key]:
        """The base gang, which may have to take in or let go; and gangs that are wanted no more.

        Those that are to be made are woken by their PodCliques. Those of other groups may have
        waited for the base gang to take in what it need not any more.
        """
        metadata = group.metadata
        owner, replica = metadata.controller, number(metadata.labels, SET_REPLICA_INDEX)
        if owner is not None and replica is not None:
            base = Key(metadata.namespace, set_replica(owner.name, replica))
            yield base
            if group.spec.replicas < group.spec.min_available:
                yield from self._after(base)
        for gang in self._caches.gangs.find(BY_GROUP, str(metadata.key)):
            index = number(gang.metadata.labels, SCALING_GROUP_REPLICA_INDEX)
            if index is None or index >= group.spec.replicas:
                yield gang.metadata.key

    def of_set(self, found: PodCliqueSet) -> Iterator[Key]:
        """All its gangs, there and to come."""
        name = str(found.metadata.key)
        for gang in self._caches.gangs.find(BY_SET, name):
            yield gang.metadata.key
        for clique in self._caches.cliques.find(BY_SET, name):
            yield from _labelled(clique, POD_GANG)

    def of_kai(self, _: Object) -> Iterator[Key]:
        for gang in self._caches.gangs:
            if is_for_kai(gang):
                yield gang.metadata.key


def matters_of_clique(old: PodClique, new: PodClique) -> bool:
    """How many of its pods are what, a gang sees for itself."""
    before, now = old.status, new.status
    return (
        _differ(old.metadata, new.metadata)
        or old.spec.replicas != new.spec.replicas
        or before.first_available_time != now.first_available_time
        or find(before.conditions, MIN_AVAILABLE_BREACHED)
        != find(now.conditions, MIN_AVAILABLE_BREACHED)
        or span_of(progress_of(before)) != span_of(progress_of(now))
        or told_of_conflict(old) != told_of_conflict(new)
    )


def matters_of_size(old: PodClique, new: PodClique) -> bool:
    return old.spec.replicas != new.spec.replicas


def matters_of_pod(old: Pod, new: Pod) -> bool:
    """What its containers do matters when it shows in its conditions."""
    return (
        _differ(old.metadata, new.metadata)
        or old.spec != new.spec
        or old.status.phase != new.status.phase
        or old.status.conditions != new.status.conditions
    )


def matters_of_placement(old: Pod, new: Pod) -> bool:
    return is_scheduled(old) != is_scheduled(new)


def matters_of_base_gang(old: PodGang, new: PodGang) -> bool:
    before, now = old.status.conditions, new.status.conditions
    return (
        _differ(old.metadata, new.metadata)
        or old.spec != new.spec
        or is_true(before, SCHEDULED) != is_true(now, SCHEDULED)
        # What threatens the one may spare the other.
        or find(before, UNHEALTHY) != find(now, UNHEALTHY)
    )


def matters_of_spec(
    old: PodCliqueSet | PodCliqueScalingGroup, new: PodCliqueSet | PodCliqueScalingGroup
) -> bool:
    return old.metadata.generation != new.metadata.generation or _differ(old.metadata, new.metadata)


def matters_of_set(old: PodCliqueSet, new: PodCliqueSet) -> bool:
    """Also that it is a replica's turn to be updated."""
    return matters_of_spec(old, new) or whose_turn(old.status) != whose_turn(new.status)


def matters_of_pod_group(old: KaiPodGroup, new: KaiPodGroup) -> bool:
    """What KAI notes in it about its own work, is none of ours."""
    return old.spec != new.spec or _differ(old.metadata, new.metadata)


def _of_its_name(found: Object) -> tuple[Key, ...]:
    """Also that of somebody else is in the way only until it is gone."""
    return (found.metadata.key,)


def _differ(old: Metadata, new: Metadata) -> bool:
    return (
        old.deleting != new.deleting
        or old.labels != new.labels
        or old.annotations != new.annotations
        or old.owner_references != new.owner_references
    )


def _labelled(found: Object, label: str) -> Iterator[Key]:
    value = found.metadata.labels.get(label)
    if value:
        yield Key(found.metadata.namespace, value)
