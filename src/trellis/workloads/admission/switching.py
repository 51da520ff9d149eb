# SPDX-License-Identifier: Apache-2.0
"""What is said to whoever changes how a set is updated. Pure.

A change from OnDelete to RollingRecreate begins to replace at once what was left until then: who
does not know that may lose pods that they meant to keep.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from trellis.api.grove.updates import ON_DELETE
from trellis.api.hashes import template_hash
from trellis.api.labels import SCALING_GROUP, SCALING_GROUP_REPLICA_INDEX, SHORT_CLIQUE_NAME
from trellis.workloads.admission.problems import SPEC

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from trellis.api.grove.podclique import PodClique
    from trellis.workloads.admission.policy import Stored
    from trellis.workloads.admission.subject import Subject

_TYPE = SPEC / "updateStrategy" / "type"


def switching(new: Subject, old: Subject, stored: Stored) -> Iterator[str]:
    if not _is_by_hand(old) or _is_by_hand(new):
        return
    count = None
    if stored.rolled_at is not None:
        count = stored.rolled_at(old.metadata.key, changed_cliques(new, old))
    if count == 0:
        return
    what = "pods" if count is None else f"{count} pod{'' if count == 1 else 's'}"
    why = "what has an older template, and with it its whole replica of a scaling group"
    yield f"{_TYPE.shown}: {what} will be replaced now, step by step: {why}"


def changed_cliques(new: Subject, old: Subject) -> frozenset[str]:
    """The cliques whose pods are made from another template from now on."""
    now, before = _hashes(new), _hashes(old)
    return frozenset(name for name in now.keys() & before.keys() if now[name] != before[name])


def pods_to_roll(cliques: Iterable[PodClique], changed: Collection[str] = ()) -> int:
    """By what PodCliques say of themselves, and all of those whose template is `changed`: what
    they say is about the one that they had. One whose status is about an older template of its own
    says nothing that counts yet."""
    total = 0
    replicas: defaultdict[tuple[str, str], list[PodClique]] = defaultdict(list)
    for one in cliques:
        labels = one.metadata.labels
        if group := labels.get(SCALING_GROUP):
            index = labels.get(SCALING_GROUP_REPLICA_INDEX, "")
            replicas[group, index].append(one)
        else:
            total += _outdated(one, changed)
    # A replica of a scaling group goes as a whole, also what has nothing new in it.
    together = (
        members
        for members in replicas.values()
        if any(_outdated(member, changed) for member in members)
    )
    return total + sum(one.status.replicas for members in together for one in members)


def _outdated(clique: PodClique, changed: Collection[str]) -> int:
    status = clique.status
    if clique.metadata.labels.get(SHORT_CLIQUE_NAME) in changed:
        return status.replicas
    return max(status.replicas - status.updated_replicas, 0)


def _hashes(subject: Subject) -> Mapping[str, str]:
    if subject.unread:
        # It is refused for that, and nothing of it will be made.
        return {}
    template = subject.spec.template
    priority = template.priority_class_name
    return {clique.name: template_hash(clique, priority) for clique in template.cliques}


def _is_by_hand(subject: Subject) -> bool:
    strategy = subject.spec.update_strategy
    return strategy is not None and strategy.type == ON_DELETE
