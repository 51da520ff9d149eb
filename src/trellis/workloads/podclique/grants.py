# SPDX-License-Identifier: Apache-2.0
"""What the PodClique controller may do."""

from __future__ import annotations

from trellis.api.core.pod import Pod
from trellis.api.core.priorityclass import PriorityClass
from trellis.api.core.resourceclaim import ResourceClaim, ResourceClaimTemplate
from trellis.api.grove.podclique import PodClique
from trellis.api.grove.podcliqueset import PodCliqueSet
from trellis.api.grove.scalinggroup import PodCliqueScalingGroup
from trellis.api.permissions import READ, Grant
from trellis.api.scheduler.podgang import PodGang

_CLIQUE, _GANG, _CLAIM, _PRIORITY = (
    kind.resource for kind in (PodClique, PodGang, ResourceClaim, PriorityClass)
)

GRANTS = (
    # It is patched for the finalizer that another operator may have left on it.
    Grant(group=_CLIQUE.group, resources=(_CLIQUE.plural,), verbs=(*READ, "patch")),
    Grant(group=_CLIQUE.group, resources=(f"{_CLIQUE.plural}/status",), verbs=("patch",)),
    # Needed to own something that holds up its owner's deletion, where clusters ask for it.
    Grant(group=_CLIQUE.group, resources=(f"{_CLIQUE.plural}/finalizers",), verbs=("update",)),
    Grant(
        group=_CLIQUE.group,
        resources=(PodCliqueSet.resource.plural, PodCliqueScalingGroup.resource.plural),
        verbs=READ,
    ),
    Grant(group=_GANG.group, resources=(_GANG.plural,), verbs=READ),
    Grant(group="", resources=(Pod.resource.plural,), verbs=(*READ, "create", "patch", "delete")),
    Grant(
        group=_CLAIM.group,
        resources=(_CLAIM.plural,),
        verbs=(*READ, "create", "patch", "delete"),
    ),
    Grant(group=_CLAIM.group, resources=(ResourceClaimTemplate.resource.plural,), verbs=READ),
    Grant(group=_PRIORITY.group, resources=(_PRIORITY.plural,), verbs=READ),
)
