# SPDX-License-Identifier: Apache-2.0
"""What the PodCliqueScalingGroup controller may do: keep PodCliques and claims, tell of groups."""

from __future__ import annotations

from trellis.api.core.pod import Pod
from trellis.api.core.resourceclaim import ResourceClaim, ResourceClaimTemplate
from trellis.api.grove.podclique import PodClique
from trellis.api.grove.podcliqueset import PodCliqueSet
from trellis.api.grove.scalinggroup import PodCliqueScalingGroup
from trellis.api.permissions import READ, Grant
from trellis.api.scheduler.podgang import PodGang

_KEEP = (*READ, "create", "patch", "delete")
_GROUP, _SET, _CLIQUE = (kind.resource for kind in (PodCliqueScalingGroup, PodCliqueSet, PodClique))
_GANG, _POD, _CLAIM, _TEMPLATE = (
    kind.resource for kind in (PodGang, Pod, ResourceClaim, ResourceClaimTemplate)
)

GRANTS = (
    # Patched only to take a finalizer off.
    Grant(group=_GROUP.group, resources=(_GROUP.plural,), verbs=(*READ, "patch")),
    Grant(group=_GROUP.group, resources=(f"{_GROUP.plural}/status",), verbs=("patch",)),
    # Needed to own something that holds up its owner's deletion, where clusters ask for it.
    Grant(group=_GROUP.group, resources=(f"{_GROUP.plural}/finalizers",), verbs=("update",)),
    Grant(group=_SET.group, resources=(_SET.plural,), verbs=READ),
    Grant(group=_CLIQUE.group, resources=(_CLIQUE.plural,), verbs=_KEEP),
    Grant(group=_GANG.group, resources=(_GANG.plural,), verbs=READ),
    # Which of them are outdated, and Ready.
    Grant(group=_POD.group, resources=(_POD.plural,), verbs=READ),
    Grant(group=_CLAIM.group, resources=(_CLAIM.plural,), verbs=_KEEP),
    Grant(group=_TEMPLATE.group, resources=(_TEMPLATE.plural,), verbs=READ),
)
