# SPDX-License-Identifier: Apache-2.0
"""What the workload controllers read: one set of caches, shared by all that run in a process.

Of kinds that others use too, only what is ours is read, by its label. Nothing is decided here.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from trellis.api.core.autoscaler import HorizontalPodAutoscaler
from trellis.api.core.pod import Pod
from trellis.api.core.priorityclass import PriorityClass
from trellis.api.core.rbac import Role, RoleBinding
from trellis.api.core.resourceclaim import ResourceClaim, ResourceClaimTemplate
from trellis.api.core.service import Service
from trellis.api.grove.podclique import PodClique
from trellis.api.grove.podcliqueset import PodCliqueSet
from trellis.api.grove.scalinggroup import PodCliqueScalingGroup
from trellis.api.labels import BASE_POD_GANG, MANAGED_BY, OPERATOR, PART_OF, POD_GANG
from trellis.api.meta import Key, Object
from trellis.api.scheduler.podgang import PodGang
from trellis.kube.verbs import Selection
from trellis.runtime.cache import Cache, Scope
from trellis.runtime.index import Index

if TYPE_CHECKING:
    from collections.abc import Iterator

T = TypeVar("T", bound=Object)

OURS = Scope(selection=Selection(labels=f"{MANAGED_BY}={OPERATOR}"))


def by_label(label: str, what: str) -> Index[Any]:
    """Files objects under `<namespace>/<value of that label>`."""

    def values(found: Object) -> Iterator[str]:
        if value := found.metadata.labels.get(label):
            yield str(Key(found.metadata.namespace, value))

    return Index(what, values)


BY_SET = by_label(PART_OF, "set")
BY_GANG = by_label(POD_GANG, "gang")
BY_BASE_GANG = by_label(BASE_POD_GANG, "base gang")


class Caches:
    def __init__(self) -> None:
        self.sets = Cache(PodCliqueSet.resource, PodCliqueSet)
        self.groups = Cache(PodCliqueScalingGroup.resource, PodCliqueScalingGroup, (BY_SET,))
        self.cliques = Cache(PodClique.resource, PodClique, (BY_SET, BY_GANG, BY_BASE_GANG))
        self.gangs = Cache(PodGang.resource, PodGang, (BY_SET,))
        self.pods = _ours(Pod, BY_GANG)
        self.services = _ours(Service)
        self.autoscalers = _ours(HorizontalPodAutoscaler)
        self.roles = _ours(Role)
        self.bindings = _ours(RoleBinding)
        # Not every cluster serves them; those that share no claims must run there all the same.
        self.claims = Cache(
            ResourceClaim.resource, ResourceClaim, (BY_SET,), replace(OURS, optional=True)
        )
        self.claim_templates = Cache(
            ResourceClaimTemplate.resource, ResourceClaimTemplate, scope=Scope(optional=True)
        )
        self.priority_classes = Cache(PriorityClass.resource, PriorityClass)

    def set_of(self, found: Object) -> PodCliqueSet | None:
        """The set that an object was made for, if it is still there: by its owners, not by name."""
        owner = found.metadata.controller
        if owner is None:
            return None
        key = Key(found.metadata.namespace, owner.name)
        if owner.kind == PodCliqueScalingGroup.resource.kind:
            group = self.groups.get(key)
            if group is None or group.metadata.uid != owner.uid:
                return None
            return self.set_of(group)
        owning = self.sets.get(key)
        return owning if owning is not None and owning.metadata.uid == owner.uid else None


def _ours(kind: type[T], *indexes: Index[Any]) -> Cache[T]:
    return Cache(kind.resource, kind, (BY_SET, *indexes), scope=OURS)
