# SPDX-License-Identifier: Apache-2.0
"""Which PodCliques number their pods on from those of another one: see `ranks`. Reads caches only.

A gang that changes wakes all that are in it. But where another process looks after gangs, that may
be heard before it is heard which PodClique was scaled: who counted that one then, counts it again.
Nothing else of a neighbour wakes anybody.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trellis.api.labels import SHORT_CLIQUE_NAME
from trellis.api.meta import Key
from trellis.workloads.outline import Outline
from trellis.workloads.podclique.state import member_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trellis.api.grove.podclique import PodClique
    from trellis.api.grove.podcliqueset import PodCliqueSet
    from trellis.workloads.caches import Caches


class Neighbours:
    def __init__(self, caches: Caches) -> None:
        self._caches = caches

    def after(self, found: PodClique) -> Iterator[Key]:
        """Those behind it in its replica of a scaling group, if it makes a difference to them.

        As its template says it counts also where it is not there, so that coming and going with
        that number is no news.
        """
        owner = self._caches.set_of(found)
        if owner is None or _is_as_its_template_says(found, owner):
            return
        outline = Outline(owner)
        member = member_of(outline, found)
        if member is None or member.group is None or member.place.group is None:
            return
        replica, index = member.place.set_replica, member.place.group.replica
        names = [one.name for one in outline.grouped(replica, member.group, index)]
        for name in names[names.index(member.name) + 1 :]:
            yield Key(found.metadata.namespace, name)


def is_scaled(old: PodClique, new: PodClique) -> bool:
    return old.spec.replicas != new.spec.replicas


def _is_as_its_template_says(found: PodClique, owner: PodCliqueSet) -> bool:
    name = found.metadata.labels.get(SHORT_CLIQUE_NAME)
    return any(
        one.name == name and one.spec.replicas == found.spec.replicas
        for one in owner.spec.template.cliques
    )
