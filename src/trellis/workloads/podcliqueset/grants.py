# SPDX-License-Identifier: Apache-2.0
"""What the two PodCliqueSet controllers may do: keep the children of sets, and tell of sets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trellis.api.core.autoscaler import HorizontalPodAutoscaler
from trellis.api.core.pod import Pod
from trellis.api.core.priorityclass import PriorityClass
from trellis.api.core.rbac import Role, RoleBinding
from trellis.api.core.resourceclaim import ResourceClaim, ResourceClaimTemplate
from trellis.api.core.service import Service
from trellis.api.grove.podclique import PodClique
from trellis.api.grove.podcliqueset import PodCliqueSet
from trellis.api.grove.scalinggroup import PodCliqueScalingGroup
from trellis.api.permissions import READ, Grant
from trellis.api.scheduler.podgang import PodGang

if TYPE_CHECKING:
    from trellis.api.meta import Object

_SET, _POD = PodCliqueSet.resource, Pod.resource


def _grant(kind: type[Object], *verbs: str) -> Grant:
    resource = kind.resource
    return Grant(group=resource.group, resources=(resource.plural,), verbs=(*READ, *verbs))


GRANTS = (
    # Patched only to take a finalizer off.
    _grant(PodCliqueSet, "patch"),
    Grant(group=_SET.group, resources=(f"{_SET.plural}/status",), verbs=("patch",)),
    # Needed to own something that holds up its owner's deletion, where clusters ask for it.
    Grant(group=_SET.group, resources=(f"{_SET.plural}/finalizers",), verbs=("update",)),
    *(
        _grant(kind, "create", "patch", "delete")
        for kind in (
            PodClique,
            PodCliqueScalingGroup,
            Service,
            HorizontalPodAutoscaler,
            Role,
            RoleBinding,
            ResourceClaim,
        )
    ),
    *(_grant(kind) for kind in (PodGang, Pod, ResourceClaimTemplate, PriorityClass)),
    # Nobody may grant what he has not: Grove's waiters keep this right while there are any.
    Grant(group=_POD.group, resources=(f"{_POD.plural}/status",), verbs=READ),
)
