# SPDX-License-Identifier: Apache-2.0
"""All that one run over a PodClique looks at, read once from the caches. It decides nothing."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from trellis.api.grove.scalinggroup import PodCliqueScalingGroup
from trellis.api.labels import (
    POD_GANG,
    SCALING_GROUP_REPLICA_INDEX,
    SET_REPLICA_INDEX,
    number,
)
from trellis.api.meta import Key
from trellis.workloads.classes import missing_in_update
from trellis.workloads.holders import conflict
from trellis.workloads.ledger import is_ours, listed
from trellis.workloads.pods import is_controlled_by
from trellis.workloads.sharing import not_ours

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from trellis.api.core.pod import Pod
    from trellis.api.grove.podclique import PodClique
    from trellis.api.grove.podcliqueset import PodCliqueSet
    from trellis.api.scheduler.podgang import PodGang
    from trellis.runtime.converged import NameConflict
    from trellis.workloads.caches import Caches
    from trellis.workloads.ledger import Listed
    from trellis.workloads.outline import Member, Outline
    from trellis.workloads.outlines import Outlines


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """`most`: how many pods it may have at all; where it asks for more, nothing is made for it.

    `gang` is the one whose ledger is obeyed: None until our own operator has written it.

    `inherited` are names that are listed for it, and held by pods of a PodClique that was there
    before it.

    `conflict` is who has the gang's name in its stead. `listed` is what the ledger says of this
    PodClique. `member` is None where the set's template has no clique of its name.
    """

    clique: PodClique
    pods: tuple[Pod, ...]
    owner: PodCliqueSet
    outline: Outline
    member: Member | None
    most: int
    gang: PodGang | None = None
    conflict: NameConflict | None = None
    listed: Listed = field(default_factory=dict)
    inherited: frozenset[str] = frozenset()
    missing_classes: tuple[str, ...] = ()
    """The PriorityClasses that its set asks for and that do not exist. Looked for in an update."""
    unshared: tuple[str, ...] = ()
    """The claims of its set or scaling group that its pods use, and that are not there."""
    parents: tuple[str, ...] = ()
    """The PodCliques that its pods wait for before they begin."""

    @property
    def name(self) -> str:
        return self.clique.metadata.name

    @property
    def replicas(self) -> int:
        return self.clique.spec.replicas

    @property
    def needed(self) -> int:
        return self.clique.spec.needed

    @property
    def is_excessive(self) -> bool:
        """What was let in before the limit was lowered goes on."""
        return self.replicas > max(self.most, len(self.listed or self.pods))

    @property
    def standalone(self) -> bool:
        controller = self.clique.metadata.controller
        return controller is None or controller.kind != PodCliqueScalingGroup.resource.kind

    @property
    def ledger_is_known(self) -> bool:
        """Whether it is known which pods there are to be. None are, where none are wanted.

        A gang that lists none of a PodClique that is to have some is not written yet, or somebody
        has spoiled it: then nobody is surplus.
        """
        return self.replicas == 0 or (self.gang is not None and bool(self.listed))

    @property
    def held(self) -> tuple[Pod, ...]:
        """The pods that hold an index: the listed ones, or all while there is no ledger."""
        if not self.ledger_is_known:
            return self.pods
        named = set(self.listed.values())
        return tuple(pod for pod in self.pods if pod.metadata.name in named)


def observe(caches: Caches, outlines: Outlines, clique: PodClique, most: int) -> State | None:
    """None: its set is going or gone, and all of it goes with it."""
    owner = caches.set_of(clique)
    if owner is None or owner.metadata.deleting:
        return None
    outline = outlines.of(owner)
    member = member_of(outline, clique)
    pods = _controlled(caches, clique)
    gang, conflict = _gang(caches, clique, owner)
    names = listed(gang, clique.metadata.name, pods) if gang and clique.spec.replicas else {}
    present = {pod.metadata.name for pod in pods}
    missing = [name for name in names.values() if name not in present]
    return State(
        clique=clique,
        pods=pods,
        owner=owner,
        outline=outline,
        member=member,
        most=most,
        gang=gang,
        conflict=conflict,
        listed=names,
        inherited=frozenset(_inherited(caches, clique, missing)),
        missing_classes=missing_in_update(caches, owner, member.place.set_replica)
        if member
        else (),
        unshared=tuple(not_ours(caches, outline, member, clique)) if member and missing else (),
    )


def member_of(outline: Outline, clique: PodClique) -> Member | None:
    """The place of that PodClique in its set: by its exact name, worked out forwards."""
    labels, controller = clique.metadata.labels, clique.metadata.controller
    replica = number(labels, SET_REPLICA_INDEX)
    if replica is None or controller is None:
        return None
    if controller.kind != PodCliqueScalingGroup.resource.kind:
        return _named(clique, outline.alone(replica))
    index = number(labels, SCALING_GROUP_REPLICA_INDEX)
    if index is None:
        return None
    for group in outline.groups.values():
        if outline.group_name(replica, group) == controller.name:
            return _named(clique, outline.grouped(replica, group, index))
    return None


def _named(clique: PodClique, members: Iterable[Member]) -> Member | None:
    return next((one for one in members if one.name == clique.metadata.name), None)


def _controlled(caches: Caches, clique: PodClique) -> tuple[Pod, ...]:
    uid = clique.metadata.uid
    return tuple(pod for pod in caches.pods.owned(uid) if is_controlled_by(pod, uid))


def _inherited(caches: Caches, clique: PodClique, missing: Iterable[str]) -> Iterator[str]:
    """Of what is listed and not its own. Nearly always that is nothing."""
    namespace, named = clique.metadata.namespace, (clique.resource.kind, clique.metadata.name)
    for name in missing:
        pod = caches.pods.get(Key(namespace, name))
        by = pod.metadata.controller if pod is not None else None
        if by is not None and (by.kind, by.name) == named and by.uid != clique.metadata.uid:
            yield name


def _gang(
    caches: Caches, clique: PodClique, owner: PodCliqueSet
) -> tuple[PodGang | None, NameConflict | None]:
    """The gang to obey, or who has its name in its stead."""
    metadata = clique.metadata
    found = caches.gangs.get(Key(metadata.namespace, metadata.labels.get(POD_GANG, "")))
    if found is None:
        return None, None
    by = found.metadata.controller
    if by is None or by.uid != owner.metadata.uid:
        return None, conflict(found, owner)
    obeyed = is_ours(found) and not found.metadata.deleting
    return (found if obeyed else None), None
